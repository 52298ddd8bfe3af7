/* Cache policies behind one interface.
 *
 * A policy instance is one cache over blocks 0 ... blocks-1 of one KV head, or of a layer if blocks span all
 * heads. It sees one demand at a time and answers with an outcome; it knows no time, bytes or hardware.
 *
 * A step's demand is a batch (`order` POLICY_BATCH): all wanted blocks are looked up against the state before
 * the step. Then they are touched and admitted, worst first, in an order that does not depend on the cache
 * size. LRU re-stamps hits and misses together in that one order, which makes it a stack algorithm. Every
 * other policy touches its hits worst first, then admits its misses worst first. POLICY_SEQUENTIAL handles
 * one block after the other, worst first, each against the state that the previous one left.
 *
 * Policies use dense arrays, not hash tables, because block ids are small integers. */
#pragma once

#include <stdint.h>

#include "core/array.h"
#include "core/error.h"
#include "core/node.h"
#include "trace/demand.h"

enum policy_order { POLICY_BATCH, POLICY_SEQUENTIAL };
extern const char *const policy_orders[]; /* "batch", "sequential"; ends with NULL */

struct policy_kind;

struct policy_env {
    uint32_t blocks;   /* ids are below this */
    uint32_t capacity; /* blocks the cache may hold, at most `blocks` */
    uint32_t wanted;   /* most blocks that a demand asks for */
    uint32_t tokens;   /* whose demands are one union, at most; 0: one */
    enum policy_order order;
    uint32_t sinks, recent; /* first and last blocks, which no demand asks for and others keep */
    uint32_t warmup;        /* accesses before the reported ones */
    double decoded;         /* last blocks that no prompt had: they were decoded */
    double born;            /* blocks that each access adds behind the last, outside any demand */
    uint32_t query_heads;   /* of the group; 0: the trace has no queries */
    uint32_t head_dim;
    const float *importance;    /* [query_heads of the group] 0 ... 1; NULL: all 1 */
    const float *kv_importance; /* of the KV head; NULL: the mean of its query heads */
    uint64_t seed;              /* for policies that draw at random */
    /* The next use of each access's block (next_use.h), or NULL; it outlives a policy that needs it. */
    const uint32_t *next_use;
    const double *values; /* [rows of `params`], which policy_create() gives to init() */
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
    /* For a policy that chooses_own: hits are all blocks that the GPU attends to. If it also names_for_cpu,
     * for_cpu counts others that the CPU attends to. It misses only before it has chosen. */
    uint32_t for_cpu;
    uint32_t admitted, evicted;         /* admitted - evicted is the growth of the footprint */
    uint32_t lookups, updates, inserts; /* work of the cache's manager, in blocks (if the policy
                                           needs queries: in query heads, except inserts) */
    bool reused; /* the cached set was used as it is: no block looked up, none fetched */
    struct unit_set attended;   /* blocks attended to, window excluded */
    struct mass_bounds members; /* of a union whose set was reused: what its tokens attend to */
    float born_lost; /* share of the tokens born while decoding that may be out of the cache */
};

/* The start of every instance; each policy file appends its own state. */
struct policy {
    const struct policy_kind *kind;
    enum policy_order order;
    uint32_t capacity;    /* blocks it may hold */
    uint32_t held;        /* blocks, now */
    uint32_t *missed;     /* [blocks] scratch of batch.h */
    struct arrays arrays; /* all of the instance's, which policy_destroy() frees */
};

struct policy_kind {
    const char *name;
    const char *title;                 /* of a plug-in: the name that it gives itself; else NULL */
    const char *summary;               /* one line for `list policies` */
    const struct policy_param *params; /* ends with a row of name NULL; NULL: none */
    bool needs_queries;
    bool needs_next_use;
    bool chooses_own; /* it chooses what is attended to: it reads whole rows, whatever is selected,
                         and `mass` is the attention mass that its choice keeps */
    bool names_for_cpu;    /* it chooses its own and also names units for the CPU */
    bool by_position;      /* a block's position tells whether it is held */
    bool draws_lots;       /* the seed may change its decisions */
    bool ignores_capacity; /* answers alike at every capacity that init() accepts */
    /* The share of the cache through which tokens pass on their way out, for these parameters: all
     * that the policy will drop is dropped when as many tokens have been born. NULL: none pass. */
    double (*passes)(const double *values);
    uint64_t content; /* of a plug-in: hash of its file; 0 for a row of the table */
    size_t size;      /* of an instance */
    /* Called by policy_create(), which has checked `values` and `env` and filled the `struct policy`
     * of the zeroed instance, and which looks at `arrays.failed` afterwards. NULL: nothing to do. */
    bool (*init)(struct policy *policy, const struct policy_env *env, struct error *why);
    /* `outcome` comes zeroed. */
    void (*access)(struct policy *policy, const struct demand *demand, struct outcome *outcome);
    /* Is `block` in the cache? NULL if blocks do not come and go singly, or the future is known. */
    bool (*holds)(const struct policy *policy, uint32_t block);
    /* False where an answer broke what the interface promises; NULL: that cannot be. */
    bool (*check)(const struct policy *policy, struct error *why);
    void (*release)(
        struct policy *policy); /* what is not in `arrays`, after a failure, too; NULL */
};

/* The table of policies, by name; ends with NULL. */
extern const struct policy_kind *const policies[];

/* The name that people read. */
static inline const char *policy_title(const struct policy_kind *kind)
{
    return kind->title != NULL ? kind->title : kind->name;
}

/* Find a policy by name, or load it (plugin:PATH); NULL with `why` naming the nearest. `file` and
 * `line` are as in error_set(). The result is valid for the life of the process. Thread-safe. */
const struct policy_kind *policy_find(const char *name, const char *file, int line,
                                      struct error *why);

/* If `over` gives the policy at `path` parameters without a name, make a word there {name: word}. */
bool policy_open(struct node *root, const char *path, const struct node *over, struct error *why);

/* Read NAME, or {name: NAME, PARAMETER: NUMBER}; absent parameters get defaults (POLICY_MOST_PARAMS). */
bool policy_read(const struct node *node, const struct policy_kind **kind, double *values,
                 struct error *why);

/* Write a policy as tables name it, "qsac, eta 0.6": with its first parameter, and with others that
 * differ from their defaults. False, and `text` as it was, if the node is no policy. */
bool policy_words(const struct node *node, char *text, size_t size);

/* Create an empty cache. `values` has one for each of `params` (NULL: the defaults). A value out of its range
 * and missing queries are errors. Only the `next_use` pointer of `env` is kept. NULL on failure. */
struct policy *policy_create(const struct policy_kind *kind, const double *values,
                             const struct policy_env *env, struct error *why);
void policy_access(struct policy *policy, const struct demand *demand, struct outcome *outcome);

/* Call this before trusting the outcomes of accesses: a plug-in may have given an invalid answer. */
bool policy_check(const struct policy *policy, struct error *why);
void policy_destroy(struct policy *policy); /* NULL is fine */

/* Policies that code names; others are found by name, so that a new row compiles few files. */
extern const struct policy_kind policy_none, policy_lru, policy_fifo, policy_opt, policy_qsac;

/* QSAC's threshold: the least cosine at which a head of `importance` reuses its set; -INFINITY: always. */
double qsac_threshold(const double *values, double importance);

/* Do the importances of KV heads matter, for the threshold; and those of query heads, for the aggregate? */
bool qsac_weighs_kv_heads(const double *values);
bool qsac_weighs_query_heads(const double *values);

/* Policies from outside: `plugin:PATH` (plugin.c). As policy_find(), for such a name. */
#define PLUGIN_PREFIX "plugin:"
bool plugin_is_named(const char *name);
const struct policy_kind *plugin_find(const char *name, const char *file, int line,
                                      struct error *why);
