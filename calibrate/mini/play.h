/* The stages that a CPU has in a layer, which the programs of both sites are put together from. */
#ifndef CALIBRATE_MINI_PLAY_H
#define CALIBRATE_MINI_PLAY_H

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
    double copy_ns;               /* that the link last took */
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

/* Where no policy manages the cache: what is missed is known before, and no part of the mechanism's
 * time. */
void mini_tell_apart(struct play *play);

/* By the pool, all heads. */
void mini_look_up(struct play *play);
void mini_update(struct play *play);

/* The policy's step, all layers of it, ahead of a GPU that manages by itself. */
void mini_run_ahead(struct play *play);

/* Rows of all misses into mini->rows, keys and then values; and these rows into `staging`. */
void mini_list_misses(struct play *play);
void mini_gather(struct play *play);

/* What each head attends to, of the layer's rows at `base`: into the output, or into a part that is
 * merged with it. */
enum play_tokens { TOKENS_ATTENDED, TOKENS_HIT, TOKENS_MISSED, TOKENS_ALL };
void mini_prepare(struct play *play, const char *base, enum play_tokens tokens, bool part);

/* Add the layer's wanted and missed tokens up. */
void mini_count(const struct play *play, struct mini_counts *counts);

#endif
