/* Every shipped model against what is published of it: its parameters, and KV worked by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/named.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

static struct model load(const char *name)
{
    const struct model_options options = {
        .weights = DTYPE_BF16, .kv = DTYPE_BF16, .tensor_parallel = 1};
    struct model model;
    struct error why;
    if (!model_load(NULL, name, &options, NULL, 0, &model, &why)) {
        char text[ERROR_TEXT];
        error_format(&why, text, sizeof text);
        fail_msg("%s", text);
    }
    return model;
}

/* ---- what the published counts hold and a decoder does not ---- */

/* SigLIP So400m/14 at 896 pixels, and a projector to `hidden` (Gemma 3). */
static uint64_t siglip(uint64_t hidden)
{
    const uint64_t width = 1152, ffn = 4304, patch = 3 * 14 * 14;
    uint64_t layer = 4 * (width * width + width) + 2 * width * ffn + ffn + width + 4 * width;
    return patch * width + width + 4096 * width + 27 * layer + 2 * width + width + width * hidden;
}

/* Pixtral's encoder, a merger of 4 patches and two projections to 5120 (Mistral Small 3.2). */
static uint64_t pixtral(void)
{
    const uint64_t width = 1024, hidden = 5120, patch = 3 * 14 * 14;
    uint64_t layer = 4 * width * width + 3 * width * 4096 + 2 * width;
    return patch * width + width + 24 * layer + width + 4 * width * width + width * hidden +
           hidden * hidden;
}

/* Llama 4's encoder of 34 layers, its adapter and a projection to 5120. */
static uint64_t llama4_vision(void)
{
    const uint64_t width = 1408, ffn = 5632, patch = 3 * 14 * 14;
    uint64_t layer = 4 * (width * width + width) + 2 * width * ffn + ffn + width + 4 * width;
    uint64_t tables = patch * width + width + 577 * width + 4 * width;
    return tables + 34 * layer + ffn * 4096 + 4096 * 4096 + 4096 * 5120;
}

/* A layer for multi-token prediction: one more layer with experts and an indexer, if the model has
 * them, two norms, a projection of two hidden states to one, and a last norm. */
static uint64_t prediction_layer(const struct model *model)
{
    uint64_t hidden = model->hidden;
    uint32_t like = model->layer_count - 1;
    while (model->layers[like].shares_index) {
        like--;
    }
    return model_layer_weight_bytes(model, like) / 2 + 2 * hidden + 2 * hidden * hidden + hidden;
}

enum left_out { NOTHING, SIGLIP, PIXTRAL, LLAMA4_VISION, PREDICTION, PREDICTION_AND_TABLES };

static uint64_t left_out(const struct model *model, enum left_out what)
{
    switch (what) {
    case SIGLIP:
        return siglip(model->hidden);
    case PIXTRAL:
        return pixtral();
    case LLAMA4_VISION:
        return llama4_vision();
    case PREDICTION:
        return prediction_layer(model);
    case PREDICTION_AND_TABLES: /* an embedding and a head of its own */
        return prediction_layer(model) + 2 * (uint64_t)model->vocabulary * model->hidden;
    default:
        return 0;
    }
}

/* "total" of the repository's safetensors, as the Hub's API states it. DeepSeek V3 and Kimi K2:
 * without the scales of their fp8 blocks, which the Hub counts as parameters (V3: 41 540 496). V3.2:
 * the 671 026 419 200 of V3 and 61 indexers. Qwen3 0.6B and 1.7B: their files hold the embedding a
 * second time, as the head. Of quantised files, the count of the model that was quantised. */
static const struct {
    const char *name;
    uint64_t parameters;
    enum left_out besides;
} published[] = {
    {"deepseek-v3", 684531386000 - 41540496, PREDICTION_AND_TABLES},
    {"deepseek-v3.2", 671026419200 + 61 * 13959424, NOTHING},
    {"gemma-2-9b", 9241705984, NOTHING},
    {"gemma-2-27b", 27227128320, NOTHING},
    {"gemma-3-270m", 268098176, NOTHING},
    {"gemma-3-4b", 4300079472, SIGLIP},
    {"gemma-3-12b", 12187325040, SIGLIP},
    {"gemma-3-27b", 27432406640, SIGLIP},
    {"glm-4-9b-0414", 9400279040, NOTHING},
    {"glm-4.5", 358337791296, PREDICTION_AND_TABLES},
    {"glm-4.5-air", 110468824832, PREDICTION_AND_TABLES},
    {"glm-5", 753864139008, PREDICTION},
    {"glm-5.3", 753329940480, PREDICTION},
    {"gpt-oss-20b", 20914757184, NOTHING},
    {"gpt-oss-120b", 116829156672, NOTHING},
    {"llama-3-8b", 8030261248, NOTHING},
    {"llama-3.1-8b", 8030261248, NOTHING},
    {"llama-3.1-70b", 70553706496, NOTHING},
    {"llama-3.2-3b", 3212749824, NOTHING},
    {"llama-4-scout", 108641793536, LLAMA4_VISION},
    {"llama-4-maverick", 401583781376, LLAMA4_VISION},
    {"mistral-7b-v0.3", 7248023552, NOTHING},
    {"mistral-nemo-12b", 12247782400, NOTHING},
    {"mistral-small-24b", 23572403200, NOTHING},
    {"mistral-small-3.2-24b", 24011361280, PIXTRAL},
    {"mixtral-8x7b", 46702792704, NOTHING},
    {"mixtral-8x22b", 140630071296, NOTHING},
    {"gpt-neox-12b", 11846072320, NOTHING}, /* of Pythia-12B */
    {"llama-2-7b", 6738415616, NOTHING},
    {"llama-2-70b", 68976648192, NOTHING},
    {"codellama-34b", 33743970304, NOTHING},
    {"llama-33b", 32528943616, NOTHING},
    {"tinyllama-1.1b", 1100048384, NOTHING},
    {"opt-6.7b", 6658473984, NOTHING},
    {"opt-13b", 12853473280, NOTHING},
    {"opt-30b", 29974540288, NOTHING},
    {"opt-66b", 65719701504, NOTHING},
    {"opt-175b", 174604468224, NOTHING},
    {"phi-3-mini-4k", 3821079552, NOTHING},
    {"phi-3-mini-128k", 3821079552, NOTHING},
    {"phi-3-medium-128k", 13960238080, NOTHING},
    {"phi-4", 14659507200, NOTHING},
    {"phi-4-mini", 3836021760, NOTHING},
    {"qwen2.5-7b", 7615616512, NOTHING},
    {"qwen2.5-14b", 14770033664, NOTHING},
    {"qwen2.5-72b", 72706203648, NOTHING},
    {"qwen3-8b", 8190735360, NOTHING},
    {"qwen3-14b", 14768307200, NOTHING},
    {"qwen3-32b", 32762123264, NOTHING},
    {"qwen3-30b-a3b", 30532122624, NOTHING},
    {"qwen3-235b-a22b", 235093634560, NOTHING},
    {"qwen3-next-80b-a3b", 81324862720, PREDICTION},
    {"smollm2-135m", 134515008, NOTHING},
    {"codestral-22b", 22247282688, NOTHING},
    {"deepseek-r1-distill-qwen-1.5b", 1777088000, NOTHING},
    {"deepseek-r1-distill-qwen-32b", 32763876352, NOTHING},
    {"deepseek-r1-distill-qwen-7b", 7615616512, NOTHING},
    {"gemma-2-2b", 2614341888, NOTHING},
    {"gemma-3-1b", 999885952, NOTHING},
    {"glm-4-32b-0414", 32566081536, NOTHING},
    {"llama-3.1-405b", 405853388800, NOTHING},
    {"llama-3.1-405b-fp8", 405853388800, NOTHING},
    {"llama-3.1-70b-awq", 70553706496, NOTHING},
    {"llama-3.1-70b-fp8", 70553706496, NOTHING},
    {"llama-3.1-8b-awq", 8030261248, NOTHING},
    {"llama-3.1-8b-fp8", 8030261248, NOTHING},
    {"llama-3.2-1b", 1235814400, NOTHING},
    {"meta-llama-3-70b", 70553706496, NOTHING},
    {"meta-llama-3-8b", 8030261248, NOTHING},
    {"mistral-large-123b", 122610069504, NOTHING},
    {"qwen2.5-0.5b", 494032768, NOTHING},
    {"qwen2.5-1.5b", 1543714304, NOTHING},
    {"qwen2.5-14b-awq", 14770033664, NOTHING},
    {"qwen2.5-32b", 32763876352, NOTHING},
    {"qwen2.5-32b-awq", 32763876352, NOTHING},
    {"qwen2.5-3b", 3085938688, NOTHING},
    {"qwen2.5-72b-awq", 72706203648, NOTHING},
    {"qwen2.5-7b-awq", 7615616512, NOTHING},
    {"qwen3-0.6b", 751632384 - 151936 * 1024, NOTHING},
    {"qwen3-1.7b", 2031739904 - 151936 * 2048, NOTHING},
    {"qwen3-14b-fp8", 14768307200, NOTHING},
    {"qwen3-235b-a22b-2507", 235093634560, NOTHING},
    {"qwen3-235b-a22b-fp8", 235093634560, NOTHING},
    {"qwen3-30b-a3b-2507", 30532122624, NOTHING},
    {"qwen3-30b-a3b-fp8", 30532122624, NOTHING},
    {"qwen3-32b-fp8", 32762123264, NOTHING},
    {"qwen3-4b", 4022468096, NOTHING},
    {"qwen3-4b-2507", 4022468096, NOTHING},
    {"qwen3-8b-fp8", 8190735360, NOTHING},
    {"qwen3-coder-480b-a35b", 480154875392, NOTHING},
    {"qwen3-coder-480b-a35b-fp8", 480154875392, NOTHING},
    {"glm-4.6", 356785898816, PREDICTION},
    {"kimi-k2", 1026408232448, NOTHING},
    {"kimi-k2-0905", 1026408232448, NOTHING},
};

static void parameters_match_published_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(published); i++) {
        struct model model = load(published[i].name);
        print_message("# %s\n", published[i].name);
        assert_string_equal(model.name, published[i].name);
        uint64_t besides = left_out(&model, published[i].besides), tower = model.extras.encoders;
        assert_int_equal(model_weight_bytes(&model) / 2 - tower + besides, published[i].parameters);
        if (tower > 0) { /* counted without patches, adapter and projection */
            assert_in_range(tower, besides * 9 / 10, besides);
        }
        model_release(&model);
    }
}

/* Counts that others print, in millions, of the decoder alone: "params" in llama.cpp's benchmark of a
 * conversion; for those named "about", what the publisher calls the model. */
static const struct {
    const char *name;
    uint32_t millions;
} counted[] = {
    {"command-a", 111000},         /* about */
    {"command-r-08-2024", 32300},  /* about */
    {"command-r7b", 8030},         /* about */
    {"deepseek-v4-flash", 284000}, /* about */
    {"deepseek-v4-pro", 1573000},  /* about: "1.6T" */
    {"gemma-3n-e2b", 4460},
    {"gemma-3n-e4b", 6870},
    {"gemma-4-26b-a4b", 25230},
    {"gemma-4-31b", 30700},
    {"gemma-4-e2b", 4650},
    {"gemma-4-e4b", 7520},
    {"glm-4.7-flash", 29940},
    {"glm-5.1", 743912}, /* glm-5's, without its layer for prediction */
    {"glm-5.2", 743377}, /* glm-5.3's, likewise */
    {"granite-4.0-h-small", 32210},
    {"granite-4.0-h-tiny", 6940}, /* about */
    {"kimi-k2.5", 1026408},       /* kimi-k2's */
    {"kimi-k3", 2800000},         /* about: "2.8T", 104B of them active */
    {"kimi-linear-48b-a3b", 49120},
    {"mimo-v2-flash", 309000}, /* about */
    {"minimax-m2.5", 228690},
    {"minimax-m2.7", 228690},
    {"minimax-m3", 428000}, /* about */
    {"ministral-3-8b", 8490},
    {"mistral-large-3-675b", 672500}, /* about: "675B" with an encoder of 2.5 */
    {"mistral-small-4-119b", 119000}, /* about */
    {"nemotron-3-nano-30b-a3b", 31580},
    {"nemotron-3-super-120b-a12b", 120670},
    {"nemotron-3-ultra-550b-a55b", 550000}, /* about */
    {"nemotron-h-56b", 56000},              /* about */
    {"qwen3.5-122b-a10b", 122110},
    {"qwen3.5-27b", 26900},
    {"qwen3.5-35b-a3b", 34660},
    {"qwen3.5-397b-a17b", 396350},
    {"qwen3.5-9b", 8950},
    {"qwen3.6-27b", 26900},
    {"qwen3.6-35b-a3b", 34660},
    {"qwen3.8-27b", 26900},
};

static void parameters_are_within_a_hundredth_of_what_others_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(counted); i++) {
        struct model model = load(counted[i].name);
        double own = (double)model_weight_bytes(&model) / 2 - (double)model.extras.encoders;
        double theirs = counted[i].millions * 1e6;
        print_message("# %s: %.0f of %.0f\n", counted[i].name, own, theirs);
        assert_true(own > 0.99 * theirs && own < 1.01 * theirs);
        model_release(&model);
    }
}

/* The size of the quantised files, in units of 10 MB as the Hub lists it; of Kimi K2 Thinking, which is
 * K2.5 without an encoder, 594 GB (S. Willison, 6 November 2025). */
static const struct {
    const char *name;
    uint32_t size;
} files[] = {
    {"gpt-oss-20b", 1376},     {"gpt-oss-120b", 6525},  {"llama-3.1-8b-awq", 573},
    {"kimi-k2.5", 59400},      {"qwen2.5-7b-awq", 557}, {"qwen2.5-14b-awq", 998},
    {"qwen2.5-32b-awq", 1933},
};

static void quantised_weights_are_within_a_hundredth_of_their_files(void **state)
{
    (void)state;
    const struct model_options own = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    for (size_t i = 0; i < COUNT(files); i++) {
        struct model model;
        struct error why;
        assert_true(model_load(NULL, files[i].name, &own, NULL, 0, &model, &why));
        double bytes = (double)model_weight_bytes(&model) - 2.0 * (double)model.extras.encoders;
        print_message("# %s: %.2f GB\n", files[i].name, bytes / 1e9);
        assert_in_range((uint64_t)bytes, files[i].size * UINT64_C(9900000),
                        files[i].size * UINT64_C(10100000));
        model_release(&model);
    }
}

static void every_shipped_model_is_checked(void **state)
{
    (void)state;
    char **names;
    size_t count;
    struct error why;
    assert_true(find_names("models", "json", &names, &count, &why));
    for (size_t i = 0; i < count; i++) {
        bool checked = false;
        for (size_t j = 0; j < COUNT(published); j++) {
            checked = checked || strcmp(names[i], published[j].name) == 0;
        }
        for (size_t j = 0; j < COUNT(counted); j++) {
            checked = checked || strcmp(names[i], counted[j].name) == 0;
        }
        print_message("# %s\n", names[i]);
        assert_true(checked);
        free(names[i]);
    }
    free(names);
    assert_int_equal(count, COUNT(published) + COUNT(counted));
}

/* KV of a context: its tokens times (layers that keep all), and the window times the others, times
 * the bytes of K and V in a layer. */
static void kv_is_that_of_full_and_local_layers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t context, full, local, window, layer_bytes;
    } cases[] = {
        {"deepseek-v3", 131072, 61, 0, 0, (512 + 64) * 2},
        {"gemma-2-2b", 8192, 13, 13, 4096, 2 * 4 * 256 * 2},
        {"gemma-2-9b", 8192, 21, 21, 4096, 2 * 8 * 256 * 2},
        {"gemma-3-1b", 32768, 4, 22, 512, 2 * 1 * 256 * 2},
        {"gemma-2-27b", 8192, 23, 23, 4096, 2 * 16 * 128 * 2},
        {"gemma-3-4b", 131072, 5, 29, 1024, 2 * 4 * 256 * 2},
        {"gemma-3-12b", 131072, 8, 40, 1024, 2 * 8 * 256 * 2},
        {"gemma-3-27b", 131072, 10, 52, 1024, 2 * 16 * 128 * 2},
        {"glm-4.5-air", 131072, 46, 0, 0, 2 * 8 * 128 * 2},
        {"glm-5", 131072, 78, 0, 0, (512 + 64) * 2},
        {"kimi-k2", 131072, 61, 0, 0, (512 + 64) * 2},
        {"llama-3.1-405b", 131072, 126, 0, 0, 2 * 8 * 128 * 2},
        {"llama-4-scout", 131072, 12, 36, 8192, 2 * 8 * 128 * 2},
        {"mistral-7b-v0.3", 32768, 32, 0, 0, 2 * 8 * 128 * 2},
        {"mistral-small-24b", 32768, 40, 0, 0, 2 * 8 * 128 * 2},
        {"mixtral-8x7b", 32768, 32, 0, 0, 2 * 8 * 128 * 2},
        {"phi-3-mini-4k", 4096, 0, 32, 2047, 2 * 32 * 96 * 2},
        {"phi-3-mini-128k", 131072, 32, 0, 0, 2 * 32 * 96 * 2},
        {"phi-4", 16384, 40, 0, 0, 2 * 10 * 128 * 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = load(cases[i].name);
        print_message("# %s\n", cases[i].name);
        assert_int_equal(cases[i].full + cases[i].local, model.layer_count);
        assert_int_equal(model_kv_bytes(&model, cases[i].context),
                         (cases[i].context * cases[i].full + cases[i].window * cases[i].local) *
                             cases[i].layer_bytes);
        model_release(&model);
    }
}

static void local_layers_come_where_the_pattern_says(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t step; /* every step-th layer attends to everything */
        enum attention_kind others;
    } cases[] = {
        {"gemma-2-9b", 2, ATTENTION_SLIDING},
        {"gemma-3-27b", 6, ATTENTION_SLIDING},
        {"gpt-oss-20b", 2, ATTENTION_SLIDING},
        {"llama-4-scout", 4, ATTENTION_CHUNKED},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = load(cases[i].name);
        for (uint32_t layer = 0; layer < model.layer_count; layer++) {
            bool full = (layer + 1) % cases[i].step == 0;
            assert_int_equal(model.layers[layer].attention,
                             full ? ATTENTION_FULL : cases[i].others);
            assert_int_equal(model_layer_local(&model, layer), !full);
        }
        model_release(&model);
    }
}

/* 12 of 48 layers keep KV. The others keep 32 heads of 128 by 128 values, and three tokens' Q, K and
 * V of 2048, 2048 and 4096, whatever the context; half of that on each of two GPUs. */
static void linear_layers_keep_a_state(void **state)
{
    (void)state;
    const uint64_t kept = 2 * (32 * 128 * 128 + 3 * (2 * 2048 + 4096));
    struct model model = load("qwen3-next-80b-a3b");
    for (uint32_t layer = 0; layer < 48; layer++) {
        bool full = layer % 4 == 3;
        assert_int_equal(model_state_bytes(&model, layer), full ? 0 : kept);
        assert_int_equal(model_kv_token_bytes(&model, layer), full ? 2 * 2 * 256 * 2 : 0);
        assert_int_equal(model_layer_tokens(&model, layer, 1000), full ? 1000 : 0);
        assert_int_equal(model_layer_local(&model, layer), !full);
    }
    assert_int_equal(model_kept_token_bytes(&model), 2 * 2 * 256 * 2);
    assert_int_equal(model_kv_bytes(&model, 100000), 12 * UINT64_C(100000) * 2048 + 36 * kept);
    model.tensor_parallel = 2;
    assert_int_equal(model_state_bytes(&model, 0), kept / 2);
    model_release(&model);
}

/* A step of 3 sequences reads and writes each one's state; a prefill does so for every 64 tokens, and
 * multiplies in chunks of 64: 2 · 32 · (64 · (3 · 128 + 2 · 128) + 3 · 128²) a token. */
static void linear_layers_pass_their_state_once_a_step(void **state)
{
    (void)state;
    struct model model = load("qwen3-next-80b-a3b");
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(&model, 0, 3, 3000, operators), found = 0;
    for (size_t i = 0; i < count; i++) {
        bool rule = strcmp(operators[i].name, "delta_rule") == 0;
        found += rule;
        assert_int_equal(operators[i].stage == MODEL_ATTEND, rule);
        if (rule) {
            assert_false(operators[i].matrix);
            assert_int_equal(operators[i].data_bytes,
                             3 * 2 * (model_state_bytes(&model, 0) + 2 * (2048 + 4096)));
        }
    }
    assert_int_equal(found, 1);
    assert_true(model_prefill_state_bytes(&model, 0, 640) ==
                20. * (double)model_state_bytes(&model, 0));
    assert_true(model_prefill_attention_flops(&model, 0, 1000) ==
                1000. * 2 * 32 * (64 * 5 * 128 + 3 * 128 * 128));
    model_release(&model);
}

/* A chunk is kept whole, but its tokens see half of it on average: 8193 / 2 of 8192. */
static void chunks_are_seen_by_half(void **state)
{
    (void)state;
    struct model model = load("llama-4-scout");
    assert_int_equal(model_layer_tokens(&model, 0, 100000), 8192);
    assert_int_equal(model_layer_attended(&model, 0, 100000), 4096);
    assert_int_equal(model_layer_attended(&model, 0, 8192), 8192);
    assert_int_equal(model_layer_attended(&model, 3, 100000), 100000);
    double flops = model_prefill_attention_flops(&model, 0, 2 * 8192 + 10);
    assert_true(flops == (8192. * 8192 + 10. * 10 / 2) * 4 * 40 * 128);
    model_release(&model);
}

/* Layers without positions have neither rotary positions nor a norm of Q and K; the norm of the
 * others has no weights. */
static void llama4_layers_without_positions_skip_their_operators(void **state)
{
    (void)state;
    struct model model = load("llama-4-scout");
    for (uint32_t layer = 0; layer < 4; layer++) {
        struct model_operator operators[MODEL_MOST_OPERATORS];
        size_t count = model_operators(&model, layer, 1, 100, operators), found = 0;
        for (size_t i = 0; i < count; i++) {
            bool positional =
                strcmp(operators[i].name, "rope") == 0 || strcmp(operators[i].name, "qk_norm") == 0;
            found += positional;
            assert_true(!positional || operators[i].weight_bytes == 0);
        }
        assert_int_equal(found, layer == 3 ? 0 : 2);
    }
    model_release(&model);
}

static void experts_are_where_the_models_have_them(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t first, step; /* layers first, first + step, ... have experts */
        uint32_t shared;
    } cases[] = {
        {"mixtral-8x7b", 0, 1, 0},  {"glm-4.5-air", 1, 1, 1},      {"glm-5", 3, 1, 1},
        {"llama-4-scout", 0, 1, 1}, {"llama-4-maverick", 1, 2, 1}, {"deepseek-v3", 3, 1, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = load(cases[i].name);
        print_message("# %s\n", cases[i].name);
        for (uint32_t layer = 0; layer < model.layer_count; layer++) {
            bool routed = layer >= cases[i].first && (layer - cases[i].first) % cases[i].step == 0;
            assert_int_equal(model.layers[layer].routed, routed);
            assert_int_equal(model.layers[layer].shared_experts, routed ? cases[i].shared : 0);
        }
        model_release(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_match_published_counts),
        cmocka_unit_test(parameters_are_within_a_hundredth_of_what_others_count),
        cmocka_unit_test(quantised_weights_are_within_a_hundredth_of_their_files),
        cmocka_unit_test(every_shipped_model_is_checked),
        cmocka_unit_test(kv_is_that_of_full_and_local_layers),
        cmocka_unit_test(local_layers_come_where_the_pattern_says),
        cmocka_unit_test(linear_layers_keep_a_state),
        cmocka_unit_test(linear_layers_pass_their_state_once_a_step),
        cmocka_unit_test(chunks_are_seen_by_half),
        cmocka_unit_test(llama4_layers_without_positions_skip_their_operators),
        cmocka_unit_test(experts_are_where_the_models_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
