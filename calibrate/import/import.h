/* Figures that other tools measured: files that people have already.
 *
 *   nvbandwidth -j          what its tests of host and first GPU found (nvbandwidth.c)
 *   Nsight Systems export   `nsys export --type sqlite`: copies and calls of a real program
 *                           (nsight.c)
 *
 * The figures take the names of curves.def, and say in their notes which file and test they are.
 */
#ifndef CALIBRATE_IMPORT_IMPORT_H
#define CALIBRATE_IMPORT_IMPORT_H

#include "calibrate/measure/finding.h"
#include "calibrate/measure/provenance.h"

/* Add what a file holds to the findings, and to the provenance the file and the GPU and driver that
 * it names. Tells the kinds apart by their first bytes. */
bool findings_import(const char *path, struct findings *findings, struct provenance *provenance,
                     struct error *why);

/* The same for one kind; `name` is the file's, for messages and notes. */
bool nvbandwidth_import(const char *text, size_t size, const char *name, struct findings *findings,
                        struct provenance *provenance, struct error *why);
bool nsight_import(const char *path, struct findings *findings, struct provenance *provenance,
                   struct error *why);

/* Add one figure from samples, at least one and sorted; `format` makes its note. A figure that is
 * there already is an error: two files state it. */
bool import_figure(struct findings *findings, const char *curve, const double *sorted,
                   uint32_t count, const char *name, struct error *why, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

#endif
