/* An entry names a module by its path ("model.layers.3.self_attn", "lm_head"), a part of it
 * ("self_attn"), or a pattern, written "model.layers.*.mlp" or "re:.*mlp.*". It covers a matrix if
 * it matches some run of whole components of that matrix's path. Entries that match no matrix of
 * struct model (vision towers, norms, routers) have no effect. An entry that is neither a path nor
 * such a pattern is refused. So is the exemption of single experts, which the layers of struct
 * model cannot express. */
#include "model/read/exempt.h"

#include "model/module.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PATTERN_SIZE = 256 };

const struct module_name module_names[] = {
    {"self_attn.q_proj", MODULE_QUERY},
    {"self_attn.k_proj", MODULE_KEY},
    {"self_attn.v_proj", MODULE_VALUE},
    {"self_attn.o_proj", MODULE_OUTPUT},
    {"self_attn.out_proj", MODULE_OUTPUT},
    {"self_attn.q_a_proj", MODULE_QUERY_DOWN},
    {"self_attn.q_b_proj", MODULE_QUERY_UP},
    {"self_attn.kv_a_proj_with_mqa", MODULE_KV_DOWN},
    {"self_attn.kv_b_proj", MODULE_KV_UP},
    {"self_attn.indexer.wq_b", MODULE_INDEX_QUERY},
    {"self_attn.indexer.wk", MODULE_INDEX_KEY},
    {"linear_attn.in_proj_qkvz", MODULE_LINEAR_IN},
    {"linear_attn.in_proj_qkv", MODULE_LINEAR_IN},
    {"linear_attn.out_proj", MODULE_LINEAR_OUT},
    {"self_attn.f_a_proj", MODULE_LINEAR_IN}, /* Kimi's delta attention */
    {"self_attn.o_proj", MODULE_LINEAR_OUT},
    {"mixer.in_proj", MODULE_LINEAR_IN}, /* Nemotron-H */
    {"mixer.out_proj", MODULE_LINEAR_OUT},
    {"mixer.q_proj", MODULE_QUERY},
    {"mixer.k_proj", MODULE_KEY},
    {"mixer.v_proj", MODULE_VALUE},
    {"mixer.o_proj", MODULE_OUTPUT},
    {"mixer.up_proj", MODULE_UP},
    {"mixer.down_proj", MODULE_DOWN},
    {"mixer.shared_experts.up_proj", MODULE_SHARED_UP},
    {"mixer.shared_experts.down_proj", MODULE_SHARED_DOWN},
    {"mixer.experts.#.up_proj", MODULE_EXPERT_UP},
    {"mixer.experts.#.down_proj", MODULE_EXPERT_DOWN},
    {"mlp.shared_expert.gate_proj", MODULE_SHARED_GATE},
    {"mlp.shared_expert.up_proj", MODULE_SHARED_UP},
    {"mlp.shared_expert.down_proj", MODULE_SHARED_DOWN},
    {"mlp.gate_proj", MODULE_GATE},
    {"mlp.up_proj", MODULE_UP},
    {"mlp.down_proj", MODULE_DOWN},
    {"self_attn.qkv_proj", MODULE_QUERY},
    {"self_attn.qkv_proj", MODULE_KEY},
    {"self_attn.qkv_proj", MODULE_VALUE},
    {"mlp.gate_up_proj", MODULE_GATE},
    {"mlp.gate_up_proj", MODULE_UP},
    {"feed_forward.gate_proj", MODULE_GATE},
    {"feed_forward.up_proj", MODULE_UP},
    {"feed_forward.down_proj", MODULE_DOWN},
    {"fc1", MODULE_UP},
    {"fc2", MODULE_DOWN},
    {"mlp.shared_experts.gate_proj", MODULE_SHARED_GATE},
    {"mlp.shared_experts.up_proj", MODULE_SHARED_UP},
    {"mlp.shared_experts.down_proj", MODULE_SHARED_DOWN},
    {"feed_forward.shared_expert.gate_proj", MODULE_SHARED_GATE},
    {"feed_forward.shared_expert.up_proj", MODULE_SHARED_UP},
    {"feed_forward.shared_expert.down_proj", MODULE_SHARED_DOWN},
    {"feed_forward.experts.#.gate_proj", MODULE_EXPERT_GATE},
    {"feed_forward.experts.#.up_proj", MODULE_EXPERT_UP},
    {"feed_forward.experts.#.down_proj", MODULE_EXPERT_DOWN},
    {"feed_forward.experts.gate_up_proj", MODULE_EXPERT_GATE},
    {"feed_forward.experts.gate_up_proj", MODULE_EXPERT_UP},
    {"feed_forward.experts.down_proj", MODULE_EXPERT_DOWN},
    {"block_sparse_moe.experts.#.w1", MODULE_EXPERT_GATE},
    {"block_sparse_moe.experts.#.w3", MODULE_EXPERT_UP},
    {"block_sparse_moe.experts.#.w2", MODULE_EXPERT_DOWN},
    {"mlp.experts.#.gate_proj", MODULE_EXPERT_GATE},
    {"mlp.experts.#.up_proj", MODULE_EXPERT_UP},
    {"mlp.experts.#.down_proj", MODULE_EXPERT_DOWN},
    {NULL, MODULE_COUNT},
};

/* Does `pattern` match all of `text`? A * matches any run of characters. */
static bool exempt_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

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

static bool names_one_expert(const char *plain)
{
    const char *experts = strstr(plain, ".experts.");
    return experts != NULL && isdigit((unsigned char)experts[strlen(".experts.")]);
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
    if (names_one_expert(plain)) {
        field_error(fields, key, why, "has '%.100s'", entry);
        return error_expect(why, "all experts of a layer or none");
    }
    snprintf(out->text, sizeof out->text, "*.%s.*", skip_prefix(plain));
    return true;
}

uint32_t exempt_modules(const struct exempt_pattern *pattern, uint32_t layer)
{
    uint32_t covered = 0;
    for (const struct module_name *row = module_names; row->name != NULL; row++) {
        char path[64];
        snprintf(path, sizeof path, ".layers.%u.%s.", layer, row->name);
        covered |= exempt_matches(pattern->text, path) ? 1U << row->module : 0;
    }
    return covered;
}

bool exempt_covers_head(const struct exempt_pattern *pattern)
{
    return exempt_matches(pattern->text, ".lm_head.");
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
