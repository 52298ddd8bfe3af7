/* The known architectures, rows of models/architectures.yaml: what a config.json leaves out. */
#pragma once

#include "model/model.h"
#include "model/read/fields.h"

enum architecture_windows {
    WINDOWS_BY_KEYS, /* as the config's keys say */
    WINDOWS_NONE,    /* whatever they say: the class does not read them */
    WINDOWS_IF_USED, /* only if "use_sliding_window" is on, above "max_window_layers" (Qwen) */
    WINDOWS_CHUNKS,  /* chunks in layers with positions (Llama 4) */
};

struct architecture {
    const char *name;         /* in "architectures" */
    const struct node *needs; /* keys without which a config is refused, a list; NULL: none */

    /* The class's own values where the config leaves a key out; a size of 0: the key is needed, or
     * the size follows from others. */
    struct model model;
    enum architecture_windows windows;
    uint32_t window;         /* 0: no window */
    uint32_t window_pattern; /* every window_pattern-th layer attends to everything; 0: not said */
    uint32_t shared_experts;
    uint32_t ffn_factor; /* the FFN's width over hidden_size, if no key has the width; 0: needed */
    uint32_t ffn_parts; /* intermediate_size is the width of so many matrices together; 0: of one */
    bool plain_output;  /* no bias there, whatever the key of biases says */
};

/* The row called `name`; for any other name the one by which a config is read by its keys alone,
 * whose `name` is NULL. NULL if the table cannot be read. */
const struct architecture *architecture_find(const char *name, struct error *why);

/* The known name nearest to `name`, or NULL. */
const char *architecture_nearest(const char *name);

/* A list of the table, such as "size_keys"; NULL if the table has none or cannot be read. */
const struct node *architecture_list(const char *name);

/* Does a size depend on this key of a config.json in some architecture? The nearest such key, or
 * NULL. */
bool architecture_decides_size(const char *key);
const char *architecture_nearest_key(const char *key);

/* Give the values of `decoder` the names that the readers know. */
bool keys_rename(struct node *decoder, struct error *why);

/* Refuse an architecture that has no row, if its config has keys that may decide a size and that no
 * reader knows. `name` is the class. */
bool keys_known(const struct node *decoder, const char *name, struct error *why);
