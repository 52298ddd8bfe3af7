/* The known architectures, as rows of one table: what config.json leaves out, and the readers
 * for what it states. */
#pragma once

#include "model/read/fields.h"
#include "model/model.h"

struct architecture {
    const char *name;   /* in "architectures" */
    const char *inside; /* the object that describes the decoder; NULL: the whole file */
    const char *ffn_key;

    /* Keys that switch biases and the norm of Q and K on and off (NULL: cannot be switched), and
     * the defaults without them. A plain output has no bias whatever the key says. */
    const char *attention_bias_key, *ffn_bias_key, *query_key_norm_key;
    bool query_bias, output_bias, ffn_bias, plain_output, query_key_norm;

    bool router_bias, norm_bias, learned_positions, gated_ffn, tied_embeddings;
    bool plain_query_key_norm; /* without weights */
    bool wide_query_key_norm;  /* over all heads together */
    bool attention_sinks, gated_attention, shared_gate;
    uint32_t layer_norms;

    /* The defaults of the model's class where the config leaves a key out, or FIELD_REQUIRED. */
    int64_t query_heads, kv_heads, head_dim, vocabulary, context;
    int64_t window;                             /* 0: no window */
    int64_t index_heads, index_dim, index_topk; /* 0 heads: no indexer */
    uint32_t window_pattern; /* every window_pattern-th layer attends to everything */

    /* Readers, called in this order, for a model with its layers allocated. */
    bool (*read_heads)(const struct fields *fields, const struct architecture *kind,
                       struct model *model, struct error *why);
    bool (*read_windows)(const struct fields *fields, const struct architecture *kind,
                         struct model *model, struct error *why);
    bool (*read_ffn)(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why);
};

/* Fallback of kv_heads: as many as query heads. Fallback of head_dim: hidden over heads. */
#define FIELD_DERIVED 0

/* The row called `name`, or NULL. */
const struct architecture *architecture_find(const char *name);

/* The row by which a config with an unknown architecture is read: by its keys alone. */
extern const struct architecture architecture_by_keys;

/* The known name nearest to `name`, or NULL. */
const char *architecture_nearest(const char *name);
