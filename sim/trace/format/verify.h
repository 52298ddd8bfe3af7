/* Verify a trace: read every frame once, and count its contents. */
#pragma once

#include "trace/format/trace.h"

struct trace_summary {
    uint64_t bytes; /* of the file */
    uint64_t frames;
    uint64_t rows;  /* one per (sequence, step, layer, KV head) */
    uint64_t units; /* in all rows */
};

/* Read all frames on `threads` threads (0: one per processor). If several frames are broken, the
 * error names the first broken one of the lowest layer. */
bool trace_verify(const struct trace *trace, uint32_t threads, struct trace_summary *summary,
                  struct error *why);
