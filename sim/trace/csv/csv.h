/* Decode traces as CSV text, for other tools and from them (traces/FORMAT.md, section CSV).
 * Exporting what was imported gives the same bytes. */
#ifndef TRACE_CSV_CSV_H
#define TRACE_CSV_CSV_H

#include "trace/csv/complaints.h"
#include "trace/format/trace.h"

#include <stdio.h>

/* Write all of `trace` to `out`, which the caller opened and closes. Memory holds one tile of all
 * layers. */
bool trace_export_csv(const struct trace *trace, FILE *out, struct error *why);

/* Read the CSV file at `path` into a new trace at `out_path`; a failure leaves no new file. The
 * caller zeroes `complaints`; on failure it holds the faulty lines: the first one, and every later
 * line that is malformed in itself (their order can no longer be checked). Memory holds one tile of
 * all layers. */
bool trace_import_csv(const char *path, const char *out_path, struct complaints *complaints,
                      struct error *why);

#endif
