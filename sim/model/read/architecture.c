/* Sources: the model classes of Hugging Face transformers and the config.json files in the models'
 * own repositories; for DeepSeek's indexer the inference code there. */
#include "model/read/architecture.h"

#include "core/name.h"
#include "model/read/layers.h"

#include <string.h>

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

/* Families whose layers differ: everything that the config states is read by its keys. */
#define BY_KEYS_AND(norms, gated)                                                                  \
    .ffn_key = "intermediate_size", .gated_ffn = gated, .layer_norms = norms,                      \
    .read_heads = heads_by_keys, .read_windows = windows_by_keys, .read_ffn = ffn_by_keys,         \
    .query_heads = FIELD_REQUIRED, .vocabulary = FIELD_REQUIRED,                                   \
    .attention_bias_key = "attention_bias", .kv_heads = FIELD_DERIVED, .head_dim = FIELD_DERIVED
#define BY_KEYS BY_KEYS_AND(2, true)
#define QWEN3_5                                                                                    \
    STATED(heads_hybrid, windows_linear, ffn_by_keys),                                             \
        .attention_bias_key = "attention_bias", .query_key_norm = true, .gated_attention = true,   \
        .kv_heads = FIELD_REQUIRED, .head_dim = 256, .window_pattern = 4
#define GEMMA_BY_KEYS BY_KEYS_AND(4, true), .query_key_norm = true, .tied_embeddings = true
#define MINIMAX BY_KEYS, .query_key_norm_key = "use_qk_norm", .router_bias = true

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
    {.name = "Mistral3ForConditionalGeneration", .inside = "text_config", BY_KEYS},
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
    {.name = "KimiK25ForConditionalGeneration", .inside = "text_config", DEEPSEEK},
    {.name = "Glm4MoeLiteForCausalLM", DEEPSEEK},
    {.name = "MistralLarge3ForCausalLM", DEEPSEEK},
    {.name = "Qwen3_5ForConditionalGeneration", .inside = "text_config", QWEN3_5},
    {.name = "Qwen3_5ForCausalLM", QWEN3_5},
    {
        .name = "Qwen3_5MoeForConditionalGeneration",
        .inside = "text_config",
        QWEN3_5,
        .shared_gate = true,
    },
    {.name = "Qwen3_5MoeForCausalLM", QWEN3_5, .shared_gate = true},
    {.name = "DeepseekV4ForCausalLM", BY_KEYS, .router_bias = true},
    {.name = "KimiLinearForCausalLM", BY_KEYS, .router_bias = true},
    {
        .name = "KimiK3ForConditionalGeneration",
        .inside = "text_config",
        BY_KEYS,
        .router_bias = true,
    },
    {.name = "MiniMaxM2ForCausalLM", MINIMAX, .query_key_norm = true, .wide_query_key_norm = true},
    {.name = "MiniMaxM3ForCausalLM", MINIMAX, .query_key_norm = true},
    {
        .name = "MiniMaxM3ForConditionalGeneration",
        .inside = "text_config",
        MINIMAX,
        .query_key_norm = true,
    },
    {.name = "MiMoV2FlashForCausalLM", BY_KEYS, .router_bias = true, .attention_sinks = true},
    {.name = "NemotronHForCausalLM", BY_KEYS_AND(2, false), .router_bias = true},
    {.name = "GraniteMoeHybridForCausalLM", BY_KEYS},
    {
        .name = "Gemma3nForConditionalGeneration",
        .inside = "text_config",
        GEMMA_BY_KEYS,
        .window_pattern = 5,
    },
    {.name = "Gemma3nForCausalLM", GEMMA_BY_KEYS, .window_pattern = 5},
    {
        .name = "Gemma4ForConditionalGeneration",
        .inside = "text_config",
        GEMMA_BY_KEYS,
        .window_pattern = 6,
    },
    {.name = "Gemma4ForCausalLM", GEMMA_BY_KEYS, .window_pattern = 6},
    {
        .name = "Cohere2ForCausalLM",
        BY_KEYS_AND(1, true),
        .tied_embeddings = true,
        .window_pattern = 4,
    },
    {
        .name = "CohereForCausalLM",
        BY_KEYS_AND(1, true),
        .query_key_norm_key = "use_qk_norm",
        .tied_embeddings = true,
    },
};

const struct architecture architecture_by_keys = {
    .name = "",
    BY_KEYS,
    .query_key_norm_key = "use_qk_norm",
};

static const char *architecture_row(size_t index)
{
    size_t count = sizeof architectures / sizeof architectures[0];
    return index < count ? architectures[index].name : NULL;
}

const struct architecture *architecture_find(const char *name)
{
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        if (strcmp(architectures[i].name, name) == 0) {
            return &architectures[i];
        }
    }
    return NULL;
}

const char *architecture_nearest(const char *name)
{
    return name_nearest(name, architecture_row);
}
