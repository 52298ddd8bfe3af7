/* The demands of one KV head at each step, and its cache.
 *
 * A target head reads a source head of the trace, shifted by some steps (traces/FORMAT.md): its
 * step t is the source's step warm-up + (t + shift) mod steps. After the wrap-around, the head uses
 * a second cache, which starts with the state before the first reported step, as in replay.
 */
#pragma once

#include "decode/miniature/miniature.h"

/* The wanted tokens, which are the policy's units. Token t is row first + t of the layer. */
struct mini_demand {
    uint32_t *units;   /* [count] tokens, best first; owned */
    uint32_t *ordered; /* [count] their rows, ascending, as attention reads them; owned */
    uint32_t count;
    int8_t *query; /* [query heads of a group][head_dim] of the trace, owned; NULL: has none */
    float *scale;
};

struct mini_cache {
    struct policy *policy; /* NULL in the second cache if the shift is 0 */
    uint32_t *set;         /* rows of the set that is reused, owned */
    uint32_t set_count;
    const struct mini_demand *fetched; /* the demand for which the set was fetched; NULL: none */
};

struct mini_head {
    uint32_t first;  /* row of its first token */
    uint32_t copies; /* of the recorded context, one after the other */
    uint32_t recorded;
    uint32_t shift, steps, warmup;
    struct mini_demand *demands; /* [warmup + steps] owned */
    uint32_t query_heads, query_dim;
    struct mini_cache caches[2];

    /* Rows of the current step. */
    uint32_t *hits, *misses; /* owned */
    uint32_t hit_count, miss_count;
    const uint32_t *attended; /* all rows that are attended to */
    uint32_t attended_count;
    bool reused, agrees;
};

/* Read the demands of all heads of `layer` into heads[kv_heads]. The caller releases each, on
 * failure too. */
bool mini_heads_read(const struct miniature *shape, const struct trace *trace, uint32_t layer,
                     struct mini_head *heads, struct error *why);
void mini_head_release(struct mini_head *head);

/* The environment of a head's cache, for its policy. */
struct policy_env mini_env(const struct miniature *shape, const struct trace *trace);

/* Create empty caches of policy `kind`, and warm them. `env` is the same for every head. */
bool mini_head_start(struct mini_head *head, const struct policy_kind *kind,
                     const struct policy_env *env, struct error *why);

/* Steps of the source that a cache has seen before the first measured step: for cache 0 the warm-up
 * and the shift, for cache 1 the warm-up alone. */
uint32_t mini_head_seen(const struct mini_head *head, uint32_t cache);

const struct mini_demand *mini_head_demand(const struct mini_head *head, uint32_t step);
struct mini_cache *mini_head_cache(struct mini_head *head, uint32_t step);

/* Visit each row that the head will want and that a cache holds before the first step. A row may be
 * visited more than once. */
typedef void (*mini_visit)(uint32_t row, void *context);
void mini_head_held(const struct mini_head *head, mini_visit visit, void *context);

/* Look up the demand of step `step`, and list hits and misses. For a policy that compares queries,
 * this is all of its access. */
void mini_head_look_up(struct mini_head *head, uint32_t step);

/* The same without a manager: hits are found by position, or nothing is cached. */
void mini_head_tell_apart(struct mini_head *head, uint32_t step);

/* The policy's access. For a policy that compares queries, note the set that was fetched. */
void mini_head_update(struct mini_head *head, uint32_t step);
