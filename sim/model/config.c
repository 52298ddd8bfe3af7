/* Keys common to all architectures are read here, the rest by the readers of the architecture's
 * row. Nothing is guessed: a key that decides a size is stated and in its range, or known from the
 * class. */
#include "model/config.h"

#include "base/array.h"
#include "model/architecture.h"
#include "model/layers.h"
#include "model/quantisation.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* No memory is larger, and sums of a few of these sizes still fit 64 bits. */
static const uint64_t MOST_WEIGHT_BYTES = UINT64_C(1) << 60;

static const struct architecture *read_architecture(const struct fields *fields, struct error *why)
{
    const json_t *list;
    if (!field_list(fields, "architectures", &list, why)) {
        return NULL;
    }
    const char *name = json_string_value(json_array_get(list, 0));
    if (name == NULL) {
        field_error(fields, "architectures", why, "names no architecture");
        error_expect(why, "a list such as [\"LlamaForCausalLM\"]");
        return NULL;
    }
    return architecture_find(name, fields->file, why);
}

static bool config_read_sizes(const struct fields *fields, const struct architecture *kind,
                              struct model *model, struct error *why)
{
    return field_whole(fields, "num_hidden_layers", 1, LAYERS_MOST, FIELD_REQUIRED,
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

/* Apply the row's traits, and the keys that override them. */
static bool read_traits(const struct fields *fields, const struct architecture *kind,
                        struct model *model, struct error *why)
{
    snprintf(model->architecture, sizeof model->architecture, "%s", kind->name);
    model->learned_positions = kind->learned_positions;
    model->gated_ffn = kind->gated_ffn;
    model->query_key_norm = kind->query_key_norm;
    model->plain_query_key_norm = kind->plain_query_key_norm;
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
           read_switches(fields, kind, model, why);
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
    return quantisation_read(at_top ? top : decoder, model, why);
}

static bool config_read_model(const json_t *root, const char *file, struct model *model,
                              struct error *why)
{
    const struct fields top = {root, file, ""};
    if (!json_is_object(root)) {
        return error_input(why, file, 0,
                           "this is not a config.json: the top level is not an object");
    }
    const struct architecture *kind = read_architecture(&top, why);
    if (kind == NULL) {
        return false;
    }
    struct fields decoder = top;
    if (kind->inside != NULL) {
        if (!field_object(&top, kind->inside, &decoder.object, why)) {
            return false;
        }
        if (decoder.object == NULL) {
            return field_error(&top, kind->inside, why, "is missing");
        }
        decoder.inside = kind->inside;
    }
    return read_decoder(&decoder, kind, model, why) &&
           read_quantisation(&top, &decoder, model, why);
}

static bool apply_options(const struct model_options *options, const char *origin, int line,
                          struct model *model, struct error *why)
{
    model->weights = options->weights < 0 ? model->weights : (enum dtype)options->weights;
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
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL) {
        return error_input(why, file, problem.line > 0 ? problem.line : 0, "not JSON: %s",
                           problem.text);
    }
    bool fine = config_read_model(root, file, out, why) &&
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
