/* Steps of sequences of any length, of every system that a server may run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/mechanism_values.h"
#include "unit/fixture/make_setup.h"

#include "core/random.h"
#include "unit/fixture/run_setup.h"
#include "predict/server/decode_surface.h"

#include <math.h>

static struct error why;

/* A recording of 3840 tokens that keeps 768 of each row. */
static struct point recorded_point(const char *system)
{
    const char *const overrides[] = {
        system, "model=smollm2-135m", "hardware=h200", "trace=smollm2-135m", "steps=4", NULL};
    return make_point(overrides);
}

static struct decode_step read_step(struct decode_surface *surface, uint32_t sequences,
                                    uint64_t tokens)
{
    struct decode_step step;
    if (!decode_surface_read(surface, sequences, tokens, &step, &why)) {
        fail_msg("%u sequences of %llu tokens in all: %s", sequences, (unsigned long long)tokens,
                 message_of(&why));
    }
    return step;
}

/* Lengths from a token on: below the window, below what is selected, and past what was recorded. */
static void check_lengths(const char *system, uint64_t seed)
{
    struct point point = recorded_point(system);
    struct run_context runs;
    make_runs(&runs, 1);
    gsl_rng *random = random_stream(seed, "test.decode-surface", 0, &why);
    print_message("%s, seed %llu\n", system, (unsigned long long)seed);
    assert_true(random != NULL);
    for (int i = 0; i < 3; i++) {
        uint64_t context = (uint64_t)exp(gsl_rng_uniform(random) * log(6000));
        const struct decode_range range = {2, context, context};
        struct decode_surface *surface = decode_surface_create(&point, &range, 1, &runs, &why);
        if (surface == NULL) {
            fail_msg("%llu tokens: %s", (unsigned long long)context, message_of(&why));
        }
        struct decode_step one = read_step(surface, 1, context);
        struct decode_step two = read_step(surface, 2, 2 * context);
        /* All KV and weights cross at most, of a token more where it lay in the window. */
        double bytes = (double)(context + 100) * 30 * 3 * 64 * 2 * 2 +
                       (double)model_weight_bytes(&point.setup.model);
        assert_true(one.ns > 0 && two.ns > 0.9 * one.ns);
        assert_true(one.fetched >= 0 && one.fetched <= bytes);
        decode_surface_destroy(surface);
    }
    gsl_rng_free(random);
    run_context_release(&runs);
    point_release(&point);
}

static void sequences_of_any_length_have_a_step(void **state)
{
    (void)state;
    static const char *const systems[] = {
        "system=vllm",     "system=litecache", "system=clo",
        "system=hisparse", "system=pqcache",   "system=infinigen",
        "system=loki",     "system=quest",     "system=retroinfer-10pct",
        "system=h2o",      "system=hgca",      "system=flexgen"};
    for (size_t i = 0; i < COUNT(systems); i++) {
        check_lengths(systems[i], 7 + i);
    }
}

/* A step sees the HBM that the server has: what stays of the KV, and what crosses the link, is what
 * a fixed batch of as many sequences has. */
static void steps_under_pressure_depend_on_the_pool(void **state)
{
    (void)state;
    const char *const overrides[] = {
        "system=hisparse",      "mechanisms={residency: pressure, selection: 10%}",
        "model=smollm2-135m",   "hardware=h200",
        "trace=smollm2-135m",   "steps=4",
        "kv_pool_tokens=10000", NULL};
    struct point point = make_point(overrides);
    struct run_context runs;
    make_runs(&runs, 1);
    const struct decode_range range = {4, 3000, 3000};
    struct decode_surface *surface = decode_surface_create(&point, &range, 1, &runs, &why);
    assert_non_null(surface);
    double share = 1, bytes = -1;
    for (uint32_t sequences = 1; sequences <= 4; sequences++) {
        struct setup setup = setup_at(&point.setup, 3000);
        struct plan plan;
        setup.batch = sequences;
        assert_true(run_plan(&setup, &runs, &plan, &why));
        struct decode_step step = read_step(surface, sequences, 3000 * sequences);
        assert_true(plan.fits && fabs(step.resident_share - plan.resident_share) < 1e-9);
        assert_true(sequences == 1 ? step.resident_share == 1 : step.resident_share < share);
        assert_true(step.fetched > bytes && (sequences > 1 || step.fetched == 0));
        share = step.resident_share;
        bytes = step.fetched;
        plan_release(&plan);
    }
    assert_true(share > 0);
    decode_surface_destroy(surface);
    run_context_release(&runs);
    point_release(&point);
}

/* HiSparse selects 2048 tokens, and the recording keeps 20 % of a row: a sequence of 2500 attends to
 * all it has, which its buffer of 4096 rows holds, so that nothing is fetched; of 20480 tokens,
 * 2048 are a tenth, and the step is that of the trace. */
static void what_is_selected_is_capped_at_what_there_is(void **state)
{
    (void)state;
    struct point point = recorded_point("system=hisparse");
    point.setup.mechanisms->step_overhead = 0; /* which a surface leaves out */
    struct run_context runs;
    make_runs(&runs, 1);
    const struct decode_range range = {1, 2500, 20480};
    struct decode_surface *surface = decode_surface_create(&point, &range, 1, &runs, &why);
    struct result result;
    assert_non_null(surface);
    assert_near(read_step(surface, 1, 2500).fetched, 0, 0);
    point.setup.context = 20480;
    assert_true(run_setup(&point.setup, &runs, &result, &why));
    assert_true(result_cell(&result, COLUMN(h2d_bytes_per_step))->integer > 0);
    double exact = (double)result_cell(&result, COLUMN(step_us))->integer;
    assert_near(read_step(surface, 1, 20480).ns, exact, 0.01 * exact);
    result_release(&result);
    decode_surface_destroy(surface);
    run_context_release(&runs);
    point_release(&point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_of_any_length_have_a_step),
        cmocka_unit_test(steps_under_pressure_depend_on_the_pool),
        cmocka_unit_test(what_is_selected_is_capped_at_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
