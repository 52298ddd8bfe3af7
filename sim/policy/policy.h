/* Cache policies behind one interface.
 *
 * A policy instance is one cache over blocks 0 ... blocks-1 (of one KV head, or of a layer where
 * blocks span all heads). It sees a demand at a time and answers with an outcome; it sees no time,
 * bytes or hardware.
 *
 * A step's demand is a batch (`order` POLICY_BATCH): all wanted blocks are looked up against the
 * state before the step; then they are touched and admitted, worst first, in one order that does
 * not depend on the size. LRU re-stamps hits and misses in that one order, which makes it a stack
 * algorithm; every other policy touches its hits worst first, then admits its misses worst first.
 * POLICY_SEQUENTIAL handles one block after the other, worst first, each against the state the
 * previous one left.
 *
 * Dense arrays, not hash tables: block ids are small integers.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/error.h"
#include "base/node.h"
#include "trace/demand.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum policy_order { POLICY_BATCH, POLICY_SEQUENTIAL };

struct policy_kind;

struct policy_env {
    const struct policy_kind *kind; /* whose create() is called; policy_create() fills it in */
    uint32_t blocks;                /* ids are below this */
    uint32_t capacity;              /* blocks the cache may hold, at most `blocks` */
    uint32_t wanted;                /* blocks that a demand asks for at most */
    enum policy_order order;
    uint32_t sinks, recent; /* first and last blocks that no demand asks for: others keep them */
    uint32_t warmup;        /* accesses before those that are reported */
    uint32_t query_heads;   /* of the group; 0: the trace has no queries */
    uint32_t head_dim;
    const float *importance; /* one a query head of the group, 0 ... 1; NULL: all 1 */
    uint64_t seed;           /* of policies that draw lots */
    /* When the block of each access is wanted next, as next_use.h counts, or NULL where that is not
     * known. Kept by a policy that needs it, so it must outlive the policy. */
    const uint32_t *next_use;
};

enum { POLICY_MOST_PARAMS = 8 };

/* Blocks that demands may ask for. */
static inline uint32_t policy_outside(const struct policy_env *env)
{
    uint64_t window = (uint64_t)env->sinks + env->recent;
    return window < env->blocks ? env->blocks - (uint32_t)window : 0;
}

/* A parameter of a policy: its row in the table gives name, default and range. */
struct policy_param {
    const char *name;
    double value, least, most;
    const char *summary;
};

struct outcome {
    uint32_t hit, missed; /* of the wanted blocks; hit + missed = wanted */
    /* Of a policy that chooses_own: hits are all blocks that the GPU attends to, these are those
     * that are not held, which the CPU attends to where they are (of one that names_for_cpu),
     * nothing misses but before it has chosen, and what is neither is let go. */
    uint32_t for_cpu;
    uint32_t admitted, evicted;         /* admitted - evicted: what the footprint grows by */
    uint32_t lookups, updates, inserts; /* what the manager of the cache does, in blocks (in query
                                           heads, but for inserts, if the policy needs queries) */
    bool reused; /* the cached set was used as it is: no block looked up, none fetched */
    float mass;  /* attention mass of the recorded blocks attended to, window excluded */
};

/* What every instance begins with; each policy file puts its own state behind it. */
struct policy {
    const struct policy_kind *kind;
    enum policy_order order;
    uint32_t held, held_most; /* blocks, now and at most so far */
};

struct policy_kind {
    const char *name;
    const char *summary;               /* one line for `list policies` */
    const struct policy_param *params; /* ends with a row of name NULL; NULL: none */
    bool needs_queries;
    bool needs_next_use;
    bool chooses_own; /* what is attended to is its own choice: it looks at whole rows, whatever is
                         selected, and `mass` says what the choice leaves */
    bool names_for_cpu; /* and names units for the CPU */
    bool by_position;   /* what it holds is told by position: of everything it hits its capacity */
    bool draws_lots;    /* the seed may decide what it does */
    uint64_t content;   /* of a plug-in: hash of its file; 0 for a row of the table */
    /* Through policy_create(), which has checked `values` and `env`. The instance starts empty;
     * its `struct policy` is filled by policy_create(). */
    struct policy *(*create)(const double *values, const struct policy_env *env, struct error *why);
    /* `outcome` comes zeroed; the caller keeps the footprint's most. */
    void (*access)(struct policy *policy, const struct demand *demand, struct outcome *outcome);
    /* Is `block` in the cache? NULL: the policy holds no blocks that come and go one by one, or
     * knows the future, which is of units. */
    bool (*holds)(const struct policy *policy, uint32_t block);
    /* False where an answer broke what the interface promises; NULL: that cannot be. */
    bool (*check)(const struct policy *policy, struct error *why);
    void (*destroy)(struct policy *policy); /* NULL is fine */
};

/* The table of policies, by name; ends with NULL. */
extern const struct policy_kind *const policies[];

/* Find by name, or load (plugin:PATH); NULL with `why` naming the nearest. `file`, `line` as in
 * error_set(). Valid for the life of the process. Threads may call it. */
const struct policy_kind *policy_find(const char *name, const char *file, int line,
                                      struct error *why);

/* Read a policy as files and options write it: NAME, or {name: NAME, PARAMETER: NUMBER}. `values`
 * has room for POLICY_MOST_PARAMS; what is not said has its default. */
bool policy_read(const struct node *node, const struct policy_kind **kind, double *values,
                 struct error *why);

/* An empty cache. `values` has one value for each row of `params`, in that order (NULL: the
 * defaults of the table); one out of its range, a capacity above `blocks` and missing queries are
 * errors. Nothing of `values` and `env` is kept but `next_use`. NULL on failure. */
struct policy *policy_create(const struct policy_kind *kind, const double *values,
                             const struct policy_env *env, struct error *why);
void policy_access(struct policy *policy, const struct demand *demand, struct outcome *outcome);
/* To be asked when accesses are done, before their outcomes are believed: a plug-in may have
 * answered what cannot be. */
bool policy_check(const struct policy *policy, struct error *why);
/* Blocks held, now and at most so far. */
void policy_footprint(const struct policy *policy, uint32_t *now, uint32_t *most);
void policy_destroy(struct policy *policy); /* NULL is fine */

#endif
