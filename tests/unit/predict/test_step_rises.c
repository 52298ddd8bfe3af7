/* One sequence more makes no decode step shorter, and no capacity fall by a tenth beyond what padding
 * adds: with every engine, dense models and mixtures of experts, one GPU and several, models that ship
 * and random ones. Padded are the rows of the engine's next CUDA graph, and those of a product's tile,
 * where the profile's measured shares jump from one number of rows to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "core/random.h"
#include "model/sharding.h"
#include "decode/time/engine_step.h"
#include "predict/server/step_cost.h"

#include <math.h>

enum { SEQUENCES = 1100, CONTEXT = 1000, SEED = 31, DRAWS = 60, DRAWN_SEQUENCES = 600, TEXT = 64 };

static struct error why;

/* ---- the property ----------------------------------------------------------------------------- */

static double step_ns(struct step_cost *cost, uint32_t sequences, uint64_t context)
{
    struct step_load load = {.decodes = sequences, .decode_tokens = sequences * context};
    struct step_time time;
    struct step_clock clock = step_cost_clock(cost);
    if (!clock.step(clock.context, &load, &time, &why)) {
        fail_msg("%s", message_of(&why));
    }
    return (double)time.ns;
}

/* The sequences of a rank, if each has as many as the CUDA graph that computes them has rows; else
 * 0. */
static uint32_t whole_rows(const struct point *point, uint32_t sequences)
{
    const struct model *model = &point->setup.model;
    uint32_t own = sequences / model->parallel.data;
    bool whole =
        sequences % model->parallel.data == 0 && engine_step_rows(&point->setup, own) == own;
    return whole ? own : 0;
}

/* What is left of the capacity where a product's share of the peak falls between `from` and `to` rows
 * from one row to the next: the rest of the next tile is padding. */
static double left_by_tiles(const struct point *point, uint32_t from, uint32_t to)
{
    static const enum curve_id shares[DTYPE_COUNT] = {
        [DTYPE_FP8] = CURVE_GPU_FLOPS_SHARE_FP8, [DTYPE_INT4] = CURVE_GPU_FLOPS_SHARE_INT4};
    const struct profile *profile = &point->setup.profile;
    enum curve_id id = shares[point->setup.model.weights];
    const struct curve *curve =
        &profile->curves[id != 0 && profile_states(profile, id) ? id : CURVE_GPU_FLOPS_SHARE];
    double left = 1;
    for (uint32_t i = 0; i + 1 < curve->count; i++) {
        bool jumps = curve->size[i + 1] - curve->size[i] <= 1;
        bool between = curve->size[i] >= from && curve->size[i + 1] <= to;
        left *= jumps && between ? fmin(1, curve->value[i + 1] / curve->value[i]) : 1;
    }
    return left;
}

/* Capacities are compared between steps without a padded row, which graphs hold or are launched alike. */
static void check_server(const struct point *point, uint32_t most, uint64_t context,
                         const char *what)
{
    const struct decode_range range = {most, context, context};
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(point, &range, &runs, &why);
    if (cost == NULL) {
        fail_msg("%s: %s", what, message_of(&why));
    }
    double before = 0, capacity = 0;
    uint32_t whole = 1;
    uint64_t data = point->setup.model.parallel.data;
    for (uint32_t n = 1; n <= most; n++) {
        double ns = step_ns(cost, n, context);
        uint32_t rows = whole_rows(point, n);
        bool captured = engine_step_launched(&point->setup, (n + data - 1) / data) ==
                        engine_step_launched(&point->setup, (whole + data - 1) / data);
        bool falls =
            captured && rows > 0 && n / ns < 0.9 * left_by_tiles(point, whole, rows) * capacity;
        if (ns < before * (1 - 1e-6) || falls) {
            fail_msg(
                "%s, engine %s, context %llu: %u sequences take %g ms, %u %g; they are %g a ms, "
                "%u %g",
                what, point->engine.name, (unsigned long long)context, n, ns / 1e6, n - 1,
                before / 1e6, 1e6 * n / ns, whole, 1e6 * capacity);
        }
        capacity = rows > 0 ? n / ns : capacity;
        whole = rows > 0 ? rows : whole;
        before = ns;
    }
    step_cost_destroy(cost);
    run_context_release(&runs);
}

/* ---- models and machines that ship ------------------------------------------------------------ */

static void check_and_release(struct point point, const char *what)
{
    check_server(&point, SEQUENCES, CONTEXT, what);
    point_release(&point);
}

static void one_sequence_more_is_no_faster(void **state)
{
    (void)state;
    static const char *const engines[] = {"engine=none", "engine=vllm-0.19", "engine=sglang-0.5"};
    static const char *const models[] = {"model=llama-3.1-8b", "model=llama-3.1-8b-awq",
                                         "model=qwen3-8b-fp8", "model=qwen3-30b-a3b",
                                         "model=mixtral-8x7b"};
    static const char *const machines[] = {
        "hardware=h100-sxm", "hardware=rtx-4090", "hardware=a100-sxm-80gb",       "hardware=l40s",
        "hardware=b200",     "hardware=h20",      "hardware=rtx-pro-6000-server", "hardware=a40"};
    for (size_t i = 0; i < COUNT(models); i++) {
        for (size_t j = 0; j < COUNT(machines); j++) {
            char what[2 * TEXT];
            snprintf(what, sizeof what, "%s, %s", models[i], machines[j]);
            const char *engine = engines[(i + j) % COUNT(engines)];
            check_and_release(POINT(system_in(engine), models[i], machines[j], "steps=1", engine),
                              what);
        }
    }
}

/* Two GPUs that share a model in either way. */
static void nor_is_it_where_gpus_share_the_model(void **state)
{
    (void)state;
    static const char *const engines[] = {"engine=vllm-0.19", "engine=sglang-0.5",
                                          "engine=tensorrt-llm-1.0"};
    for (int i = 0; i < 3; i++) {
        const char *model = "model=qwen3-30b-a3b", *machine = "hardware=h100-sxm";
        check_and_release(POINT(system_in(engines[i]), model, machine, "steps=1", "hardware.gpus=2",
                                "tensor_parallel=2", engines[i]),
                          "2 GPUs");
        check_and_release(POINT(system_in(engines[i]), model, machine, "steps=1", "hardware.gpus=2",
                                "data_parallel=2", "expert_parallel=2", engines[i]),
                          "2 ranks");
    }
}

/* ---- random ones ------------------------------------------------------------------------------ */

/* Overrides of a scenario, in texts of their own. */
struct overrides {
    char texts[16][TEXT];
    const char *all[17];
    int count;
};

static void add(struct overrides *overrides, const char *format, ...)
{
    va_list values;
    assert_true(overrides->count < 16);
    char *text = overrides->texts[overrides->count];
    va_start(values, format);
    int length = vsnprintf(text, TEXT, format, values);
    va_end(values);
    assert_true(length > 0 && length < TEXT);
    overrides->all[overrides->count++] = text;
}

static unsigned long draw(gsl_rng *random, unsigned long least, unsigned long most)
{
    return least + gsl_rng_uniform_int(random, most - least + 1);
}

/* `least` times a power of two up to `least` << `steps`. */
static unsigned long draw_power(gsl_rng *random, unsigned long least, unsigned long steps)
{
    return least << gsl_rng_uniform_int(random, steps + 1);
}

static void draw_dense(gsl_rng *random, struct overrides *out)
{
    add(out, "model=qwen3-8b");
    add(out, "model.hidden_size=%lu", 128 * draw(random, 8, 64));
    add(out, "model.intermediate_size=%lu", 64 * draw(random, 32, 448));
    add(out, "model.num_key_value_heads=%lu", draw_power(random, 8, 2));
}

static void draw_experts(gsl_rng *random, struct overrides *out)
{
    unsigned long experts = draw_power(random, 8, 5);
    add(out, "model=qwen3-30b-a3b");
    add(out, "model.hidden_size=%lu", 128 * draw(random, 8, 48));
    add(out, "model.moe_intermediate_size=%lu", 64 * draw(random, 8, 224));
    add(out, "model.num_experts=%lu", experts);
    add(out, "model.num_experts_per_tok=%lu", draw(random, 1, experts < 16 ? 4 : 8));
    add(out, "model.num_key_value_heads=%lu", draw_power(random, 8, 1));
}

/* A server on 1 to 8 GPUs: one of dense models, or one of experts in any of three ways. */
static void draw_server(gsl_rng *random, struct overrides *out)
{
    static const char *const machines[] = {"a40",
                                           "a100-sxm-80gb",
                                           "b200",
                                           "gb300",
                                           "h20",
                                           "h100-pcie",
                                           "h100-sxm",
                                           "h200",
                                           "l40s",
                                           "rtx-4090",
                                           "rtx-pro-6000-server"};
    static const char *const dtypes[] = {"bf16", "fp8", "int4"};
    bool experts = draw(random, 0, 1) == 1;
    unsigned long gpus = draw_power(random, 1, 3), form = draw(random, 0, 2);
    (experts ? draw_experts : draw_dense)(random, out);
    add(out, "steps=1");
    add(out, "hardware=%s", machines[draw(random, 0, COUNT(machines) - 1)]);
    add(out, "dtype.weights=%s", dtypes[draw(random, 0, COUNT(dtypes) - 1)]);
    add(out, "%s=%lu", experts && form == 0 ? "data_parallel" : "tensor_parallel", gpus);
    add(out, "expert_parallel=%lu", experts && form < 2 ? gpus : 1);
}

static void nor_is_it_of_random_models(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct overrides overrides = {.count = 0};
        char what[16 * TEXT + TEXT];
        gsl_rng *random = random_stream(SEED, "tests.step_rises", i, &why);
        assert_true(random != NULL);
        draw_server(random, &overrides);
        uint64_t context = (uint64_t)(64 * exp(gsl_rng_uniform(random) * log(512)));
        int used = snprintf(what, sizeof what, "draw %llu:", (unsigned long long)i);
        for (int j = 0; j < overrides.count; j++) {
            used += snprintf(what + used, sizeof what - (size_t)used, " %s", overrides.texts[j]);
        }
        static const char *const engines[] = {"none",      "vllm-0.8",   "vllm-0.19",
                                              "vllm-0.29", "sglang-0.5", "tensorrt-llm-1.0"};
        add(&overrides, "engine=%s", engines[i % COUNT(engines)]);
        add(&overrides, "%s", system_in(engines[i % COUNT(engines)]));
        struct point point = make_point(overrides.all);
        check_server(&point, DRAWN_SEQUENCES, context, what);
        point_release(&point);
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sequence_more_is_no_faster),
        cmocka_unit_test(nor_is_it_where_gpus_share_the_model),
        cmocka_unit_test(nor_is_it_of_random_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
