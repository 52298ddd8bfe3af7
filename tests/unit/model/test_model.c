/* Sizes of shipped models against figures worked by hand from the shapes of their matrices, and what
 * must hold for every model, type and number of GPUs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"

#include <math.h>
#include <string.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

/* One of each architecture at least. */
static const char *const names[] = {
    "llama-3-8b",
    "qwen2.5-14b",
    "qwen3-32b",
    "opt-6.7b",
    "qwen3-30b-a3b",
    "gpt-oss-120b",
    "smollm2-135m",
    "gemma-2-9b",
    "gemma-3-270m",
    "gemma-3-12b",
    "deepseek-v3",
    "deepseek-v3.2",
    "mistral-small-3.2-24b",
    "mistral-7b-v0.3",
    "mixtral-8x7b",
    "phi-3-mini-4k",
    "glm-4-9b-0414",
    "glm-4.5",
    "glm-5",
    "llama-4-scout",
    "llama-4-maverick",
    "glm-5.3",
    "qwen3-next-80b-a3b",
};

static struct model load(const char *name, int weights, int kv, uint32_t tensor_parallel)
{
    struct model_options options = {
        .weights = weights, .kv = kv, .tensor_parallel = tensor_parallel};
    struct model model;
    struct error why;
    if (!model_load(NULL, name, &options, NULL, 0, &model, &why)) {
        char text[1024];
        error_format(&why, text, sizeof text);
        fail_msg("%s", text);
    }
    return model;
}

static struct model load_plain(const char *name)
{
    return load(name, DTYPE_BF16, DTYPE_BF16, 1);
}

/* The operator called `name`, the first of that name. */
static struct model_operator operator_of(const struct model *model, uint32_t layer, uint64_t batch,
                                         uint64_t attended, const char *name)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, layer, batch, batch * attended, operators);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(operators[i].name, name) == 0) {
            return operators[i];
        }
    }
    fail_msg("no operator '%s' in layer %u of %s", name, layer, model->name);
    return operators[0];
}

/* Matrices by shape: Q, K, V, O, then gate, up and down (or fc1 and fc2), biases, two norms. OPT:
 * 24 h² and 13 vectors of h. */
static void a_layers_weights_are_its_matrices(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t parameters;
    } cases[] = {
        {"llama-3-8b", 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096},
        {"qwen2.5-14b",
         2 * 5120 * 5120 + 2 * 5120 * 1024 + 5120 + 2 * 1024 + 3 * 5120 * 13824 + 2 * 5120},
        {"qwen3-32b", 2 * 5120 * 8192 + 2 * 5120 * 1024 + 2 * 128 + 3 * 5120 * 25600 + 2 * 5120},
        {"opt-6.7b", 12 * 4096 * 4096 + 13 * 4096},
        {"opt-30b", 12 * 7168 * 7168 + 13 * 7168},
        {"gemma-3-270m", 2 * 640 * 1024 + 2 * 640 * 256 + 2 * 256 + 3 * 640 * 2048 + 4 * 640},
        {"qwen3-30b-a3b",
         2 * 2048 * 4096 + 2 * 2048 * 512 + 2 * 128 + 2048 * 128 + 128 * 3 * 2048 * 768 + 2 * 2048},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = load_plain(cases[i].name);
        print_message("# %s\n", cases[i].name);
        assert_int_equal(model_layer_weight_bytes(&model, 0), 2 * cases[i].parameters);
        model_release(&model);
    }
}

static void published_layer_weights_are_met(void **state)
{
    (void)state;
    struct model llama = load_plain("llama-3-8b"), qwen = load_plain("qwen2.5-14b");
    assert_int_equal(model_layer_weight_bytes(&llama, 0), 436224000);
    assert_int_equal(model_layer_weight_bytes(&qwen, 0), 550537216);
    model_release(&llama);
    model_release(&qwen);
}

static void kv_cache_sizes_are_the_published_ones(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t context, batch, bytes;
    } cases[] = {
        {"llama-3-8b", 1, 1, 128 * 1024},
        {"qwen2.5-14b", 1, 1, 192 * 1024},
        {"opt-30b", 1, 1, 1376256},
        {"qwen2.5-14b", 512000, 1, UINT64_C(9375) * 1024 * 1024 * 1024 / 100},
        {"opt-30b", 1024, 128, UINT64_C(168) * 1024 * 1024 * 1024},
        {"smollm2-135m", 3840, 1, UINT64_C(30) * 3 * 2 * 64 * 2 * 3840},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = load_plain(cases[i].name);
        print_message("# %s\n", cases[i].name);
        assert_int_equal(cases[i].batch * model_kv_bytes(&model, cases[i].context), cases[i].bytes);
        model_release(&model);
    }
}

/* h values against 2 · KV heads · d: half with MHA, twice with Llama 3's 8 of 32 heads. */
static void activations_are_half_of_mha_and_twice_of_gqa(void **state)
{
    (void)state;
    struct model opt = load_plain("opt-6.7b"), llama = load_plain("llama-3-8b");
    assert_int_equal(2 * model_activation_bytes(&opt), model_kv_token_bytes(&opt, 0));
    assert_int_equal(model_activation_bytes(&llama), 2 * model_kv_token_bytes(&llama, 0));
    model_release(&opt);
    model_release(&llama);
}

static void sliding_layers_hold_only_their_window(void **state)
{
    (void)state;
    struct model model = load_plain("gemma-3-270m");
    for (uint32_t i = 0; i < 18; i++) {
        bool full = i == 5 || i == 11 || i == 17;
        assert_int_equal(model.layers[i].attention, full ? ATTENTION_FULL : ATTENTION_SLIDING);
        assert_int_equal(model_layer_tokens(&model, i, 32768), full ? 32768 : 512);
        assert_int_equal(model_layer_tokens(&model, i, 100), 100);
    }
    assert_int_equal(model_kv_bytes(&model, 32768), (3 * 32768 + 15 * 512) * 1024);
    assert_int_equal(model_kv_bytes(&model, 512), 18 * 512 * 1024);
    model_release(&model);

    model = load_plain("gpt-oss-120b");
    for (uint32_t i = 0; i < 36; i++) {
        assert_int_equal(model_layer_tokens(&model, i, 131072), i % 2 == 0 ? 128 : 131072);
    }
    model_release(&model);
}

static void mla_keeps_one_latent_for_all_heads(void **state)
{
    (void)state;
    struct model plain = load_plain("deepseek-v3.2");
    struct model split = load("deepseek-v3.2", DTYPE_BF16, DTYPE_FP8, 8);
    assert_int_equal(model_kv_heads(&plain), 1);
    assert_int_equal(model_kv_token_bytes(&plain, 0), (512 + 64) * 2);
    assert_int_equal(model_kv_bytes(&plain, 1000), UINT64_C(1000) * 61 * 576 * 2);
    /* In fp8, where an indexer selects: 512 values, their 4 scales, and 64 rotated ones in bf16. */
    assert_int_equal(model_kv_token_bytes(&split, 0), 512 + 4 * 4 + 64 * 2);
    assert_int_equal(model_query_heads(&split), 16);
    assert_int_equal(plain.index_topk, 2048);
    assert_false(plain.layers[2].routed);
    assert_true(plain.layers[3].routed);

    /* Two numbers of all 128 heads for each of 512 latents, and one for each of the 64 with
     * position. */
    struct model_operator op = operator_of(&plain, 3, 2, 100, "attention");
    assert_true(op.flops == 2.0 * 100 * 128 * 2 * (512 + 64 + 512));
    assert_int_equal(op.data_bytes, 2 * 100 * 1152 + 2 * 2 * 128 * (576 + 512));
    assert_true(op.rows == 128);
    model_release(&plain);
    model_release(&split);
}

/* Llama 3 8B, 3 sequences that attend to 1000 tokens: bytes and FLOPs written down by hand. */
static void operators_cost_what_they_read_and_compute(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum model_stage stage;
        uint64_t weights, data;
        double flops;
    } cases[] = {
        {"norm", MODEL_PRE, 8192, 3 * 4 * 8192, 0},
        {"qkv", MODEL_PRE, 2 * 4096 * 6144, 3 * 2 * (4096 + 6144), 3. * 2 * 4096 * 6144},
        {"rope", MODEL_PRE, 0, 3 * 2 * 2 * 5120, 0},
        {"kv_write", MODEL_PRE, 0, 3 * (4096 + 4096), 0},
        {"attention", MODEL_ATTEND, 0, 3 * 1000 * 4096 + 3 * 2 * 8192, 3. * 1000 * 4 * 4096},
        {"o", MODEL_POST, 2 * 4096 * 4096, 3 * 2 * 8192, 3. * 2 * 4096 * 4096},
        {"norm", MODEL_POST, 8192, 3 * 4 * 8192, 0},
        {"gate_up", MODEL_POST, 2 * 4096 * 28672, 3 * 2 * (4096 + 28672), 3. * 2 * 4096 * 28672},
        {"activation", MODEL_POST, 0, 3 * 2 * 3 * 14336, 0},
        {"down", MODEL_POST, 2 * 4096 * 14336, 3 * 2 * (4096 + 14336), 3. * 2 * 4096 * 14336},
    };
    struct model model = load_plain("llama-3-8b");
    struct model_operator operators[MODEL_MOST_OPERATORS];
    assert_int_equal(model_operators(&model, 7, 3, 3000, operators), COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i].name);
        assert_string_equal(operators[i].name, cases[i].name);
        assert_int_equal(operators[i].stage, cases[i].stage);
        assert_int_equal(operators[i].weight_bytes, cases[i].weights);
        assert_int_equal(operators[i].data_bytes, cases[i].data);
        assert_true(operators[i].flops == cases[i].flops);
        assert_int_equal(operators[i].matrix, cases[i].flops > 0);
    }
    assert_true(operators[1].rows == 3 && operators[4].rows == 4);
    model_release(&model);
}

static void the_edge_reads_rows_of_the_embedding_and_all_of_the_head(void **state)
{
    (void)state;
    struct model model = load_plain("llama-3-8b");
    struct model_operator operators[MODEL_MOST_OPERATORS];
    assert_int_equal(model_operators(&model, 32, 3, 0, operators), 3);
    assert_string_equal(operators[0].name, "embedding");
    assert_int_equal(operators[0].weight_bytes, 0);
    assert_int_equal(operators[0].data_bytes, 3 * 2 * 8192);
    assert_string_equal(operators[2].name, "head");
    assert_int_equal(operators[2].stage, MODEL_EDGE);
    assert_int_equal(operators[2].weight_bytes, 2 * 4096 * 128256);
    assert_int_equal(model_edge_weight_bytes(&model), 2 * (2 * 4096 * 128256 + 4096));
    model_release(&model);

    struct model tied = load_plain("smollm2-135m");
    assert_int_equal(operator_of(&tied, 30, 1, 0, "head").weight_bytes, 2 * 576 * 49152);
    assert_int_equal(model_edge_weight_bytes(&tied), 2 * (576 * 49152 + 576));
    model_release(&tied);
}

/* 8 of 128 experts: 1 token reads 8, 2 tokens 128 · (1 − (15/16)²) = 15.5, many tokens all. */
static void distinct_experts_grow_with_the_batch(void **state)
{
    (void)state;
    struct model model = load_plain("qwen3-30b-a3b");
    const uint64_t expert = 2 * 2048 * 768; /* bytes of one matrix */
    static const struct {
        uint64_t batch, half_experts;
        double rows;
    } cases[] = {{0, 0, 0}, {1, 16, 1}, {2, 31, 16 / 15.5}, {100000, 256, 6250}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model_operator up = operator_of(&model, 0, cases[i].batch, 1, "experts_gate_up");
        struct model_operator down = operator_of(&model, 0, cases[i].batch, 1, "experts_down");
        print_message("# batch %d\n", (int)cases[i].batch);
        assert_int_equal(up.weight_bytes, cases[i].half_experts * expert);
        assert_int_equal(2 * down.weight_bytes, cases[i].half_experts * expert);
        assert_true(fabs(up.rows - cases[i].rows) < 1e-9);
        assert_true(up.flops == (double)cases[i].batch * 8 * 2 * 2 * 2048 * 768);
        assert_int_equal(up.data_bytes, cases[i].batch * 8 * 2 * (2048 + 2 * 768));
    }
    model_release(&model);
}

static void storage_types_have_exact_sizes(void **state)
{
    (void)state;
    static const struct {
        enum dtype dtype;
        uint64_t count, bytes;
    } cases[] = {
        {DTYPE_BF16, 3, 6},
        {DTYPE_FP8, 3, 3},
        {DTYPE_INT8, 3, 3},
        {DTYPE_INT4, 128, 66}, /* 64 and a scale of 2 */
        {DTYPE_INT4, 1, 1},
        {DTYPE_INT4, 129, 67},
        {DTYPE_INT4, 0, 0},
        {DTYPE_MXFP4, 32, 17}, /* 16 and a scale of 1 */
        {DTYPE_MXFP4, 33, 18},
        {DTYPE_MXFP4, 64, 34},
        {DTYPE_NVFP4, 16, 9}, /* 8 and a scale of 1 */
        {DTYPE_NVFP4, 17, 10},
        {DTYPE_NVFP4, 4096, 2304},
        {DTYPE_BF16, UINT64_MAX, UINT64_MAX},
        {DTYPE_FP8, UINT64_MAX, UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s %llu\n", dtype_name(cases[i].dtype),
                      (unsigned long long)cases[i].count);
        assert_int_equal(dtype_bytes(cases[i].dtype, cases[i].count), cases[i].bytes);
    }
}

static void storage_types_have_names(void **state)
{
    (void)state;
    struct error why;
    enum dtype found;
    for (enum dtype dtype = DTYPE_BF16; dtype < DTYPE_COUNT; dtype++) {
        assert_true(dtype_find(dtype_name(dtype), NULL, 0, &found, &why));
        assert_int_equal(found, dtype);
    }
    assert_false(dtype_find("mxpf4", "a.yaml", 3, &found, &why));
    char text[1024];
    error_format(&why, text, sizeof text);
    assert_string_equal(
        text, "a.yaml:3: unknown storage type 'mxpf4'\n"
              "  nearest: 'mxfp4'   expected: bf16, fp8, int8, int4, mxfp4, mxfp4-fp8, nvfp4");
}

/* gpt-oss: experts in mxfp4 with bf16 biases, the rest in bf16; an override leaves the exempt
 * alone. */
static void a_models_own_quantisation_spares_what_it_exempts(void **state)
{
    (void)state;
    const uint64_t qkv = 2 * (2880 * 5120 + 5120);
    const uint64_t gate_up = 128 * (UINT64_C(2880) * 5760 / 32 * 17 + 2 * 5760);
    struct model own = load("gpt-oss-120b", -1, -1, 1);
    assert_int_equal(own.weights, DTYPE_MXFP4);
    assert_int_equal(own.kv, DTYPE_BF16);
    assert_true(own.exempt_head);
    assert_int_equal(operator_of(&own, 0, 1, 1, "qkv").weight_bytes, qkv);
    assert_int_equal(operator_of(&own, 0, 1000000, 1, "experts_gate_up").weight_bytes, gate_up);
    assert_int_equal(operator_of(&own, 0, 1, 1, "router").weight_bytes, 2 * (2880 * 128 + 128));
    assert_int_equal(operator_of(&own, 0, 1, 1, "attention").weight_bytes, 2 * 64);
    model_release(&own);

    struct model over = load("gpt-oss-120b", DTYPE_FP8, DTYPE_INT4, 1);
    assert_int_equal(operator_of(&over, 0, 1, 1, "qkv").weight_bytes, qkv);
    assert_int_equal(operator_of(&over, 0, 1000000, 1, "experts_gate_up").weight_bytes,
                     128 * (UINT64_C(2880) * 5760 + 2 * 5760));
    assert_int_equal(model_kv_head_bytes(&over), 66);
    model_release(&over);
}

static void quantised_weights_shrink_matrices_only(void **state)
{
    (void)state;
    struct model model = load("llama-3-8b", DTYPE_INT8, DTYPE_FP8, 1);
    assert_int_equal(model_layer_weight_bytes(&model, 0), (436224000 - 2 * 8192) / 2 + 2 * 8192);
    assert_int_equal(model_edge_weight_bytes(&model), 2 * (2 * 4096 * 128256 + 4096));
    assert_int_equal(model_kv_bytes(&model, 1), 64 * 1024);
    model_release(&model);
}

static void tensor_parallel_splits_heads_and_columns(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t gpus, query_heads, kv_heads;
    } cases[] = {
        {"llama-3-8b", 2, 16, 4},  {"llama-3-8b", 8, 4, 1},   {"llama-3-8b", 16, 2, 1},
        {"llama-3-8b", 32, 1, 1},  {"opt-30b", 7, 8, 8},      {"qwen2.5-14b", 5, 8, 2},
        {"smollm2-135m", 3, 3, 1}, {"smollm2-135m", 9, 1, 1}, {"gemma-3-270m", 4, 1, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = load(cases[i].name, DTYPE_BF16, DTYPE_BF16, cases[i].gpus);
        print_message("# %s on %u\n", cases[i].name, cases[i].gpus);
        assert_int_equal(model_query_heads(&model), cases[i].query_heads);
        assert_int_equal(model_kv_heads(&model), cases[i].kv_heads);
        assert_int_equal(model_kv_token_bytes(&model, 0),
                         cases[i].kv_heads * model_kv_head_bytes(&model));
        assert_int_equal(model_activation_bytes(&model), 2 * model.hidden);
        model_release(&model);
    }
    struct model half = load("llama-3-8b", DTYPE_BF16, DTYPE_BF16, 2);
    assert_int_equal(model_layer_weight_bytes(&half, 0), (436224000 - 2 * 8192) / 2 + 2 * 8192);
    assert_int_equal(model_edge_weight_bytes(&half), 2 * (2 * (4096 * 128256 / 2) + 4096));
    model_release(&half);
}

/* OPT-30B: 50 272 words of 7168 values, tied to the head, and 2050 positions; a final norm with a
 * bias. Seven GPUs hold 7182 words each, the last one fewer. */
static void tensor_parallel_splits_words_but_not_positions(void **state)
{
    (void)state;
    struct model model = load("opt-30b", DTYPE_BF16, DTYPE_BF16, 7);
    assert_int_equal(model_edge_weight_bytes(&model), 2 * ((7182 + 2050) * 7168 + 2 * 7168));
    model_release(&model);
}

static void tensor_parallel_must_divide_the_query_heads(void **state)
{
    (void)state;
    const uint32_t wrong[] = {0, 3, 33, UINT32_MAX};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = wrong[i]};
        struct model model;
        struct error why;
        assert_false(model_load(NULL, "llama-3-8b", &options, "--set", 0, &model, &why));
        assert_int_equal(why.kind, ERROR_USAGE);
        assert_non_null(strstr(why.found, "tensor_parallel is"));
        assert_string_equal(why.expected, "a divisor of the model's 32 query heads");
        assert_null(model.layers);
    }
}

/* Without a gate a latent layer goes down by two matrices. */
static void matrices_that_a_model_lacks_are_not_counted(void **state)
{
    (void)state;
    struct model latent = load_plain("deepseek-v3"), llama = load_plain("llama-3-8b");
    assert_int_equal(operator_of(&latent, 0, 1, 1, "qkv_down").matrices, 2);
    assert_int_equal(operator_of(&llama, 0, 1, 1, "qkv").matrices, 3);
    model_release(&latent);
    model_release(&llama);
}

/* Every model, in its own types and in others, on one GPU and on as many as it can use. */
static void each_model(void (*check)(const struct model *model))
{
    for (size_t i = 0; i < COUNT(names); i++) {
        for (int weights = -1; weights < DTYPE_COUNT; weights++) {
            for (uint32_t gpus = 1; gpus <= 9; gpus++) {
                struct model_options options = {
                    .weights = weights, .kv = -1, .tensor_parallel = gpus};
                struct model model;
                struct error why;
                if (model_load(NULL, names[i], &options, NULL, 0, &model, &why)) {
                    check(&model);
                    model_release(&model);
                }
            }
        }
    }
}

static void check_large_batch(const struct model *model)
{
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        struct model_operator operators[MODEL_MOST_OPERATORS];
        size_t count = model_operators(model, layer, 1 << 20, 1 << 20, operators);
        uint64_t bytes = 0;
        for (size_t i = 0; i < count; i++) {
            bytes += operators[i].weight_bytes;
        }
        assert_int_equal(bytes, model_layer_weight_bytes(model, layer));
    }
}

static void a_large_batch_reads_all_weights_of_a_layer(void **state)
{
    (void)state;
    each_model(check_large_batch);
}

static void check_order(const struct model *model)
{
    for (uint32_t layer = 0; layer <= model->layer_count; layer++) {
        struct model_operator operators[MODEL_MOST_OPERATORS];
        size_t count = model_operators(model, layer, 4, 400, operators);
        assert_in_range(count, 3, MODEL_MOST_OPERATORS);
        for (size_t i = 0; i < count; i++) {
            assert_true(i == 0 || operators[i].stage >= operators[i - 1].stage);
            assert_int_equal(operators[i].stage == MODEL_EDGE, layer == model->layer_count);
            assert_int_equal(operators[i].matrix, operators[i].flops > 0);
            assert_int_equal(operators[i].matrix, operators[i].rows > 0);
            assert_true(operators[i].data_bytes > 0);
        }
    }
}

static void operators_come_in_program_order(void **state)
{
    (void)state;
    each_model(check_order);
}

/* Everything a step reads or computes is at most doubled by a batch twice as large, and never less.
 */
static void check_growth(const struct model *model)
{
    struct model_operator once[MODEL_MOST_OPERATORS], twice[MODEL_MOST_OPERATORS];
    uint32_t layer = model->layer_count - 1;
    for (uint64_t batch = 1; batch <= 4096; batch *= 4) {
        size_t count = model_operators(model, layer, batch, 777 * batch, once);
        assert_int_equal(model_operators(model, layer, 2 * batch, 2 * 777 * batch, twice), count);
        for (size_t i = 0; i < count; i++) {
            assert_true(twice[i].weight_bytes >= once[i].weight_bytes);
            assert_true(twice[i].weight_bytes <= 2 * once[i].weight_bytes + 1);
            assert_int_equal(twice[i].data_bytes, 2 * once[i].data_bytes);
            assert_true(twice[i].flops == 2 * once[i].flops);
        }
    }
}

static void costs_grow_with_the_batch(void **state)
{
    (void)state;
    each_model(check_growth);
}

/* Two sequences of five queries compute as ten sequences do, and read their KV twice, not ten
 * times: all differences are of attention, in whole entries of the KV. */
static void check_together(const struct model *model)
{
    struct model_operator apart[MODEL_MOST_OPERATORS], together[MODEL_MOST_OPERATORS];
    for (uint32_t layer = 0; layer <= model->layer_count; layer++) {
        struct model_rows rows = model_rows(model, 10);
        size_t count = model_row_operators(model, layer, rows, 10 * 70000, apart);
        rows.queries = 5;
        assert_int_equal(model_row_operators(model, layer, rows, 2 * 70000, together), count);
        for (size_t i = 0; i < count; i++) {
            assert_true(together[i].flops == apart[i].flops);
            assert_true(together[i].weight_bytes == apart[i].weight_bytes);
            assert_true(together[i].data_bytes <= apart[i].data_bytes);
            assert_true(together[i].data_bytes == apart[i].data_bytes ||
                        together[i].stage == MODEL_ATTEND);
            assert_true(together[i].matrix == false || together[i].stage != MODEL_ATTEND ||
                        together[i].rows == 5 * apart[i].rows);
        }
    }
}

static void queries_of_a_sequence_read_its_kv_once(void **state)
{
    (void)state;
    struct model model = load_plain("llama-3-8b");
    struct model_operator op[MODEL_MOST_OPERATORS];
    struct model_rows rows = {.own = 10, .all = 10, .queries = 5};
    uint64_t entry = model_kv_entry_bytes(&model, 0), move = 10 * 2 * 2 * UINT64_C(4096);
    size_t count = model_row_operators(&model, 0, rows, 2 * 1000, op), i = 0;
    while (i < count && strcmp(op[i].name, "attention") != 0) {
        i++;
    }
    assert_int_equal(op[i].data_bytes, move + 2 * 1000 * entry);
    assert_true(op[i].flops == 10 * 1000 * 4.0 * 4096);
    model_release(&model);
    each_model(check_together);
}

static void sizes_past_64_bits_stay_at_the_largest(void **state)
{
    (void)state;
    struct model model = load_plain("opt-66b");
    assert_true(model_kv_bytes(&model, UINT64_MAX) == UINT64_MAX);
    struct model_operator op =
        operator_of(&model, 0, UINT64_C(1) << 20, UINT64_C(1) << 43, "attention");
    assert_true(op.data_bytes == UINT64_MAX);
    model_release(&model);
}

/* T tokens: two FLOPs for each weight of the layers and token, half of 4 T² d for each of 32 heads
 * and 32 layers, one row through the head. */
static void prefill_counts_half_the_square(void **state)
{
    (void)state;
    struct model model = load_plain("llama-3-8b");
    const double matrices = 2. * 4096 * 4096 + 2. * 4096 * 1024 + 3. * 4096 * 14336;
    const double head = 2. * 4096 * 128256, tokens = 1000;
    assert_true(model_prefill_flops(&model, 1000) ==
                32 * (2 * tokens * matrices + 2 * tokens * tokens * 4096) + head);
    assert_true(model_prefill_flops(&model, 0) == 0);
    model_release(&model);
}

/* 15 layers see at most 512 tokens back: 512²/2 pairs and 512 for each later token. */
static void prefill_of_sliding_layers_is_linear(void **state)
{
    (void)state;
    struct model model = load_plain("gemma-3-270m");
    const double matrices = 2. * 640 * 1024 + 2. * 640 * 256 + 3. * 640 * 2048;
    const double head = 2. * 640 * 262144, tokens = 10000;
    const double pairs = 3 * tokens * tokens / 2 + 15 * (512. * 512 / 2 + (tokens - 512) * 512);
    assert_true(model_prefill_flops(&model, 10000) ==
                18 * 2 * tokens * matrices + pairs * 4 * 4 * 256 + head);
    model_release(&model);
}

/* Pairs within the selection cost 128 heads of 192 + 128 dims; the indexer scores all pairs. */
static void prefill_of_deepseek_attends_to_what_is_selected(void **state)
{
    (void)state;
    struct model model = load_plain("deepseek-v3.2");
    const double selected = 2048. * 2048 / 2 + (10000 - 2048) * 2048., all = 1e8 / 2;
    const double attention = 61 * (selected * 2 * 128 * 320 + all * 2 * 64 * 128);
    const double mla =
        7168. * (1536 + 576) + 1536. * 128 * 192 + 512. * 128 * 256 + 128. * 128 * 7168;
    const double index = 1536. * 64 * 128 + 7168. * (128 + 64);
    const double dense = 3. * 7168 * 18432, routed = 9 * 3. * 7168 * 2048 + 7168. * 256;
    const double products = 61 * (mla + index) + 3 * dense + 58 * routed;
    const double expected = 2e4 * products + attention + 2. * 7168 * 129280;
    assert_true(fabs(model_prefill_flops(&model, 10000) / expected - 1) < 1e-12);
    model_release(&model);
}

static void only_opt_refuses_longer_contexts(void **state)
{
    (void)state;
    struct model opt = load_plain("opt-30b"), llama = load_plain("llama-3-8b");
    assert_true(opt.learned_positions);
    assert_int_equal(opt.trained_context, 2048);
    assert_false(llama.learned_positions);
    assert_int_equal(llama.trained_context, 1048576);
    model_release(&opt);
    model_release(&llama);
}

static void importance_tables_ship_for_four_models(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        double mean; /* of the published table, clipped */
    } cases[] = {{"llama-3-8b", .769},
                 {"llama-3.1-8b", .852},
                 {"mistral-7b-v0.3", .905},
                 {"llama-2-7b", .419}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct model model = load_plain(cases[c].model);
        double mean = 0;
        assert_non_null(strstr(model.importance_source, "DuoAttention"));
        for (size_t i = 0; i < 32 * model.kv_heads; i++) {
            mean += (double)model.importance[i] / (32 * model.kv_heads);
        }
        assert_float_equal(mean, cases[c].mean, .001);
        assert_null(model.query_importance);
        model_release(&model);
    }
    struct model llama3 = load_plain("llama-3-8b"), none = load_plain("qwen3-32b");
    assert_true(llama3.importance[0] == 0.8594f);
    assert_true(llama3.importance[4] == 0); /* was below 0 */
    assert_null(none.importance);
    model_release(&llama3);
    model_release(&none);
}

/* 384 heads from each of three tables, whose means are .769, .852 and .905. */
static void heads_without_a_table_are_drawn_from_those(void **state)
{
    (void)state;
    static const double means[MODEL_DRAWS] = {.769, .852, .905};
    size_t heads = 48 * 8;
    for (uint32_t draw = 0; draw < MODEL_DRAWS; draw++) {
        struct model drawn[3]; /* the third with another seed */
        struct error why;
        double mean = 0;
        size_t differ = 0;
        for (int i = 0; i < 3; i++) {
            drawn[i] = load_plain("qwen2.5-14b");
            assert_true(model_draw_importance(NULL, i == 2 ? 2 : 1, draw, true, &drawn[i], &why));
        }
        assert_true(drawn[0].importance_drawn && drawn[0].queries_drawn);
        for (size_t i = 0; i < heads; i++) {
            assert_true(drawn[0].importance[i] == drawn[1].importance[i]);
            differ += drawn[0].importance[i] != drawn[2].importance[i];
            mean += (double)drawn[0].importance[i] / (double)heads;
        }
        assert_true(differ > heads / 3);
        assert_float_equal(mean, means[draw], .06);
        for (int i = 0; i < 3; i++) {
            model_release(&drawn[i]);
        }
    }
}

/* In a group of five, the most important one is as important as the KV head; single heads of Llama-2-7B have
 * a mean of .42, and four in ten are below .05. */
static void query_heads_are_drawn_below_their_kv_head(void **state)
{
    (void)state;
    struct model model = load_plain("qwen2.5-14b"), mha = load_plain("opt-30b");
    struct error why;
    size_t small = 0, heads = 48 * 8;
    assert_true(model_draw_importance(NULL, 1, 0, true, &model, &why));
    for (size_t i = 0; i < heads; i++) {
        float most = 0;
        for (size_t j = 5 * i; j < 5 * i + 5; j++) {
            most = fmaxf(most, model.query_importance[j]);
            small += model.query_importance[j] < .05f;
        }
        assert_float_equal(most, model.importance[i], 1e-6);
    }
    assert_true(small > 5 * heads / 4 && small < 5 * heads * 3 / 5);
    /* without groups there is nothing to draw inside them, and heads are single ones */
    assert_true(model_draw_importance(NULL, 1, 0, true, &mha, &why));
    double mean = 0;
    for (size_t i = 0; i < 48 * 56; i++) {
        mean += (double)mha.importance[i] / (48 * 56);
    }
    assert_null(mha.query_importance);
    assert_float_equal(mean, .419, .06);
    model_release(&model);
    model_release(&mha);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layers_weights_are_its_matrices),
        cmocka_unit_test(published_layer_weights_are_met),
        cmocka_unit_test(kv_cache_sizes_are_the_published_ones),
        cmocka_unit_test(activations_are_half_of_mha_and_twice_of_gqa),
        cmocka_unit_test(sliding_layers_hold_only_their_window),
        cmocka_unit_test(mla_keeps_one_latent_for_all_heads),
        cmocka_unit_test(operators_cost_what_they_read_and_compute),
        cmocka_unit_test(the_edge_reads_rows_of_the_embedding_and_all_of_the_head),
        cmocka_unit_test(distinct_experts_grow_with_the_batch),
        cmocka_unit_test(storage_types_have_exact_sizes),
        cmocka_unit_test(storage_types_have_names),
        cmocka_unit_test(a_models_own_quantisation_spares_what_it_exempts),
        cmocka_unit_test(quantised_weights_shrink_matrices_only),
        cmocka_unit_test(tensor_parallel_splits_heads_and_columns),
        cmocka_unit_test(tensor_parallel_splits_words_but_not_positions),
        cmocka_unit_test(tensor_parallel_must_divide_the_query_heads),
        cmocka_unit_test(matrices_that_a_model_lacks_are_not_counted),
        cmocka_unit_test(a_large_batch_reads_all_weights_of_a_layer),
        cmocka_unit_test(operators_come_in_program_order),
        cmocka_unit_test(costs_grow_with_the_batch),
        cmocka_unit_test(sizes_past_64_bits_stay_at_the_largest),
        cmocka_unit_test(prefill_counts_half_the_square),
        cmocka_unit_test(prefill_of_sliding_layers_is_linear),
        cmocka_unit_test(queries_of_a_sequence_read_its_kv_once),
        cmocka_unit_test(prefill_of_deepseek_attends_to_what_is_selected),
        cmocka_unit_test(only_opt_refuses_longer_contexts),
        cmocka_unit_test(importance_tables_ship_for_four_models),
        cmocka_unit_test(heads_without_a_table_are_drawn_from_those),
        cmocka_unit_test(query_heads_are_drawn_below_their_kv_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
