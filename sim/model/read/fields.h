/* Typed values from one JSON object, each checked against its range. A message names the file and
 * the key, with the objects around it ("text_config.hidden_size"). */
#pragma once

#include "core/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fields {
    const json_t *object; /* borrowed */
    const char *file;
    const char *inside; /* the object's own key, "text_config"; "" at the top */
};

/* A fallback for field_whole(): the key must be there. */
#define FIELD_REQUIRED (-1)

/* A whole number in [least, most]; `fallback` when the key is absent or null. */
bool field_whole(const struct fields *fields, const char *key, uint32_t least, uint32_t most,
                 int64_t fallback, uint32_t *out, struct error *why);

/* A size: a whole number in [least, most] under the first of `keys` that the object has. If it has none,
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
bool field_sizes(const struct fields *fields, const struct field_size *rows, void *out,
                 struct error *why);

/* Does the object have the key, other than null? */
bool field_states(const struct fields *fields, const char *key);

/* The first of `keys` (NULL ends them) that the object has, other than null; else the first one.
 * Families name the same fact differently. */
const char *field_first(const struct fields *fields, const char *const *keys);

/* field_whole() under the first of these names that the object has; fails if another of them says
 * another number. */
bool field_named(const struct fields *fields, const char *const *keys, uint32_t least,
                 uint32_t most, int64_t fallback, uint32_t *out, struct error *why);

/* The numbers of a list, or one number for all `count` of them, each in [0, most]; `fallback` when
 * the key is absent or null. */
bool field_each(const struct fields *fields, const char *key, uint32_t count, uint32_t most,
                uint32_t fallback, uint32_t *out, struct error *why);

/* When the key is absent or null, `*out` stays as it was. Text belongs to the object. */
bool field_bool(const struct fields *fields, const char *key, bool *out, struct error *why);
bool field_text(const struct fields *fields, const char *key, const char **out, struct error *why);

/* A list or an object; NULL when absent or null. */
bool field_list(const struct fields *fields, const char *key, const json_t **out,
                struct error *why);
bool field_object(const struct fields *fields, const char *key, const json_t **out,
                  struct error *why);

/* Set `why` to a complaint about `key`: "'KEY' " and the rest. Returns false. */
bool field_error(const struct fields *fields, const char *key, struct error *why,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Call `set` with the word of each layer: the entries of the list at `key`, or the letters of a text
 * there, one for each of `layers`. NULL: an entry is no text. */
typedef bool field_set(const struct fields *fields, const char *key, const char *word,
                       uint32_t layer, void *context, struct error *why);
bool field_words(const struct fields *fields, const char *key, uint32_t layers, field_set *set,
                 void *context, struct error *why);

/* Set `why` to a complaint about the word (NULL: no text) that the list `key` has for a layer.
 * Returns false. */
bool field_wrong_word(const struct fields *fields, const char *key, uint32_t layer,
                      const char *word, struct error *why);
