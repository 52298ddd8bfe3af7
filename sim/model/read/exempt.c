/* An entry names a module by its path ("model.layers.3.self_attn", "lm_head"), a part of it
 * ("self_attn"), or a pattern, written "model.layers.*.mlp" or "re:.*mlp.*". It covers a matrix if
 * it matches some run of whole components of that matrix's path. Entries that match no matrix of
 * struct model (vision towers, norms, routers) have no effect. An entry that is neither a path nor
 * such a pattern is refused. So is the exemption of single experts, which the layers of struct
 * model cannot express. */
#include "model/read/exempt.h"

#include "core/node.h"
#include "model/module.h"
#include "model/read/architecture.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { PATTERN_SIZE = 256 };

/* By enum model_module. */
const char *const module_words[MODULE_COUNT + 1] = {
    "query",       "key",       "value",       "output",      "query_down", "query_up",
    "kv_down",     "kv_up",     "index_query", "index_key",   "linear_in",  "linear_out",
    "gate",        "up",        "down",        "shared_gate", "shared_up",  "shared_down",
    "expert_gate", "expert_up", "expert_down", NULL};

/* The models' own prefixes before "layers", longest first. */
static const char *skip_prefix(const char *name)
{
    static const char *const prefixes[] = {
        "model.language_model.",
        "language_model.model.",
        "model.decoder.",
        "model.",
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0) {
            return name + length;
        }
    }
    return name;
}

/* Rewrite an entry as a pattern in which only * is special. */
static bool plain_pattern(const char *entry, char plain[PATTERN_SIZE])
{
    bool expression = strncmp(entry, "re:", 3) == 0;
    entry += expression ? 3 : 0;
    entry += expression && *entry == '^';
    size_t length = 0;
    for (; *entry != '\0'; entry++) {
        if (expression && entry[0] == '$' && entry[1] == '\0') {
            break;
        }
        if (expression && entry[0] == '.' && entry[1] == '*') {
            entry++;
        } else if (expression && entry[0] == '\\' && entry[1] == '.') {
            entry++;
        } else if (expression && entry[0] == '*') {
            return false;
        }
        if ((!isalnum((unsigned char)*entry) && strchr("._-*", *entry) == NULL) ||
            length + 1 == PATTERN_SIZE) {
            return false;
        }
        plain[length++] = *entry;
    }
    plain[length] = '\0';
    return length > 0;
}

/* In the form that matches ".COMPONENT.COMPONENT." */
bool exempt_read(const struct fields *fields, const char *key, const char *entry,
                 struct exempt_pattern *out, struct error *why)
{
    char plain[PATTERN_SIZE];
    if (entry == NULL || !plain_pattern(entry, plain)) {
        field_error(fields, key, why, "has '%.100s'", entry != NULL ? entry : "no text");
        return error_expect(why, "names of modules, 'a.*.b' or 're:.*b'");
    }
    if (fnmatch("*.experts.[0-9]*", plain, 0) == 0) {
        field_error(fields, key, why, "has '%.100s'", entry);
        return error_expect(why, "all experts of a layer or none");
    }
    snprintf(out->text, sizeof out->text, "*.%s.*", skip_prefix(plain));
    return true;
}

uint32_t exempt_modules(const struct exempt_pattern *pattern, uint32_t layer)
{
    const struct node *modules = architecture_list("modules");
    uint32_t covered = 0;
    for (int module = 0; module < MODULE_COUNT; module++) {
        const struct node *names = node_get(modules, module_words[module]);
        for (size_t i = 0; names != NULL && i < names->count; i++) {
            char path[64];
            snprintf(path, sizeof path, ".layers.%u.%s.", layer, names->children[i]->text);
            covered |= fnmatch(pattern->text, path, 0) == 0 ? 1U << module : 0;
        }
    }
    return covered;
}

bool exempt_covers_head(const struct exempt_pattern *pattern)
{
    return fnmatch(pattern->text, ".lm_head.", 0) == 0;
}

static bool exempt_one(const struct fields *fields, const char *key, const char *text,
                       struct model *model, struct error *why)
{
    struct exempt_pattern pattern;
    if (!exempt_read(fields, key, text, &pattern, why)) {
        return false;
    }
    model->exempt_head |= exempt_covers_head(&pattern);
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        model->layers[layer].exempt |= exempt_modules(&pattern, layer);
    }
    return true;
}

/* "re:.*mlp.(gate|up)_proj" is an entry for each word between the brackets. */
static bool exempt_each(const struct fields *fields, const char *key, const char *text,
                        struct model *model, struct error *why)
{
    const char *open = text != NULL ? strchr(text, '(') : NULL;
    const char *close = open != NULL ? strchr(open, ')') : NULL, *word = open;
    bool ok = true;
    if (close == NULL || strlen(text) >= PATTERN_SIZE) {
        return exempt_one(fields, key, text, model, why);
    }
    while (ok && word < close) {
        char entry[PATTERN_SIZE];
        size_t length = strcspn(++word, "|)");
        snprintf(entry, sizeof entry, "%.*s%.*s%s", (int)(open - text), text, (int)length, word,
                 close + 1);
        ok = exempt_one(fields, key, entry, model, why);
        word += length;
    }
    return ok;
}

bool exempt_listed(const struct fields *fields, const char *key, const json_t *names,
                   struct model *model, struct error *why)
{
    size_t count = json_array_size(names);
    bool ok = true;
    if (count > EXEMPT_MOST_PAIRS / model->layer_count) {
        return field_error(fields, key, why, "lists %zu modules, more than any model has", count);
    }
    for (size_t i = 0; ok && i < count; i++) {
        ok = exempt_each(fields, key, json_string_value(json_array_get(names, i)), model, why);
    }
    return ok;
}
