/* What one KV head wants at each step, and its cache.
 *
 * A target head reads a source head of the trace, some steps shifted (traces/FORMAT.md): step t is
 * the source's step warm-up + (t + shift) mod steps. Where that goes past the end, the head goes on
 * with a second cache that stands where the first reported step begins, as replay does.
 */
#ifndef CALIBRATE_HOST_HEAD_H
#define CALIBRATE_HOST_HEAD_H

#include "decode/miniature/miniature.h"

/* The tokens that are wanted, best first: the policy's units. Token t is row first + t of the
 * layer; these rows stand in order, too, in which they are attended to. */
struct mini_demand {
    uint32_t *units, *ordered; /* [count] owned */
    uint32_t count;
    int8_t *query; /* [query heads of a group][head_dim] of the trace, owned; NULL: has none */
    float *scale;
};

struct mini_cache {
    struct policy *policy; /* NULL: of a shift of 0 there is one cache only */
    uint32_t *set;         /* rows of the set that it reuses as it is, owned */
    uint32_t set_count;
    const struct mini_demand *fetched; /* what that set was wanted for; NULL: none yet */
};

struct mini_head {
    uint32_t first;  /* row of its first token */
    uint32_t copies; /* of the recorded context, one behind the other */
    uint32_t recorded;
    uint32_t shift, steps, warmup;
    struct mini_demand *demands; /* [warmup + steps] owned */
    uint32_t query_heads, query_dim;
    struct mini_cache caches[2];

    /* Of the step that runs: rows. */
    uint32_t *hits, *misses; /* owned */
    uint32_t hit_count, miss_count;
    const uint32_t *attended; /* all that is attended to */
    uint32_t attended_count;
    bool reused, agrees;
};

/* Read what all heads of `layer` want: heads[kv_heads]. The caller releases each, on failure
 * too. */
bool mini_heads_read(const struct miniature *shape, const struct trace *trace, uint32_t layer,
                     struct mini_head *heads, struct error *why);
void mini_head_release(struct mini_head *head);

/* A head's cache, as its policy sees it. */
struct policy_env mini_env(const struct miniature *shape, const struct trace *trace);

/* Empty caches of the mechanism's policy, then warmed. `env` is that of every head. */
bool mini_head_start(struct mini_head *head, const struct policy_kind *kind,
                     const struct policy_env *env, struct error *why);

/* Steps of the source that a cache has seen before the first step that is run: cache 0 those up to
 * the head's shift, cache 1, where there is one, the warm-up alone. */
uint32_t mini_head_seen(const struct mini_head *head, uint32_t cache);

const struct mini_demand *mini_head_demand(const struct mini_head *head, uint32_t step);
struct mini_cache *mini_head_cache(struct mini_head *head, uint32_t step);

/* Each row that the head will want and that a cache holds before the first step; at least once. */
typedef void (*mini_visit)(uint32_t row, void *context);
void mini_head_held(const struct mini_head *head, mini_visit visit, void *context);

/* Look up what step `step` wants, and tell hits from misses; of a policy that compares queries, all
 * of its access. */
void mini_head_look_up(struct mini_head *head, uint32_t step);

/* The same where no manager is asked: by position, or because nothing is cached. */
void mini_head_tell_apart(struct mini_head *head, uint32_t step);

/* The policy's access; of one that compares queries, note the set that was fetched. */
void mini_head_update(struct mini_head *head, uint32_t step);

#endif
