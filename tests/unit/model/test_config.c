/* Reading config.json: what is understood, what is refused and with which words, and where models
 * and importance tables are found. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"
#include "unit/fixture/config_text.h"
#include "unit/fixture/fault.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

static const char llama[] =
    "{'architectures': ['LlamaForCausalLM'], 'hidden_size': 64, 'intermediate_size': 128,"
    " 'num_hidden_layers': 4, 'num_attention_heads': 8, 'num_key_value_heads': 2,"
    " 'vocab_size': 1000, 'max_position_embeddings': 2048}";
static const char gemma[] =
    "{'architectures': ['Gemma3ForCausalLM'], 'hidden_size': 64, 'intermediate_size': 128,"
    " 'num_hidden_layers': 4, 'sliding_window': 32}";
static const char qwen[] =
    "{'architectures': ['Qwen3MoeForCausalLM'], 'hidden_size': 64, 'intermediate_size': 128,"
    " 'num_hidden_layers': 4, 'num_attention_heads': 8, 'num_key_value_heads': 2,"
    " 'vocab_size': 1000, 'moe_intermediate_size': 32, 'num_experts': 16,"
    " 'num_experts_per_tok': 2}";
static const char opt[] = "{'architectures': ['OPTForCausalLM'], 'hidden_size': 64, 'ffn_dim': 256,"
                          " 'num_hidden_layers': 2, 'num_attention_heads': 8, 'vocab_size': 1000,"
                          " 'max_position_embeddings': 2048}";
static const char deepseek[] =
    "{'architectures': ['DeepseekV32ForCausalLM'], 'hidden_size': 64, 'intermediate_size': 128,"
    " 'num_hidden_layers': 4, 'num_attention_heads': 8, 'vocab_size': 1000, 'q_lora_rank': 24,"
    " 'kv_lora_rank': 16, 'qk_nope_head_dim': 8, 'qk_rope_head_dim': 4, 'v_head_dim': 8,"
    " 'n_routed_experts': 16, 'num_experts_per_tok': 2, 'n_shared_experts': 1,"
    " 'moe_intermediate_size': 32, 'first_k_dense_replace': 1, 'index_n_heads': 4,"
    " 'index_head_dim': 8, 'index_topk': 64}";

static void impossible_values_are_refused_by_key(void **state)
{
    (void)state;
    static const struct {
        const char *base, *key, *value, *fault;
    } cases[] = {
        {llama, "architectures", NULL, "c.json:1 'architectures'"},
        {llama, "num_attention_heads", "0", "c.json:1 'num_attention_heads'"},
        {llama, "num_attention_heads", "-8", "c.json:1 'num_attention_heads'"},
        {llama, "num_attention_heads", "9", "c.json:1 'num_attention_heads'"},
        {llama, "num_key_value_heads", "3", "c.json:1 'num_attention_heads'"},
        {llama, "hidden_size", "65", "c.json:1 'hidden_size'"},
        {llama, "hidden_size", NULL, "c.json:1 'hidden_size'"},
        {llama, "hidden_size", "null", "c.json:1 'hidden_size'"},
        {llama, "hidden_size", "2147483648", "c.json:1 'hidden_size'"},
        {llama, "hidden_size", "64.0", "c.json:1 'hidden_size'"},
        {llama, "num_hidden_layers", "1025", "c.json:1 'num_hidden_layers'"},
        {llama, "tie_word_embeddings", "1", "c.json:1 '1' 'tie_word_embeddings'"},
        {llama, "quantization_config", "[]", "c.json:1 'quantization_config'"},
        {llama, "quantization_config", "{'bits': 4}", "c.json:1 'quant_method'"},
        {llama, "quantization_config", "{'quant_method': 'gtpq', 'bits': 4}",
         "c.json:1 'gtpq' nearest 'gptq'"},
        {llama, "quantization_config", "{'quant_method': 'gptq', 'bits': 3}", "c.json:1 'bits'"},
        {llama, "quantization_config", "{'quant_method': 'compressed-tensors'}",
         "c.json:1 'config_groups'"},
        {llama, "quantization_config",
         "{'quant_method': 'fp8', 'modules_to_not_convert': ['re:layers.[12].mlp']}",
         "c.json:1 'modules_to_not_convert' 're:layers.[12].mlp'"},
        {llama, "quantization_config",
         "{'quant_method': 'fp8', 'modules_to_not_convert': ['model.layers.1.mlp.experts.7']}",
         "c.json:1 'modules_to_not_convert' 'model.layers.1.mlp.experts.7'"},
        {llama, "quantization_config",
         "{'quant_method': 'modelopt', 'quant_algo': 'MIXED_PRECISION'}",
         "c.json:1 'MIXED_PRECISION' 'quant_algo'"},
        {llama, "quantization_config", "{'quant_method': 'modelopt', 'quant_algo': 'W4A8_AWQ'}",
         "c.json:1 'W4A8_AWQ' 'quant_algo'"},
        {llama, "quantization_config",
         "{'quant_method': 'compressed-tensors', 'config_groups': {'g': {'weights':"
         " {'num_bits': 4, 'type': 'float', 'group_size': 64}}}}",
         "c.json:1 'group_size'"},
        {gemma, "layer_types", "['full_attention']", "c.json:1 'layer_types'"},
        {gemma, "layer_types", "['full_attention', 'linear_attention', 0, 0]",
         "c.json:1 'layer_types' '0'"},
        {gemma, "layer_types", "['full_attention', 2, 0, 0]", "c.json:1 'layer_types' '2'"},
        {gemma, "sliding_window_pattern", "0", "c.json:1 'sliding_window_pattern'"},
        {gemma, "sliding_window_pattern", "'LGLG'", "c.json:1 'sliding_window_pattern'"},
        {qwen, "num_experts_per_tok", "17", "c.json:1 'num_experts_per_tok'"},
        {qwen, "mlp_only_layers", "[4]", "c.json:1 'mlp_only_layers'"},
        {qwen, "use_sliding_window", "true", "c.json:1 'sliding_window'"},
        {opt, "max_position_embeddings", NULL, "c.json:1 'max_position_embeddings'"},
        {opt, "word_embed_proj_dim", "32", "c.json:1 'word_embed_proj_dim' 'hidden_size'"},
        {deepseek, "kv_lora_rank", NULL, "c.json:1 'kv_lora_rank'"},
        {deepseek, "q_lora_rank", "null", "c.json:1 'q_lora_rank'"},
        {"{'architectures': ['Gemma3ForConditionalGeneration']}", NULL, NULL,
         "c.json:1 'num_hidden_layers'"},
        {"{'architectures': ['Gemma3ForConditionalGeneration'], 'text_config':"
         " {'num_hidden_layers': 0}}",
         NULL, NULL, "c.json:1 'num_hidden_layers'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model;
        struct error why;
        char fault[FAULT_SIZE];
        print_message("# %s %s\n", cases[i].key, cases[i].value);
        assert_false(parse(cases[i].base, cases[i].key, cases[i].value, &model, &why));
        assert_string_equal(fault_of(&why, fault), cases[i].fault);
        assert_int_equal(why.kind, ERROR_FAILURE);
        assert_null(model.layers);
    }
}

static void unknown_architectures_are_read_by_their_keys(void **state)
{
    (void)state;
    struct model model, known = parsed(llama, NULL, NULL);
    struct error why;
    assert_true(parse(llama, "architectures", "['LlammaForCausalLM']", &model, &why));
    assert_false(model.known);
    assert_true(known.known);
    assert_string_equal(model.architecture, "LlammaForCausalLM");
    assert_int_equal(model_weight_bytes(&model), model_weight_bytes(&known));
    assert_int_equal(model_kv_bytes(&model, 100), model_kv_bytes(&known, 100));
    model_release(&model);
    model_release(&known);
}

static void unknown_architectures_name_every_missing_key(void **state)
{
    (void)state;
    struct model model;
    struct error why;
    assert_false(parse("{'architectures': ['LlammaForCausalLM'], 'num_hidden_layers': 2,"
                       " 'vocab_size': 100}",
                       NULL, NULL, &model, &why));
    assert_string_equal(why.found, "unknown architecture 'LlammaForCausalLM', which lacks "
                                   "hidden_size, num_attention_heads, intermediate_size");
    assert_string_equal(why.nearest, "LlamaForCausalLM");
    assert_string_equal(why.expected, "these keys, for instance by --set model.hidden_size=N");
}

static void texts_that_are_no_config_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "c.json: not a config.json: the top level is not an object"},
        {"\x7f"
         "ELF\x02\x01\x01",
         "c.json:1: not text: "},
        {"{\n\n\"a\": }}", "c.json:3: not YAML: "},
        {"{\"a\": 1, \"a\": 2}", "c.json:1: duplicate key 'a'"},
        {"[1]", "c.json: not a config.json: the top level is not an object"},
        {"{\"architectures\": [\"LlamaForCausalLM\"],\n\"text_config\": 3}",
         "c.json:2: 'text_config' is not an object"},
        {"{}", "c.json:1: 'architectures' names no architecture"},
    };
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model;
        struct error why;
        char text[1024];
        assert_false(model_parse(cases[i].text, strlen(cases[i].text), "c.json", &options, NULL, 0,
                                 &model, &why));
        error_format(&why, text, sizeof text);
        text[strlen(cases[i].message)] = '\0';
        assert_string_equal(text, cases[i].message);
    }
}

/* As Python's json writes what lies past U+FFFF, and tabs. */
static void all_escapes_of_json_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "{\t\"note\": \"\\ud83D\\ude00 \\\\ud83d a\\/b \\\\\",\n\t\"architectures\": [\"LlamaForCausalLM\"],"
        "\"hidden_size\": 64, \"intermediate_size\": 128, \"num_hidden_layers\": 4,"
        "\"num_attention_heads\": 8, \"vocab_size\": 1000}";
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    struct error why;
    assert_true(model_parse(text, strlen(text), "c.json", &options, NULL, 0, &model, &why));
    model_release(&model);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH);
    memset(text, '[', DEPTH);
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    struct error why;
    assert_false(model_parse(text, DEPTH, "c.json", &options, NULL, 0, &model, &why));
    assert_non_null(strstr(why.found, "nested deeper than 32"));
    free(text);
}

static void absurd_products_of_sizes_are_refused(void **state)
{
    (void)state;
    struct model model;
    struct error why;
    assert_false(parse("{'architectures': ['GptOssForCausalLM'], 'hidden_size': 2147483647,"
                       " 'intermediate_size': 2147483647, 'num_hidden_layers': 1024,"
                       " 'num_attention_heads': 65536, 'num_key_value_heads': 65536,"
                       " 'head_dim': 2147483647, 'vocab_size': 2147483647,"
                       " 'num_local_experts': 65536, 'num_experts_per_tok': 65536}",
                       NULL, NULL, &model, &why));
    assert_string_equal(why.found, "the weights would take over 2^60 bytes");
}

/* Which layers slide: listed, by pattern (a file's or the class's), and above max_window_layers. */
static void windows_are_read_as_written(void **state)
{
    (void)state;
    static const struct {
        const char *base, *key, *value, *slides;
    } cases[] = {
        {llama, "sliding_window", "32", "...."}, /* not a key of Llama's class */
        {gemma, NULL, NULL, "ssss"},             /* every sixth is full */
        {gemma, "sliding_window_pattern", "2", "s.s."},
        {gemma, "_sliding_window_pattern", "3", "ss.s"},
        {gemma, "sliding_window_pattern", "'LLG'", "ss.s"}, /* EXAONE's letters */
        {gemma, "layer_types",
         "['full_attention', 'sliding_attention', 'full_attention', 'full_attention']", ".s.."},
        {qwen, "sliding_window", "32", "...."},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(cases[i].base, cases[i].key, cases[i].value);
        print_message("# %s %s\n", cases[i].key, cases[i].value);
        for (uint32_t layer = 0; layer < model.layer_count; layer++) {
            bool slides = cases[i].slides[layer] == 's';
            assert_int_equal(model.layers[layer].attention == ATTENTION_SLIDING, slides);
            assert_int_equal(model.layers[layer].window, slides ? 32 : 0);
        }
        model_release(&model);
    }
    struct model above = parsed(
        "{'architectures': ['Qwen2ForCausalLM'], 'hidden_size': 64, 'intermediate_size': 128,"
        " 'num_hidden_layers': 4, 'num_attention_heads': 8, 'num_key_value_heads': 2,"
        " 'vocab_size': 1000, 'use_sliding_window': true, 'sliding_window': 16,"
        " 'max_window_layers': 3}",
        NULL, NULL);
    assert_int_equal(above.layers[2].attention, ATTENTION_FULL);
    assert_int_equal(above.layers[3].window, 16);
    model_release(&above);
}

static void dense_layers_among_routed_ones_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *base, *key, *value, *routed;
    } cases[] = {
        {qwen, NULL, NULL, "rrrr"},
        {qwen, "mlp_only_layers", "[0, 2]", ".r.r"},
        {qwen, "decoder_sparse_step", "2", ".r.r"},
        {deepseek, NULL, NULL, ".rrr"},
        {deepseek, "first_k_dense_replace", "3", "...r"},
        {deepseek, "moe_layer_freq", "2", "..r."},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(cases[i].base, cases[i].key, cases[i].value);
        print_message("# %s %s\n", cases[i].key, cases[i].value);
        for (uint32_t layer = 0; layer < model.layer_count; layer++) {
            bool routed = cases[i].routed[layer] == 'r';
            assert_int_equal(model.layers[layer].routed, routed);
            assert_int_equal(model.layers[layer].ffn, routed ? 32 : 128);
            assert_int_equal(model.layers[layer].experts, routed ? 16 : 0);
        }
        model_release(&model);
    }
}

/* google/gemma-3-4b-it states five sizes; the class has the others. */
static void nested_text_config_takes_the_defaults_of_its_class(void **state)
{
    (void)state;
    struct model model =
        parsed("{'architectures': ['Gemma3ForConditionalGeneration'], 'vision_config': {},"
               " 'text_config': {'hidden_size': 2560, 'intermediate_size': 10240,"
               " 'num_hidden_layers': 34, 'sliding_window': 1024}}",
               NULL, NULL);
    assert_int_equal(model.query_heads, 8);
    assert_int_equal(model.kv_heads, 4);
    assert_int_equal(model.head_dim, 256);
    assert_int_equal(model.vocabulary, 262208);
    assert_int_equal(model.layers[4].window, 1024);
    assert_int_equal(model.layers[5].attention, ATTENTION_FULL);
    assert_int_equal(model_weight_bytes(&model), 2 * UINT64_C(3880263168));
    model_release(&model);
}

static void biases_follow_their_keys(void **state)
{
    (void)state;
    struct model plain = parsed(llama, NULL, NULL);
    struct model attention = parsed(llama, "attention_bias", "true");
    struct model ffn = parsed(llama, "mlp_bias", "true");
    uint64_t bytes = model_layer_weight_bytes(&plain, 0);
    assert_int_equal(model_layer_weight_bytes(&attention, 0), bytes + 2 * (64 + 2 * 16 + 64));
    assert_int_equal(model_layer_weight_bytes(&ffn, 0), bytes + 2 * (2 * 128 + 64));
    model_release(&plain);
    model_release(&attention);
    model_release(&ffn);

    struct model without = parsed(opt, "enable_bias", "false");
    assert_int_equal(model_layer_weight_bytes(&without, 0), 24 * 64 * 64 + 8 * 64);
    model_release(&without);
}

#define BIT(module) (1U << (module))
#define ATTENTION_MODULES                                                                          \
    (BIT(MODULE_QUERY) | BIT(MODULE_KEY) | BIT(MODULE_VALUE) | BIT(MODULE_OUTPUT))

static void quantisation_methods_say_type_and_head(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        enum dtype weights, kv;
        bool exempt_head;
    } cases[] = {
        {"null", DTYPE_BF16, DTYPE_BF16, true},
        {"{'quant_method': 'fp8'}", DTYPE_FP8, DTYPE_BF16, true},
        {"{'quant_method': 'mxfp4'}", DTYPE_MXFP4, DTYPE_BF16, true},
        {"{'quant_method': 'awq', 'bits': 4}", DTYPE_INT4, DTYPE_BF16, true},
        {"{'quant_method': 'gptq', 'bits': 8}", DTYPE_INT8, DTYPE_BF16, true},
        {"{'quant_method': 'gptq', 'bits': 8, 'lm_head': true}", DTYPE_INT8, DTYPE_BF16, false},
        {"{'quant_method': 'compressed-tensors', 'ignore': ['lm_head'], 'config_groups': {'g':"
         " {'weights': {'num_bits': 8, 'type': 'float'}}},"
         " 'kv_cache_scheme': {'num_bits': 8, 'type': 'float'}}",
         DTYPE_FP8, DTYPE_FP8, true},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g':"
         " {'weights': {'num_bits': 4, 'type': 'int'}}}}",
         DTYPE_INT4, DTYPE_BF16, false},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g':"
         " {'weights': {'num_bits': 4, 'type': 'float', 'group_size': 16}}}}",
         DTYPE_NVFP4, DTYPE_BF16, false},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g':"
         " {'weights': {'num_bits': 4, 'type': 'float', 'group_size': 32}}}}",
         DTYPE_MXFP4, DTYPE_BF16, false},
        {"{'quant_method': 'modelopt', 'quant_algo': 'NVFP4', 'ignore': ['lm_head'],"
         " 'config_groups': {'g': {'weights': {'num_bits': 4, 'type': 'float',"
         " 'group_size': 16}}}, 'kv_cache_scheme': {'num_bits': 8, 'type': 'float'}}",
         DTYPE_NVFP4, DTYPE_FP8, true},
        {"{'quant_method': 'modelopt', 'quant_algo': 'FP8', 'ignore': ['lm_head'],"
         " 'kv_cache_quant_algo': 'FP8'}",
         DTYPE_FP8, DTYPE_FP8, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(llama, "quantization_config", cases[i].config);
        print_message("# %s\n", cases[i].config);
        assert_int_equal(model.weights, cases[i].weights);
        assert_int_equal(model.kv, cases[i].kv);
        assert_int_equal(model.exempt_head, cases[i].exempt_head);
        enum dtype head = cases[i].exempt_head ? DTYPE_BF16 : cases[i].weights;
        assert_int_equal(model_edge_weight_bytes(&model),
                         2 * (1000 * 64 + 64) + model_matrix_bytes(&model, head, 64, 1000));
        model_release(&model);
    }
}

/* Any key of an unknown class that nothing reads stops the answer, but for those that are known to decide no
 * size; and no layer gets a window of no token. */
static void keys_of_unknown_classes_are_understood_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *found;
    } cases[] = {
        {"total_ut_steps", "4",
         "unknown architecture 'Other' has keys that are not understood: total_ut_steps"},
        {"use_cla", "true",
         "unknown architecture 'Other' has keys that are not understood: use_cla"},
        {"mlp_type", "'gelu_mlp'",
         "unknown architecture 'Other' has keys that are not understood: mlp_type"},
        {"full_attention_interval", "4", "'sliding_window' is missing"},
        {"initializer_range", "0.02", NULL},
        {"use_cla", "false", NULL},
    };
    json_t *other = json_of(llama);
    json_object_set_new(other, "architectures", json_pack("[s]", "Other"));
    char *base = json_dumps(other, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model;
        struct error why;
        bool fine = parse(base, cases[i].key, cases[i].value, &model, &why);
        print_message("# %s\n", cases[i].key);
        assert_int_equal(fine, cases[i].found == NULL);
        if (fine) {
            model_release(&model);
        } else {
            assert_string_equal(why.found, cases[i].found);
        }
    }
    free(base);
    json_decref(other);
}

/* As vLLM's _get_and_verify_max_len does: yarn stretches the original length, others the stated one, and
 * llama3's and longrope's files state the whole. */
static void stretched_rotations_lengthen_the_trained_context(void **state)
{
    (void)state;
    static const struct {
        const char *key, *rope;
        uint32_t length;
    } cases[] = {
        {"rope_scaling",
         "{'type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 1024}", 4096},
        {"rope_parameters", "{'rope_type': 'yarn', 'factor': 2.0}", 8192},
        {"rope_scaling", "{'type': 'linear', 'factor': 2.0}", 8192},
        {"rope_scaling", "{'rope_type': 'llama3', 'factor': 8.0}", 4096},
        {"rope_scaling", "{'rope_type': 'default'}", 4096},
    };
    json_t *known = json_of(llama);
    json_object_set_new(known, "max_position_embeddings", json_integer(4096));
    char *base = json_dumps(known, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(base, cases[i].key, cases[i].rope);
        print_message("# %s\n", cases[i].rope);
        assert_int_equal(model.trained_context, cases[i].length);
        model_release(&model);
    }
    free(base);
    json_decref(known);
}

/* A matrix of 4096 inputs and 1024 outputs: 2 MiB in 4 bits and 4 MiB in 8. With groups of 128 it has 32 768
 * scales, and each of 2 bytes, or 2.5 with a zero point of 4 bits; g_idx takes 4 bytes an input. */
static void scales_are_counted_by_the_groups_of_the_config(void **state)
{
    (void)state;
    enum { FOUR = 2 << 20, EIGHT = 4 << 20, SCALES = 32768 };
    static const struct {
        const char *config;
        uint64_t bytes;
    } cases[] = {
        {"{'quant_method': 'awq', 'bits': 4, 'group_size': 128}", FOUR + SCALES * 5 / 2},
        {"{'quant_method': 'awq', 'bits': 4}", FOUR + SCALES * 5 / 2},
        {"{'quant_method': 'awq', 'bits': 4, 'group_size': 64}", FOUR + SCALES * 5},
        {"{'quant_method': 'gptq', 'bits': 4, 'group_size': 32}", FOUR + SCALES * 10 + 4096 * 4},
        {"{'quant_method': 'gptq', 'bits': 4, 'group_size': -1}", FOUR + 1024 * 5 / 2 + 4096 * 4},
        {"{'quant_method': 'gptq', 'bits': 8, 'group_size': 128}", EIGHT + SCALES * 3 + 4096 * 4},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g': {'weights':"
         " {'num_bits': 4, 'type': 'int', 'group_size': 32}}}}",
         FOUR + SCALES * 8},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g': {'weights': {'num_bits': 4,"
         " 'type': 'int', 'group_size': 32, 'symmetric': false, 'actorder': 'group'}}}}",
         FOUR + SCALES * 10 + 4096 * 4},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g': {'weights':"
         " {'num_bits': 4, 'type': 'int', 'group_size': null, 'strategy': 'channel'}}}}",
         FOUR + 1024 * 2},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g': {'weights':"
         " {'num_bits': 8, 'type': 'float', 'group_size': 128}}}}",
         EIGHT + SCALES * 2},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g': {'weights':"
         " {'num_bits': 8, 'type': 'int', 'strategy': 'channel'}}}}",
         EIGHT},
        {"{'quant_method': 'compressed-tensors', 'config_groups': {'g': {'weights':"
         " {'num_bits': 4, 'type': 'float', 'group_size': 16}}}}",
         FOUR + SCALES * 8},
        {"{'quant_method': 'mxfp4'}", FOUR + SCALES * 4},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = parsed(llama, "quantization_config", cases[i].config);
        print_message("# %s\n", cases[i].config);
        assert_int_equal(model_matrix_bytes(&model, model.weights, 4096, 1024), cases[i].bytes);
        model_release(&model);
    }
}

/* Gemma 4 has its experts beside a dense FFN, which counts as a shared expert: "mlp*" covers that alone. */
static void a_class_may_name_its_matrices_otherwise(void **state)
{
    (void)state;
    json_t *config = json_load_file("models/gemma-4-26b-a4b.json", 0, NULL);
    json_object_set_new(config, "quantization_config",
                        json_of("{'quant_method': 'modelopt', 'quant_algo': 'NVFP4',"
                                " 'ignore': ['model.language_model.layers.1.mlp*']}"));
    char *text = json_dumps(config, 0);
    struct model model = parsed(text, NULL, NULL);
    assert_int_equal(model.layers[1].exempt & BIT(MODULE_SHARED_UP), BIT(MODULE_SHARED_UP));
    assert_int_equal(model.layers[1].exempt & BIT(MODULE_EXPERT_UP), 0);
    model_release(&model);
    free(text);
    json_decref(config);
}

/* A key that nothing reads and that may say what is quantised, or how, stops the answer; and what is not
 * quantised is read from whichever list a method has. */
static void quantisation_that_is_not_understood_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *config, *found;
    } cases[] = {
        {"{'quant_method': 'gptq', 'bits': 4, 'modules_in_block_to_quantize': [['a']]}",
         "'modules_in_block_to_quantize' of quantization_config is not understood"},
        {"{'quant_method': 'compressed-tensors', 'sparsity_config': {'format': 'sparse-bitmask'},"
         " 'config_groups': {'g': {'weights': {'num_bits': 8}}}}",
         "'sparsity_config' of quantization_config is not understood"},
        {"{'quant_method': 'compressed-tensors', 'format': 'marlin-24',"
         " 'config_groups': {'g': {'weights': {'num_bits': 4}}}}",
         "'format' is marlin-24: half of the weights are not stored"},
        {"{'quant_method': 'fp8', 'weight_block_size': [1, 32]}",
         "'weight_block_size' is no block of at least 512 weights"},
        {"{'quant_method': 'compressed-tensors', 'sparsity_config': {'format': 'dense'},"
         " 'config_groups': {'g': {'weights': {'num_bits': 8}}}}",
         NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model;
        struct error why;
        json_t *config = json_of(llama);
        json_object_set_new(config, "quantization_config", json_of(cases[i].config));
        char *text = json_dumps(config, 0);
        print_message("# %s\n", cases[i].config);
        bool fine = parse(text, NULL, NULL, &model, &why);
        assert_int_equal(fine, cases[i].found == NULL);
        if (fine) {
            model_release(&model);
        } else {
            assert_string_equal(why.found, cases[i].found);
        }
        free(text);
        json_decref(config);
    }
    struct model parts = parsed(llama, "quantization_config",
                                "{'quant_method': 'awq', 'bits': 4,"
                                " 'modules_to_not_convert': ['model.layers.1.', 'lm_head']}");
    assert_int_equal(parts.layers[0].exempt, 0);
    assert_int_equal(parts.layers[1].exempt, BIT(MODULE_COUNT) - 1);
    model_release(&parts);
    struct model older = parsed(llama, "compression_config",
                                "{'quant_method': 'compressed-tensors', 'config_groups': {'g':"
                                " {'weights': {'num_bits': 8, 'type': 'float'}}}}");
    assert_int_equal(older.weights, DTYPE_FP8);
    model_release(&older);
    struct error why;
    assert_false(parse(llama, "quantization", "{'group_size': 64, 'bits': 4}", &older, &why));
    assert_string_equal(why.found, "'quantization' is not understood");
    struct model model = parsed(llama, "quantization_config",
                                "{'quant_method': 'fp8', 'ignored_layers': ['self_attn']}");
    assert_int_equal(model.layers[0].exempt & BIT(MODULE_OUTPUT), BIT(MODULE_OUTPUT));
    model_release(&model);
}

/* One entry each, and the modules of layer 1 of 4 that it spares. */
static void exemptions_match_whole_components(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        uint32_t exempt;
        bool head;
    } cases[] = {
        {"model.layers.1.self_attn", ATTENTION_MODULES, false},
        {"model.layers.*.self_attn", ATTENTION_MODULES, false},
        {"model.language_model.layers.1.self_attn", ATTENTION_MODULES, false},
        {"language_model.model.layers.1.self_attn", ATTENTION_MODULES, false},
        {"self_attn", ATTENTION_MODULES, false},
        {"re:.*self_attn.*", ATTENTION_MODULES, false},
        {"re:^model\\\\.layers\\\\.1\\\\.self_attn.*", ATTENTION_MODULES, false},
        {"re:.*attn$", ATTENTION_MODULES, false},
        {"model.layers.1.self_attn.k_proj", BIT(MODULE_KEY), false},
        {"model.layers.11.self_attn", 0, false},
        {"model.layers.2.self_attn", 0, false},
        {"vision_tower.encoder.layers.1.self_attn", 0, false},
        {"model.layers.1.mlp.gate", 0, false}, /* a router, not gate_proj */
        {"model.layers.1.mlp.experts",
         BIT(MODULE_EXPERT_GATE) | BIT(MODULE_EXPERT_UP) | BIT(MODULE_EXPERT_DOWN), false},
        {"model.layers.1.mlp.shared_experts.up_proj", BIT(MODULE_SHARED_UP), false},
        {"model.layers.1.input_layernorm", 0, false},
        {"lm_head", 0, true},
        {"re:.*lm_head", 0, true},
        {"head", 0, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char config[256];
        snprintf(config, sizeof config,
                 "{'quant_method': 'compressed-tensors', 'ignore': ['%s'], 'config_groups':"
                 " {'g': {'weights': {'num_bits': 8}}}}",
                 cases[i].entry);
        struct model model = parsed(llama, "quantization_config", config);
        print_message("# %s\n", cases[i].entry);
        uint32_t exempt = model.layers[1].exempt;
        bool latent = (cases[i].exempt & BIT(MODULE_QUERY)) != 0;
        uint32_t only_mla = BIT(MODULE_QUERY_DOWN) | BIT(MODULE_QUERY_UP) | BIT(MODULE_KV_DOWN) |
                            BIT(MODULE_KV_UP) | BIT(MODULE_INDEX_QUERY) | BIT(MODULE_INDEX_KEY);
        uint32_t linear = BIT(MODULE_LINEAR_IN) | BIT(MODULE_LINEAR_OUT); /* ".*attn" covers them */
        assert_int_equal(exempt & ~only_mla & ~linear, cases[i].exempt);
        assert_int_equal(exempt & only_mla, latent ? only_mla : 0);
        assert_int_equal(model.exempt_head, cases[i].head);
        model_release(&model);
    }
}

static void patterns_of_many_stars_end_soon(void **state)
{
    (void)state;
    char config[400] = "{'quant_method': 'fp8', 'modules_to_not_convert': ['";
    for (size_t i = 0; i < 100; i++) {
        strcat(config, "*a");
    }
    strcat(config, "']}");
    struct model model = parsed(llama, "quantization_config", config);
    assert_int_equal(model.layers[0].exempt, 0);
    model_release(&model);
}

/* ---- files ---- */

static char folder[] = "/tmp/spillway-model-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *file_in(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(file_in(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void write_llama(const char *name)
{
    json_t *root = json_of(llama);
    assert_int_equal(json_dump_file(root, file_in(name), 0), 0);
    json_decref(root);
}

static bool load(const char *name, struct model *model, struct error *why)
{
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    return model_load(NULL, name, &options, "a.yaml", 7, model, why);
}

static void models_are_found_by_name_file_and_folder(void **state)
{
    (void)state;
    struct model model;
    struct error why;
    mkdir(file_in("tiny"), 0700);
    write_llama("tiny/config.json");
    write_llama("other.json");
    const struct {
        const char *name, *model;
    } cases[] = {
        {"tiny", "tiny"}, {"tiny/", "tiny"}, {"tiny/config.json", "tiny"}, {"other.json", "other"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i].name);
        assert_true(load(file_in(cases[i].name), &model, &why));
        assert_string_equal(model.name, cases[i].model);
        assert_string_equal(model.architecture, "LlamaForCausalLM");
        model_release(&model);
    }
}

static void a_quantisation_that_is_not_read_is_refused(void **state)
{
    (void)state;
    struct model model;
    struct error why;
    mkdir(file_in("quantised"), 0700);
    write_llama("quantised/config.json");
    write_file("quantised/hf_quant_config.json", "{}");
    assert_false(load(file_in("quantised"), &model, &why));
    assert_string_equal(why.found,
                        "no 'quantization_config', but 'hf_quant_config.json' lies beside it");
    assert_null(model.layers);
    const struct model_options stated = {.weights = DTYPE_NVFP4, .kv = -1, .tensor_parallel = 1};
    assert_true(model_load(NULL, file_in("quantised"), &stated, NULL, 0, &model, &why));
    assert_int_equal(model.weights, DTYPE_NVFP4);
    model_release(&model);
}

static void models_that_are_not_there_are_named(void **state)
{
    (void)state;
    struct model model;
    struct error why;
    assert_false(load("lama-3-8b", &model, &why));
    assert_string_equal(why.file, "a.yaml");
    assert_int_equal(why.line, 7);
    assert_string_equal(why.found, "unknown model 'lama-3-8b'");
    assert_string_equal(why.nearest, "llama-3-8b");
    assert_false(load(file_in("absent.json"), &model, &why));
    assert_string_equal(why.found, "cannot be opened: No such file or directory");
    mkdir(file_in("hollow"), 0700);
    assert_false(load(file_in("hollow"), &model, &why));
    assert_non_null(strstr(why.file, "hollow/config.json"));
    assert_false(load("/dev/zero", &model, &why));
    assert_string_equal(why.found, "larger than 16 MiB");
}

static void importance_tables_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line; /* 0: it is fine */
    } cases[] = {
        {"# from here\n1\t0\n0.5 0.25\n0\t0\n\n1\t1\n", 0},
        {"# from here\n1 0 1 0 .5 .1 0 0 0 0\n.5 .25 1 1 .5 .5 0 0 0 0\n0 0 0 0 0 0 0 0 0 0\n"
         "1 1 1 1 1 1 1 1 .75 1\n",
         0},
        {"", 1},
        {"1 0\n1 0\n1 0\n", 4},
        {"1 0\n1 0\n1 0\n1 0\n1 0\n", 5},
        {"1 0\n1\n1 0 0\n1 0\n", 3},
        {"1 0\n1 0 0\n1\n1 0\n", 2},
        {"1 0\n1 1.01\n1 0\n1 0\n", 2},
        {"1 0\n1 -0.1\n1 0\n1 0\n", 2},
        {"1 0\n1 nan\n1 0\n1 0\n", 2},
        {"1 0\n1 x\n1 0\n1 0\n", 2},
        {"# a\n# b\n1 0\n1 0\n1 0\n1 0\n", 2},
    };
    write_llama("heads.json");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model;
        struct error why;
        write_file("heads.heads.tsv", cases[i].text);
        print_message("# case %zu\n", i);
        bool fine = load(file_in("heads.json"), &model, &why);
        assert_int_equal(fine, cases[i].line == 0);
        if (fine) {
            assert_string_equal(model.importance_source, "from here");
            assert_true(model.importance[3] == 0.25f && model.importance[7] == 1);
            bool queries = strchr(cases[i].text, '7') != NULL;
            assert_int_equal(model.query_importance != NULL, queries);
            assert_true(!queries ||
                        (model.query_importance[3] == .1f && model.query_importance[30] == .75f));
            model_release(&model);
        } else {
            assert_string_equal(why.expected, "4 lines of 2 numbers from 0 to 1");
            assert_int_equal(why.line, cases[i].line);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_values_are_refused_by_key),
        cmocka_unit_test(unknown_architectures_are_read_by_their_keys),
        cmocka_unit_test(unknown_architectures_name_every_missing_key),
        cmocka_unit_test(texts_that_are_no_config_are_refused),
        cmocka_unit_test(all_escapes_of_json_are_read),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(absurd_products_of_sizes_are_refused),
        cmocka_unit_test(windows_are_read_as_written),
        cmocka_unit_test(dense_layers_among_routed_ones_are_read),
        cmocka_unit_test(nested_text_config_takes_the_defaults_of_its_class),
        cmocka_unit_test(biases_follow_their_keys),
        cmocka_unit_test(quantisation_methods_say_type_and_head),
        cmocka_unit_test(keys_of_unknown_classes_are_understood_or_refused),
        cmocka_unit_test(stretched_rotations_lengthen_the_trained_context),
        cmocka_unit_test(scales_are_counted_by_the_groups_of_the_config),
        cmocka_unit_test(quantisation_that_is_not_understood_is_refused),
        cmocka_unit_test(a_class_may_name_its_matrices_otherwise),
        cmocka_unit_test(exemptions_match_whole_components),
        cmocka_unit_test(patterns_of_many_stars_end_soon),
        cmocka_unit_test(models_are_found_by_name_file_and_folder),
        cmocka_unit_test(a_quantisation_that_is_not_read_is_refused),
        cmocka_unit_test(models_that_are_not_there_are_named),
        cmocka_unit_test(importance_tables_are_checked),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
