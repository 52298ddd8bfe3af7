/* What single families state in their own keys: windows, chunks, experts, indexers, biases. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"
#include "unit/fixture/config_text.h"
#include "unit/fixture/fault.h"

#include <stdio.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

#define SIZES                                                                                      \
    " 'hidden_size': 64, 'intermediate_size': 128, 'num_hidden_layers': 4, 'vocab_size': 1000,"    \
    " 'num_attention_heads': 8, 'num_key_value_heads': 2, 'max_position_embeddings': 2048"
#define EXPERTS                                                                                    \
    " 'n_routed_experts': 16, 'num_experts_per_tok': 2, 'n_shared_experts': 1,"                    \
    " 'moe_intermediate_size': 32, 'first_k_dense_replace': 1"

static const char mistral[] = "{'architectures': ['MistralForCausalLM']," SIZES "}";
static const char phi[] = "{'architectures': ['Phi3ForCausalLM']," SIZES "}";
static const char mixtral[] = "{'architectures': ['MixtralForCausalLM'], 'num_local_experts': 8,"
                              " 'num_experts_per_tok': 2," SIZES "}";
static const char glm[] =
    "{'architectures': ['Glm4MoeForCausalLM'], 'head_dim': 16," SIZES "," EXPERTS "}";
static const char dsa[] =
    "{'architectures': ['GlmMoeDsaForCausalLM'], 'q_lora_rank': 24, 'kv_lora_rank': 16,"
    " 'qk_nope_head_dim': 8, 'qk_rope_head_dim': 4, 'v_head_dim': 8," SIZES "," EXPERTS "}";

static const char next[] =
    "{'architectures': ['Qwen3NextForCausalLM'], 'moe_intermediate_size': 32, 'num_experts': 16,"
    " 'num_experts_per_tok': 2, 'shared_expert_intermediate_size': 64, 'linear_num_key_heads': 2,"
    " 'linear_num_value_heads': 4, 'linear_key_head_dim': 8, 'linear_value_head_dim': 8,"
    " 'linear_conv_kernel_dim': 4," SIZES "}";

#define LLAMA4(more)                                                                               \
    "{'architectures': ['Llama4ForConditionalGeneration'], 'text_config': {'head_dim': 8,"         \
    " 'intermediate_size_mlp': 256, 'num_local_experts': 4, 'num_experts_per_tok': 1,"             \
    " 'attention_chunk_size': 512," more SIZES "}}"

/* Letters of layers: '.' full, 's' sliding, 'c' chunked, 'l' linear. */
static void check_attention(const struct model *model, const char *letters, uint32_t window)
{
    static const char names[] = {[ATTENTION_FULL] = '.',
                                 [ATTENTION_SLIDING] = 's',
                                 [ATTENTION_CHUNKED] = 'c',
                                 [ATTENTION_LINEAR] = 'l'};
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        assert_int_equal(names[model->layers[layer].attention], letters[layer]);
        assert_int_equal(model->layers[layer].window, letters[layer] == '.' ? 0 : window);
    }
}

/* null is no window, an absent key the class's; one as long as the trained context is none. */
static void one_window_holds_for_all_layers(void **state)
{
    (void)state;
    static const struct {
        const char *base, *key, *value, *layers;
        uint32_t window;
    } cases[] = {
        {mistral, "sliding_window", "null", "....", 0},
        {mistral, "sliding_window", "512", "ssss", 512},
        {mistral, NULL, NULL, "....", 0}, /* 4096, longer than the trained context */
        {mistral, "max_position_embeddings", "32768", "ssss", 4096},
        {phi, NULL, NULL, "....", 0},
        {phi, "sliding_window", "2047", "ssss", 2047},
        {phi, "sliding_window", "2048", "....", 0},
        {mixtral, NULL, NULL, "....", 0},
        {mixtral, "sliding_window", "64", "ssss", 64},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(cases[i].base, cases[i].key, cases[i].value);
        print_message("# case %zu\n", i);
        check_attention(&model, cases[i].layers, cases[i].window);
        model_release(&model);
    }
}

static void chunks_and_positions_are_listed_or_patterned(void **state)
{
    (void)state;
    static const struct {
        const char *text, *layers;
    } cases[] = {
        {LLAMA4(""), "ccc."},
        {LLAMA4("'no_rope_layers': [],"), "ccc."},
        {LLAMA4("'no_rope_layer_interval': 2,"), "c.c."},
        {LLAMA4("'no_rope_layers': [0, 1, 1, 1],"), ".ccc"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(cases[i].text, NULL, NULL);
        print_message("# case %zu\n", i);
        check_attention(&model, cases[i].layers, 512);
        for (uint32_t layer = 0; layer < 4; layer++) {
            assert_int_equal(model.layers[layer].unrotated, cases[i].layers[layer] == '.');
        }
        model_release(&model);
    }
}

static void experts_are_listed_or_patterned(void **state)
{
    (void)state;
    static const struct {
        const char *text, *key, *value, *routed;
    } cases[] = {
        {LLAMA4(""), NULL, NULL, "rrrr"},
        {LLAMA4("'interleave_moe_layer_step': 2,"), NULL, NULL, ".r.r"},
        {LLAMA4("'moe_layers': [0, 3],"), NULL, NULL, "r..r"},
        {LLAMA4("'moe_layers': [],"), NULL, NULL, "...."},
        {glm, NULL, NULL, ".rrr"},
        {glm, "mlp_layer_types", "['sparse', 'dense', 'sparse', 'dense']", "r.r."},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(cases[i].text, cases[i].key, cases[i].value);
        print_message("# case %zu\n", i);
        for (uint32_t layer = 0; layer < 4; layer++) {
            bool routed = cases[i].routed[layer] == 'r';
            assert_int_equal(model.layers[layer].routed, routed);
            assert_int_equal(model.layers[layer].shared_experts, routed);
        }
        model_release(&model);
    }
    struct model dense = parsed(LLAMA4("'interleave_moe_layer_step': 2,"), NULL, NULL);
    assert_int_equal(dense.layers[0].ffn, 256);
    assert_int_equal(dense.layers[1].ffn, 128);
    model_release(&dense);
}

/* Every fourth layer keeps KV unless the file says otherwise. A state of 4 heads of 8 by 8, and three
 * tokens of 2 · 16 + 32 values; in fp32 the state alone is twice as large. */
static void linear_layers_are_listed_or_patterned(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *layers;
        uint64_t bytes;
    } cases[] = {
        {NULL, NULL, "lll.", 2 * 256 + 2 * 3 * 64},
        {"full_attention_interval", "2", "l.l.", 2 * 256 + 2 * 3 * 64},
        {"layer_types",
         "['linear_attention', 'full_attention', 'full_attention', 'linear_attention']", "l..l",
         2 * 256 + 2 * 3 * 64},
        {"mamba_ssm_dtype", "'float32'", "lll.", 4 * 256 + 2 * 3 * 64},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(next, cases[i].key, cases[i].value);
        print_message("# %s\n", cases[i].value);
        check_attention(&model, cases[i].layers, 0);
        assert_int_equal(model_state_bytes(&model, 0), cases[i].bytes);
        assert_int_equal(model.layers[0].shared_experts, 2); /* 64 of 32 */
        model_release(&model);
    }
}

/* GLM's bias is on Q, K and V alone: 8 + 2 · 2 heads of 16. Its norm of Q and K has 2 · 16. */
static void glm_switches_bias_and_norm(void **state)
{
    (void)state;
    struct model plain = parsed(glm, NULL, NULL);
    struct model bias = parsed(glm, "attention_bias", "true");
    struct model norm = parsed(glm, "use_qk_norm", "true");
    uint64_t bytes = model_layer_weight_bytes(&plain, 0);
    assert_int_equal(model_layer_weight_bytes(&bias, 0), bytes + 2 * 12 * 16);
    assert_int_equal(model_layer_weight_bytes(&norm, 0), bytes + 2 * 2 * 16);
    model_release(&plain);
    model_release(&bias);
    model_release(&norm);
}

static void glm5_has_its_classs_indexer(void **state)
{
    (void)state;
    struct model model = parsed(dsa, NULL, NULL);
    assert_int_equal(model.index_heads, 32);
    assert_int_equal(model.index_dim, 128);
    assert_int_equal(model.index_topk, 2048);
    model_release(&model);
    model = parsed(dsa, "index_topk", "512");
    assert_int_equal(model.index_topk, 512);
    model_release(&model);
}

/* The indexer of 32 heads of 128 reads a latent of 24 and a hidden state of 64. */
static void layers_that_share_an_index_have_none(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *layers; /* 'F': an indexer of its own */
    } cases[] = {
        {"indexer_types", "['full', 'shared', 'shared', 'full']", "FSSF"},
        {"index_topk_pattern", "'FFSF'", "FFSF"},
        {"index_topk_pattern", "['full', 'full', 'full', 'shared']", "FFFS"},
        {"index_topk_freq", "2", "FFSF"}, /* from layer 2 on, as the class's offset says */
        {"index_topk_freq", "3", "FFSS"},
        {"index_topk_freq", "1", "FFFF"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(dsa, cases[i].key, cases[i].value);
        struct model own = parsed(dsa, NULL, NULL);
        print_message("# %s %s\n", cases[i].key, cases[i].value);
        for (uint32_t layer = 0; layer < 4; layer++) {
            bool shares = cases[i].layers[layer] == 'S';
            uint64_t indexer = 24 * 32 * 128 + 64 * 128 + 2 * 128 + 64 * 32;
            assert_int_equal(model.layers[layer].shares_index, shares);
            assert_int_equal(model_layer_weight_bytes(&own, layer) -
                                 model_layer_weight_bytes(&model, layer),
                             shares ? 2 * indexer : 0);
            assert_true(model_prefill_attention_flops(&own, layer, 1000) -
                            model_prefill_attention_flops(&model, layer, 1000) ==
                        (shares ? 1e6 / 2 * 2 * 32 * 128 : 0));
        }
        model_release(&model);
        model_release(&own);
    }
}

static void impossible_values_are_refused_by_key(void **state)
{
    (void)state;
    static const struct {
        const char *base, *key, *value, *fault;
    } cases[] = {
        {dsa, "indexer_types", "['shared', 'full', 'full', 'full']", "c.json:1 'indexer_types'"},
        {dsa, "indexer_types", "['full', 'half', 'full', 'full']",
         "c.json:1 'indexer_types' 'half'"},
        {dsa, "indexer_types", "['full']", "c.json:1 'indexer_types'"},
        {dsa, "index_topk_pattern", "'FSFSF'", "c.json:1 'index_topk_pattern'"},
        {dsa, "index_topk_pattern", "3", "c.json:1 'index_topk_pattern'"},
        {glm, "mlp_layer_types", "['dense']", "c.json:1 'mlp_layer_types'"},
        {glm, "mlp_layer_types", "['dense', 'sparse', 'moe', 'sparse']",
         "c.json:1 'mlp_layer_types' 'moe'"},
        {glm, "num_key_value_heads", NULL, "c.json:1 'num_key_value_heads'"},
        {next, "layer_types", "['linear_attention']", "c.json:1 'layer_types'"},
        {next, "layer_types", "['samba', 'mamba', 'mamba', 'mamba']",
         "c.json:1 'layer_types' 'samba'"},
        {next, "layer_types", "['mamba', 'mamba', 'mamba', 'mamba']", "c.json"}, /* linear, too */
        {next, "full_attention_interval", "8", "c.json"}, /* no layer keeps KV */
        {next, "shared_expert_intermediate_size", "33",
         "c.json:1 'shared_expert_intermediate_size'"},
        {next, "linear_num_key_heads", NULL, "c.json:1 'linear_num_key_heads'"},
        {mistral, "sliding_window", "0", "c.json:1 'sliding_window'"},
        {mistral, "layer_types", "['full_attention']", "c.json:1 'layer_types'"},
        {LLAMA4("'no_rope_layers': [1, 1, 1],"), NULL, NULL, "c.json:1 'no_rope_layers'"},
        {LLAMA4("'no_rope_layers': [1, 1, 1, 2],"), NULL, NULL, "c.json:1 'no_rope_layers'"},
        {LLAMA4("'moe_layers': [4],"), NULL, NULL, "c.json:1 'moe_layers'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model;
        struct error why;
        char fault[FAULT_SIZE];
        print_message("# %s %s\n", cases[i].key, cases[i].value);
        assert_false(parse(cases[i].base, cases[i].key, cases[i].value, &model, &why));
        assert_string_equal(fault_of(&why, fault), cases[i].fault);
        assert_null(model.layers);
    }
    struct model model;
    struct error why;
    assert_false(parse("{'architectures': ['Phi3ForCausalLM'], 'layer_types': ['full_attention',"
                       " 'full_attention', 'full_attention', 'sliding_attention']," SIZES "}",
                       NULL, NULL, &model, &why));
    assert_string_equal(why.found, "'sliding_window' is missing");
}

#define BIT(module) (1U << (module))

/* Fused matrices, and the names of Mixtral's and Llama 4's experts. */
static void exemptions_know_the_families_names(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        uint32_t exempt;
    } cases[] = {
        {"self_attn.qkv_proj", BIT(MODULE_QUERY) | BIT(MODULE_KEY) | BIT(MODULE_VALUE)},
        {"model.layers.1.mlp.gate_up_proj", BIT(MODULE_GATE) | BIT(MODULE_UP)},
        {"model.layers.1.block_sparse_moe",
         BIT(MODULE_EXPERT_GATE) | BIT(MODULE_EXPERT_UP) | BIT(MODULE_EXPERT_DOWN)},
        {"re:.*shared_expert\\\\..*",
         BIT(MODULE_SHARED_GATE) | BIT(MODULE_SHARED_UP) | BIT(MODULE_SHARED_DOWN)},
        {"language_model.model.layers.1.feed_forward.experts.down_proj", BIT(MODULE_EXPERT_DOWN)},
        {"model.layers.1.block_sparse_moe.gate", 0}, /* a router */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char config[256];
        snprintf(config, sizeof config, "{'quant_method': 'fp8', 'modules_to_not_convert': ['%s']}",
                 cases[i].entry);
        struct model model = parsed(mistral, "quantization_config", config);
        print_message("# %s\n", cases[i].entry);
        assert_int_equal(model.layers[1].exempt, cases[i].exempt);
        model_release(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_window_holds_for_all_layers),
        cmocka_unit_test(chunks_and_positions_are_listed_or_patterned),
        cmocka_unit_test(experts_are_listed_or_patterned),
        cmocka_unit_test(linear_layers_are_listed_or_patterned),
        cmocka_unit_test(glm_switches_bias_and_norm),
        cmocka_unit_test(glm5_has_its_classs_indexer),
        cmocka_unit_test(layers_that_share_an_index_have_none),
        cmocka_unit_test(impossible_values_are_refused_by_key),
        cmocka_unit_test(exemptions_know_the_families_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
