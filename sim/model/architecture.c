/* Sources: the model classes of Hugging Face transformers and the config.json files in the models'
 * own repositories; for DeepSeek's indexer the inference code there. */
#include "model/architecture.h"

#include "base/name.h"
#include "model/layers.h"

/* The defaults of Gemma 3's class for keys that the files of the multimodal models leave out. */
#define GEMMA3                                                                                     \
    .ffn_key = "intermediate_size", .attention_bias_key = "attention_bias", .gated_ffn = true,     \
    .tied_embeddings = true, .query_key_norm = true, .layer_norms = 4, .query_heads = 8,           \
    .kv_heads = 4, .head_dim = 256, .vocabulary = 262208, .context = 131072, .window = 4096,       \
    .window_pattern = 6, .read_heads = heads_grouped, .read_windows = windows_listed,              \
    .read_ffn = ffn_dense

#define DEEPSEEK_V3                                                                                \
    .ffn_key = "intermediate_size", .attention_bias_key = "attention_bias", .router_bias = true,   \
    .gated_ffn = true, .layer_norms = 2, .query_heads = FIELD_REQUIRED,                            \
    .vocabulary = FIELD_REQUIRED, .read_heads = heads_latent, .read_windows = windows_none,        \
    .read_ffn = ffn_after_dense

static const struct architecture architectures[] = {
    {
        .name = "LlamaForCausalLM",
        .ffn_key = "intermediate_size",
        .attention_bias_key = "attention_bias",
        .ffn_bias_key = "mlp_bias",
        .gated_ffn = true,
        .layer_norms = 2,
        .query_heads = FIELD_REQUIRED,
        .kv_heads = FIELD_DERIVED,
        .head_dim = FIELD_DERIVED,
        .vocabulary = FIELD_REQUIRED,
        .read_heads = heads_grouped,
        .read_windows = windows_none,
        .read_ffn = ffn_dense,
    },
    {
        .name = "Qwen2ForCausalLM",
        .ffn_key = "intermediate_size",
        .query_bias = true,
        .gated_ffn = true,
        .layer_norms = 2,
        .query_heads = FIELD_REQUIRED,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = FIELD_DERIVED,
        .vocabulary = FIELD_REQUIRED,
        .window = FIELD_REQUIRED,
        .read_heads = heads_grouped,
        .read_windows = windows_above,
        .read_ffn = ffn_dense,
    },
    {
        .name = "Qwen3ForCausalLM",
        .ffn_key = "intermediate_size",
        .attention_bias_key = "attention_bias",
        .gated_ffn = true,
        .query_key_norm = true,
        .layer_norms = 2,
        .query_heads = FIELD_REQUIRED,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = 128,
        .vocabulary = FIELD_REQUIRED,
        .window = FIELD_REQUIRED,
        .read_heads = heads_grouped,
        .read_windows = windows_above,
        .read_ffn = ffn_dense,
    },
    {
        .name = "Qwen3MoeForCausalLM",
        .ffn_key = "intermediate_size",
        .attention_bias_key = "attention_bias",
        .gated_ffn = true,
        .query_key_norm = true,
        .layer_norms = 2,
        .query_heads = FIELD_REQUIRED,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = FIELD_DERIVED,
        .vocabulary = FIELD_REQUIRED,
        .window = FIELD_REQUIRED,
        .read_heads = heads_grouped,
        .read_windows = windows_above,
        .read_ffn = ffn_sparse_step,
    },
    {
        .name = "OPTForCausalLM",
        .ffn_key = "ffn_dim",
        .attention_bias_key = "enable_bias",
        .ffn_bias_key = "enable_bias",
        .query_bias = true,
        .output_bias = true,
        .ffn_bias = true,
        .norm_bias = true,
        .learned_positions = true,
        .tied_embeddings = true,
        .layer_norms = 2,
        .query_heads = FIELD_REQUIRED,
        .kv_heads = FIELD_DERIVED,
        .head_dim = FIELD_DERIVED,
        .vocabulary = FIELD_REQUIRED,
        .context = FIELD_REQUIRED,
        .read_heads = heads_undivided,
        .read_windows = windows_none,
        .read_ffn = ffn_dense,
    },
    {
        .name = "GptOssForCausalLM",
        .ffn_key = "intermediate_size",
        .attention_bias_key = "attention_bias",
        .query_bias = true,
        .output_bias = true,
        .ffn_bias = true,
        .router_bias = true,
        .gated_ffn = true,
        .attention_sinks = true,
        .layer_norms = 2,
        .query_heads = FIELD_REQUIRED,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = 64,
        .vocabulary = FIELD_REQUIRED,
        .window = 128,
        .window_pattern = 2,
        .read_heads = heads_grouped,
        .read_windows = windows_listed,
        .read_ffn = ffn_routed,
    },
    {.name = "Gemma3ForCausalLM", GEMMA3},
    {.name = "Gemma3ForConditionalGeneration", .inside = "text_config", GEMMA3},
    {.name = "DeepseekV3ForCausalLM", DEEPSEEK_V3},
    {.name = "DeepseekV32ForCausalLM", .indexer = true, DEEPSEEK_V3},
};

static const char *architecture_row(size_t index)
{
    size_t count = sizeof architectures / sizeof architectures[0];
    return index < count ? architectures[index].name : NULL;
}

const struct architecture *architecture_find(const char *name, const char *file, struct error *why)
{
    int found = name_find(name, architecture_row, "architecture", file, 0, why);
    return found >= 0 ? &architectures[found] : NULL;
}
