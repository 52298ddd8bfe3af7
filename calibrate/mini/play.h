/* The CPU's stages of a layer. The programs of host and GPU are built from them. */
#pragma once

#include "calibrate/mini/mini.h"

/* One layer of one step. */
struct play {
    struct mini *mini;
    enum miniature_id id;
    uint32_t step, layer;
    struct pool *pool;
    uint32_t row_count; /* in mini->rows: keys and values of the misses of all heads */
    char *staging;      /* where they are gathered */
    const char *from;   /* what the link copies, in one piece */
    char *to;
    double copy_ns;               /* time of the link's last copy */
    struct attention_head *heads; /* [kv_heads], of mini->attended */
};

struct play mini_play_init(struct mini *mini, enum miniature_id id);

static inline struct mini_head *play_heads(const struct play *play)
{
    return mini_heads(play->mini, play->layer);
}

static inline struct mini_layer *play_layer(const struct play *play)
{
    return &play->mini->layers[play->layer];
}

/* Without a policy that manages the cache, the misses are known before, and finding them takes none
 * of the mechanism's time. */
void mini_tell_apart(struct play *play);

/* Look up, or update, all heads on the pool. */
void mini_look_up(struct play *play);
void mini_update(struct play *play);

/* Run the policy for all layers of a step, before a GPU that manages the cache runs it. */
void mini_run_ahead(struct play *play);

/* List the rows of all misses in mini->rows, keys and then values; and gather them into `staging`.
 */
void mini_list_misses(struct play *play);
void mini_gather(struct play *play);

/* Set up each head's attention to these tokens of the layer's rows at `base`: into the output, or,
 * if `part`, into a part that is merged with it later. */
enum play_tokens { TOKENS_ATTENDED, TOKENS_HIT, TOKENS_MISSED, TOKENS_ALL };
void mini_prepare(struct play *play, const char *base, enum play_tokens tokens, bool part);

/* Fill the CPUs' caches with other data. */
void mini_fill_caches(struct mini *mini);

/* Add the layer's wanted and missed tokens to the counts. */
void mini_count(const struct play *play, struct mini_counts *counts);
