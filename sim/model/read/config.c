/* Keys common to all architectures are read here, the rest by the readers of the architecture's
 * row. Nothing is guessed: a key that decides a size is stated and in its range, or known from the
 * class. */
#include "model/read/config.h"

#include "core/array.h"
#include "core/node.h"
#include "core/text.h"
#include "model/read/architecture.h"
#include "model/read/keys.h"
#include "model/read/layers.h"
#include "model/read/quantisation.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No memory is larger, and sums of a few of these sizes still fit 64 bits. */
static const uint64_t MOST_WEIGHT_BYTES = UINT64_C(1) << 60;

/* ---- what a config.json is read as ------------------------------------------------------ */

static json_t *decoder_of(json_t *root)
{
    json_t *inside = json_object_get(root, "text_config");
    return json_is_object(inside) ? inside : root;
}

static char *overrides_finite(const char *text, size_t size, struct error *why)
{
    static const char word[] = "Infinity", number[] = "1e308   ";
    char *copy = array_zeroed(size + 1, 1, why);
    bool quoted = false;
    for (size_t i = 0; copy != NULL && i < size; i++) {
        bool escaped = i > 0 && text[i - 1] == '\\';
        quoted ^= text[i] == '"' && !escaped;
        copy[i] = text[i];
        if (!quoted && size - i >= strlen(word) && memcmp(text + i, word, strlen(word)) == 0) {
            memcpy(copy + i, number, strlen(word));
            i += strlen(word) - 1;
        }
    }
    return copy;
}

/* A scalar as JSON reads it, or else as a text; a list of such. NULL for a map. */
static json_t *json_of(const struct node *node)
{
    if (node->kind == NODE_LIST) {
        json_t *list = json_array();
        for (size_t i = 0; i < node->count; i++) {
            json_array_append_new(list, json_of(node->children[i]));
        }
        return list;
    }
    if (node->kind != NODE_SCALAR) {
        return node->kind == NODE_NULL ? json_null() : NULL;
    }
    json_t *value = json_loads(node->text, JSON_DECODE_ANY, NULL);
    return value != NULL ? value : json_string(node->text);
}

static bool overrides_apply(json_t *root, const struct node *keys, struct error *why)
{
    for (size_t i = 0; keys != NULL && i < keys->count; i++) {
        const struct node *node = keys->children[i];
        bool top =
            json_object_get(root, node->key) != NULL || strcmp(node->key, "architectures") == 0;
        if (!top && json_object_get(decoder_of(root), node->key) == NULL &&
            !architecture_decides_size(node->key)) {
            node_error(node, why, "no size depends on '%s', and config.json has no such key",
                       node->key);
            return error_nearest(why, architecture_nearest_key(node->key));
        }
        json_t *value = json_of(node);
        if (value == NULL) {
            node_error(node, why, "'config.%s' is a map", node->key);
            return error_expect(why, "a number, a word or a list");
        }
        if (strcmp(node->key, "architectures") == 0 && json_is_string(value)) {
            json_t *list = json_array();
            json_array_append_new(list, value);
            value = list;
        }
        json_object_set_new(top ? root : decoder_of(root), node->key, value);
    }
    return true;
}

/* Encoders differ more than decoders do. Their weights are counted as those of a plain transformer
 * of the stated width, depth and FFN, which is within a tenth for those of Qwen, Gemma and Kimi;
 * they take memory and nothing else here. */

/* An encoder's keys under the names that families give them. */
struct encoder {
    uint32_t width, depth, ffn;
};
static const struct field_size encoder_sizes[] = {
    FIELD_SIZE(encoder, width, 0, HEADS_MOST, 0, "hidden_size", "embed_dim", "vt_hidden_size"),
    FIELD_SIZE(encoder, depth, 0, LAYERS_MOST, 0, "num_hidden_layers", "depth",
               "vt_num_hidden_layers"),
    FIELD_SIZE(encoder, ffn, 0, SIZE_MOST, 0, "intermediate_size", "vt_intermediate_size"),
    FIELD_SIZES_END};

static bool encoder_weights(const struct fields *top, const char *key, uint64_t *sum,
                            struct error *why)
{
    struct fields inside = {NULL, top->file, key};
    struct encoder encoder = {.ffn = 0};
    if (!field_object(top, key, &inside.object, why)) {
        return false;
    }
    if (inside.object == NULL) {
        return true;
    }
    if (!field_sizes(&inside, encoder_sizes, &encoder, why)) {
        return false;
    }
    uint64_t width = encoder.width, ffn = encoder.ffn > 0 ? encoder.ffn : 4 * width;
    *sum += encoder.depth * (4 * width * width + 2 * width * ffn);
    return true;
}

static bool extras_read(const struct fields *top, const struct fields *decoder, struct model *model,
                        struct error *why)
{
    static const struct field_size sizes[] = {
        FIELD_SIZE(model, extras.token_dim, 0, SIZE_MOST, 0, "hidden_size_per_layer_input"),
        FIELD_SIZE(model, extras.token_vocabulary, 0, SIZE_MOST, 0, "vocab_size_per_layer_input"),
        FIELD_SIZE(model, extras.residual_rank, 0, SIZE_MOST, 0, "laurel_rank"),
        FIELD_SIZE(model, extras.streams, 0, HEADS_MOST, 0, "altup_num_inputs"),
        FIELD_SIZE(model, expert_dim, 0, SIZE_MOST, 0, "moe_latent_size",
                   "routed_expert_hidden_size"),
        FIELD_SIZES_END};
    return encoder_weights(top, "vision_config", &model->extras.encoders, why) &&
           encoder_weights(top, "audio_config", &model->extras.encoders, why) &&
           field_sizes(decoder, sizes, model, why) &&
           field_bool(decoder, "latent_moe_use_norm", &model->expert_latent_norm, why);
}

/* ---- the decoder ------------------------------------------------------------------------ */

/* The name of the class, or NULL. */
static const char *config_read_name(const struct fields *fields, struct error *why)
{
    const json_t *list;
    if (!field_list(fields, "architectures", &list, why)) {
        return NULL;
    }
    const char *name = json_string_value(json_array_get(list, 0));
    if (name == NULL) {
        field_error(fields, "architectures", why, "names no architecture");
        error_expect(why, "a list such as [\"LlamaForCausalLM\"]");
    }
    return name;
}

/* An architecture without a row is read by its keys. If some are missing without which nothing can
 * be computed, name all of them. */
static bool check_keys(const struct fields *decoder, const char *name, struct error *why)
{
    static const char *const needed[][3] = {
        {"hidden_size"},
        {"num_hidden_layers"},
        {"num_attention_heads"},
        {"vocab_size"},
        {"intermediate_size", "moe_intermediate_size"},
    };
    char missing[160] = "";
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const char *key = field_first(decoder, needed[i]);
        if (json_object_get(decoder->object, key) == NULL) {
            text_append(missing, sizeof missing, "%s%s", missing[0] != '\0' ? ", " : "", key);
        }
    }
    if (missing[0] == '\0') {
        return true;
    }
    error_input(why, decoder->file, 0, "unknown architecture '%.60s', which lacks %s", name,
                missing);
    error_nearest(why, architecture_nearest(name));
    return error_expect(why, "these keys, for instance by --set model.%.*s=N",
                        (int)strcspn(missing, ","), missing);
}

/* Layers that are listed need not be counted. */
static uint32_t listed_layers(const struct fields *fields)
{
    static const char *const lists[] = {"layers_block_type", "layer_types", NULL};
    size_t count = json_array_size(json_object_get(fields->object, field_first(fields, lists)));
    return count <= LAYERS_MOST ? (uint32_t)count : 0;
}

/* Keys that switch biases and the norm of Q and K on and off. */
static bool read_switches(const struct fields *fields, const struct architecture *kind,
                          struct model *model, struct error *why)
{
    static const char *const attention[] = {"attention_bias", "enable_bias", NULL};
    static const char *const ffn[] = {"mlp_bias", "enable_bias", NULL};
    const char *name = "silu", *key = field_first(fields, attention);
    if (!field_bool(fields, "tie_word_embeddings", &model->tied_embeddings, why) ||
        !field_bool(fields, "mla_use_output_gate", &model->gated_attention, why) ||
        !field_bool(fields, key, &model->query_bias, why) ||
        !field_bool(fields, field_first(fields, ffn), &model->ffn_bias, why) ||
        !field_bool(fields, "use_qk_norm", &model->query_key_norm, why) ||
        (!model->known && !field_text(fields, "hidden_act", &name, why))) {
        return false;
    }
    if (field_states(fields, key)) {
        model->output_bias = model->query_bias && !kind->plain_output;
    }
    const struct node *plain = architecture_list("plain_activations");
    for (size_t i = 0; !model->known && plain != NULL && i < plain->count; i++) {
        const char *start = plain->children[i]->text;
        model->gated_ffn = model->gated_ffn && strncmp(name, start, strlen(start)) != 0;
    }
    return true;
}

static bool check_needs(const struct fields *fields, const struct architecture *kind,
                        struct error *why)
{
    for (size_t i = 0; kind->needs != NULL && i < kind->needs->count; i++) {
        const char *key = kind->needs->children[i]->text;
        if (!field_states(fields, key)) {
            field_error(fields, key, why, "is missing");
            return error_expect(why, "a value: %s has none of its own", kind->name);
        }
    }
    return true;
}

static bool read_decoder(const struct fields *fields, const struct architecture *kind,
                         struct model *model, struct error *why)
{
    static const struct field_size sizes[] = {
        FIELD_SIZE(model, layer_count, 1, LAYERS_MOST, 0, "num_hidden_layers"),
        FIELD_SIZE(model, hidden, 1, SIZE_MOST, 0, "hidden_size"),
        FIELD_SIZE(model, query_heads, 1, HEADS_MOST, 0, "num_attention_heads"),
        FIELD_SIZE(model, vocabulary, 1, SIZE_MOST, 0, "vocab_size"), FIELD_SIZES_END};
    *model = kind->model;
    model->layer_count = listed_layers(fields);
    if (!field_sizes(fields, sizes, model, why) ||
        !field_whole(fields, "max_position_embeddings", 1, SIZE_MOST, model->trained_context,
                     &model->trained_context, why) ||
        !check_needs(fields, kind, why) || !read_switches(fields, kind, model, why)) {
        return false;
    }
    model->layers = array_zeroed(model->layer_count, sizeof *model->layers, why);
    return model->layers != NULL && heads_read(fields, model, why) &&
           windows_read(fields, kind, model, why) && ffn_read(fields, kind, model, why);
}

/* The type of the weights in the files, before any that the user states. */
static bool config_read_stored(const struct fields *top, const struct fields *decoder,
                               struct model *model, struct error *why)
{
    static const char *const names[] = {"torch_dtype", "dtype", NULL};
    const char *name = "bfloat16";
    if (!field_text(decoder, field_first(decoder, names), &name, why) ||
        !field_text(top, field_first(top, names), &name, why)) {
        return false;
    }
    bool quantised = model->weights != DTYPE_BF16 || model->experts != DTYPE_BF16;
    model->stored_bytes = quantised ? 0 : strcmp(name, "float32") == 0 ? 4 : 2;
    return true;
}

static bool config_read_model(const json_t *root, const char *file, struct model *model,
                              struct error *why)
{
    const struct fields top = {root, file, ""};
    struct fields decoder = top;
    const json_t *inside;
    if (!json_is_object(root)) {
        return error_input(why, file, 0,
                           "this is not a config.json: the top level is not an object");
    }
    const char *name = config_read_name(&top, why);
    const struct architecture *kind = name != NULL ? architecture_find(name, why) : NULL;
    if (kind == NULL || !field_object(&top, "text_config", &inside, why)) {
        return false;
    }
    if (inside != NULL) {
        decoder = (struct fields){inside, file, "text_config"};
    }
    if ((kind->name == NULL &&
         (!keys_known(&decoder, name, why) || !check_keys(&decoder, name, why))) ||
        !read_decoder(&decoder, kind, model, why)) {
        return false;
    }
    snprintf(model->architecture, sizeof model->architecture, "%s", name);
    model->own_code = json_object_get(root, "auto_map") != NULL;
    bool at_top = json_object_get(root, "quantization_config") != NULL;
    return extras_read(&top, &decoder, model, why) &&
           quantisation_read(at_top ? &top : &decoder, model, why) &&
           quantisation_read_experts(&decoder, model, why) &&
           config_read_stored(&top, &decoder, model, why);
}

static bool apply_options(const struct model_options *options, const char *origin, int line,
                          struct model *model, struct error *why)
{
    if (options->weights >= 0) {
        model->weights = model->experts = model->narrow = (enum dtype)options->weights;
    }
    model->kv = options->kv < 0 ? model->kv : (enum dtype)options->kv;
    model->tensor_parallel = options->tensor_parallel;
    model->parallel = (struct model_parallel){.data = 1, .experts = 1, .pipeline = 1};
    if (model->tensor_parallel == 0 || model->query_heads % model->tensor_parallel != 0) {
        error_input(why, origin, line, "tensor_parallel is %u", model->tensor_parallel);
        return error_expect(why, "a divisor of the model's %u query heads", model->query_heads);
    }
    return true;
}

bool model_parse(const char *text, size_t size, const char *file,
                 const struct model_options *options, const char *origin, int line,
                 struct model *out, struct error *why)
{
    *out = (struct model){0};
    json_error_t problem;
    char *finite = overrides_finite(text, size, why);
    if (finite == NULL) {
        return false;
    }
    json_t *root = json_loadb(finite, size, JSON_REJECT_DUPLICATES, &problem);
    free(finite);
    if (root == NULL) {
        return error_input(why, file, problem.line > 0 ? problem.line : 0, "not JSON: %s",
                           problem.text);
    }
    bool fine = overrides_apply(root, options->config, why);
    keys_rename(decoder_of(root));
    fine = fine && config_read_model(root, file, out, why) &&
           apply_options(options, origin, line, out, why) &&
           (model_weight_bytes(out) <= MOST_WEIGHT_BYTES ||
            error_input(why, file, 0, "the weights would take over 2^60 bytes"));
    json_decref(root);
    if (!fine) {
        model_release(out);
    }
    return fine;
}

void model_release(struct model *model)
{
    free(model->layers);
    free(model->importance);
    *model = (struct model){0};
}
