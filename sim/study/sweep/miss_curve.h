/* Miss curves: the misses of a policy at each of several sizes of every head's cache, of one head, of a
 * layer, or of all, over all sequences, in one read of the trace, for any number of threads. */
#pragma once

#include "policy/policy.h"
#include "trace/ids.h"

enum miss_group { MISS_WHOLE, MISS_LAYER, MISS_HEAD };

struct miss_request {
    const struct policy_kind *policy;
    const double *values;    /* its parameters; NULL: their defaults */
    enum miss_group group;   /* what also gets its own curve; a plain stream has only MISS_WHOLE */
    enum policy_order order; /* for traces; a plain stream has one order */
    double selection;        /* share of a trace's context that a head wants */
    bool starts_full;        /* for traces: as in a replay (decode/replay/replay_job.h) */
    uint32_t warmup;         /* first steps of a trace, replayed but not counted */
    const uint32_t *sizes;   /* [count] blocks per head, ascending; more than there are: all */
    uint32_t count;
};

/* The groups are the whole, and behind it the layers, or the KV heads in order of layers. */
struct miss_curve {
    uint32_t groups, count; /* `count` as in the request */
    uint64_t *accesses;     /* [groups]; owned */
    uint64_t *misses;       /* [groups][count], one per size; owned */
};

void miss_curve_release(struct miss_curve *curve);

/* The misses of a group at each size. */
static inline uint64_t *miss_curve_group(const struct miss_curve *curve, uint32_t group)
{
    return curve->misses + (size_t)group * curve->count;
}

/* The curves of a trace, or of a stream of ids. `curve` is zeroed, and released after a failure, too. */
bool miss_curve_of_trace(const struct trace *trace, const struct miss_request *request,
                         uint32_t threads, struct miss_curve *curve, struct error *why);
bool miss_curve_of_ids(const struct ids *ids, const struct miss_request *request, uint32_t threads,
                       struct miss_curve *curve, struct error *why);
