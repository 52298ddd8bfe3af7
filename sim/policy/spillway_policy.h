/* Your own cache policy for Spillway, as a plug-in.
 *
 * A plug-in is a shared library that exports one `struct spillway_policy` under the name
 * `spillway_policy`. It needs only this header and links with nothing of Spillway:
 *
 *     cc -shared -fPIC -o mine.so mine.c
 *     spillway curve smollm2-135m --policy plugin:./mine.so
 *     spillway simulate ... --set mechanisms.policy=plugin:./mine.so
 *     spillway simulate ... --set 'mechanisms.policy={name: plugin:./mine.so, depth: 3}'
 *
 * What a policy is. One instance is one cache over blocks 0 ... blocks - 1 of one KV head. At each
 * step Spillway hands it a demand, the blocks that the head wants. It answers which of them it held
 * before (hits), which of the others it admits, and which blocks it evicts for them. It knows no
 * time, no bytes and no hardware: Spillway computes those from the answers.
 *
 * Order. A demand is a batch. Hits are the wanted blocks that were held before the step, whatever the step
 * changes. The best blocks are to be the youngest after it. `lru` touches and admits all wanted blocks in
 * one order, worst first, so that a hit may be older than a miss. Every other policy of Spillway touches
 * its hits, worst first, and then admits its misses, worst first. A miss need not be admitted, and an
 * admitted block may be evicted again within the step. With `order: sequential`, and in a plain stream of
 * ids, each demand is one block.
 *
 * What Spillway checks. It keeps its own account of the held blocks from your admissions and
 * evictions. An answer that disagrees with it is an error that names the plug-in:
 *   - a number of hits other than the number of wanted blocks that were held;
 *   - a block out of range;
 *   - an admitted block that is held already, was not wanted, or was admitted earlier in this step;
 *   - an evicted block that is not held;
 *   - more than `capacity` blocks held after the step.
 * Only wanted blocks can be admitted: a prefetch would cross the link for nothing.
 *
 * The first demand. In a decode trace caches begin full: the first demand asks for every block that a demand
 * can ask for, the likeliest first, and does not count. Policies that need queries do not see it.
 *
 * Determinism. The same demands must get the same answers, because the result of a run is a
 * function of its inputs, and the plug-in's file is one of them. Draw random numbers from `seed`,
 * never from the time. Several threads have instances at once; each instance is used by one thread
 * only. Do not share anything that you write to.
 *
 * Ownership. What `create` returns is yours until `destroy`. Everything that is passed to you
 * belongs to Spillway and is valid until the call returns; copy what you need.
 *
 * Failure. `create` may refuse. `access` cannot fail: allocate in `create`. A plug-in runs in
 * Spillway's process and is not watched: if it crashes or calls exit(), Spillway ends with it, and the
 * shell says how. Results that are stored by then stay whole.
 *
 * SPILLWAY_POLICY_ABI changes whenever a struct below does. A plug-in with another number is
 * refused; rebuild it with the header of the program that loads it. */
#ifndef SPILLWAY_POLICY_H
#define SPILLWAY_POLICY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPILLWAY_POLICY_ABI 1

enum { SPILLWAY_MOST_PARAMS = 8, SPILLWAY_MOST_REASON = 160 };

/* A parameter: users write it next to the policy's name. */
struct spillway_param {
    const char *name;
    double value, least, most; /* default and range; Spillway checks the range for you */
    const char *summary;
};

/* The cache that `create` makes. */
struct spillway_env {
    uint32_t blocks;         /* ids are below this */
    uint32_t capacity;       /* blocks it may hold after a step: 1 ... blocks */
    uint32_t wanted;         /* most blocks that a demand asks for */
    uint32_t query_heads;    /* that share this KV head; 0: the trace has no queries */
    uint32_t head_dim;       /* values in a query */
    const float *importance; /* [query_heads] 0 ... 1; NULL: all 1 */
    const double *values;    /* one for each of `params`, in that order */
    uint64_t seed;           /* differs from head to head */
};

/* The blocks that the head wants at one step.
 *
 * Where a scenario names a `retrieval`, [0, wanted) are the blocks that it found, in its own order,
 * and `mass` is nevertheless the true mass of each. No real system knows that mass for the blocks
 * in [wanted, recorded), which it did not fetch: a policy that reads it there is an upper bound. */
struct spillway_demand {
    const uint32_t *blocks; /* best first: [0, wanted) is asked for, [wanted, recorded) is not */
    const float *mass;      /* [recorded] share of attention of each; NULL: unknown (plain ids) */
    uint32_t wanted, recorded;
    const int8_t *query; /* query head j: [head_dim] from query[j * query_stride]; NULL: unknown */
    uint64_t query_stride;
};

/* The policy's answer; it comes zeroed except for the last three fields. */
struct spillway_answer {
    uint32_t hit;              /* wanted blocks that were held before this step */
    uint32_t lookups, updates; /* the work of managing the cache: blocks looked up and entries moved
                                  (with `needs_queries`: query heads compared and labels set).
                                  Insertions are counted for you. At most blocks + query_heads
                                  each */
    uint32_t reused; /* 1, only with `needs_queries`: attention uses the held set as it is, whatever
                        was wanted. Then `hit` is `wanted`, and nothing is admitted or evicted */
    struct spillway_cache *cache;
    void (*admit)(struct spillway_cache *cache, uint32_t block);
    void (*evict)(struct spillway_cache *cache, uint32_t block);
};

struct spillway_policy {
    uint32_t abi;           /* SPILLWAY_POLICY_ABI; always first */
    uint32_t needs_queries; /* 1: it compares queries; a trace without queries is refused, and so is
                               a cache that cannot hold a whole demand */
    const char *name;       /* one word: lower-case letters, digits, '-' */
    const char *summary;    /* one line */
    const struct spillway_param *params; /* ends with a row of name NULL; NULL: none */
    /* Make an empty cache, or return NULL with the reason in `reason`. */
    void *(*create)(const struct spillway_env *env, char reason[SPILLWAY_MOST_REASON]);
    void (*access)(void *instance, const struct spillway_demand *demand,
                   struct spillway_answer *answer);
    void (*destroy)(void *instance);
};

/* Your plug-in defines this. */
extern const struct spillway_policy spillway_policy;

#ifdef __cplusplus
}
#endif

#endif
