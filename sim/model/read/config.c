/* Keys common to all architectures are read here, the rest by the readers of the architecture's row. Nothing
 * is guessed: a key that decides a size is stated and in its range, or known from the class. */
#include "model/read/config.h"

#include "core/array.h"
#include "core/files.h"
#include "core/named.h"
#include "core/random.h"
#include "core/text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No memory is larger, and sums of a few of these sizes still fit 64 bits. */
static const uint64_t MOST_WEIGHT_BYTES = UINT64_C(1) << 60;

/* ---- what a config.json is read as ------------------------------------------------------ */

static struct node *decoder_of(struct node *root)
{
    const struct node *inside = node_get(root, "text_config");
    return inside != NULL && inside->kind == NODE_MAP ? (struct node *)inside : root;
}

static bool overrides_apply(struct node *root, const struct node *keys, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && keys != NULL && i < keys->count; i++) {
        const struct node *node = keys->children[i];
        bool top = node_get(root, node->key) != NULL || strcmp(node->key, "architectures") == 0;
        if (!top && node_get(decoder_of(root), node->key) == NULL &&
            !architecture_decides_size(node->key)) {
            node_error(node, why, "no size depends on '%s', and config.json has no such key",
                       node->key);
            return error_nearest(why, architecture_nearest_key(node->key));
        }
        if (node->kind == NODE_MAP) {
            node_error(node, why, "'config.%s' is a map", node->key);
            return error_expect(why, "a number, a word or a list");
        }
        good = node_put(top ? root : decoder_of(root), node->key, node, why);
    }
    return good;
}

/* Encoders differ more than decoders do. Their weights are counted as those of a plain transformer
 * of the stated width, depth and FFN, which is within a tenth for those of Qwen, Gemma, Kimi, Llama and
 * Mistral; they take memory and nothing else here. Qwen2-VL has the decoder's width as hidden_size. */

/* An encoder's keys under the names that families give them. */
struct encoder {
    uint32_t width, depth, ffn;
};
static const struct field_size encoder_sizes[] = {
    FIELD_SIZE(encoder, width, 0, HEADS_MOST, 0, "embed_dim", "hidden_size", "vt_hidden_size"),
    FIELD_SIZE(encoder, depth, 0, LAYERS_MOST, 0, "num_hidden_layers", "depth",
               "vt_num_hidden_layers"),
    FIELD_SIZE(encoder, ffn, 0, SIZE_MOST, 0, "intermediate_size", "vt_intermediate_size"),
    FIELD_SIZES_END};

static bool encoder_weights(const struct node *top, const char *key, uint64_t *sum,
                            struct error *why)
{
    const struct node *inside = node_stated(top, key);
    struct encoder encoder = {.ffn = 0};
    const char *type = "", *activation = "";
    if (!field_sizes(inside, encoder_sizes, &encoder, why) ||
        !node_text(inside, "model_type", &type, why) ||
        !node_text(inside, "hidden_act", &activation, why)) {
        return false;
    }
    bool gated = strcmp(activation, "silu") == 0 || strcmp(type, "pixtral") == 0;
    uint64_t width = encoder.width, ffn = encoder.ffn > 0 ? encoder.ffn : 4 * width;
    *sum += encoder.depth * (4 * width * width + (gated ? 3 : 2) * width * ffn);
    return true;
}

static bool extras_read(const struct node *top, const struct node *decoder, struct model *model,
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
           node_bool(decoder, "latent_moe_use_norm", &model->expert_latent_norm, why);
}

/* ---- the decoder ------------------------------------------------------------------------ */

static const char *config_read_name(const struct node *root, struct error *why)
{
    const struct node *list = node_stated(root, "architectures");
    list = list != NULL && list->count > 0 ? list->children[0] : list;
    if (list == NULL || list->kind != NODE_SCALAR) {
        field_error(root, "architectures", why, "names no architecture");
        error_expect(why, "a list such as [\"LlamaForCausalLM\"]");
        return NULL;
    }
    return list->text;
}

/* An architecture without a row is read by its keys. Name all that are missing and needed. */
static bool check_keys(const struct node *decoder, const char *name, struct error *why)
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
        if (node_get(decoder, key) == NULL) {
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

/* Keys that switch biases and the norm of Q and K on and off. */
static bool read_switches(const struct node *config, const struct architecture *kind,
                          struct model *model, struct error *why)
{
    static const char *const attention[] = {"attention_bias", "enable_bias", NULL};
    static const char *const ffn[] = {"mlp_bias", "enable_bias", NULL};
    const char *name = "silu", *key = field_first(config, attention);
    if (!node_bool(config, "tie_word_embeddings", &model->tied_embeddings, why) ||
        !node_bool(config, "mla_use_output_gate", &model->gated_attention, why) ||
        !node_bool(config, key, &model->query_bias, why) ||
        !node_bool(config, field_first(config, ffn), &model->ffn_bias, why) ||
        !node_bool(config, "use_qk_norm", &model->query_key_norm, why) ||
        (!model->known && !node_text(config, "hidden_act", &name, why))) {
        return false;
    }
    if (node_stated(config, key) != NULL) {
        model->output_bias = model->query_bias && !kind->plain_output;
    }
    const struct node *plain = architecture_list("plain_activations");
    for (size_t i = 0; !model->known && plain != NULL && i < plain->count; i++) {
        const char *start = plain->children[i]->text;
        model->gated_ffn = model->gated_ffn && strncmp(name, start, strlen(start)) != 0;
    }
    return true;
}

static bool check_needs(const struct node *config, const struct architecture *kind,
                        struct error *why)
{
    for (size_t i = 0; kind->needs != NULL && i < kind->needs->count; i++) {
        const char *key = kind->needs->children[i]->text;
        if (node_stated(config, key) == NULL) {
            field_error(config, key, why, "is missing");
            return error_expect(why, "a value: %s has none of its own", kind->name);
        }
    }
    return true;
}

/* Rotations that are stretched lengthen what a model was trained for, as vLLM reads them (config.py,
 * _get_and_verify_max_len): but for types whose file has the whole length, and Gemma 3, whose has, too. */
static bool read_stretch(const struct node *config, const struct architecture *kind,
                         struct model *model, struct error *why)
{
    static const char *const maps[] = {"rope_scaling", "rope_parameters", NULL};
    static const char *const types[] = {"rope_type", "type", NULL};
    const struct node *rope = node_stated(config, field_first(config, maps));
    uint32_t original = model->trained_context;
    double factor = 1;
    const char *type = "default";
    if (rope == NULL || rope->kind != NODE_MAP ||
        (kind->name != NULL && strncmp(kind->name, "Gemma3", 6) == 0)) {
        return true;
    }
    if (!node_text(rope, field_first(rope, types), &type, why) ||
        !node_quantity(rope, "factor", UNIT_COUNT, &factor, why) ||
        !field_whole(rope, "original_max_position_embeddings", 1, SIZE_MOST, original, &original,
                     why)) {
        return false;
    }
    bool yarn = strcmp(type, "yarn") == 0;
    double length = (yarn ? original : model->trained_context) * factor;
    bool longer = yarn || strcmp(type, "linear") == 0 || strcmp(type, "dynamic") == 0;
    model->trained_context =
        longer && length >= 1 && length <= SIZE_MOST ? (uint32_t)length : model->trained_context;
    return true;
}

static bool read_decoder(const struct node *config, const struct architecture *kind,
                         struct model *model, struct error *why)
{
    static const struct field_size sizes[] = {
        FIELD_SIZE(model, layer_count, 1, LAYERS_MOST, 0, "num_hidden_layers"),
        FIELD_SIZE(model, hidden, 1, SIZE_MOST, 0, "hidden_size"),
        FIELD_SIZE(model, query_heads, 1, HEADS_MOST, 0, "num_attention_heads"),
        FIELD_SIZE(model, vocabulary, 1, SIZE_MOST, 0, "vocab_size"), FIELD_SIZES_END};
    *model = kind->model;
    static const char *const lists[] = {"layers_block_type", "layer_types", NULL};
    const struct node *list = node_stated(config, field_first(config, lists));
    bool listed = list != NULL && list->count <= LAYERS_MOST; /* these need not be counted */
    model->layer_count = listed ? (uint32_t)list->count : 0;
    if (!field_sizes(config, sizes, model, why) ||
        !field_whole(config, "max_position_embeddings", 1, SIZE_MOST, model->trained_context,
                     &model->trained_context, why) ||
        !read_stretch(config, kind, model, why) || !check_needs(config, kind, why) ||
        !read_switches(config, kind, model, why)) {
        return false;
    }
    model->layers = array_zeroed(model->layer_count, sizeof *model->layers, why);
    return model->layers != NULL && heads_read(config, model, why) &&
           windows_read(config, kind, model, why) && ffn_read(config, kind, model, why);
}

/* The type of the weights in the files, before any that the user states. */
static bool config_read_stored(const struct node *top, const struct node *decoder,
                               struct model *model, struct error *why)
{
    static const char *const names[] = {"torch_dtype", "dtype", NULL};
    const char *name = "bfloat16";
    if (!node_text(decoder, field_first(decoder, names), &name, why) ||
        !node_text(top, field_first(top, names), &name, why)) {
        return false;
    }
    bool quantised = model->weights != DTYPE_BF16 || model->experts != DTYPE_BF16;
    model->stored_bytes = quantised ? 0 : strcmp(name, "float32") == 0 ? 4 : 2;
    return true;
}

/* What is inside one of these is not to be passed over. */
static bool check_sections(const struct node *root, struct error *why)
{
    static const char *const parts[] = {"text_config", "vision_config", "audio_config"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct node *part = node_stated(root, parts[i]);
        if (part != NULL && part->kind != NODE_MAP) {
            return node_error(part, why, "'%s' is not an object", parts[i]);
        }
    }
    return true;
}

static bool config_read_model(struct node *root, struct model *model, struct error *why)
{
    struct node *decoder = decoder_of(root);
    const char *name = config_read_name(root, why);
    const struct architecture *kind = name != NULL ? architecture_find(name, why) : NULL;
    if (kind == NULL || !check_sections(root, why) || !keys_rename(decoder, why) ||
        (kind->name == NULL &&
         (!keys_known(decoder, name, why) || !check_keys(decoder, name, why))) ||
        !read_decoder(decoder, kind, model, why)) {
        return false;
    }
    snprintf(model->architecture, sizeof model->architecture, "%s", name);
    model->own_code = node_get(root, "auto_map") != NULL;
    return extras_read(root, decoder, model, why) && quantisation_read(root, decoder, model, why) &&
           quantisation_read_experts(decoder, model, why) &&
           config_read_stored(root, decoder, model, why);
}

static bool apply_options(const struct model_options *options, const char *origin, int line,
                          struct model *model, struct error *why)
{
    if (options->weights >= 0) {
        bool same = options->weights == DTYPE_INT4 || options->weights == DTYPE_BF16;
        if (model->weights == DTYPE_INT4 && !same) {
            error_input(why, origin, line, "dtype.weights is %s, and this checkpoint's are int4",
                        dtype_name((enum dtype)options->weights));
            return error_expect(why, "no dtype.weights, or the checkpoint that is not quantised");
        }
        model->weights = model->experts = (enum dtype)options->weights;
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

/* JSON writes a character past U+FFFF as two escapes, \ud83d\ude00, which YAML refuses. No size depends
 * on such a text, so that each half may become a character of its own, \ue83d\ue600. */
static char *split_pairs(const char *text, size_t size, struct error *why)
{
    char *copy = array_zeroed(size + 1, 1, why);
    for (size_t i = 0; copy != NULL && i < size; i++) {
        copy[i] = text[i];
        if (text[i] == '\\' && i + 3 < size) {
            bool half = text[i + 1] == 'u' && (text[i + 2] == 'd' || text[i + 2] == 'D') &&
                        strchr("89abcdefABCDEF", text[i + 3]) != NULL;
            copy[i + 1] = text[i + 1];
            copy[i + 2] = half ? 'e' : text[i + 2];
            i += half ? 2 : 1;
        }
    }
    return copy;
}

bool model_parse(const char *text, size_t size, const char *file,
                 const struct model_options *options, const char *origin, int line,
                 struct model *out, struct error *why)
{
    *out = (struct model){0};
    char *copy = split_pairs(text, size, why);
    struct node *root = copy != NULL ? node_parse(copy, size, file, why) : NULL;
    free(copy);
    bool fine = root != NULL &&
                (root->kind == NODE_MAP ||
                 error_input(why, file, 0, "not a config.json: the top level is not an object")) &&
                overrides_apply(root, options->config, why) && config_read_model(root, out, why) &&
                apply_options(options, origin, line, out, why) &&
                (model_weight_bytes(out) <= MOST_WEIGHT_BYTES ||
                 error_input(why, file, 0, "the weights would take over 2^60 bytes"));
    node_destroy(root);
    if (!fine) {
        model_release(out);
    }
    return fine;
}

void model_release(struct model *model)
{
    free(model->layers);
    free(model->importance);
    free(model->query_importance);
    *model = (struct model){0};
}

/* ---- finding a model: a name in the data folder, a file, a folder of Hugging Face's layout, an id ---- */

/* Real files, even with every module of a large model listed, have some hundred KiB. */
enum { MOST_CONFIG_BYTES = 4 << 20 };

/* A type of weights behind the name of a model that ships means that one, not a name nearer by letters. */
static bool suggest_unquantised(const char *name, struct error *why)
{
    static const char *const types[] = {"fp8",  "int8",  "int4",  "awq",
                                        "gptq", "nvfp4", "mxfp4", NULL};
    const char *dash = strrchr(name, '-');
    char stem[NAMED_SIZE], canonical[NAMED_SIZE];
    text_copy(stem,
              dash != NULL && (size_t)(dash - name) < sizeof stem ? (size_t)(dash - name) + 1 : 1,
              name);
    return dash != NULL && name_match(dash + 1, types) >= 0 &&
           named_canonical(&named_model, stem, canonical) && error_nearest(why, canonical);
}

/* Find the config.json that `name` stands for. An id that is also a path here is the path. */
static bool find_config(const char *name, const char *file, int line, char path[PATH_MAX],
                        struct error *why)
{
    struct stat status;
    if (!named_file(&named_model, name, file, line, path, PATH_MAX, why)) {
        return suggest_unquantised(name, why);
    }
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return true;
    }
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        path[--length] = '\0';
    }
    int written = snprintf(path + length, PATH_MAX - length, "/config.json");
    return (size_t)written < PATH_MAX - length ||
           error_set(why, name, 0, "the path of this model is too long");
}

/* "models/opt-30b.json" is opt-30b, "qwen3/config.json" is qwen3. */
static void name_model(const char *path, struct model *model)
{
    const char *end = strrchr(path, '/');
    if (end == NULL || strcmp(end, "/config.json") != 0) {
        const char *dot = strrchr(path, '.');
        end = dot != NULL && strcmp(dot, ".json") == 0 ? dot : path + strlen(path);
    }
    const char *start = end;
    while (start > path && start[-1] != '/') {
        start--;
    }
    bool here = end - start == 1 && *start == '.'; /* "./config.json" */
    snprintf(model->name, sizeof model->name, "%.*s", here ? 6 : (int)(end - start),
             here ? "config" : start);
}

static bool read_importance(struct files *files, const char *path, struct model *model,
                            struct error *why)
{
    char table[PATH_MAX];
    const char *dot = strrchr(path, '.');
    size_t stem = dot != NULL && strcmp(dot, ".json") == 0 ? (size_t)(dot - path) : strlen(path);
    int written = snprintf(table, sizeof table, "%.*s.heads.tsv", (int)stem, path);
    return (size_t)written >= sizeof table || importance_read(files, table, model, why);
}

static bool find_beside(const char *path, const char *name, char other[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    int written = snprintf(other, PATH_MAX, "%.*s%s", (int)folder, path, name);
    return strcmp(path + folder, "config.json") == 0 && written < PATH_MAX &&
           access(other, F_OK) == 0;
}

/* Keep the bytes that the index of the weights' files states, if they are over 5 % off the config's: a key is
 * not understood, or the class has weights that no key says. Files may hold a tied embedding twice. An index
 * that cannot be read says nothing. */
static void compare_index(struct files *files, const char *path, struct model *model)
{
    char other[PATH_MAX];
    size_t size;
    struct model_part parts[MODEL_PARTS];
    char *text = find_beside(path, "model.safetensors.index.json", other)
                     ? files_text(files, other, &size, ERROR_UNSEEN)
                     : NULL;
    json_t *root = text != NULL ? json_loadb(text, size, 0, NULL) : NULL;
    double stated =
        json_number_value(json_object_get(json_object_get(root, "metadata"), "total_size"));
    double each = model->stored_bytes > 0 ? model->stored_bytes : 2, counted = 0;
    double copy = model->tied_embeddings ? each * model->vocabulary * model->hidden : 0;
    if (root != NULL) {
        model_parts(model, parts);
    }
    for (int i = 0; root != NULL && i < MODEL_PARTS; i++) {
        counted += model->stored_bytes > 0 ? each * (double)parts[i].total : 0;
        for (int type = 0; model->stored_bytes == 0 && type < DTYPE_COUNT; type++) {
            counted += (double)parts[i].bytes[type];
        }
    }
    double off = fmin(fabs(stated - counted), fabs(stated - counted - copy));
    model->indexed = stated > 0 && stated < 1e18 && off > 0.05 * stated ? (uint64_t)stated : 0;
    model->counted = (uint64_t)counted;
    json_decref(root);
    free(text);
}

/* Older exports of ModelOpt describe quantisation in an unread file: bf16 would be wrong in silence. */
static bool check_described(const char *path, const struct model_options *options,
                            const struct model *model, struct error *why)
{
    static const char name[] = "hf_quant_config.json";
    char other[PATH_MAX];
    if (!find_beside(path, name, other) || options->weights >= 0 || model->weights != DTYPE_BF16) {
        return true;
    }
    error_set(why, path, 0, "no 'quantization_config', but '%s' lies beside it", name);
    return error_expect(why, "its 'quantization' as 'quantization_config', or 'dtype.weights'");
}

bool model_load(struct files *files, const char *name, const struct model_options *options,
                const char *file, int line, struct model *out, struct error *why)
{
    char path[PATH_MAX];
    size_t size;
    *out = (struct model){0};
    if (!find_config(name, file, line, path, why)) {
        return false;
    }
    char *text = files_text(files, path, &size, why);
    if (text == NULL) {
        return false;
    }
    bool fine = size <= MOST_CONFIG_BYTES
                    ? model_parse(text, size, path, options, file, line, out, why)
                    : error_input(why, path, 0, "larger than 4 MiB: not a config.json");
    free(text);
    if (!fine) {
        return false;
    }
    name_model(path, out);
    if (out->stored_bytes > 0 || options->weights < 0) {
        compare_index(files, path, out);
    }
    if (!check_described(path, options, out, why) || !read_importance(files, path, out, why)) {
        model_release(out);
        return false;
    }
    return true;
}

/* The table of a shipped model of 32 layers with so many KV heads. */
enum { TABLE_LAYERS = 32 };
static bool shipped_importance(struct files *files, const char *name, uint32_t heads,
                               struct model *out, struct error *why)
{
    char path[PATH_MAX];
    *out = (struct model){.layer_count = TABLE_LAYERS, .kv_heads = heads, .query_heads = heads};
    return find_config(name, NULL, 0, path, why) && read_importance(files, path, out, why) &&
           (out->importance != NULL || error_set(why, path, 0, "no table of heads beside it"));
}

/* Any head of a table, at this share of the depth. */
static float drawn_head(gsl_rng *stream, const struct model *table, size_t at, size_t of)
{
    size_t layer = at * TABLE_LAYERS / of;
    return table
        ->importance[layer * table->kv_heads + gsl_rng_uniform_int(stream, table->kv_heads)];
}

static void draw_group(gsl_rng *stream, const struct model *table, size_t head, struct model *model)
{
    uint32_t group = model->query_heads / model->kv_heads;
    float most = 0, *first = model->query_importance + head * group;
    for (uint32_t j = 0; j < group; j++) {
        first[j] = drawn_head(stream, table, head, (size_t)model->layer_count * model->kv_heads);
        most = fmaxf(most, first[j]);
    }
    for (uint32_t j = 0; j < group; j++) {
        first[j] = most > 0 ? model->importance[head] * (first[j] / most) : model->importance[head];
    }
}

bool model_draw_importance(struct files *files, uint64_t seed, uint32_t draw, bool queries,
                           struct model *model, struct error *why)
{
    static const char *const names[MODEL_DRAWS] = {"llama-3-8b", "llama-3.1-8b", "mistral-7b-v0.3"};
    struct model grouped = {0}, single = {0};
    uint32_t group = model->query_heads / model->kv_heads;
    size_t heads = (size_t)model->layer_count * model->kv_heads;
    gsl_rng *stream = random_stream(seed, "model.importance", draw, why);
    bool good = stream != NULL && shipped_importance(files, "llama-2-7b", 32, &single, why) &&
                shipped_importance(files, names[draw % MODEL_DRAWS], 8, &grouped, why);
    model->importance_drawn = good && model->importance == NULL;
    model->queries_drawn = good && queries && group > 1 && model->query_importance == NULL;
    if (model->importance_drawn) {
        model->importance = array_zeroed(heads, sizeof(float), why);
    }
    if (model->queries_drawn) {
        model->query_importance = array_zeroed(heads * group, sizeof(float), why);
    }
    good = good && model->importance != NULL &&
           (!model->queries_drawn || model->query_importance != NULL);
    for (size_t i = 0; good && i < heads; i++) {
        if (model->importance_drawn) {
            model->importance[i] = drawn_head(stream, group > 1 ? &grouped : &single, i, heads);
        }
        if (model->queries_drawn) {
            draw_group(stream, &single, i, model);
        }
    }
    gsl_rng_free(stream);
    model_release(&grouped);
    model_release(&single);
    return good;
}

static uint32_t words_in_line(const char *at)
{
    uint32_t count = 0;
    for (at += strspn(at, " \t\r\n"); strcspn(at, "\n") > 0; at += strspn(at, " \t\r")) {
        at += strcspn(at, " \t\r\n");
        count++;
    }
    return count;
}

/* X.heads.tsv: a line "# source", then one a layer: a number, 0 to 1, for each KV head, then query heads. */
bool importance_read(struct files *files, const char *path, struct model *model, struct error *why)
{
    size_t size, read = 0;
    uint32_t heads = model->kv_heads;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return true;
    }
    char *text = files_text(files, path, &size, why), *at = text, *end;
    if (text != NULL && *at == '#') {
        at += strspn(at, "# \t");
        snprintf(model->importance_source, sizeof model->importance_source, "%.*s",
                 (int)strcspn(at, "\r\n"), at);
        at += strcspn(at, "\n");
    }
    bool queries = text != NULL && words_in_line(at) == heads + model->query_heads;
    size_t layers = model->layer_count, columns = heads + (queries ? model->query_heads : 0);
    model->importance = text != NULL ? array_zeroed(layers * heads, sizeof(float), why) : NULL;
    model->query_importance =
        queries ? array_zeroed(layers * model->query_heads, sizeof(float), why) : NULL;
    bool room = model->importance != NULL && (!queries || model->query_importance != NULL);
    for (bool good = room; good && read < layers * columns; read += good) {
        bool begins_line = strspn(at, " \t\r\n") > strspn(at, " \t\r");
        size_t layer = read / columns, column = read % columns;
        float number = strtof(at, &end),
              *into = column < heads
                          ? &model->importance[layer * heads + column]
                          : &model->query_importance[layer * model->query_heads + column - heads];
        good =
            end > at && number >= 0 && number <= 1 && (read == 0 || begins_line == (column == 0));
        *into = good ? number : 0;
        at = good ? end : at;
    }
    bool whole = room && read == layers * columns && at + strspn(at, " \t\r\n") == text + size;
    if (room && !whole) {
        int line = 1;
        at += strspn(at, " \t\r\n");
        for (const char *from = text; from < at; from++) {
            line += *from == '\n';
        }
        error_input(why, path, line, "number %zu is missing, or not from 0 to 1, or more follow",
                    read);
        error_expect(why, "%zu lines of %zu numbers from 0 to 1", layers, columns);
    }
    free(text);
    return whole;
}
