/* Keys common to all architectures are read here, the rest by the readers of the architecture's
 * row. Nothing is guessed: a key that decides a size is stated and in its range, or known from the
 * class. */
#include "model/read/config.h"

#include "core/array.h"
#include "core/text.h"
#include "model/read/architecture.h"
#include "model/read/extras.h"
#include "model/read/layers.h"
#include "model/read/overrides.h"
#include "model/read/quantisation.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No memory is larger, and sums of a few of these sizes still fit 64 bits. */
static const uint64_t MOST_WEIGHT_BYTES = UINT64_C(1) << 60;

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
static int64_t listed_layers(const struct fields *fields)
{
    static const char *const lists[] = {"layers_block_type", "layer_types", NULL};
    size_t count = json_array_size(json_object_get(fields->object, field_first(fields, lists)));
    return count > 0 && count <= LAYERS_MOST ? (int64_t)count : FIELD_REQUIRED;
}

static bool config_read_sizes(const struct fields *fields, const struct architecture *kind,
                              struct model *model, struct error *why)
{
    return field_whole(fields, "num_hidden_layers", 1, LAYERS_MOST, listed_layers(fields),
                       &model->layer_count, why) &&
           field_whole(fields, "hidden_size", 1, SIZE_MOST, FIELD_REQUIRED, &model->hidden, why) &&
           field_whole(fields, "num_attention_heads", 1, HEADS_MOST, kind->query_heads,
                       &model->query_heads, why) &&
           field_whole(fields, "vocab_size", 1, SIZE_MOST, kind->vocabulary, &model->vocabulary,
                       why) &&
           field_whole(fields, "max_position_embeddings", 1, SIZE_MOST, kind->context,
                       &model->trained_context, why);
}

static bool read_switches(const struct fields *fields, const struct architecture *kind,
                          struct model *model, struct error *why)
{
    const char *attention = kind->attention_bias_key, *ffn = kind->ffn_bias_key;
    const char *norm = kind->query_key_norm_key;
    if ((attention != NULL && !field_bool(fields, attention, &model->query_bias, why)) ||
        (ffn != NULL && !field_bool(fields, ffn, &model->ffn_bias, why)) ||
        (norm != NULL && !field_bool(fields, norm, &model->query_key_norm, why))) {
        return false;
    }
    if (attention != NULL) {
        model->output_bias = model->query_bias && !kind->plain_output;
    }
    return true;
}

/* What an architecture without a row says of its activation: relu has no gate. */
static bool read_activation(const struct fields *fields, struct model *model, struct error *why)
{
    const char *name = "silu";
    if (model->known || !field_text(fields, "hidden_act", &name, why)) {
        return model->known;
    }
    model->gated_ffn = strncmp(name, "relu", 4) != 0;
    return true;
}

/* Apply the row's traits, and the keys that override them. */
static bool read_traits(const struct fields *fields, const struct architecture *kind,
                        struct model *model, struct error *why)
{
    model->learned_positions = kind->learned_positions;
    model->gated_ffn = kind->gated_ffn;
    model->query_key_norm = kind->query_key_norm;
    model->plain_query_key_norm = kind->plain_query_key_norm;
    model->wide_query_key_norm = kind->wide_query_key_norm;
    model->attention_sinks = kind->attention_sinks;
    model->gated_attention = kind->gated_attention;
    model->shared_gate = kind->shared_gate;
    model->router_bias = kind->router_bias;
    model->norm_bias = kind->norm_bias;
    model->layer_norms = kind->layer_norms;
    model->tied_embeddings = kind->tied_embeddings;
    model->query_bias = kind->query_bias;
    model->output_bias = kind->output_bias;
    model->ffn_bias = kind->ffn_bias;
    return field_bool(fields, "tie_word_embeddings", &model->tied_embeddings, why) &&
           field_bool(fields, "mla_use_output_gate", &model->gated_attention, why) &&
           read_switches(fields, kind, model, why) && read_activation(fields, model, why);
}

static bool read_decoder(const struct fields *fields, const struct architecture *kind,
                         struct model *model, struct error *why)
{
    if (!config_read_sizes(fields, kind, model, why) || !read_traits(fields, kind, model, why)) {
        return false;
    }
    model->layers = array_zeroed(model->layer_count, sizeof *model->layers, why);
    return model->layers != NULL && kind->read_heads(fields, kind, model, why) &&
           kind->read_windows(fields, kind, model, why) && kind->read_ffn(fields, kind, model, why);
}

/* The quantisation is stated at the top level, or in the decoder's object. */
static bool read_quantisation(const struct fields *top, const struct fields *decoder,
                              struct model *model, struct error *why)
{
    bool at_top = json_object_get(top->object, "quantization_config") != NULL;
    return quantisation_read(at_top ? top : decoder, model, why) &&
           quantisation_read_experts(decoder, model, why);
}

static bool read_unknown(const struct fields *top, const char *name, struct model *model,
                         struct error *why)
{
    struct fields decoder = *top;
    const json_t *inside;
    if (!field_object(top, "text_config", &inside, why)) {
        return false;
    }
    if (inside != NULL) {
        decoder = (struct fields){inside, top->file, "text_config"};
    }
    return check_keys(&decoder, name, why) &&
           read_decoder(&decoder, &architecture_by_keys, model, why) &&
           extras_read(top, &decoder, model, why) && read_quantisation(top, &decoder, model, why);
}

static bool config_read_model(const json_t *root, const char *file, struct model *model,
                              struct error *why)
{
    const struct fields top = {root, file, ""};
    if (!json_is_object(root)) {
        return error_input(why, file, 0,
                           "this is not a config.json: the top level is not an object");
    }
    const char *name = config_read_name(&top, why);
    if (name == NULL) {
        return false;
    }
    const struct architecture *kind = architecture_find(name);
    struct fields decoder = top;
    model->known = kind != NULL;
    snprintf(model->architecture, sizeof model->architecture, "%s", name);
    if (kind == NULL) {
        return read_unknown(&top, name, model, why);
    }
    if (kind->inside != NULL) {
        if (!field_object(&top, kind->inside, &decoder.object, why)) {
            return false;
        }
        if (decoder.object == NULL) {
            return field_error(&top, kind->inside, why, "is missing");
        }
        decoder.inside = kind->inside;
    }
    return read_decoder(&decoder, kind, model, why) && extras_read(&top, &decoder, model, why) &&
           read_quantisation(&top, &decoder, model, why);
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

static bool config_check_size(const struct model *model, const char *file, struct error *why)
{
    return model_weight_bytes(model) <= MOST_WEIGHT_BYTES ||
           error_input(why, file, 0, "the weights would take over 2^60 bytes");
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
    overrides_rename(root);
    fine = fine && config_read_model(root, file, out, why) &&
           apply_options(options, origin, line, out, why) && config_check_size(out, file, why);
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
