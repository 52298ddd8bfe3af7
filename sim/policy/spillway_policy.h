/* A cache policy of your own for Spillway, as a plug-in.
 *
 * A plug-in is a shared library that exports one `struct spillway_policy` by the name
 * `spillway_policy`; its only header is this one, and it links with nothing of Spillway:
 *
 *     cc -shared -fPIC -o mine.so mine.c
 *     spillway curve smollm2-135m --policy plugin:./mine.so
 *     spillway simulate ... --set mechanisms.policy=plugin:./mine.so
 *     spillway simulate ... --set 'mechanisms.policy={name: plugin:./mine.so, depth: 3}'
 *
 * What a policy is. One instance is one cache over blocks 0 ... blocks - 1 of one KV head. Step by
 * step it is asked for a demand, the blocks that the head wants, and answers which of them it held
 * before (hits), which of the others it admits, and which it evicts for them. It knows no time, no
 * bytes and no hardware: Spillway reckons those from the answers.
 *
 * Order. A demand is a batch. Hits are what was held before the step, whatever the step changes.
 * Then touch the hits, worst first, and admit the misses, worst first: the best blocks are then the
 * youngest. Misses need not be admitted, and what is admitted may leave again within the step.
 * Where a user asks for `order: sequential`, and in a plain stream of ids, each demand is one
 * block.
 *
 * What Spillway holds you to. It keeps its own account of what is held, by what you admit and
 * evict. An answer that does not agree with it is an error that names the plug-in: a number of hits
 * other than the wanted blocks that are held, a block out of range, one admitted that is held
 * already, that was not wanted or that was admitted in this step before, one evicted that is not
 * held, and more blocks held after the step than `capacity`. Only what is wanted can be admitted:
 * a prefetch would cross the link for nothing.
 *
 * Determinism. The same demands must get the same answers: the result of a run is a function of its
 * inputs, and the plug-in's file is one of them. Draw lots from `seed`, never from the time.
 * Instances live in several threads at once, each in one: share nothing that you write to.
 *
 * Ownership. What `create` returns is yours until `destroy`. Everything that you are handed is
 * Spillway's and ends with the call; copy what you need.
 *
 * Failure. `create` may refuse. `access` cannot fail: allocate in `create`. A plug-in runs in
 * Spillway's process: if it crashes, Spillway crashes with it. What a database holds by then stays
 * whole.
 *
 * The number SPILLWAY_POLICY_ABI changes whenever a struct below does; a plug-in with another
 * number is refused. Build it again with the header of the program that is to load it.
 */
#ifndef SPILLWAY_POLICY_H
#define SPILLWAY_POLICY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPILLWAY_POLICY_ABI 1

enum { SPILLWAY_MOST_PARAMS = 8, SPILLWAY_MOST_REASON = 160 };

/* A parameter: users write it beside the policy's name. */
struct spillway_param {
    const char *name;
    double value, least, most; /* the default, and the range that is checked for you */
    const char *summary;
};

/* The cache that an instance is to be. */
struct spillway_env {
    uint32_t blocks;         /* ids are below this */
    uint32_t capacity;       /* blocks it may hold after a step: 1 ... blocks */
    uint32_t wanted;         /* blocks that a demand asks for at most */
    uint32_t query_heads;    /* that share this KV head; 0: the trace has no queries */
    uint32_t head_dim;       /* numbers of a query */
    const float *importance; /* [query_heads] 0 ... 1; NULL: all 1 */
    const double *values;    /* one for each of `params`, in that order */
    uint64_t seed;           /* differs from head to head */
};

/* What the head wants at one step. */
struct spillway_demand {
    const uint32_t *blocks; /* best first: [0, wanted) is asked for, [wanted, recorded) is not */
    const float *mass;      /* [recorded] share of attention of each; NULL: unknown (plain ids) */
    uint32_t wanted, recorded;
    const int8_t *query; /* query head j: [head_dim] from query[j * query_stride]; NULL: unknown */
    uint64_t query_stride;
};

/* What a policy says to it; comes zeroed but for the last three. */
struct spillway_answer {
    uint32_t hit;              /* wanted blocks that were held before this step */
    uint32_t lookups, updates; /* what managing the cache took, in blocks looked up and entries
                                  moved (with `needs_queries`, in query heads compared and labels
                                  set); insertions are counted for you. At most
                                  blocks + query_heads each */
    uint32_t reused; /* 1, with `needs_queries` only: what is held is attended to as it is, whatever
                        was wanted. Then `hit` is `wanted`, and nothing is admitted or evicted */
    struct spillway_cache *cache;
    void (*admit)(struct spillway_cache *cache, uint32_t block);
    void (*evict)(struct spillway_cache *cache, uint32_t block);
};

struct spillway_policy {
    uint32_t abi;           /* SPILLWAY_POLICY_ABI; always first */
    uint32_t needs_queries; /* 1: it compares queries; a trace without any is refused, and so is a
                               cache that does not hold a whole demand */
    const char *name;       /* a word: small letters, digits, '-' */
    const char *summary;    /* one line */
    const struct spillway_param *params; /* ends with a row of name NULL; NULL: none */
    /* An empty cache, or NULL with the reason in `reason`. */
    void *(*create)(const struct spillway_env *env, char reason[SPILLWAY_MOST_REASON]);
    void (*access)(void *instance, const struct spillway_demand *demand,
                   struct spillway_answer *answer);
    void (*destroy)(void *instance);
};

/* What your plug-in defines. */
extern const struct spillway_policy spillway_policy;

#ifdef __cplusplus
}
#endif

#endif
