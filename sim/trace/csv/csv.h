/* Decode traces as CSV text, for other tools (traces/FORMAT.md, section CSV).
 * traces/convert/text.py reads it. */
#pragma once

#include "trace/format/trace.h"

#include <stdio.h>

/* Write all of `trace` to `out`, which the caller opened and closes. Memory holds one tile of all
 * layers. */
bool trace_export_csv(const struct trace *trace, FILE *out, struct error *why);
