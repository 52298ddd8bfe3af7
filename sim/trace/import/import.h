/* Traces of other tools, made into decode traces (.swt).
 *
 * A file is read twice: once to find its shape and everything that is wrong with it, then to write
 * the trace; a file with a fault gives none. Memory holds one tile. A step of the trace is a step
 * of the file where it has steps. A plain stream of ids has none: one id is a step, so that it
 * replays in its own order whatever the scenario's `order`; it is one head of one layer.
 *
 * Most files say what was wanted, but not with how much attention. Then masses are assumed, and the
 * trace's source says so: `equal` gives each unit of a row the same, `rank` gives the r-th of
 * a row 1/r of the first. A row's masses, those of tokens born included, add up to 1.
 */
#ifndef TRACE_IMPORT_IMPORT_H
#define TRACE_IMPORT_IMPORT_H

#include "trace/csv/complaints.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum import_mass { IMPORT_EQUAL, IMPORT_RANK };
extern const char *const import_masses[]; /* their names; ends with NULL */

/* What can be said about a file; 0 or NULL leaves it to the file. */
struct import_options {
    const char *columns;  /* "step=s,unit=id": which column is what; a name, or a number from 1 */
    uint32_t context;     /* tokens of the prefix: units beyond were born while decoding */
    uint32_t unit_tokens; /* tokens a unit; 1 */
    uint32_t per_step;    /* accesses of a stream that make one step; 1 */
    uint32_t share;       /* layers of the model that share one layer of the file; 1 */
    enum import_mass mass;
};

/* Which of them a format reads. */
enum import_key {
    IMPORT_COLUMNS = 1 << 0,
    IMPORT_CONTEXT = 1 << 1,
    IMPORT_UNIT_TOKENS = 1 << 2,
    IMPORT_PER_STEP = 1 << 3,
    IMPORT_SHARE = 1 << 4,
    IMPORT_MASS = 1 << 5,
};

struct import_sink;
enum { IMPORT_SUFFIXES = 3 };

struct import_format {
    const char *name, *summary;
    const char *suffixes[IMPORT_SUFFIXES]; /* of its files, before a .zst; NULL beyond */
    unsigned reads;                        /* import_key bits */
    bool repeats; /* a step may want a unit twice: one unit with the mass of both */
    /* Hand the whole file to the sink (import_sink.h). Fails where it cannot be read on. NULL: the
     * CSV that this program exports, which csv.h reads. */
    bool (*walk)(struct import_sink *sink, struct error *why);
};

extern const struct import_format import_csv, import_npy, import_oracle_general, import_u32;
extern const struct import_format import_columns;          /* CSV with columns to be named */
extern const struct import_format *const import_formats[]; /* all but that one; ends with NULL */

/* The format of this name, or of the path's ending; NULL with `why` filled when there is none. CSV
 * of which columns are said is import_columns. */
const struct import_format *import_format_named(const char *name, bool has_columns,
                                                struct error *why);
const struct import_format *import_format_of(const char *path, bool has_columns, struct error *why);

/* Import the file at `path`. On failure there is nothing new at `out_path`, and `complaints`, which
 * is the caller's and zeroed, holds what is wrong with the file. */
bool trace_import(const struct import_format *format, const char *path, const char *out_path,
                  const struct import_options *options, struct complaints *complaints,
                  struct error *why);

#endif
