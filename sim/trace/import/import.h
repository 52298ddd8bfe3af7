/* Tables and plain streams of other tools, made into decode traces (.swt). Formats with a shape of
 * their own are read by the scripts in traces/convert/.
 *
 * A file is read more than once: to find its shape and all its faults, then to write the trace; a
 * file with a fault gives no trace. Memory holds one tile. If the file has steps, each is a step of
 * the trace. A plain stream of ids has none: one id is a step, so that it replays in its own order
 * whatever the scenario's `order`; it becomes one head of one layer.
 *
 * Most files say which units were wanted, but not with how much attention. Masses are then assumed,
 * and the trace's source says so: `equal` gives all units of a row the same mass, `rank` gives the
 * r-th unit 1/r of the first. The masses of a row, including born tokens, add up to 1.
 */
#ifndef TRACE_IMPORT_IMPORT_H
#define TRACE_IMPORT_IMPORT_H

#include "trace/csv/complaints.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum import_mass { IMPORT_EQUAL, IMPORT_RANK };
extern const char *const import_masses[]; /* their names; ends with NULL */

/* What the user may state about a file; 0 or NULL leaves it to the file. */
struct import_options {
    const char *columns;  /* "step=s,unit=id": what each column is; a name, or a number from 1 */
    uint32_t context;     /* tokens of the prefix: units beyond were born while decoding */
    uint32_t unit_tokens; /* tokens per unit; default 1 */
    uint32_t per_step;    /* accesses of a stream that make one step; default 1 */
    uint32_t share;       /* layers of the model that share one layer of the file; default 1 */
    enum import_mass mass;
};

/* The options that a format reads. */
enum import_key {
    IMPORT_COLUMNS = 1 << 0,
    IMPORT_CONTEXT = 1 << 1,
    IMPORT_UNIT_TOKENS = 1 << 2,
    IMPORT_PER_STEP = 1 << 3,
    IMPORT_SHARE = 1 << 4,
    IMPORT_MASS = 1 << 5,
};

enum { IMPORT_UNREAD = 64 };

/* What became of a file. */
struct import_report {
    struct complaints complaints; /* its faults */
    char unread[IMPORT_UNREAD];   /* columns "step, layer, head, mass" that `columns` leaves out */
};

struct import_sink;

struct import_format {
    const char *name, *summary;
    const char *suffix; /* of its files */
    unsigned reads;     /* import_key bits */
    bool repeats; /* a step may want a unit twice; it becomes one unit with the mass of both */
    /* Hand the whole file to the sink (import_sink.h). Fails if the file cannot be read further. */
    bool (*walk)(struct import_sink *sink, struct error *why);
};

extern const struct import_format import_csv, import_u32;
extern const struct import_format *const import_formats[]; /* all; ends with NULL */

/* The format of this name, or of the path's ending; NULL with `why` filled when there is none. */
const struct import_format *import_format_named(const char *name, struct error *why);
const struct import_format *import_format_of(const char *path, struct error *why);

/* Import the file at `path` into the trace at `out_path`. The caller
 * zeroed `report`. On failure no new file is at `out_path`, and the report has the faults of the
 * file. */
bool trace_import(const struct import_format *format, const char *path, const char *out_path,
                  const struct import_options *options, struct import_report *report,
                  struct error *why);

#endif
