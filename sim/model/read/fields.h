/* Values of a config.json, read as a tree of nodes (JSON is YAML), each checked against its range. An
 * absent key and null mean the same, as in the programs that write these files. */
#pragma once

#include "core/node.h"

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

/* Read all rows into the struct at `out`. */
bool field_sizes(const struct node *config, const struct field_size *rows, void *out,
                 struct error *why);

/* The first of `keys` (NULL ends them) that is stated; else the first one. Families name the same
 * fact differently. */
const char *field_first(const struct node *config, const char *const *keys);

/* field_whole() under the first of these names that the config has; fails if another of them says
 * another number. */
bool field_named(const struct node *config, const char *const *keys, uint32_t least, uint32_t most,
                 int64_t fallback, uint32_t *out, struct error *why);

/* The numbers of a list, or one number for all `count` of them, each in [0, most]; `fallback` when
 * the key is absent or null. */
bool field_each(const struct node *config, const char *key, uint32_t count, uint32_t most,
                uint32_t fallback, uint32_t *out, struct error *why);

/* The list or map at `key`; NULL when absent or null. */
bool field_inside(const struct node *config, const char *key, enum node_kind kind,
                  const struct node **out, struct error *why);

/* Is the node a whole number in [least, most]? */
bool field_number(const struct node *node, uint32_t least, uint32_t most, uint32_t *out);

/* Call `set` with the word of each layer: the entries of the list at `key`, or the letters of a text
 * there, one for each of `layers`. NULL: an entry is no text. */
typedef bool field_set(const struct node *config, const char *key, const char *word, uint32_t layer,
                       void *context, struct error *why);
bool field_words(const struct node *config, const char *key, uint32_t layers, field_set *set,
                 void *context, struct error *why);

/* Set `why` to a complaint about the word (NULL: no text) that the list `key` has for a layer.
 * Returns false. */
bool field_wrong_word(const struct node *config, const char *key, uint32_t layer, const char *word,
                      struct error *why);
