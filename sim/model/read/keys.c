/* Families name the same size differently, and each year brings keys that no reader knows. A key
 * that is switched off (null, false, 0 or empty) says nothing. */
#include "model/read/keys.h"

#include "core/node.h"
#include "core/text.h"
#include "model/read/architecture.h"

#include <stdio.h>
#include <string.h>

enum { KEY_SIZE = 128 };

/* The value of "key", or of "object.key". */
static json_t *keys_value(const json_t *object, const char *name)
{
    const char *dot = strchr(name, '.');
    char outer[KEY_SIZE];
    if (dot == NULL) {
        return json_object_get(object, name);
    }
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - name), name);
    return json_object_get(json_object_get(object, outer), dot + 1);
}

void keys_rename(json_t *decoder)
{
    const struct node *names = architecture_list("renamed_keys");
    for (size_t i = 0; names != NULL && i < names->count; i++) {
        const struct node *present = names->children[i];
        json_t *value = json_object_get(decoder, present->key);
        for (size_t k = 0; value == NULL && k < present->count; k++) {
            value = keys_value(decoder, present->children[k]->text);
            value = json_is_null(value) ? NULL : value;
            if (value != NULL) {
                json_object_set(decoder, present->key, value);
            }
        }
    }
}

static bool lists(const struct node *list, const char *key)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (strcmp(list->children[i]->text, key) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_renamed(const char *key)
{
    const struct node *names = architecture_list("renamed_keys");
    for (size_t i = 0; names != NULL && i < names->count; i++) {
        if (lists(names->children[i], key)) {
            return true;
        }
    }
    return false;
}

static bool is_off(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) ||
           (json_is_number(value) && json_number_value(value) == 0) ||
           (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

static bool has_size_word(const char *key)
{
    const struct node *words = architecture_list("size_words");
    for (size_t i = 0; words != NULL && i < words->count; i++) {
        if (strstr(key, words->children[i]->text) != NULL) {
            return true;
        }
    }
    return false;
}

/* Append to `unread` the keys of `object`, which is `inside` the decoder's ("" is the decoder's). */
static void find_unread(const json_t *object, const char *inside, size_t layers, char *unread,
                        size_t size)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        char name[KEY_SIZE];
        snprintf(name, sizeof name, "%s%s%s", inside, inside[0] != '\0' ? "." : "", key);
        bool layered = layers > 1 && json_array_size(value) == layers;
        bool read = is_renamed(name) || (architecture_decides_size(name) &&
                                         !lists(architecture_list("class_keys"), name));
        if (read || is_off(value) || lists(architecture_list("harmless_keys"), key)) {
            continue;
        }
        if (json_is_object(value) && inside[0] == '\0') {
            find_unread(value, key, layers, unread, size);
        } else if (layered || has_size_word(name)) {
            text_append(unread, size, "%s%s", unread[0] != '\0' ? ", " : "", name);
        }
    }
}

bool keys_known(const struct fields *decoder, const char *name, struct error *why)
{
    char unread[160] = "";
    json_int_t layers = json_integer_value(json_object_get(decoder->object, "num_hidden_layers"));
    find_unread(decoder->object, "", layers > 0 ? (size_t)layers : 0, unread, sizeof unread);
    if (unread[0] == '\0') {
        return true;
    }
    error_input(why, decoder->file, 0,
                "unknown architecture '%.60s' has keys that are not understood: %s", name, unread);
    return error_expect(why, "--set model.architectures=LlamaForCausalLM to read it as that class, "
                             "or model.KEY=null to leave such a key out");
}
