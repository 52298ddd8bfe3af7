/* A recording beside its twin: a trace of the same shape, generated from a profile that was fitted
 * to this recording or to another one. */
#pragma once

#include "decode/replay/likeness.h"
#include "trace/format/trace.h"
#include "trace/generate/profile.h"

/* A twin is drawn at random, and parts of it last for most of its steps: over 18 heads and 128
 * steps, reuse and mass differ by a point or two from seed to seed. So its figures are means over
 * twins of as many seeds. */
enum { TWIN_DRAWS = 4 };

/* What was fitted. */
struct fitted {
    const struct trace *recording;
    const struct trace_profile *profile;
    double share;  /* of the context that a demand asks for */
    uint64_t seed; /* of the first twin */
};

struct beside_twin {
    struct trace *recording; /* the caller's */
    struct likeness was, is; /* of the recording; of TWIN_DRAWS twins, their mean */
    bool is_own;             /* this recording was fitted */
    bool is_same_model;
    bool is_same_context;
    uint32_t fitted; /* tokens of the recording that was fitted */
};

/* Compare `recording` with its twin. If both recordings are of one model, the comparison is over
 * the layers that both have, and shows only these of `recording`. Fails if units or window differ,
 * or if the two have no layer in common. The caller releases `out` in any case. */
bool beside_twin_make(const struct fitted *fitted, struct trace *recording, struct beside_twin *out,
                      struct error *why);
void beside_twin_release(struct beside_twin *comparison);

/* The figures that the fitted recording's twin has at `context` tokens: means over all heads. */
bool beside_twin_at(const struct fitted *fitted, uint32_t context, double is[LIKENESS_FIGURES],
                    struct error *why);
