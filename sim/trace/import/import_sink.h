/* The sink of an importer: it takes steps, and the units wanted in each. Internal to this folder.
 *
 * An importer hands it the whole file twice. The first time the sink notes the shape and every
 * fault; the second time it writes.
 */
#ifndef TRACE_IMPORT_IMPORT_SINK_H
#define TRACE_IMPORT_IMPORT_SINK_H

#include "trace/format/trace.h"
#include "trace/import/import.h"
#include "trace/import/import_step.h"

enum { IMPORT_LAYERS_MOST = 1024, IMPORT_HEADS_MOST = 1024 };

struct import_sink {
    const struct import_format *format;
    const struct import_options *options;
    const char *path; /* of the file read */
    struct complaints *complaints;
    char unread[IMPORT_UNREAD]; /* see struct import_report */
    struct import_rule rule;
    struct import_step step; /* the one being read */
    uint32_t steps;          /* begun so far */
    /* The shape, found by the first reading. */
    uint32_t layers, heads;
    uint32_t units; /* the largest unit number, plus 1 */
    uint32_t keep;  /* units of the longest row */
    bool *seen;     /* (layer, head): does the file have a row of it? */
    bool has_mass;  /* the file states masses */
    /* The second reading; `writer` is NULL in the first. */
    struct trace_header header;
    struct trace_writer *writer;
    struct trace_frame *piles; /* one per layer of the file: rows of the tile so far, step-major */
    struct trace_frame transposed;
};

/* The caller owns the sink. Release drops an unfinished trace. */
bool import_sink_init(struct import_sink *sink, const struct import_format *format,
                      const char *path, const struct import_options *options,
                      struct complaints *complaints, struct error *why);
void import_sink_release(struct import_sink *sink);

/* rewind: end the first reading, and begin the trace at `out_path`. finish: complete it after the
 * second reading. */
bool import_sink_rewind(struct import_sink *sink, const char *out_path, struct error *why);
bool import_sink_finish(struct import_sink *sink, struct error *why);

/* Make the header from what the first reading found (import_header.c). */
bool import_header_make(struct import_sink *sink, struct error *why);

/* ---- for importers ---- */

/* Begin the next step. */
bool import_next_step(struct import_sink *sink, struct error *why);

/* Note that the file has this row, which may be empty in every step. */
bool import_expect_row(struct import_sink *sink, uint32_t layer, uint32_t head, int line);

/* The current step wants this unit. The units of a row come best first if the file knows their
 * order. Fails only when reading cannot go on; an invalid unit is a complaint. */
bool import_unit(struct import_sink *sink, const struct import_item *item, struct error *why);

/* Something is wrong at `line` (0: none), but reading can go on. */
void import_complain(struct import_sink *sink, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
