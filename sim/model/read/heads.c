/* Heads by the keys that a config has: groups that share K and V, a latent of all (MLA) with or without an
 * indexer, compressed entries, and the heads of linear layers. */
#include "model/read/config.h"

#include <string.h>

static const struct field_size kimi_sizes[] = {
    FIELD_SIZE(model_linear, key_heads, 1, HEADS_MOST, 0, "num_heads"),
    FIELD_SIZE(model_linear, key_dim, 1, SIZE_MOST, 0, "head_dim"),
    FIELD_SIZE(model_linear, kernel, 1, HEADS_MOST, 4, "short_conv_kernel_size"), FIELD_SIZES_END};
static const struct field_size mamba_sizes[] = {
    FIELD_SIZE(model_linear, value_heads, 1, HEADS_MOST, 0, "mamba_num_heads", "mamba_n_heads"),
    FIELD_SIZE(model_linear, value_dim, 1, SIZE_MOST, 0, "mamba_head_dim", "mamba_d_head"),
    FIELD_SIZE(model_linear, key_dim, 1, SIZE_MOST, 0, "ssm_state_size", "mamba_d_state"),
    FIELD_SIZE(model_linear, key_heads, 1, HEADS_MOST, 1, "n_groups", "mamba_n_groups"),
    FIELD_SIZE(model_linear, kernel, 1, HEADS_MOST, 4, "conv_kernel", "mamba_d_conv"),
    FIELD_SIZES_END};
static const struct field_size delta_sizes[] = {
    FIELD_SIZE(model_linear, key_heads, 1, HEADS_MOST, 0, "linear_num_key_heads"),
    FIELD_SIZE(model_linear, value_heads, 1, HEADS_MOST, 0, "linear_num_value_heads"),
    FIELD_SIZE(model_linear, key_dim, 1, SIZE_MOST, 0, "linear_key_head_dim"),
    FIELD_SIZE(model_linear, value_dim, 1, SIZE_MOST, 0, "linear_value_head_dim"),
    FIELD_SIZE(model_linear, kernel, 1, HEADS_MOST, 0, "linear_conv_kernel_dim"),
    FIELD_SIZES_END};

/* The form of linear layers is known by a key that it alone has, and the type of its state, where the config
 * says none: fp32 of Kimi's and Nemotron-H's (vLLM's models/config.py), else the model's. */
static bool read_linear(const struct node *config, struct model *model, struct error *why)
{
    static const struct {
        const char *key;
        enum linear_kind kind;
        const struct field_size *sizes;
        const char *state;
    } forms[] = {{"linear_num_key_heads", LINEAR_DELTA, delta_sizes, ""},
                 {"linear_attn_config", LINEAR_KIMI, kimi_sizes, "float32"},
                 {"mamba_num_heads", LINEAR_MAMBA, mamba_sizes, "float32"}, /* Nemotron-H */
                 {"mamba_n_heads", LINEAR_MAMBA, mamba_sizes, ""}};
    struct model_linear *linear = &model->linear;
    size_t i = 0, count = sizeof forms / sizeof *forms;
    while (i < count && node_stated(config, forms[i].key) == NULL) {
        i++;
    }
    if (i == count) {
        return true;
    }
    bool kimi = forms[i].kind == LINEAR_KIMI; /* in an object of its own, K and V alike */
    const struct node *inside = kimi ? node_get(config, forms[i].key) : config;
    linear->kind = forms[i].kind;
    if (!field_sizes(inside, forms[i].sizes, linear, why) ||
        (kimi && !node_bool(inside, "use_full_rank_gate", &linear->full_gate, why))) {
        return false;
    }
    linear->value_heads = kimi ? linear->key_heads : linear->value_heads;
    linear->value_dim = kimi ? linear->key_dim : linear->value_dim;
    static const char *const types[] = {"mamba_ssm_dtype", "mamba_ssm_cache_dtype", NULL};
    const char *state = forms[i].state;
    bool good = node_text(config, field_first(config, types), &state, why);
    linear->state_bytes = strcmp(state, "float32") == 0 ? 4 : 2;
    return good;
}

/* "multi_query": one KV head for all. Falcon's newer models state it, too, and have groups. */
static bool read_kv_heads(const struct node *config, struct model *model, struct error *why)
{
    bool one = false, groups = false;
    int64_t absent = model->kv_heads > 0 ? model->kv_heads : model->query_heads;
    if (!node_bool(config, "multi_query", &one, why) ||
        !node_bool(config, "new_decoder_architecture", &groups, why) ||
        !field_whole(config, "num_key_value_heads", 1, HEADS_MOST, absent, &model->kv_heads, why)) {
        return false;
    }
    model->kv_heads = one && !groups ? 1 : model->kv_heads;
    return model->query_heads % model->kv_heads == 0 ||
           field_error(config, "num_attention_heads", why, "is %u, not a multiple of %u",
                       model->query_heads, model->kv_heads) ||
           error_expect(why, "a multiple of 'num_key_value_heads'");
}

/* K and V of groups of query heads. Full layers may have other heads than windows (Gemma 4), and V
 * another width (MiMo). Embeddings of another width (some of OPT's) are refused. */
static bool read_grouped(const struct node *config, struct model *model, struct error *why)
{
    uint32_t value, embedded;
    bool tied = false;
    if (!read_kv_heads(config, model, why) ||
        !field_whole(config, "word_embed_proj_dim", 1, SIZE_MOST, model->hidden, &embedded, why)) {
        return false;
    }
    if (embedded != model->hidden) {
        field_error(config, "word_embed_proj_dim", why, "is %u, but 'hidden_size' is %u", embedded,
                    model->hidden);
        return error_expect(why, "equal sizes: projected embeddings are not modelled");
    }
    if (!field_whole(config, "head_dim", 1, SIZE_MOST, model->head_dim, &model->head_dim, why)) {
        return false;
    }
    if (model->head_dim == 0 && model->hidden % model->query_heads != 0) {
        field_error(config, "hidden_size", why, "is %u, not a multiple of %u heads", model->hidden,
                    model->query_heads);
        return error_expect(why, "a multiple of 'num_attention_heads', or 'head_dim'");
    }
    model->head_dim = model->head_dim > 0 ? model->head_dim : model->hidden / model->query_heads;
    if (!node_bool(config, "attention_k_eq_v", &tied, why) ||
        !field_whole(config, "global_head_dim", 1, SIZE_MOST, model->head_dim, &model->head_dim,
                     why) ||
        (tied && !field_whole(config, "num_global_key_value_heads", 1, HEADS_MOST, model->kv_heads,
                              &model->kv_heads, why)) ||
        !field_whole(config, "v_head_dim", 1, SIZE_MOST, model->head_dim, &value, why)) {
        return false;
    }
    model->value_dim = value != model->head_dim ? value : 0;
    for (uint32_t i = 0; tied && i < model->layer_count; i++) {
        model->layers[i].tied_value = true;
    }
    return true;
}

/* ---- a latent, and its indexer ----
 *
 * In GLM-5's successors a layer may reuse the selection of the layer before (arXiv:2603.12201): it
 * has no indexer then, and keeps no index. Which layers do is listed by name, by a text of F (full)
 * and S (shared), or follows a step, as in the model's class. */

static bool share_listed(const struct node *config, const char *key, struct model *model,
                         struct error *why)
{
    static const struct field_word shares[] = {
        {"full", 0}, {"F", 0}, {"shared", 1}, {"S", 1}, {NULL, 0}};
    int shared[LAYERS_MOST];
    if (!field_words(config, key, model->layer_count, shares, "full or shared", shared, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        model->layers[i].shares_index = shared[i] != 0;
    }
    return shared[0] == 0 ||
           field_error(config, key, why, "lets the first layer share a selection") ||
           error_expect(why, "an indexer in the first layer");
}

static bool share_by_step(const struct node *config, struct model *model, struct error *why)
{
    uint32_t step, offset;
    if (!field_whole(config, "index_topk_freq", 0, SIZE_MOST, 1, &step, why) ||
        !field_whole(config, "index_skip_topk_offset", 1, SIZE_MOST, 2, &offset, why)) {
        return false;
    }
    for (uint32_t i = offset; step > 1 && i < model->layer_count; i++) {
        model->layers[i].shares_index = (i - offset + 1) % step != 0;
    }
    return true;
}

static const struct field_size latent_sizes[] = {
    FIELD_SIZE(model, kv_lora, 1, SIZE_MOST, 0, "kv_lora_rank"),
    FIELD_SIZE(model, query_lora, 0, SIZE_MOST, 0, "q_lora_rank"),
    FIELD_SIZE(model, head_dim, 1, SIZE_MOST, 0, "qk_nope_head_dim"),
    FIELD_SIZE(model, rope_dim, 1, SIZE_MOST, 0, "qk_rope_head_dim"),
    FIELD_SIZE(model, value_dim, 1, SIZE_MOST, 0, "v_head_dim"),
    FIELD_SIZES_END};
static const struct field_size compressed_sizes[] = {
    FIELD_SIZE(model, head_dim, 1, SIZE_MOST, 0, "head_dim"),
    FIELD_SIZE(model, rope_dim, 1, SIZE_MOST, 0, "qk_rope_head_dim"),
    FIELD_SIZE(model, query_lora, 1, SIZE_MOST, 0, "q_lora_rank"),
    FIELD_SIZE(model, extras.output_groups, 1, HEADS_MOST, 0, "o_groups"),
    FIELD_SIZE(model, extras.output_lora, 1, SIZE_MOST, 0, "o_lora_rank"),
    FIELD_SIZE(model, extras.streams, 1, HEADS_MOST, 1, "hc_mult"),
    FIELD_SIZES_END};
static const struct field_size index_sizes[] = {
    FIELD_SIZE(model, index_heads, 1, HEADS_MOST, 0, "index_n_heads"),
    FIELD_SIZE(model, index_dim, 1, SIZE_MOST, 0, "index_head_dim"),
    FIELD_SIZE(model, index_topk, 1, SIZE_MOST, 0, "index_topk"), FIELD_SIZES_END};

/* DeepSeek's indexer, if the class or the config has one. */
static bool read_indexer(const struct node *config, struct model *model, struct error *why)
{
    if (model->index_heads == 0 && node_stated(config, "index_n_heads") == NULL) {
        return true;
    }
    if (model->query_lora == 0) {
        return field_error(config, "q_lora_rank", why, "is missing") ||
               error_expect(why, "the rank of the latent query, which the indexer reads");
    }
    static const char *const keys[] = {"indexer_types", "index_topk_pattern", NULL};
    const char *key = field_first(config, keys);
    return field_sizes(config, index_sizes, model, why) &&
           (node_stated(config, key) != NULL ? share_listed(config, key, model, why)
                                             : share_by_step(config, model, why));
}

bool heads_read(const struct node *config, struct model *model, struct error *why)
{
    if (!read_linear(config, model, why)) {
        return false;
    }
    if (node_stated(config, "compress_ratios") == NULL) {
        if (node_stated(config, "kv_lora_rank") == NULL) {
            return read_grouped(config, model, why);
        }
        model->kv_heads = 1; /* one latent K and V for all heads (MLA) */
        model->head_dim = 0;
        for (uint32_t i = 0; i < model->layer_count; i++) {
            model->layers[i].attention = ATTENTION_MLA;
        }
        return field_sizes(config, latent_sizes, model, why) && read_indexer(config, model, why);
    }
    /* DeepSeek-V4: one vector of a token for all heads, its rotated part inside. */
    model->kv_heads = 1;
    model->extras.hyper_connections = true;
    return field_sizes(config, compressed_sizes, model, why) &&
           field_sizes(config, index_sizes, model, why);
}
