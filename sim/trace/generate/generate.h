/* Traces generated from a profile, for any model, context and length.
 *
 * A generated trace is opened like a file and read with the functions of trace/format/trace.h:
 * trace_read() makes the requested frame. Generation keeps no state: every draw is a hash of (seed,
 * sequence, layer, head, what, when), for processes in time too (latent.h), so each frame is a pure
 * function of its place. Rows are therefore the same in any order, for any number of threads, in
 * memory or from the file that trace_copy() writes. Memory grows with the units of one head and the
 * rows of one frame, never with steps.
 *
 * trace/generate/profile.h says how the statistics carry over to another context. The share of the
 * context that a row keeps, and the window in tokens, also stay the same. Masses below 2^-25.5
 * share one code: past some 10^6 tokens the order within a row is lost, but not the row.
 */
#pragma once

#include "trace/format/trace.h"
#include "trace/generate/profile.h"

struct trace_geometry {
    const char *model; /* name for the source; NULL: the profile's */
    uint32_t layers, kv_heads, query_heads, head_dim;
    uint32_t context; /* tokens; a unit is one token */
    double keep;      /* share of the context in a row besides the window */
    uint32_t sequences, steps;
    uint64_t seed;
};

/* Open a trace whose frames are made when they are read. `name` is the profile's name in messages
 * and in the trace's source; `profile` is copied. Close it with trace_close(). */
struct trace *trace_open_generated(const struct trace_profile *profile, const char *name,
                                   const struct trace_geometry *geometry, struct error *why);

/* Write all frames of `trace` to a new file, making layers on `threads` threads (0: one per
 * processor); the bytes are the same for any number. */
bool trace_copy(const struct trace *trace, const char *path, uint32_t threads, struct error *why);
