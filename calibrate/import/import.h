/* Imports figures that other tools measured, from files that users have already:
 *
 *   nvbandwidth -j          results of its tests between host and first GPU (nvbandwidth.c)
 *   Nsight Systems export   `nsys export --type sqlite`: copies and calls of a real program
 *                           (nsight.c)
 *
 * The figures have the names of curves.def; their notes name the file and the test.
 */
#pragma once

#include "calibrate/measure/finding.h"
#include "calibrate/measure/provenance.h"

/* Add the figures of a file to the findings, and the file, its GPU and its driver to the
 * provenance. The first bytes tell the two kinds of file apart. */
bool findings_import(const char *path, struct findings *findings, struct provenance *provenance,
                     struct error *why);

/* The same for one kind of file; `name` is the file's name for messages and notes. */
bool nvbandwidth_import(const char *text, size_t size, const char *name, struct findings *findings,
                        struct provenance *provenance, struct error *why);
bool nsight_import(const char *path, struct findings *findings, struct provenance *provenance,
                   struct error *why);

/* Add one figure from at least one sample, sorted; `format` makes its note. Fails if the figure is
 * there already, because two files state it. */
bool import_figure(struct findings *findings, const char *curve, const double *sorted,
                   uint32_t count, const char *name, struct error *why, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
