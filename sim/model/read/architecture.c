#include "model/read/config.h"

#include "core/array.h"
#include "core/named.h"
#include "core/text.h"

#include <pthread.h>
#include <string.h>

static const char *const windows_words[] = {"by-keys", "none", "if-used", "chunks", NULL};

struct architecture_row {
    const struct node *names;
    struct architecture kind;
};

#define SIZE(name, member) NODE_FIELD(name, SMALL, architecture_row, kind.member, .most = SIZE_MOST)
#define YES(member) NODE_FIELD(#member, YES, architecture_row, kind.model.member)
static const struct node_field fields[] = {
    NODE_FIELD("names", TEXTS, architecture_row, names, .needed = true),
    NODE_FIELD("needs", TEXTS, architecture_row, kind.needs),
    NODE_FIELD("windows", WORD, architecture_row, kind.windows, .words = windows_words),
    SIZE("window", window),
    SIZE("window_pattern", window_pattern),
    SIZE("shared_experts", shared_experts),
    SIZE("ffn_factor", ffn_factor),
    SIZE("ffn_parts", ffn_parts),
    NODE_FIELD("plain_output", YES, architecture_row, kind.plain_output),
    SIZE("num_attention_heads", model.query_heads),
    SIZE("num_key_value_heads", model.kv_heads),
    SIZE("head_dim", model.head_dim),
    SIZE("vocab_size", model.vocabulary),
    SIZE("max_position_embeddings", model.trained_context),
    SIZE("index_n_heads", model.index_heads),
    SIZE("index_head_dim", model.index_dim),
    SIZE("index_topk", model.index_topk),
    SIZE("layer_norms", model.layer_norms),
    YES(query_bias),
    YES(output_bias),
    YES(ffn_bias),
    YES(router_bias),
    YES(norm_bias),
    YES(learned_positions),
    YES(gated_ffn),
    YES(tied_embeddings),
    YES(query_key_norm),
    YES(plain_query_key_norm),
    YES(wide_query_key_norm),
    YES(attention_sinks),
    YES(gated_attention),
    YES(shared_gate),
    {.key = NULL}};

static const struct architecture by_keys = {.model = {.gated_ffn = true, .layer_norms = 2}};

/* The table, and the tree that its texts belong to, live as long as the process. */
static struct architecture *architectures;
static size_t architecture_count;
static const struct node *architectures_root; /* whose texts the rows borrow */
static struct error architectures_fault;

static bool read_row(const struct node *node, struct error *why)
{
    struct architecture_row row = {.kind = by_keys};
    if (!node_fields_read(node, fields, "architecture", &row, why)) {
        return false;
    }
    static size_t capacity;
    row.kind.model.known = true;
    for (size_t i = 0; i < row.names->count; i++) {
        if (!array_reserve(&architectures, &capacity, architecture_count + 2, sizeof *architectures,
                           why)) {
            return false;
        }
        row.kind.name = row.names->children[i]->text;
        architectures[architecture_count++] = row.kind;
        architectures[architecture_count].name = NULL; /* ends the table of names */
    }
    return true;
}

static void read_table(void)
{
    static const char *const keys[] = {
        "size_keys",     "class_keys",     "renamed_keys",   "plain_activations", "size_words",
        "harmless_keys", "modules",        "modules_of",     "classes",           "encoders",
        "quantise_keys", "quantise_words", "harmless_words", "other_words",       NULL};
    char path[PATH_MAX];
    struct error *why = &architectures_fault;
    const struct node *root = find_path("models", "architectures", "yaml", path, sizeof path, why)
                                  ? node_load(path, why)
                                  : NULL;
    const struct node *classes = node_get(root, "classes");
    bool good = root != NULL && node_check_keys(root, NAMES(keys), "architectures", why) &&
                node_check_keys(node_get(root, "modules"), NAMES(module_words), "modules", why);
    if (good && (classes == NULL || classes->kind != NODE_LIST || classes->count == 0)) {
        good = node_error(root, why, "'classes' are a list of architectures");
    }
    for (size_t i = 0; good && i < classes->count; i++) {
        good = read_row(classes->children[i], why);
    }
    architectures_root = root;
    architecture_count = good ? architecture_count : 0;
}

static void read_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_table);
}

const struct architecture *architecture_find(const char *name, struct error *why)
{
    read_once();
    for (size_t i = 0; i < architecture_count; i++) {
        if (strcmp(architectures[i].name, name) == 0) {
            return &architectures[i];
        }
    }
    if (architecture_count == 0) {
        *why = architectures_fault;
        return NULL;
    }
    return &by_keys;
}

const char *architecture_nearest(const char *name)
{
    return name_nearest(name, NAMES(architectures));
}

const struct node *architecture_list(const char *name)
{
    read_once();
    return node_get(architectures_root, name);
}

/* Does a list, or a list in it, have the key? `part`: or a word that is a part of it. */
static bool lists(const struct node *list, const char *key, bool part)
{
    bool found = false;
    for (size_t i = 0; list != NULL && !found && i < list->count; i++) {
        const struct node *child = list->children[i];
        found = child->kind == NODE_LIST ? lists(child, key, part)
                : part                   ? strstr(key, child->text) != NULL
                                         : strcmp(child->text, key) == 0;
    }
    return found;
}

bool architecture_decides_size(const char *key)
{
    return lists(architecture_list("size_keys"), key, false);
}

const char *architecture_nearest_key(const char *key)
{
    const struct node *keys = architecture_list("size_keys");
    const char *nearest = NULL;
    int least = NAME_FAR;
    for (size_t i = 0; keys != NULL && i < keys->count; i++) {
        int distance = name_distance(key, keys->children[i]->text);
        nearest = distance < least ? keys->children[i]->text : nearest;
        least = distance < least ? distance : least;
    }
    return nearest;
}

/* ---- names of keys: families name one size differently, and each year brings keys that no reader knows. A
 * key that is switched off (null, false, 0 or empty) says nothing ---- */

bool keys_rename(struct node *decoder, struct error *why)
{
    const struct node *names = architecture_list("renamed_keys");
    bool good = true;
    for (size_t i = 0; names != NULL && i < names->count; i++) {
        const struct node *present = names->children[i], *value = node_get(decoder, present->key);
        for (size_t k = 0; good && value == NULL && k < present->count; k++) {
            value = node_find(decoder, present->children[k]->text);
            value = value != NULL && value->kind == NODE_NULL ? NULL : value;
            good = value == NULL || node_put(decoder, present->key, value, why);
        }
    }
    return good;
}

static bool is_off(const struct node *value)
{
    const char *text = value->text;
    return value->kind == NODE_NULL || (value->kind >= NODE_LIST && value->count == 0) ||
           (text != NULL && (strcmp(text, "false") == 0 || text[strspn(text, "0.")] == '\0'));
}

bool keys_quantise(const struct node *config, struct error *why)
{
    const struct node *read = architecture_list("quantise_keys"), *value = NULL;
    const struct node *words = architecture_list("quantise_words");
    bool good = true;
    for (size_t i = 0; good && i < config->count; i++) {
        value = config->children[i];
        const struct node *format = node_get(value, "format"); /* of "sparsity_config" */
        bool dense = format != NULL && format->text != NULL && strcmp(format->text, "dense") == 0;
        good = is_off(value) || dense || lists(read, value->key, false) ||
               !lists(words, value->key, true);
    }
    if (!good) {
        node_error(value, why, "'%.60s' of quantization_config is not understood", value->key);
        error_expect(why, "no such key, or 'dtype.weights' and a config without quantization");
    }
    return good;
}

/* Append to `unread` the keys of `object`, which is `inside` the decoder's ("" is the decoder's). */
static void find_unread(const struct node *object, const char *inside, size_t layers, char *unread,
                        size_t size)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct node *value = object->children[i];
        char name[2 * 128 + 2];
        snprintf(name, sizeof name, "%s%s%s", inside, inside[0] != '\0' ? "." : "", value->key);
        bool layered = layers > 1 && value->kind == NODE_LIST && value->count == layers;
        bool read = lists(architecture_list("renamed_keys"), name, false) ||
                    (architecture_decides_size(name) &&
                     !lists(architecture_list("class_keys"), name, false));
        if (read || is_off(value) || lists(architecture_list("harmless_keys"), value->key, false)) {
            continue;
        }
        if (value->kind == NODE_MAP && inside[0] == '\0') {
            find_unread(value, value->key, layers, unread, size);
        } else if (layered || lists(architecture_list("size_words"), name, true) ||
                   !lists(architecture_list("harmless_words"), name, true)) {
            text_append(unread, size, "%s%s", unread[0] != '\0' ? ", " : "", name);
        }
    }
}

bool keys_known(const struct node *decoder, const char *name, struct error *why)
{
    if (lists(architecture_list("encoders"), name, true)) {
        node_error(decoder, why, "'%.60s' has no decoder, and keeps no KV", name);
        return error_expect(why, "a model that generates");
    }
    char unread[160] = "";
    uint32_t layers = 0;
    field_number(node_get(decoder, "num_hidden_layers"), 0, LAYERS_MOST, &layers);
    find_unread(decoder, "", layers, unread, sizeof unread);
    if (unread[0] == '\0') {
        return true;
    }
    error_input(why, decoder->file, 0,
                "unknown architecture '%.60s' has keys that are not understood: %s", name, unread);
    if (lists(architecture_list("other_words"), unread, true)) {
        return error_expect(
            why, "a decoder of attention alone, or a class of models/architectures.yaml");
    }
    return error_expect(why, "--set model.architectures=LlamaForCausalLM to read it as that class, "
                             "or model.KEY=null to leave such a key out");
}
