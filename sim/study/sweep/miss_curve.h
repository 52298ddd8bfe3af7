/* Curves: what a policy misses at one cache size after the other.
 *
 * Each head of a trace has a cache of its own, of the same size; a curve counts the misses of one
 * head, of a layer's, or of all, over all sequences. LRU is a stack algorithm: one pass gives every
 * size (policy/stack.h). Any other policy replays at chosen sizes, all in one read of the trace;
 * one that knows the future reads it twice. Layers, or the sizes of a plain stream, run in
 * parallel; the result is the same for any number of threads. At every size the misses are those of
 * a replay (decode/replay/replay.h) of that size.
 */
#ifndef STUDY_SWEEP_MISS_CURVE_H
#define STUDY_SWEEP_MISS_CURVE_H

#include "policy/policy.h"
#include "trace/format/trace.h"
#include "trace/import/ids.h"

enum miss_group { MISS_WHOLE, MISS_LAYER, MISS_HEAD };

struct miss_request {
    const struct policy_kind *policy;
    const double *values;    /* of its parameters; NULL: their defaults */
    enum miss_group group;   /* what has a curve of its own; a plain stream has but the whole */
    enum policy_order order; /* of a trace; a plain stream has one */
    double selection;        /* share of a trace's context that a head wants */
    uint32_t warmup;         /* steps of a trace that are replayed and not counted */
    const uint32_t *sizes;   /* [count] blocks a head; more than there are is all of them */
    uint32_t count;
};

/* Groups are the whole, the layers, or the KV heads of the first layer, of the second, and so on.
 */
struct miss_curve {
    uint32_t groups, count; /* `count` as in the request */
    uint64_t *accesses;     /* [groups]; owned */
    uint64_t *misses;       /* [groups][count] at each size; owned */
};

void miss_curve_init(struct miss_curve *curve);
void miss_curve_release(struct miss_curve *curve);

/* The misses of a group at each size. */
static inline uint64_t *miss_curve_group(const struct miss_curve *curve, uint32_t group)
{
    return curve->misses + (size_t)group * curve->count;
}

/* The sum of all groups into `whole`, which is the caller's to release, on failure too. */
bool miss_curve_sum(const struct miss_curve *curve, struct miss_curve *whole, struct error *why);

/* The curves of a trace, or of a stream of ids, on `threads` threads (0: one a processor). `curve`
 * is the caller's to release, on failure too. */
bool miss_curve_of_trace(const struct trace *trace, const struct miss_request *request,
                         uint32_t threads, struct miss_curve *curve, struct error *why);
bool miss_curve_of_ids(const struct ids *ids, const struct miss_request *request, uint32_t threads,
                       struct miss_curve *curve, struct error *why);

#endif
