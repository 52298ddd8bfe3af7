/* From schedules to columns: means that add up, hits, quantiles, what a result says of itself. */
#include "unit/fixture/tiny.h"

#include "decode/plan/resident.h"
#include "core/named.h"
#include "core/random.h"
#include "decode/time/pipeline.h"
#include "predict/decode/outcome.h"
#include "predict/decode/run.h"
#include "predict/answer.h"

#include <gsl/gsl_rng.h>
#include <math.h>

/* ---- apportioning ---------------------------------------------------------------------------- */

static const struct {
    int64_t sum;
    uint32_t count;
    int64_t mean;
} means[] = {
    {0, 7, 0}, {7, 7, 1}, {10, 4, 3}, {9, 4, 2}, {11, 4, 3},
    {1, 2, 1}, {1, 3, 0}, {2, 3, 1},  {5, 1, 5}, {(int64_t)1 << 60, 1u << 16, (int64_t)1 << 44},
};

static void mean_is_rounded_to_nearest(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(means); i++) {
        assert_int_equal(apportion_mean(means[i].sum, means[i].count), means[i].mean);
    }
}

static const struct {
    int64_t sums[4];
    uint32_t count;
    int64_t shares[4];
} shares[] = {
    {{4, 8, 12, 0}, 4, {1, 2, 3, 0}},
    {{5, 6, 7, 6}, 4, {1, 2, 2, 1}}, /* 24: 6. Left over 1, 2, 3, 2: two more, 3 and the first 2 */
    {{1, 1, 1, 1}, 4, {1, 0, 0, 0}}, /* ties by position */
    {{1, 1, 1, 0}, 4, {1, 0, 0, 0}}, /* 3/4 is 1 */
    {{1, 0, 0, 0}, 4, {0, 0, 0, 0}}, /* 1/4 is 0 */
    {{3, 3, 3, 3}, 4, {1, 1, 1, 0}},
    {{0, 0, 2, 0}, 4, {0, 0, 1, 0}},       /* 2/4 is 1 */
    {{10, 20, 30, 40}, 3, {3, 7, 10, 13}}, /* 100/3 is 33: the 40's third is as large as the 10's,
                                              the 20's two thirds are larger */
};

static void shares_go_by_largest_remainder(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shares); i++) {
        int64_t got[4], sum = 0;
        for (size_t k = 0; k < 4; k++) {
            sum += shares[i].sums[k];
        }
        apportion(shares[i].sums, 4, shares[i].count, apportion_mean(sum, shares[i].count), got);
        assert_memory_equal(got, shares[i].shares, sizeof got);
    }
}

enum { MOST_ITEMS = 13 };

/* What sorting by remainders gives: slower, and another way. */
static void apportion_by_sorting(const int64_t *sums, size_t n, uint32_t count, int64_t total,
                                 int64_t *out)
{
    bool given[MOST_ITEMS] = {false};
    for (size_t i = 0; i < n; i++) {
        out[i] = sums[i] / count;
        total -= out[i];
    }
    for (int64_t left = total; left > 0; left--) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            if (!given[i] && (best == n || sums[i] % count > sums[best] % count)) {
                best = i;
            }
        }
        assert_true(best < n);
        given[best] = true;
        out[best]++;
    }
}

static void shares_are_those_of_brute_force(void **state)
{
    enum { SEED = 11 };
    (void)state;
    struct error why;
    gsl_rng *random = random_stream(SEED, "test.apportion", 0, &why);
    for (int round = 0; round < 20000; round++) {
        int64_t sums[MOST_ITEMS], got[MOST_ITEMS], expected[MOST_ITEMS], sum = 0, added = 0;
        size_t n = 1 + gsl_rng_uniform_int(random, MOST_ITEMS);
        uint32_t count = (uint32_t)(1 + gsl_rng_uniform_int(random, 40));
        unsigned long most = 1 + gsl_rng_uniform_int(random, round % 2 ? 200 : 1000000000);
        for (size_t i = 0; i < n; i++) {
            sums[i] = (int64_t)gsl_rng_uniform_int(random, most);
            sum += sums[i];
        }
        int64_t total = apportion_mean(sum, count);
        apportion(sums, n, count, total, got);
        apportion_by_sorting(sums, n, count, total, expected);
        for (size_t i = 0; i < n; i++) {
            added += got[i];
            if (got[i] != expected[i]) {
                fail_msg("seed %d, round %d, item %zu: %lld, not %lld", SEED, round, i,
                         (long long)got[i], (long long)expected[i]);
            }
        }
        assert_int_equal(added, total);
        assert_true(2 * llabs(total * count - sum) <= count);
    }
    gsl_rng_free(random);
}

/* ---- columns by hand ------------------------------------------------------------------------- */

enum { STEPS = 3, LAYERS = 2 };

/* Three steps of two layers; in tokens of 200 B. */
static struct ledger_row rows[STEPS * LAYERS] = {
    {.wanted = 100, .hit = 90, .missed = 10}, {.wanted = 50, .hit = 20, .missed = 30},
    {.wanted = 100, .hit = 70, .missed = 30}, {.wanted = 50, .hit = 50, .missed = 0},
    {.wanted = 100, .hit = 95, .missed = 5},  {.wanted = 0, .hit = 0, .missed = 0},
};
static struct ledger ledger = {.steps = STEPS, .layers = LAYERS, .rows = rows};

/* 100 + 107 + 104 ns: a mean of 103.67, so 104. */
static struct pipeline_step steps[STEPS] = {
    {.ns = 100, .moved = {8000, 10}},
    {.ns = 107, .moved = {6000, 11}},
    {.ns = 104, .moved = {1000, 11}},
};
static int64_t layers[LAYERS] = {121, 130};
static int64_t cpu_ns = 100;
static int64_t part_ns[PART_COUNT] = {
    [PART_COMPUTE] = 200, [PART_LAUNCH] = 50, [PART_SYNC] = 50, [PART_LINK] = 11};
static int64_t stall_ns[PART_COUNT] = {[PART_LAUNCH] = 50, [PART_SYNC] = 25, [PART_LINK] = 10};
static int64_t basis_ns[BASIS_COUNT] = {[BASIS_PUBLISHED] = 300, [BASIS_ASSUMED] = 11};
static const struct timing timing = {
    .steps = STEPS,
    .layers = LAYERS,
    .step = steps,
    .layer_ns = layers,
    .total_ns = 311,
    .cpu_ns = &cpu_ns,
    .part_ns = part_ns,
    .stall_ns = stall_ns,
    .basis_ns = basis_ns,
    .trust = {.basis = BASIS_ASSUMED},
};

/* The result of these figures, on the tiny model and 5 sequences. */
static struct setup make_result(const char *const *overrides, struct plan *plan,
                                struct result *result)
{
    char model[128], bare[128];
    const char *all[12] = {tiny_model(LAYERS, model), tiny_machine, bare_system(bare), "batch=5",
                           "context=1000"};
    struct error why;
    for (size_t i = 0; overrides[i] != NULL; i++) {
        all[5 + i] = overrides[i];
    }
    struct setup setup = make_setup(all);
    *plan = make_plan(&setup);
    result_init(result);
    outcome_ledger(&setup, plan, &ledger, result);
    assert_true(outcome_time(&setup, plan, &ledger, &timing, result, &why));
    return setup;
}

static int64_t integer_of(const struct result *result, const struct column *column)
{
    assert_true(result_cell(result, column)->set);
    return result_cell(result, column)->integer;
}

static double real_of(const struct result *result, const struct column *column)
{
    assert_true(result_cell(result, column)->set);
    return result_cell(result, column)->real;
}

static void columns_are_means_over_steps(void **state)
{
    (void)state;
    struct result result;
    struct plan plan;
    struct setup setup = make_result(OVERRIDES(NULL), &plan, &result);
    assert_near(real_of(&result, COLUMN(hit_ratio)), 325.0 / 400, 1e-15);
    assert_int_equal(integer_of(&result, COLUMN(step_us)), 104);
    assert_int_equal(integer_of(&result, COLUMN(tpot_ms)), 104);
    assert_int_equal(integer_of(&result, COLUMN(tpot_p50_ms)), 104);
    assert_int_equal(integer_of(&result, COLUMN(tpot_p99_ms)), 107);
    assert_int_equal(integer_of(&result, COLUMN(layer_us)), 42); /* 251 / 6 */
    assert_int_equal(integer_of(&result, COLUMN(h2d_bytes_per_step)), 5000);
    assert_int_equal(integer_of(&result, COLUMN(d2h_bytes_per_step)), 11);         /* 32 / 3 */
    assert_near(real_of(&result, COLUMN(h2d_share)), 15000 / (10 * 311.0), 1e-12); /* 10 B a ns */
    assert_near(real_of(&result, COLUMN(d2h_share)), 32 / (10 * 311.0), 1e-12);
    assert_near(real_of(&result, COLUMN(tokens_per_s_per_user)), 1e9 / 104, 1e-6);
    assert_near(real_of(&result, COLUMN(decode_tokens_per_s)), 5e9 / 104, 1e-6);
    assert_near(real_of(&result, COLUMN(tokens_per_s_per_gpu)), 5e9 / 104, 1e-6);
    assert_near(real_of(&result, COLUMN(gpu_busy_share)), 1 - 85.0 / 311, 1e-15);
    assert_int_equal(integer_of(&result, COLUMN(cpu_us)), 33); /* 100 / 3 */
    assert_string_equal(result.message, "");
    result_release(&result);
    plan_release(&plan);
    setup_release(&setup);
}

/* 5 tokens in 104 ns are 5e9 / 104 a second, 1.8e13 / 104 an hour; at 3.6 dollars a million of them
 * cost 3.6e6 * 104 / 1.8e13 = 2.08e-5 dollars. */
static void cost_is_the_price_over_what_an_hour_makes(void **state)
{
    (void)state;
    struct result result;
    struct plan plan;
    struct setup setup = make_result(OVERRIDES("hardware.price_per_hour=3.6"), &plan, &result);
    assert_near(real_of(&result, COLUMN(cost_per_million_tokens)), 2.08e-5, 1e-17);
    result_release(&result);
    plan_release(&plan);
    setup_release(&setup);
    setup = make_result(OVERRIDES(NULL), &plan, &result);
    assert_false(result_cell(&result, COLUMN(cost_per_million_tokens))->set);
    result_release(&result);
    plan_release(&plan);
    setup_release(&setup);
}

/* Of a server two GPUs share the model and there are three of them: each makes a sixth. */
static void cost_counts_every_gpu_and_no_idle_ones_tokens(void **state)
{
    static const struct profile priced = {.price_per_hour = 1.8};
    (void)state;
    struct result result;
    result_init(&result);
    price_write(&priced, &result); /* no clock, no rate */
    assert_false(result_cell(&result, COLUMN(cost_per_million_tokens))->set);
    result_real(&result, COLUMN(tokens_per_s_per_gpu), 0);
    price_write(&priced, &result);
    assert_false(result_cell(&result, COLUMN(cost_per_million_tokens))->set);
    result_real(&result, COLUMN(tokens_per_s_per_gpu), 1500.0 / 6);
    price_write(&priced, &result);
    assert_near(real_of(&result, COLUMN(cost_per_million_tokens)), 2,
                1e-12); /* 1.8 * 6 / (1500 * 3600) * 1e6 */
    result_release(&result);
}

static int64_t item(const struct result_item *items, uint32_t count, enum part part)
{
    assert_int_equal(count, PART_COUNT);
    assert_string_equal(items[part].name, pipeline_part_names[part]);
    return items[part].ns;
}

/* Parts 200 50 50 11 of 311: 66.67 16.67 16.67 3.67 are 66 16 16 3 and three more to the first of
 * equal remainders: 104. Stalls 50 25 10: 85 / 3 is 28; 16.67 8.33 3.33, one more to the first. */
static void parts_and_stalls_are_apportioned(void **state)
{
    (void)state;
    struct result result;
    struct plan plan;
    struct setup setup = make_result(OVERRIDES(NULL), &plan, &result);
    assert_int_equal(item(result.parts, result.part_count, PART_COMPUTE), 67);
    assert_int_equal(item(result.parts, result.part_count, PART_LAUNCH), 17);
    assert_int_equal(item(result.parts, result.part_count, PART_SYNC), 17);
    assert_int_equal(item(result.parts, result.part_count, PART_LINK), 3);
    assert_int_equal(item(result.parts, result.part_count, PART_MERGE), 0);
    assert_int_equal(item(result.stalls, result.stall_count, PART_LAUNCH), 17);
    assert_int_equal(item(result.stalls, result.stall_count, PART_SYNC), 8);
    assert_int_equal(item(result.stalls, result.stall_count, PART_LINK), 3);
    result_release(&result);
    plan_release(&plan);
    setup_release(&setup);
}

static void details_are_by_layer_and_step(void **state)
{
    (void)state;
    struct result result;
    struct plan plan;
    struct setup setup = make_result(OVERRIDES(NULL), &plan, &result);
    assert_int_equal(result.layer_count, LAYERS);
    assert_int_equal(result.layers[0].ns, 40); /* 121 / 3 */
    assert_int_equal(result.layers[1].ns, 43);
    assert_near(result.layers[0].hit_ratio, 255.0 / 300, 1e-15);
    assert_near(result.layers[1].hit_ratio, .7, 1e-15);
    assert_int_equal(result.layers[0].in_bytes, 45 * TINY_HEAD_BYTES / 3);
    assert_int_equal(result.layers[1].in_bytes, 30 * TINY_HEAD_BYTES / 3);
    assert_int_equal(result.step_count, STEPS);
    assert_int_equal(result.steps[0].ns, 100);
    assert_near(result.steps[0].hit_ratio, 110.0 / 150, 1e-15);
    assert_near(result.steps[2].hit_ratio, .95, 1e-15);
    assert_int_equal(result.steps[2].in_bytes, 1000);
    result_release(&result);
    plan_release(&plan);
    setup_release(&setup);
}

/* The nearest rank: the smallest step time that so many percent do not exceed. */
static const struct {
    uint32_t steps;
    int64_t p50, p99; /* of steps of 1, 2, 3, ... ns, shuffled */
} quantiles[] = {{1, 1, 1},     {2, 1, 2},      {3, 2, 3},      {4, 2, 4},
                 {100, 50, 99}, {101, 51, 100}, {200, 100, 198}};

static void quantiles_are_steps_that_happened(void **state)
{
    (void)state;
    struct setup setup = SETUP("system=fullattn");
    struct plan plan = make_plan(&setup);
    for (size_t i = 0; i < COUNT(quantiles); i++) {
        struct pipeline_step many[200];
        uint32_t count = quantiles[i].steps;
        int64_t layer_ns = 1;
        struct result result;
        struct error why;
        int64_t parts[PART_COUNT] = {0};
        struct timing sorted = timing;
        sorted.steps = count;
        sorted.layers = 1;
        sorted.step = many;
        sorted.layer_ns = &layer_ns;
        sorted.part_ns = parts;
        sorted.total_ns = 0;
        for (uint32_t s = 0; s < count; s++) {
            many[s] = (struct pipeline_step){.ns = 1 + (s * 7 + 3) % count};
            sorted.total_ns += many[s].ns;
        }
        sorted.part_ns[PART_COMPUTE] = sorted.total_ns;
        result_init(&result);
        assert_true(outcome_time(&setup, &plan, NULL, &sorted, &result, &why));
        assert_int_equal(integer_of(&result, COLUMN(tpot_p50_ms)), quantiles[i].p50);
        assert_int_equal(integer_of(&result, COLUMN(tpot_p99_ms)), quantiles[i].p99);
        assert_true(isnan(result.steps[0].hit_ratio) && isnan(result.layers[0].hit_ratio));
        result_release(&result);
    }
    plan_release(&plan);
    setup_release(&setup);
}

static void nothing_offloaded_leaves_no_hits(void **state)
{
    (void)state;
    struct setup setup = SETUP("system=fullattn");
    struct plan plan = make_plan(&setup);
    struct result result;
    result_init(&result);
    outcome_ledger(&setup, &plan, NULL, &result);
    assert_false(result_cell(&result, COLUMN(hit_ratio))->set);
    struct ledger_row none[1] = {{0}};
    const struct ledger empty = {.steps = 1, .layers = 1, .rows = none};
    outcome_ledger(&setup, &plan, &empty, &result);
    assert_false(result_cell(&result, COLUMN(hit_ratio))->set);
    struct ledger cold = empty;
    cold.demand_wanted = 10000;
    cold.demand_cold = 4;
    outcome_ledger(&setup, &plan, &cold, &result);
    assert_string_equal(result.message, "");
    cold.demand_cold = 5;
    outcome_ledger(&setup, &plan, &cold, &result);
    assert_string_equal(result.message,
                        "the cache was still filling: hits are up to 0.1 points too low");
    result_drop_notes(&result);
    cold.demand_cold = 21; /* 0.21 points */
    outcome_ledger(&setup, &plan, &cold, &result);
    assert_string_equal(result.message,
                        "the cache was still filling: hits are up to 0.5 points too low");
    result_release(&result);
    plan_release(&plan);
    setup_release(&setup);
}

/* ---- what a result says of itself ------------------------------------------------------------ */

static struct result run(const char *const *overrides, uint32_t threads)
{
    struct point point = make_point(overrides);
    struct result result;
    struct error why;
    struct run_context runs;
    make_runs(&runs, threads);
    if (!answer_run(&point, &runs, &result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    run_context_release(&runs);
    point_release(&point);
    return result;
}

/* A trace whose masses are assumed says nothing about errors: neither of an index nor of a guess a
 * layer ahead. With recorded masses both are known. */
static void what_is_assumed_of_a_retrieval_is_said(void **state)
{
    static const char *const hata = "mechanisms={retrieval: hata, retrieval_bytes: 32B,"
                                    " selection: 20%, transfer: cpu-store}";
    static const char *const ahead = "mechanisms={retrieval: hata, retrieval_bytes: 32B,"
                                     " selection: 20%, transfer: cpu-store, prefetch: next-layer}";
    static const char *const loki = "mechanisms={retrieval: loki, retrieval_keys: 0.25x,"
                                    " selection: 20%, transfer: cpu-store}";
    static const char *const between = "mechanisms={retrieval: loki, retrieval_keys: 0.3x,"
                                       " selection: 20%, transfer: cpu-store}";
    static const char *const beyond = "mechanisms={retrieval: quest, retrieval_tokens: 256,"
                                      " selection: 20%, transfer: cpu-store}";
    static const char *const recorded = "", *const assumed = "assumed: equal";
    const struct {
        const char *mass, *mechanisms;
        bool perfect, guess, elsewhere;
    } cases[] = {
        {recorded, hata, false, false, true},
        {recorded, ahead, false, false, true},
        {recorded, "mechanisms={retrieval: hata, selection: 20%, transfer: cpu-store}", false,
         false, true},
        {recorded, loki, false, false, true},
        {recorded, between, false, false, true},
        {recorded, beyond, false, false, true},
        {recorded, "mechanisms={prefetch: next-layer}", false, false, false},
        {assumed, hata, true, false, false},
        {assumed, ahead, true, true, false},
        {assumed, loki, true, false, false},
        {assumed, beyond, true, false, false},
    };
    char model[128], bare[128], trace[128];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct result result =
            run(OVERRIDES(tiny_model(3, model), tiny_machine, bare_system(bare),
                          tiny_trace_of("none", cases[i].mass, trace), cases[i].mechanisms),
                1);
        const char *said = result.message;
        assert_int_equal(strstr(said, "retrieval is assumed perfect") != NULL, cases[i].perfect);
        assert_int_equal(strstr(said, "speculation is assumed perfect") != NULL, cases[i].guess);
        assert_int_equal(strstr(said, "the middle one counts") != NULL, cases[i].elsewhere);
        result_release(&result);
    }
}

/* A host of which nothing was measured, and one of which all was that takes no GPU and is no figure of
 * RetroInfer's code. */
static void what_of_a_host_is_not_measured_is_said(void **state)
{
    static const char *const systems[] = {"system=retroinfer-10pct", "system=retroinfer-10pct",
                                          "system=clo"};
    static const char *const hosts[] = {"hardware.host=epyc-9654", "hardware.host=epyc-vm",
                                        "hardware.host=epyc-vm"};
    static const char *const said[] = {
        "figures of this host are not measured: host.launch, host.sync, host.dram_capacity",
        "figures of this host are not measured: host.launch, host.sync, host.lookup, host.update",
        NULL};
    (void)state;
    for (size_t i = 0; i < COUNT(said); i++) {
        struct result result = run(OVERRIDES(systems[i], hosts[i], "context=4096"), 1);
        if (said[i] == NULL ? strstr(result.message, "the GPU waits for the CPU") != NULL
                            : strstr(result.message, said[i]) == NULL) {
            fail_msg("'%s'", result.message);
        }
        result_release(&result);
    }
}

/* RetroInfer's GPU still waits for the CPU if the GPU manages: it synchronises. */
static void what_the_gpu_waits_for_is_said(void **state)
{
    static const char *const managers[] = {"mechanisms.manager=cpu", "mechanisms.manager=gpu"};
    static const char *const said[] = {"(manager: cpu), and figures of this host",
                                       "(sync: cpu), and figures of this host"};
    (void)state;
    for (size_t i = 0; i < COUNT(said); i++) {
        struct result result =
            run(OVERRIDES("system=retroinfer-10pct", managers[i], "context=4096"), 1);
        assert_non_null(strstr(result.message, said[i]));
        result_release(&result);
    }
}

static const char *text_of(const struct result *result, const struct column *column)
{
    assert_true(result_cell(result, column)->set);
    return result_cell(result, column)->text;
}

static const struct {
    const char *overrides[3];
    const char *status, *limited, *message; /* its beginning */
} sizes[] = {
    {{"system=fullattn"}, "ok", "hbm", ""},
    /* 40.49 GiB may be used: 14.96 of weights and 16 a sequence, so that one fits */
    {{"system=fullattn", "batch=2"}, "out-of-memory", "hbm", "HBM: needs "},
    {{"system=fullattn", "hbm_reserve=40GiB"}, "out-of-memory", "hbm", "HBM: needs "},
    {{"system=clo", "host_memory=32GiB"}, "ok", "host", ""},
    {{"system=clo", "host_memory=15GiB"},
     "out-of-memory",
     "host",
     "host memory: needs 15.5 GiB, has 15.0 GiB; largest batch 0, largest context 126843"},
    /* 3 sequences' K of a layer are 0.75 GiB, of which PyTorch's allocator makes 1 */
    {{"system=retroinfer-10pct", "host_memory=48GiB", "batch=3"},
     "out-of-memory",
     "host",
     "host memory: needs 64.0 GiB, has 48.0 GiB; largest batch 2"},
    {{"system=clo", "host_memory=32GiB", "batch=3"},
     "out-of-memory",
     "host",
     "host memory: needs 46.5 GiB, has 32.0 GiB; largest batch 2"},
};

/* What does not fit is a result: identity and memory, but nothing that was timed. */
static void what_does_not_fit_is_a_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const char *all[8] = {"steps=1"};
        for (size_t o = 0; o < 3 && sizes[i].overrides[o] != NULL; o++) {
            all[1 + o] = sizes[i].overrides[o];
        }
        struct result result = run(all, 1);
        bool ok = strcmp(sizes[i].status, "ok") == 0;
        assert_string_equal(text_of(&result, COLUMN(status)), sizes[i].status);
        assert_string_equal(text_of(&result, COLUMN(limited_by)), sizes[i].limited);
        if (strncmp(result.message, sizes[i].message, strlen(sizes[i].message)) != 0) {
            fail_msg("'%s'", result.message);
        }
        assert_true(ok || result.message[0] != '\0');
        assert_true(integer_of(&result, COLUMN(hbm_bytes)) > 0);
        assert_int_equal(result_cell(&result, COLUMN(step_us))->set, ok);
        assert_int_equal(result_cell(&result, COLUMN(basis))->set, ok);
        assert_int_equal(result.part_count > 0, ok);
        assert_int_equal(strlen(text_of(&result, COLUMN(run))), 16);
        result_release(&result);
    }
}

/* An assumed hit ratio of 90 % leaves the CPU a tenth of what is outside the window. */
static void kept_share_is_of_what_lies_outside_the_window(void **state)
{
    (void)state;
    struct result hybrid = run(OVERRIDES("system=hgca", "trace=assumed:hit=90%", "steps=2"), 1);
    struct result others = run(OVERRIDES("system=clo", "trace=assumed:hit=90%", "steps=2"), 1);
    assert_true(result_cell(&hybrid, COLUMN(kept_share))->set);
    assert_near(result_cell(&hybrid, COLUMN(kept_share))->real, 0.1, 1e-4);
    assert_false(result_cell(&others, COLUMN(kept_share))->set);
    result_release(&hybrid);
    result_release(&others);
}

/* The columns that every run has, those of a run that offloads, and those that are not built. */
static void columns_are_set_where_they_apply(void **state)
{
    const struct column *const always[] = {COLUMN(run),
                                           COLUMN(system),
                                           COLUMN(model),
                                           COLUMN(hardware),
                                           COLUMN(trace),
                                           COLUMN(context),
                                           COLUMN(batch),
                                           COLUMN(steps),
                                           COLUMN(warmup),
                                           COLUMN(policy),
                                           COLUMN(seed),
                                           COLUMN(status),
                                           COLUMN(hbm_bytes),
                                           COLUMN(max_batch),
                                           COLUMN(limited_by),
                                           COLUMN(dram_bytes),
                                           COLUMN(step_us),
                                           COLUMN(cpu_us),
                                           COLUMN(tpot_ms),
                                           COLUMN(decode_tokens_per_s),
                                           COLUMN(gpu_busy_share),
                                           COLUMN(basis),
                                           COLUMN(available),
                                           COLUMN(extrapolated),
                                           COLUMN(lossless),
                                           COLUMN(h2d_bytes_per_step),
                                           COLUMN(d2h_bytes_per_step),
                                           COLUMN(budget_bytes),
                                           COLUMN(cache_bytes),
                                           COLUMN(dtype_kv),
                                           COLUMN(dtype_weights),
                                           COLUMN(tensor_parallel)};
    const struct column *const never[] = {COLUMN(ttft_ms), COLUMN(queue_ms), COLUMN(goodput),
                                          COLUMN(prefill_ms), COLUMN(e2e_tokens_per_s)};
    static const char *const systems[] = {"system=fullattn", "system=vllm",
                                          "system=retroinfer-10pct", "system=clo",
                                          "system=infinigen"};
    (void)state;
    for (size_t i = 0; i < COUNT(systems); i++) {
        struct result result = run(OVERRIDES(systems[i], "steps=2"), 1);
        bool offloads = i >= 2;
        for (size_t c = 0; c < COUNT(always); c++) {
            if (!result_cell(&result, always[c])->set) {
                fail_msg("%s: no %s", systems[i], always[c]->name);
            }
        }
        for (size_t c = 0; c < COUNT(never); c++) {
            assert_false(result_cell(&result, never[c])->set);
        }
        assert_int_equal(result_cell(&result, COLUMN(hit_ratio))->set, offloads);
        assert_int_equal(result_cell(&result, COLUMN(trace_source))->set, offloads);
        assert_int_equal(result_cell(&result, COLUMN(trace_basis))->set, offloads);
        assert_int_equal(integer_of(&result, COLUMN(h2d_bytes_per_step)) > 0, offloads);
        result_release(&result);
    }
}

static void result_adds_up(const struct result *result)
{
    int64_t parts = 0, stalls = 0;
    double basis = 0;
    for (uint32_t i = 0; i < result->part_count; i++) {
        parts += result->parts[i].ns;
        stalls += result->stalls[i].ns;
    }
    for (uint32_t i = 0; i < result->basis_count; i++) {
        basis += result->basis[i].share;
    }
    assert_int_equal(parts, integer_of(result, COLUMN(step_us)));
    assert_near(basis, 1, 1e-12);
    double idle = (1 - real_of(result, COLUMN(gpu_busy_share))) * (double)parts;
    assert_true(fabs(idle - (double)stalls) <= 1);
    assert_true(integer_of(result, COLUMN(layer_us)) * (int64_t)result->layer_count <= parts + 32);
}

/* Every shipped system, and on a recording, where steps differ and means are rounded. */
static void parts_add_up_to_the_step_exactly(void **state)
{
    (void)state;
    char **systems;
    size_t count;
    struct error why;
    assert_true(find_names("scenarios/systems", "yaml", &systems, &count, &why));
    for (size_t i = 0; i < count; i++) {
        char system[64];
        snprintf(system, sizeof system, "system=%s", systems[i]);
        struct result result = run(OVERRIDES(system, "steps=3", "context=8192"), 1);
        result_adds_up(&result);
        result_release(&result);
        result = run(OVERRIDES(system, "steps=7", "context=16384", "trace=smollm2-135m"), 1);
        result_adds_up(&result);
        result_release(&result);
        free(systems[i]);
    }
    free(systems);
}

static void assert_same(const struct result *a, const struct result *b)
{
    for (uint32_t c = 0; c < column_count; c++) {
        assert_int_equal(a->cells[c].set, b->cells[c].set);
        if (!a->cells[c].set) {
            continue;
        }
        if (column_rows[c]->unit == UNIT_TEXT) {
            assert_string_equal(a->cells[c].text, b->cells[c].text);
        } else {
            assert_int_equal(a->cells[c].integer, b->cells[c].integer); /* bit for bit */
        }
    }
    assert_memory_equal(a->parts, b->parts, a->part_count * sizeof *a->parts);
    assert_memory_equal(a->stalls, b->stalls, a->stall_count * sizeof *a->stalls);
    assert_int_equal(a->step_count, b->step_count);
    for (uint32_t s = 0; s < a->step_count; s++) {
        assert_int_equal(a->steps[s].ns, b->steps[s].ns);
    }
    assert_string_equal(a->plan_hash, b->plan_hash);
    assert_string_equal(a->scenario, b->scenario);
}

static void threads_do_not_change_the_result(void **state)
{
    static const char *const systems[] = {"system=retroinfer-10pct", "system=clo"};
    (void)state;
    for (size_t i = 0; i < COUNT(systems); i++) {
        const char *const overrides[] = {systems[i], "trace=smollm2-135m", "steps=4",
                                         "batch=3",  "context=8192",       NULL};
        struct result one = run(overrides, 1), four = run(overrides, 4);
        assert_same(&one, &four);
        result_release(&one);
        result_release(&four);
    }
}

static const struct {
    const char *overrides[3];
    const char *source, *basis; /* NULL: null */
    bool extrapolated, mass;
} sources[] = {
    {{"system=clo"}, "assumed: 93% hits, spread 5%", "assumed", false, false},
    {{"system=fullattn", "trace=smollm2-135m"}, NULL, NULL, false, true},
    {{"system=retroinfer-10pct", "trace=smollm2-135m"},
     "SmolLM2-135M-Instruct",
     "measured",
     true,
     true},
    {{"system=retroinfer-10pct", "trace=llama-3-8b-like", "context=4096"},
     "published profile llama-3-8b-like 8192→4096 tokens",
     "published",
     true,
     false},
    {{"system=fullattn", "trace=", "context=4096"}, NULL, NULL, false, true},
    {{"system=fullattn", "model=llama-3.1-8b", "context=140000"}, NULL, NULL, true, true},
};

static void trace_of_another_model_is_marked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(sources); i++) {
        const char *all[8] = {"steps=1", "hardware=h200"};
        for (size_t o = 0; o < 3 && sources[i].overrides[o] != NULL; o++) {
            all[2 + o] = sources[i].overrides[o];
        }
        struct result result = run(all, 1);
        if (sources[i].source == NULL) {
            assert_false(result_cell(&result, COLUMN(trace_source))->set);
            assert_false(result_cell(&result, COLUMN(trace_basis))->set);
        } else {
            assert_string_equal(text_of(&result, COLUMN(trace_basis)), sources[i].basis);
            assert_non_null(strstr(text_of(&result, COLUMN(trace_source)), sources[i].source));
        }
        assert_int_equal(integer_of(&result, COLUMN(extrapolated)), sources[i].extrapolated);
        assert_int_equal(result_cell(&result, COLUMN(mass_recall))->set, sources[i].mass);
        result_release(&result);
    }
    struct result result = run(OVERRIDES("system=clo", "trace=smollm2-135m", "steps=1"), 1);
    assert_non_null(strstr(text_of(&result, COLUMN(trace_source)), "→131072 tokens"));
    assert_int_equal(integer_of(&result, COLUMN(extrapolated)), 1);
    result_release(&result);
}

/* A policy that draws lots draws others under another seed; what hits under LRU has no lot in it.
 */
static void seed_reaches_the_policy(void **state)
{
    static const char *const policies_drawn[] = {"mechanisms.policy=lru",
                                                 "mechanisms.policy=lecar"};
    (void)state;
    for (size_t i = 0; i < COUNT(policies_drawn); i++) {
        double hits[3];
        for (size_t s = 0; s < 3; s++) {
            static const char *const seeds[] = {"seed=1", "seed=2", "seed=1"};
            struct result result =
                run(OVERRIDES("system=retroinfer-10pct", policies_drawn[i], "mechanisms.budget=15%",
                              "trace=smollm2-135m", "context=8192", "steps=4", seeds[s]),
                    1);
            hits[s] = real_of(&result, COLUMN(hit_ratio));
            result_release(&result);
        }
        assert_int_equal(hits[0] == hits[1], i == 0);
        assert_true(hits[0] == hits[2]);
    }
}

/* A timeline is JSON of one step; what does not fit has none. */
static void timeline_is_of_what_fits(void **state)
{
    (void)state;
    struct setup setup = SETUP("system=clo", "steps=1");
    struct error why;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_true(run_timeline(&setup, file, &why));
    fclose(file);
    assert_non_null(strstr(text, "\"transfer 1\""));
    assert_non_null(strstr(text, "\"attend 31\""));
    assert_null(strstr(text, "\"attend 32\""));
    free(text);
    setup_release(&setup);

    setup = SETUP("system=fullattn", "batch=2");
    file = open_memstream(&text, &size);
    assert_false(run_timeline(&setup, file, &why));
    fclose(file);
    assert_non_null(strstr(message_of(&why), "does not fit in memory"));
    assert_non_null(strstr(message_of(&why), "a batch of at most 1"));
    free(text);
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_is_rounded_to_nearest),
        cmocka_unit_test(shares_go_by_largest_remainder),
        cmocka_unit_test(shares_are_those_of_brute_force),
        cmocka_unit_test(columns_are_means_over_steps),
        cmocka_unit_test(cost_is_the_price_over_what_an_hour_makes),
        cmocka_unit_test(cost_counts_every_gpu_and_no_idle_ones_tokens),
        cmocka_unit_test(parts_and_stalls_are_apportioned),
        cmocka_unit_test(details_are_by_layer_and_step),
        cmocka_unit_test(quantiles_are_steps_that_happened),
        cmocka_unit_test(nothing_offloaded_leaves_no_hits),
        cmocka_unit_test(what_is_assumed_of_a_retrieval_is_said),
        cmocka_unit_test(what_of_a_host_is_not_measured_is_said),
        cmocka_unit_test(what_the_gpu_waits_for_is_said),
        cmocka_unit_test(what_does_not_fit_is_a_result),
        cmocka_unit_test(kept_share_is_of_what_lies_outside_the_window),
        cmocka_unit_test(columns_are_set_where_they_apply),
        cmocka_unit_test(parts_add_up_to_the_step_exactly),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(trace_of_another_model_is_marked),
        cmocka_unit_test(seed_reaches_the_policy),
        cmocka_unit_test(timeline_is_of_what_fits),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
