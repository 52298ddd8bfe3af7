/* What each of several GPUs holds, reads, computes and exchanges, worked out by hand and by laws.
 *
 * Qwen3-30B-A3B: 48 routed layers, hidden 2048, 32 query and 4 KV heads of 128, 128 experts of
 * width 768, 8 a token. An expert has 3 x 2048 x 768 bf16 weights, 9 437 184 B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/exchange.h"
#include "model/sharding.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { EXPERTS = 128, CHOSEN = 8, EXPERT_BYTES = 9437184, HIDDEN = 2048 };

static struct model load(const char *name, uint32_t tensor, struct model_parallel parallel)
{
    struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = tensor};
    struct model model;
    struct error why;
    if (!model_load(NULL, name, &options, NULL, 0, &model, &why) ||
        !model_share(&model, &parallel, NULL, 0, &why)) {
        fail_msg("%s, %s", why.found, why.expected);
    }
    return model;
}

static struct model shared(uint32_t tensor, uint32_t data, uint32_t experts)
{
    return load("qwen3-30b-a3b", tensor,
                (struct model_parallel){.data = data, .experts = experts, .pipeline = 1});
}

/* The products of experts in a layer, added up. */
static struct model_operator experts_of(const struct model *model, struct model_rows rows)
{
    struct model_operator operators[MODEL_MOST_OPERATORS], sum = {.rows = 0};
    size_t count = model_row_operators(model, 0, rows, 0, operators);
    for (size_t i = 0; i < count; i++) {
        if (operators[i].grouped) {
            sum.weight_bytes += operators[i].weight_bytes;
            sum.flops += operators[i].flops;
            sum.rows = operators[i].rows;
        }
    }
    return sum;
}

static void assert_close(double got, double expected)
{
    if (fabs(got - expected) > 1e-6 * fabs(expected) + 1) {
        fail_msg("%.17g, not %.17g", got, expected);
    }
}

/* ---- experts --------------------------------------------------------------------------------- */

static const struct {
    uint32_t tensor, data, experts;
} forms[] = {{1, 1, 1}, {2, 1, 1}, {2, 1, 2}, {1, 4, 1}, {1, 4, 2},
             {1, 4, 4}, {2, 4, 1}, {2, 4, 4}, {2, 4, 8}, {1, 8, 8}};

static void experts_are_split_over_the_gpus_of_all_ranks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        struct model model = shared(forms[i].tensor, forms[i].data, forms[i].experts);
        uint32_t gpus = forms[i].tensor * forms[i].data;
        struct model_experts experts = model_experts_of(&model, &model.layers[0], 1);
        assert_int_equal(experts.held, EXPERTS / forms[i].experts);
        assert_int_equal(experts.columns, 768 * forms[i].experts / gpus);
        struct model_operator held =
            experts_of(&model, (struct model_rows){.own = 1, .all = UINT64_MAX});
        assert_int_equal(held.weight_bytes, (uint64_t)EXPERTS * EXPERT_BYTES / gpus);
        model_release(&model);
    }
}

/* Whatever the form, the GPUs together read each expert that the tokens of all ranks visit, once,
 * and multiply each token with as much as one GPU would. With several groups of experts, a GPU is
 * one of the fullest group. */
static void each_visited_expert_is_read_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        struct model model = shared(forms[i].tensor, forms[i].data, forms[i].experts);
        double gpus = model_gpus(&model);
        for (uint64_t batch = 1; batch <= 4096; batch *= 4) {
            struct model_rows rows = model_rows(&model, batch);
            assert_int_equal(rows.all, batch * forms[i].data);
            double visited = EXPERTS * (1 - pow(1 - 8.0 / 128, (double)rows.all));
            struct model_operator got = experts_of(&model, rows);
            struct model_operator held =
                experts_of(&model, (struct model_rows){.own = 1, .all = UINT64_MAX});
            double flops = (double)rows.all * CHOSEN * 2 * 3 * HIDDEN * 768;
            assert_true(got.weight_bytes <= held.weight_bytes);
            assert_true((double)got.weight_bytes * gpus >= visited * EXPERT_BYTES - 1e6);
            assert_true(got.flops * gpus >= flops * (1 - 1e-6));
            if (forms[i].experts == 1) {
                assert_close((double)got.weight_bytes * gpus, visited * EXPERT_BYTES);
                assert_close(got.flops * gpus, flops);
                assert_close(got.rows, (double)rows.all * CHOSEN / visited);
            }
        }
        model_release(&model);
    }
}

enum { DRAWS = 400 };

/* Choose experts one after the other, each with a probability in proportion to its weight. */
static void choose_experts(gsl_rng *random, const double weight[EXPERTS], uint32_t chosen[CHOSEN])
{
    double key[EXPERTS];
    for (uint32_t i = 0; i < EXPERTS; i++) {
        key[i] = gsl_ran_exponential(random, 1 / weight[i]);
    }
    for (uint32_t k = 0; k < CHOSEN; k++) {
        uint32_t least = 0;
        for (uint32_t i = 1; i < EXPERTS; i++) {
            least = key[i] < key[least] ? i : least;
        }
        chosen[k] = least;
        key[least] = INFINITY;
    }
}

/* The largest numbers of visits and of visited experts of a group, as means of DRAWS draws. Of
 * popular experts the logarithm of the weight is as likely anywhere. */
static void draw_fullest(uint32_t groups, uint64_t tokens, bool popular, double *visits,
                         double *visited)
{
    struct error why;
    gsl_rng *random = random_stream(7, "test.experts", 0, &why);
    assert_true(random != NULL);
    *visits = *visited = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        uint32_t of_group[EXPERTS] = {0}, seen_of[EXPERTS] = {0}, most = 0, most_seen = 0;
        bool seen[EXPERTS] = {false};
        double weight[EXPERTS];
        for (uint32_t i = 0; i < EXPERTS; i++) {
            double power = popular ? gsl_rng_uniform(random) : 0;
            weight[i] = pow(fmax(2, 0.8 * (double)tokens), power);
        }
        for (uint64_t token = 0; token < tokens; token++) {
            uint32_t chosen[CHOSEN];
            choose_experts(random, weight, chosen);
            for (uint32_t i = 0; i < CHOSEN; i++) {
                of_group[chosen[i] % groups]++;
                seen_of[chosen[i] % groups] += !seen[chosen[i]];
                seen[chosen[i]] = true;
            }
        }
        for (uint32_t i = 0; i < groups; i++) {
            most = of_group[i] > most ? of_group[i] : most;
            most_seen = seen_of[i] > most_seen ? seen_of[i] : most_seen;
        }
        *visits += most / (double)DRAWS;
        *visited += most_seen / (double)DRAWS;
    }
    gsl_rng_free(random);
}

/* Of 16 tokens, the fullest of eight groups has 22 visits by chance alone, where the mean is 16, and
 * 23 if some experts are popular. The experts that it reads are those that tokens visit which choose
 * alike. */
static void gpus_wait_for_the_fullest_group(void **state)
{
    static const struct {
        uint32_t groups;
        uint64_t tokens;
    } cases[] = {{2, 4}, {2, 64}, {4, 16}, {8, 4}, {8, 16}, {8, 64}, {8, 256}, {16, 64}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        double visits, visited, unused, all = (double)cases[i].tokens;
        struct model model =
            load("qwen3-30b-a3b", 1, (struct model_parallel){16, cases[i].groups, 1, false, 0, 1});
        struct model_experts got = model_experts_of(&model, &model.layers[0], cases[i].tokens);
        draw_fullest(cases[i].groups, cases[i].tokens, true, &visits, &unused);
        draw_fullest(cases[i].groups, cases[i].tokens, false, &unused, &visited);
        print_message("# case %zu: %g visits, %g; %g experts, %g\n", i, got.visits * all, visits,
                      got.held * (1 - got.unread), visited);
        assert_true(fabs(got.visits * all / visits - 1) < 0.1);
        assert_true(fabs(got.held * (1 - got.unread) / visited - 1) < 0.07);
        model_release(&model);
    }
}

/* Replicas read each their own: two ranks that share experts read fewer in all, beside what chance
 * gives one of them, and no more than the tokens choose. */
static void ranks_that_share_experts_read_fewer_than_replicas(void **state)
{
    (void)state;
    struct model one = shared(1, 1, 1), two = shared(1, 2, 2);
    for (uint64_t batch = 1; batch <= 1024; batch *= 2) {
        uint64_t alone = experts_of(&one, model_rows(&one, batch)).weight_bytes;
        uint64_t joined = experts_of(&two, model_rows(&two, batch)).weight_bytes;
        assert_true((double)joined <= 1.3 * (double)alone &&
                    joined <= (uint64_t)EXPERTS / 2 * EXPERT_BYTES);
        assert_true(2 * joined >= alone);
    }
    model_release(&one);
    model_release(&two);
}

/* Of four experts a token chooses one, with 12/25, 6/25, 4/25 and 3/25. Two tokens miss them with
 * the squares of 13, 19, 21 and 22 over 625. With three a token the first is certain, and the
 * others have 12/13, 8/13 and 6/13. */
static void frequent_experts_are_visited_by_zipfs_law(void **state)
{
    static const struct {
        uint32_t groups, chosen;
        double skew, visits, unread;
    } cases[] = {
        {1, 1, 1, 1, (169 + 361 + 441 + 484) / 625.0 / 4},
        {1, 3, 1, 3, (1 + 25 + 49) / 169.0 / 4},
        {1, 4, 2, 4, 0},
        {1, 1, 0, 1, 9 / 16.0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct model_layer layer = {
            .routed = true, .ffn = 8, .experts = 4, .experts_per_token = cases[i].chosen};
        const struct model model = {.tensor_parallel = 2,
                                    .parallel = {1, cases[i].groups, 1, false, cases[i].skew}};
        struct model_experts got = model_experts_of(&model, &layer, 2);
        print_message("# %zu\n", i);
        assert_true(fabs(got.visits - cases[i].visits) < 1e-12);
        assert_true(fabs(got.unread - cases[i].unread) < 1e-12);
    }
}

static void more_skew_reads_fewer_experts(void **state)
{
    (void)state;
    for (uint32_t groups = 1; groups <= 8; groups *= 8) {
        double least = 0;
        for (double skew = 0; skew <= 4; skew += 0.25) {
            struct model model =
                load("qwen3-30b-a3b", 1, (struct model_parallel){8, groups, 1, false, skew, 1});
            struct model_experts got = model_experts_of(&model, &model.layers[0], 32);
            assert_true(got.unread >= least - 1e-12 && got.unread <= 1);
            assert_true(got.visits >= 8.0 / groups - 1e-9 && got.visits <= CHOSEN + 1e-9);
            least = groups == 1 ? got.unread : 0;
            model_release(&model);
        }
    }
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Llama-3-8B: layers of 436 224 000 B, an embedding and a head of 1 050 673 152 B each, and a norm
 * of 8192 B. Gemma-3-270m's head is its embedding, which a last stage of its own holds again. */
static void stages_hold_their_layers(void **state)
{
    (void)state;
    static const uint32_t stages[] = {1, 2, 4, 32};
    for (size_t i = 0; i < COUNT(stages); i++) {
        struct model model =
            load("llama-3-8b", 1,
                 (struct model_parallel){.data = 1, .experts = 1, .pipeline = stages[i]});
        uint64_t layers = 32 / stages[i] * (uint64_t)436224000;
        uint64_t edge = 1050673152 + 8192 + (stages[i] == 1 ? 1050673152 : 0);
        assert_int_equal(model_weight_bytes(&model), layers + edge);
        model_release(&model);
    }
    struct model whole =
        load("gemma-3-270m", 1, (struct model_parallel){.data = 1, .experts = 1, .pipeline = 1});
    struct model half =
        load("gemma-3-270m", 1, (struct model_parallel){.data = 1, .experts = 1, .pipeline = 2});
    uint64_t layers = model_weight_bytes(&whole) - model_edge_weight_bytes(&whole);
    assert_int_equal(model_weight_bytes(&half), layers / 2 + model_edge_weight_bytes(&whole));
    model_release(&whole);
    model_release(&half);
}

/* As vLLM's get_pp_indices() divides them: one more each before the last stage. */
static void stages_may_have_a_layer_more(void **state)
{
    (void)state;
    static const uint32_t begins[] = {0, 6, 12, 19, 26, 32};
    struct model model =
        load("llama-3-8b", 1, (struct model_parallel){.data = 1, .experts = 1, .pipeline = 5});
    for (uint32_t stage = 0; stage < COUNT(begins); stage++) {
        assert_int_equal(model_stage_begin(&model, stage), begins[stage]);
    }
    /* The first of 6 layers and the embedding, or one of 7: 7 * 436 224 000 is less. */
    assert_int_equal(model_weight_bytes(&model), 6 * (uint64_t)436224000 + 1050673152 + 8192);
    model_release(&model);
}

/* ---- no parallelism -------------------------------------------------------------------------- */

static bool same_operators(const struct model *a, const struct model *b)
{
    struct model_operator left[MODEL_MOST_OPERATORS], right[MODEL_MOST_OPERATORS];
    bool same = true;
    for (uint32_t layer = 0; layer <= a->layer_count; layer++) {
        for (uint64_t batch = 1; batch <= 1000; batch *= 10) {
            size_t count = model_operators(a, layer, batch, batch * 100, left);
            same = same && count == model_operators(b, layer, batch, batch * 100, right);
            for (size_t i = 0; same && i < count; i++) {
                same = left[i].flops == right[i].flops && left[i].rows == right[i].rows &&
                       left[i].weight_bytes == right[i].weight_bytes &&
                       left[i].data_bytes == right[i].data_bytes;
            }
        }
    }
    return same;
}

/* Ranks of a dense model share nothing: a GPU does what it would do alone. */
static void ranks_of_a_dense_model_are_replicas(void **state)
{
    (void)state;
    struct model alone = load("llama-3-8b", 2, (struct model_parallel){1, 1, 1, false, 0, 1});
    struct model ranks = load("llama-3-8b", 2, (struct model_parallel){4, 1, 1, false, 0, 1});
    struct model_exchange one[MODEL_MOST_EXCHANGES], all[MODEL_MOST_EXCHANGES];
    assert_true(same_operators(&alone, &ranks));
    assert_int_equal(model_weight_bytes(&alone), model_weight_bytes(&ranks));
    assert_int_equal(model_gpus(&ranks), 8);
    assert_false(model_shares_experts(&ranks));
    size_t count = model_exchanges(&alone, 0, model_rows(&alone, 7), one);
    assert_int_equal(count, model_exchanges(&ranks, 0, model_rows(&ranks, 7), all));
    for (size_t i = 0; i < count; i++) {
        assert_true(one[i].kind == all[i].kind && one[i].bytes == all[i].bytes);
    }
    model_release(&alone);
    model_release(&ranks);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

enum { ROW = 2 * HIDDEN, OWN = 10 };

/* 10 rows of 4096 B a rank. A token of 8 experts leaves out a GPU with 32 of 128 with probability
 * (96/128) (95/127) ... (89/121). */
static void exchanges_are_as_worked_out(void **state)
{
    double out4 = 1, out8 = 1;
    (void)state;
    for (int i = 0; i < CHOSEN; i++) {
        out4 *= (96.0 - i) / (128.0 - i);
        out8 *= (112.0 - i) / (128.0 - i);
    }
    const struct {
        uint32_t tensor;
        struct model_parallel parallel;
        uint32_t layer;
        struct model_exchange expected[MODEL_MOST_EXCHANGES + 1];
    } cases[] = {
        {1, {1, 1, 1, false, 0, 1}, 0, {{0}}},
        {2,
         {1, 2, 1, false, 0, 1},
         0,
         {{EXCHANGE_ALL_REDUCE, 2, OWN * ROW}, {EXCHANGE_ALL_REDUCE, 2, OWN * ROW}}},
        {1,
         {4, 1, 1, false, 0, 1},
         0,
         {{EXCHANGE_ALL_GATHER, 4, 4 * OWN * ROW}, {EXCHANGE_REDUCE_SCATTER, 4, 4 * OWN * ROW}}},
        {2,
         {4, 8, 1, false, 0, 1},
         0,
         {{EXCHANGE_ALL_REDUCE, 2, OWN * ROW},
          {EXCHANGE_ALL_GATHER, 4, 4 * OWN * ROW},
          {EXCHANGE_REDUCE_SCATTER, 4, 4 * OWN * ROW},
          {EXCHANGE_ALL_REDUCE, 2, OWN * ROW}}},
        {1,
         {4, 4, 1, true, 0, 1},
         0,
         {{EXCHANGE_ALL_TO_ALL, 4, OWN * ROW * 4 * (1 - out4)},
          {EXCHANGE_ALL_TO_ALL, 4, OWN * ROW * 4 * (1 - out4)}}},
        {2,
         {4, 8, 1, true, 0, 1},
         0,
         {{EXCHANGE_ALL_REDUCE, 2, OWN * ROW},
          {EXCHANGE_ALL_TO_ALL, 8, OWN * ROW / 2 * 8 * (1 - out8)},
          {EXCHANGE_ALL_TO_ALL, 8, OWN * ROW / 2 * 8 * (1 - out8)},
          {EXCHANGE_ALL_GATHER, 2, OWN * ROW}}},
        {2, {4, 8, 1, true, 0, 1}, 48, {{EXCHANGE_ALL_GATHER, 2, OWN * 2.0 * 151936}}},
        {1, {4, 4, 1, false, 0, 1}, 48, {{0}}},
        {1, {1, 1, 4, false, 0, 1}, 10, {{0}}},
        {1, {1, 1, 4, false, 0, 1}, 11, {{EXCHANGE_SEND, 2, OWN * ROW}}},
        {1, {1, 1, 4, false, 0, 1}, 47, {{0}}},
        {2,
         {2, 2, 2, false, 0, 1},
         23,
         {{EXCHANGE_ALL_REDUCE, 2, OWN * ROW},
          {EXCHANGE_ALL_GATHER, 2, 2 * OWN * ROW},
          {EXCHANGE_REDUCE_SCATTER, 2, 2 * OWN * ROW},
          {EXCHANGE_ALL_REDUCE, 2, OWN * ROW},
          {EXCHANGE_SEND, 2, OWN * ROW}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model = load("qwen3-30b-a3b", cases[i].tensor, cases[i].parallel);
        struct model_exchange got[MODEL_MOST_EXCHANGES];
        size_t count = model_exchanges(&model, cases[i].layer, model_rows(&model, OWN), got);
        print_message("# %zu\n", i);
        for (size_t j = 0; j < count; j++) {
            assert_int_equal(got[j].kind, cases[i].expected[j].kind);
            assert_int_equal(got[j].gpus, cases[i].expected[j].gpus);
            assert_true(fabs(got[j].bytes - cases[i].expected[j].bytes) < 1e-6 * got[j].bytes);
        }
        assert_int_equal(cases[i].expected[count].gpus, 0);
        model_release(&model);
    }
}

/* DeepSeek-V3 on 8 GPUs: 16 heads and 1152 bytes of a token each. Four parts keep a quarter, and
 * two rows gather queries of 576 of 64 heads, their logarithms from each of four, and scatter
 * outputs of 512, before the all-reduce of 7168. FLOPs of attention stay. */
static void tokens_are_divided_among_gpus_with_equal_heads(void **state)
{
    (void)state;
    struct model whole = load("deepseek-v3", 8, (struct model_parallel){1, 1, 1, false, 0, 1});
    struct model parts = load("deepseek-v3", 8, (struct model_parallel){1, 1, 1, false, 0, 4});
    struct model_exchange all[MODEL_MOST_EXCHANGES];
    struct model_operator one[MODEL_MOST_OPERATORS], four[MODEL_MOST_OPERATORS];
    assert_int_equal(model_layer_kv_bytes(&whole, 0, 1000), 1152000);
    assert_int_equal(model_layer_kv_bytes(&parts, 0, 1000), 288000);
    assert_int_equal(model_weight_bytes(&parts), model_weight_bytes(&whole));
    assert_int_equal(model_exchanges(&parts, 0, model_rows(&parts, 2), all), 5);
    static const struct model_exchange expected[] = {
        {EXCHANGE_ALL_GATHER, 4, 2 * 64 * 576 * 2},
        {EXCHANGE_ALL_GATHER, 4, 2 * 64 * 4 * 4},
        {EXCHANGE_REDUCE_SCATTER, 4, 2 * 64 * 512 * 2},
        {EXCHANGE_ALL_REDUCE, 8, 2 * 7168 * 2},
    };
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(all[i].kind, expected[i].kind);
        assert_int_equal(all[i].gpus, expected[i].gpus);
        assert_true(all[i].bytes == expected[i].bytes);
    }
    size_t count = model_operators(&whole, 0, 2, 2000, one);
    assert_int_equal(count, model_operators(&parts, 0, 2, 2000, four));
    for (size_t i = 0; i < count; i++) {
        bool attends = strcmp(one[i].name, "attention") == 0;
        assert_true(one[i].flops == four[i].flops);
        assert_true(one[i].rows * (attends ? 4 : 1) == four[i].rows);
        assert_int_equal(one[i].weight_bytes, four[i].weight_bytes);
        if (attends) { /* the KV of 2000 tokens, and Q and the output of 16 or 64 heads */
            assert_int_equal(one[i].data_bytes, 2000 * 1152 + 2 * 2 * 16 * (576 + 512));
            assert_int_equal(four[i].data_bytes, 2000 * 288 + 2 * 2 * 64 * (576 + 512));
        }
    }
    model_release(&whole);
    model_release(&parts);
}

/* ---- what cannot be ------------------------------------------------------------------------- */

static void senseless_shares_are_refused(void **state)
{
    static const struct {
        const char *name;
        uint32_t tensor;
        struct model_parallel parallel;
        const char *found, *expected;
    } cases[] = {
        {"llama-3-8b", 1, {1, 1, 33, false, 0, 1}, "pipeline_parallel is 33", "model's 32 layers"},
        {"llama-3-8b", 2, {1, 2, 1, false, 0, 1}, "no experts to share", "no expert_parallel"},
        {"llama-3-8b", 1, {1, 1, 1, false, 1, 1}, "no experts to share", "or expert_skew"},
        {"qwen3-30b-a3b", 2, {2, 3, 1, false, 0, 1}, "expert_parallel is 3", "which is 4"},
        {"qwen3-30b-a3b", 1, {256, 256, 1, false, 0, 1}, "expert_parallel is 256", "which is 256"},
        {"qwen3-30b-a3b", 1, {4, 2, 1, true, 0, 1}, "all-to-all", "expert_parallel 4"},
        {"qwen3-30b-a3b", 4, {1, 4, 1, true, 0, 1}, "all-to-all", "data_parallel above 1"},
        {"qwen3-30b-a3b", 8, {1, 1, 1, false, 0, 4}, "decode_context_parallel is 4", "at most 2"},
        {"deepseek-v3", 8, {1, 1, 1, false, 0, 3}, "decode_context_parallel is 3", "which is 8"},
        {"gpt-oss-20b", 16, {1, 1, 1, false, 0, 2}, "layers differ", "keep every token"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model =
            load(cases[i].name, cases[i].tensor, (struct model_parallel){1, 1, 1, false, 0, 1});
        struct error why;
        assert_false(model_share(&model, &cases[i].parallel, "--set", 0, &why));
        assert_non_null(strstr(why.found, cases[i].found));
        assert_non_null(strstr(why.expected, cases[i].expected));
        assert_int_equal(model_gpus(&model), cases[i].tensor);
        model_release(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experts_are_split_over_the_gpus_of_all_ranks),
        cmocka_unit_test(each_visited_expert_is_read_once),
        cmocka_unit_test(gpus_wait_for_the_fullest_group),
        cmocka_unit_test(ranks_that_share_experts_read_fewer_than_replicas),
        cmocka_unit_test(frequent_experts_are_visited_by_zipfs_law),
        cmocka_unit_test(more_skew_reads_fewer_experts),
        cmocka_unit_test(stages_hold_their_layers),
        cmocka_unit_test(stages_may_have_a_layer_more),
        cmocka_unit_test(ranks_of_a_dense_model_are_replicas),
        cmocka_unit_test(exchanges_are_as_worked_out),
        cmocka_unit_test(tokens_are_divided_among_gpus_with_equal_heads),
        cmocka_unit_test(senseless_shares_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
