/* A model from the text of a config.json, and the importance of its heads; and what the readers in this
 * folder share: values of a config, the known architectures, parts of a decoder. */
#pragma once

#include "core/node.h"
#include "model/model.h"

/* Parse `text`, which messages call `file`; `origin` and `line` say where the user asked for the model. `out`
 * gets no name and no importances. On failure it holds nothing. */
bool model_parse(const char *text, size_t size, const char *file,
                 const struct model_options *options, const char *origin, int line,
                 struct model *out, struct error *why);

/* Read `path` into the importances of a model whose layers are read. Without a file it has none. */
bool importance_read(struct files *files, const char *path, struct model *model, struct error *why);

/* ---- values of a config.json, read as a tree of nodes (JSON is YAML), each checked against its range. An
 * absent key and null mean the same, as in the programs that write these files. ---- */

/* Set `why` to a complaint about `key`: "'KEY' " and the rest. Is false. */
#define field_error(config, key, why, rest, ...)                                                   \
    node_key_error(config, key, why, "'%s' " rest, key, ##__VA_ARGS__)

/* A fallback for field_whole(): the key must be there. */
#define FIELD_REQUIRED (-1)

/* A whole number in [least, most]; `fallback` when the key is absent or null. */
bool field_whole(const struct node *config, const char *key, uint32_t least, uint32_t most,
                 int64_t fallback, uint32_t *out, struct error *why);

/* A size: a whole number in [least, most] under the first of `keys` that the config has. If it has none,
 * the size is what `*out` is already, unless that is 0; else `fallback`, and if that is 0 where
 * `least` is not, the key must be there. */
struct field_size {
    size_t offset; /* of a uint32_t */
    uint32_t least, most, fallback;
    const char *keys[4];
};
#define FIELD_SIZE(owner, member, least, most, fallback, ...)                                      \
    {                                                                                              \
        offsetof(struct owner, member), least, most, fallback,                                     \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define FIELD_SIZES_END                                                                            \
    {                                                                                              \
        .keys = { NULL }                                                                           \
    }

bool field_sizes(const struct node *config, const struct field_size *rows, void *out,
                 struct error *why);

/* The first of `keys` (NULL ends them) that is stated, else the first: families name one fact differently. */
const char *field_first(const struct node *config, const char *const *keys);

/* field_whole() under the first of these names; fails if another of them says another number. */
bool field_named(const struct node *config, const char *const *keys, uint32_t least, uint32_t most,
                 int64_t fallback, uint32_t *out, struct error *why);

/* The numbers of a list, or one for all `count` of them, in [0, most]; `fallback` without a key. */
bool field_each(const struct node *config, const char *key, uint32_t count, uint32_t most,
                uint32_t fallback, uint32_t *out, struct error *why);

/* The list or map at `key`; NULL when absent or null. */
bool field_inside(const struct node *config, const char *key, enum node_kind kind,
                  const struct node **out, struct error *why);

/* Is the node a whole number in [least, most]? */
bool field_number(const struct node *node, uint32_t least, uint32_t most, uint32_t *out);

/* What the word of each layer means, of the list or the letters at `key`. `expected` tells `words`. */
struct field_word {
    const char *word;
    int value;
};
bool field_words(const struct node *config, const char *key, uint32_t layers,
                 const struct field_word *words, const char *expected, int *out, struct error *why);

/* ---- the known architectures, rows of models/architectures.yaml: what a config.json leaves out ---- */

enum architecture_windows {
    WINDOWS_BY_KEYS, /* as the config's keys say */
    WINDOWS_NONE,    /* whatever they say: the class does not read them */
    WINDOWS_IF_USED, /* only if "use_sliding_window" is on, above "max_window_layers" (Qwen) */
    WINDOWS_CHUNKS,  /* chunks in layers with positions (Llama 4) */
};

struct architecture {
    const char *name;         /* in "architectures" */
    const struct node *needs; /* keys without which a config is refused, a list; NULL: none */

    /* The class's own values where the config leaves a key out; a size of 0: needed, or it follows. */
    struct model model;
    enum architecture_windows windows;
    uint32_t window;         /* 0: no window */
    uint32_t window_pattern; /* every window_pattern-th layer attends to everything; 0: not said */
    uint32_t shared_experts;
    uint32_t ffn_factor; /* the FFN's width over hidden_size, if no key has the width; 0: needed */
    uint32_t ffn_parts; /* intermediate_size is the width of so many matrices together; 0: of one */
    bool plain_output;  /* no bias there, whatever the key of biases says */
};

/* The row called `name`, else the one that reads by keys alone, whose `name` is NULL. NULL: no table. */
const struct architecture *architecture_find(const char *name, struct error *why);

const char *architecture_nearest(const char *name);

/* A list of the table, such as "size_keys"; NULL if the table has none or cannot be read. */
const struct node *architecture_list(const char *name);

/* Does a size depend on this key of a config.json in some architecture? The nearest such key, or NULL. */
bool architecture_decides_size(const char *key);
const char *architecture_nearest_key(const char *key);

/* Give the values of `decoder` the names that the readers know. */
bool keys_rename(struct node *decoder, struct error *why);

/* Refuse an architecture without a row that lacks a decoder, or has keys that no reader knows. */
bool keys_known(const struct node *decoder, const char *name, struct error *why);

/* The same of a quantization_config. */
bool keys_quantise(const struct node *config, struct error *why);

/* ---- heads, windows, FFNs and storage types of the layers ---- */

/* Upper bounds: values within them can be multiplied and allocated safely. Every real model is far below. */
enum { LAYERS_MOST = 1024, HEADS_MOST = 1 << 16, EXPERTS_MOST = 1 << 16, SIZE_MOST = INT32_MAX };

/* Called in this order, for a model that has its class's values and its layers allocated. */
bool heads_read(const struct node *config, struct model *model, struct error *why);
bool windows_read(const struct node *config, const struct architecture *kind, struct model *model,
                  struct error *why);
bool ffn_read(const struct node *config, const struct architecture *kind, struct model *model,
              struct error *why);

/* Set weights, KV and exemptions from the "quantization_config", or what llm-compressor once called
 * "compression_config", at the top or in the decoder's map (absent or null: bf16); what is exempt is marked in
 * the layers, which are read. Then the type of routed experts, where "expert_dtype" states one. */
bool quantisation_read(const struct node *top, const struct node *decoder, struct model *model,
                       struct error *why);
bool quantisation_read_experts(const struct node *config, struct model *model, struct error *why);
