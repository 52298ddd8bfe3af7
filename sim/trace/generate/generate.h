/* Traces generated from a profile, of any model, context and length.
 *
 * A generated trace is opened like a file and read with the functions of trace/format/trace.h:
 * trace_read() makes the frame that is asked for. That is clean because generation has no memory:
 * every draw is a hash of (seed, sequence, layer, head, what, when), processes in time included
 * (latent.h), so each frame is a pure function of its place. Hence the same rows in any order, for
 * any number of threads, read in memory or from the file that trace_generate() writes; and memory
 * grows with the units of one head and the rows of one frame, never with steps.
 *
 * How the statistics reach another context is told in trace/generate/profile.h. What else is kept: the share
 * of the context that a row keeps, and the window in tokens. Masses below 2^-25.5 share one code,
 * so that past some 10^6 tokens the order within a row is lost, not the row.
 */
#ifndef TRACE_GENERATE_GENERATE_H
#define TRACE_GENERATE_GENERATE_H

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

/* A trace whose frames are made when they are read. `name` is the profile's in messages and in the
 * trace's source; `profile` is copied. trace_close() it. */
struct trace *trace_open_generated(const struct trace_profile *profile, const char *name,
                                   const struct trace_geometry *geometry, struct error *why);

/* Write all frames of `trace` to a new file, making layers on `threads` threads (0: one a
 * processor); the same bytes for any number. */
bool trace_copy(const struct trace *trace, const char *path, uint32_t threads, struct error *why);

#endif
