/* Trace profiles for tests: one level for all distances, nothing lasts, no mass in the window;
 * tests set what they are about. */
#ifndef MAKE_PROFILE_H
#define MAKE_PROFILE_H

#include "make_trace.h"
#include "trace/generate/generate.h"

static inline struct trace_profile_head make_plain_head(void)
{
    return (struct trace_profile_head){
        .knots = 1,
        .spread = {1},
        .score = {1},
        .query = {1},
        .decay = 1,
    };
}

/* A profile around the caller's `heads`. */
static inline struct trace_profile make_profile(struct trace_profile_head *heads, uint32_t layers,
                                                uint32_t kv_heads)
{
    return (struct trace_profile){
        .source = "a test",
        .basis = BASIS_MEASURED,
        .model = "none",
        .layers = layers,
        .kv_heads = kv_heads,
        .query_heads = 2 * kv_heads,
        .head_dim = 64,
        .context = 2048,
        .sinks = 4,
        .recent = 64,
        .first_octave = 6,
        .heads = heads,
    };
}

static inline struct trace_geometry make_geometry(uint32_t layers, uint32_t kv_heads,
                                                  uint32_t context, uint32_t steps)
{
    return (struct trace_geometry){
        .layers = layers,
        .kv_heads = kv_heads,
        .query_heads = 2 * kv_heads,
        .head_dim = 64,
        .context = context,
        .keep = 0.1,
        .sequences = 1,
        .steps = steps,
        .seed = 1,
    };
}

static inline struct trace *make_generated(const struct trace_profile *profile,
                                           const struct trace_geometry *geometry)
{
    struct error why;
    struct trace *trace = trace_open_generated(profile, "test.yaml", geometry, &why);
    make_check(trace != NULL, &why);
    return trace;
}

#endif
