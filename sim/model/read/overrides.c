/* The decoder's object is "text_config" where there is one, else the whole file. */
#include "model/read/overrides.h"

#include "core/array.h"
#include "core/name.h"

#include <string.h>

/* The keys that decide a size in some architecture. Any other key that the file lacks is a slip. */
static const char *const size_keys[] = {"altup_num_inputs",
                                        "architectures",
                                        "attention_bias",
                                        "attention_chunk_size",
                                        "attention_head_dim",
                                        "attention_k_eq_v",
                                        "compress_ratios",
                                        "conv_kernel",
                                        "decoder_sparse_step",
                                        "dense_intermediate_size",
                                        "enable_bias",
                                        "enable_moe_block",
                                        "expert_dtype",
                                        "expert_intermediate_size",
                                        "ffn_dim",
                                        "first_k_dense_replace",
                                        "full_attention_interval",
                                        "global_head_dim",
                                        "hc_mult",
                                        "head_dim",
                                        "hidden_act",
                                        "hidden_size",
                                        "hidden_size_per_layer_input",
                                        "hybrid_layer_pattern",
                                        "hybrid_override_pattern",
                                        "index_head_dim",
                                        "index_n_heads",
                                        "index_skip_topk_offset",
                                        "index_topk",
                                        "index_topk_freq",
                                        "index_topk_pattern",
                                        "indexer_types",
                                        "interleave_moe_layer_step",
                                        "intermediate_size",
                                        "intermediate_size_mlp",
                                        "kv_lora_rank",
                                        "latent_moe_use_norm",
                                        "laurel_rank",
                                        "layer_types",
                                        "layers_block_type",
                                        "linear_conv_kernel_dim",
                                        "linear_key_head_dim",
                                        "linear_num_key_heads",
                                        "linear_num_value_heads",
                                        "linear_value_head_dim",
                                        "mamba_d_conv",
                                        "mamba_d_head",
                                        "mamba_d_state",
                                        "mamba_head_dim",
                                        "mamba_n_groups",
                                        "mamba_n_heads",
                                        "mamba_num_heads",
                                        "mamba_ssm_cache_dtype",
                                        "mamba_ssm_dtype",
                                        "max_position_embeddings",
                                        "max_window_layers",
                                        "mlp_bias",
                                        "mlp_layer_types",
                                        "mlp_only_layers",
                                        "model_max_length",
                                        "moe_intermediate_size",
                                        "moe_latent_size",
                                        "moe_layer_freq",
                                        "moe_layers",
                                        "moe_shared_expert_intermediate_size",
                                        "n_groups",
                                        "n_routed_experts",
                                        "n_shared_experts",
                                        "no_rope_layer_interval",
                                        "no_rope_layers",
                                        "num_attention_heads",
                                        "num_experts",
                                        "num_experts_per_tok",
                                        "num_experts_per_token",
                                        "num_global_key_value_heads",
                                        "num_hidden_layers",
                                        "num_key_value_heads",
                                        "num_kv_shared_layers",
                                        "num_local_experts",
                                        "num_shared_experts",
                                        "o_groups",
                                        "o_lora_rank",
                                        "q_lora_rank",
                                        "qk_nope_head_dim",
                                        "qk_norm",
                                        "qk_rope_head_dim",
                                        "routed_expert_hidden_size",
                                        "shared_expert_intermediate_size",
                                        "shared_intermediate_size",
                                        "sliding_window",
                                        "sliding_window_pattern",
                                        "ssm_state_size",
                                        "swa_head_dim",
                                        "swa_num_key_value_heads",
                                        "tie_word_embeddings",
                                        "top_k_experts",
                                        "use_double_wide_mlp",
                                        "use_full_rank_gate",
                                        "use_qk_norm",
                                        "use_sliding_window",
                                        "v_head_dim",
                                        "vocab_size",
                                        "vocab_size_per_layer_input",
                                        "word_embed_proj_dim",
                                        NULL};

static json_t *decoder_of(json_t *root)
{
    json_t *inside = json_object_get(root, "text_config");
    return json_is_object(inside) ? inside : root;
}

char *overrides_finite(const char *text, size_t size, struct error *why)
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

static bool decides_size(const char *key)
{
    bool found = false;
    for (size_t i = 0; size_keys[i] != NULL; i++) {
        found = found || strcmp(size_keys[i], key) == 0;
    }
    return found;
}

bool overrides_apply(json_t *root, const struct node *keys, struct error *why)
{
    for (size_t i = 0; keys != NULL && i < keys->count; i++) {
        const struct node *node = keys->children[i];
        bool top =
            json_object_get(root, node->key) != NULL || strcmp(node->key, "architectures") == 0;
        if (!top && json_object_get(decoder_of(root), node->key) == NULL &&
            !decides_size(node->key)) {
            node_error(node, why, "no size depends on '%s', and config.json has no such key",
                       node->key);
            return error_nearest(why, name_nearest_of(node->key, size_keys));
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

void overrides_rename(json_t *root)
{
    static const struct {
        const char *older, *present;
    } names[] = {{"attention_head_dim", "head_dim"},
                 {"model_max_length", "max_position_embeddings"},
                 {"qk_norm", "use_qk_norm"}};
    json_t *decoder = decoder_of(root);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(decoder, names[i].older);
        if (value != NULL && json_object_get(decoder, names[i].present) == NULL) {
            json_object_set(decoder, names[i].present, value);
        }
    }
}
