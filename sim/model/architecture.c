/* Sources: the model classes of Hugging Face transformers and the config.json files in the models'
 * own repositories; for DeepSeek's indexer the inference code there. */
#include "model/architecture.h"

#include "base/name.h"
#include "model/layers.h"

/* What many decoders share: gated FFNs of this width, and the readers of their family. */
#define DECODER(heads, windows, ffn)                                                               \
    .ffn_key = "intermediate_size", .gated_ffn = true, .read_heads = heads,                        \
    .read_windows = windows, .read_ffn = ffn

/* Two norms, and the numbers of query heads and of words stated. */
#define STATED(heads, windows, ffn)                                                                \
    DECODER(heads, windows, ffn), .layer_norms = 2, .query_heads = FIELD_REQUIRED,                 \
                                  .vocabulary = FIELD_REQUIRED

#define MISTRAL                                                                                    \
    STATED(heads_grouped, windows_all, ffn_dense), .kv_heads = FIELD_REQUIRED,                     \
                                                   .head_dim = FIELD_DERIVED, .window = 4096

/* Gemma's classes have defaults for keys that the files of the multimodal models leave out. */
#define GEMMA                                                                                      \
    DECODER(heads_grouped, windows_listed, ffn_dense),                                             \
        .attention_bias_key = "attention_bias", .tied_embeddings = true, .layer_norms = 4,         \
        .query_heads = 8, .kv_heads = 4, .head_dim = 256, .window = 4096
#define GEMMA3                                                                                     \
    GEMMA, .query_key_norm = true, .vocabulary = 262208, .context = 131072, .window_pattern = 6

#define DEEPSEEK                                                                                   \
    STATED(heads_latent, windows_none, ffn_after_dense), .attention_bias_key = "attention_bias",   \
                                                         .router_bias = true

static const struct architecture architectures[] = {
    {
        .name = "LlamaForCausalLM",
        STATED(heads_grouped, windows_none, ffn_dense),
        .attention_bias_key = "attention_bias",
        .ffn_bias_key = "mlp_bias",
        .kv_heads = FIELD_DERIVED,
        .head_dim = FIELD_DERIVED,
    },
    {
        .name = "Llama4ForConditionalGeneration",
        .inside = "text_config",
        STATED(heads_grouped, windows_chunked, ffn_interleaved),
        .attention_bias_key = "attention_bias",
        .query_key_norm = true,
        .query_key_norm_key = "use_qk_norm",
        .plain_query_key_norm = true,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = 128,
        .window = 8192,
        .window_pattern = 4,
    },
    {.name = "MistralForCausalLM", MISTRAL},
    {.name = "Mistral3ForConditionalGeneration", .inside = "text_config", MISTRAL},
    {
        .name = "MixtralForCausalLM",
        STATED(heads_grouped, windows_all, ffn_routed),
        .kv_heads = FIELD_REQUIRED,
        .head_dim = FIELD_DERIVED,
    },
    {
        .name = "Phi3ForCausalLM",
        STATED(heads_grouped, windows_all, ffn_dense),
        .kv_heads = FIELD_DERIVED,
        .head_dim = FIELD_DERIVED,
    },
    {
        .name = "Qwen2ForCausalLM",
        STATED(heads_grouped, windows_above, ffn_dense),
        .query_bias = true,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = FIELD_DERIVED,
        .window = FIELD_REQUIRED,
    },
    {
        .name = "Qwen3ForCausalLM",
        STATED(heads_grouped, windows_above, ffn_dense),
        .attention_bias_key = "attention_bias",
        .query_key_norm = true,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = 128,
        .window = FIELD_REQUIRED,
    },
    {
        .name = "Qwen3MoeForCausalLM",
        STATED(heads_grouped, windows_above, ffn_sparse_step),
        .attention_bias_key = "attention_bias",
        .query_key_norm = true,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = FIELD_DERIVED,
        .window = FIELD_REQUIRED,
    },
    {
        .name = "Qwen3NextForCausalLM",
        STATED(heads_hybrid, windows_linear, ffn_sparse_shared),
        .attention_bias_key = "attention_bias",
        .query_key_norm = true,
        .gated_attention = true,
        .shared_gate = true,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = 256,
        .window_pattern = 4,
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
        STATED(heads_grouped, windows_listed, ffn_routed),
        .attention_bias_key = "attention_bias",
        .query_bias = true,
        .output_bias = true,
        .ffn_bias = true,
        .router_bias = true,
        .attention_sinks = true,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = 64,
        .window = 128,
        .window_pattern = 2,
    },
    {
        .name = "Gemma2ForCausalLM",
        GEMMA,
        .vocabulary = 256000,
        .context = 8192,
        .window_pattern = 2,
    },
    {.name = "Gemma3ForCausalLM", GEMMA3},
    {.name = "Gemma3ForConditionalGeneration", .inside = "text_config", GEMMA3},
    {
        .name = "Glm4ForCausalLM",
        DECODER(heads_grouped, windows_none, ffn_dense),
        .attention_bias_key = "attention_bias",
        .query_bias = true,
        .plain_output = true,
        .layer_norms = 4,
        .query_heads = FIELD_REQUIRED,
        .kv_heads = 2,
        .head_dim = 128,
        .vocabulary = FIELD_REQUIRED,
    },
    {
        .name = "Glm4MoeForCausalLM",
        STATED(heads_grouped, windows_none, ffn_after_dense),
        .attention_bias_key = "attention_bias",
        .query_key_norm_key = "use_qk_norm",
        .plain_output = true,
        .router_bias = true,
        .kv_heads = FIELD_REQUIRED,
        .head_dim = FIELD_DERIVED,
    },
    {
        .name = "GlmMoeDsaForCausalLM",
        DEEPSEEK,
        .index_heads = 32,
        .index_dim = 128,
        .index_topk = 2048,
    },
    {.name = "DeepseekV3ForCausalLM", DEEPSEEK},
    {
        .name = "DeepseekV32ForCausalLM",
        DEEPSEEK,
        .index_heads = FIELD_REQUIRED,
        .index_dim = FIELD_REQUIRED,
        .index_topk = FIELD_REQUIRED,
    },
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
