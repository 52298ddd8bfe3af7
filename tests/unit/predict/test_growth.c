/* A context that grows passes what runs take that stand still at its lengths. */
#include "unit/fixture/make_setup.h"

#include <math.h>
#include <stdio.h>

#include "unit/fixture/run_setup.h"

static struct error why;
static struct run_context runs;

/* The run of a system whose context reaches `context` tokens, the last `grows` of them in the run. */
static struct result run_at(const char *const *system, unsigned long long context, unsigned grows)
{
    char at[32], by[32];
    snprintf(at, sizeof at, "context=%llu", context);
    snprintf(by, sizeof by, "grows=%u", grows);
    const char *overrides[16] = {at, grows > 0 ? by : "grows=none"};
    for (size_t i = 0; i == 0 || overrides[i + 1] != NULL; i++) {
        overrides[i + 2] = system[i];
    }
    struct setup setup = make_setup(overrides);
    struct result result;
    assert_true(run_setup(&setup, &runs, &result, &why));
    setup_release(&setup);
    return result;
}

static int64_t step_of(const struct result *result)
{
    return result_cell(result, COLUMN(step_us))->integer;
}

static const char *const *const systems[] = {
    OVERRIDES("system=fullattn", "batch=4"),
    OVERRIDES("system=retroinfer-10pct", "trace=smollm2-135m"),
    OVERRIDES("system=clo", "trace=smollm2-135m"),
    OVERRIDES("system=hgca", "trace=smollm2-135m"),
    OVERRIDES("system=capture", "model=opt-6.7b", "mechanisms.weights=100%"),
    OVERRIDES("system=flexgen", "batch=2"),
};
enum { SYSTEMS = sizeof systems / sizeof *systems };

/* Of three tokens, each is a length of its own. */
static void a_step_takes_what_its_length_takes(void **state)
{
    (void)state;
    for (size_t i = 0; i < SYSTEMS; i++) {
        struct result grown = run_at(systems[i], 2000, 3);
        assert_int_equal(grown.step_count, 3);
        double sum = 0;
        for (uint32_t s = 0; s < 3; s++) {
            struct result still = run_at(systems[i], 1998 + s, 0);
            print_message("%s, step %u: %lld ns\n", systems[i][0], s, (long long)grown.steps[s].ns);
            assert_int_equal(grown.steps[s].ns, still.steps[s % still.step_count].ns);
            sum += (double)step_of(&still);
            result_release(&still);
        }
        assert_true(fabs((double)step_of(&grown) - sum / 3) <= 1);
        result_release(&grown);
    }
}

/* A single token is the run at its length; the memory is always that of the whole context. */
static void a_context_that_stands_still_is_as_before(void **state)
{
    (void)state;
    const struct column *const columns[] = {COLUMN(step_us),   COLUMN(hit_ratio),
                                            COLUMN(hbm_bytes), COLUMN(h2d_bytes_per_step),
                                            COLUMN(layer_us),  COLUMN(gpu_busy_share)};
    for (size_t i = 0; i < SYSTEMS; i++) {
        struct result grown = run_at(systems[i], 2000, 1), still = run_at(systems[i], 2000, 0);
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            double was = result_number(&still, columns[c]), is = result_number(&grown, columns[c]);
            assert_true(was == is || (isnan(was) && isnan(is)));
        }
        for (uint32_t part = 0; part < still.part_count; part++) {
            assert_int_equal(grown.parts[part].ns, still.parts[part].ns);
        }
        result_release(&grown);
        result_release(&still);
    }
}

/* Its mean step is the mean over the lengths between, which it did not run at; parts add up to it. */
static void the_mean_is_that_of_lengths_between(void **state)
{
    (void)state;
    enum { BETWEEN = 11 };
    for (size_t i = 0; i < SYSTEMS; i++) {
        struct result grown = run_at(systems[i], 2000, 1320);
        double sum = 0;
        int64_t parts = 0;
        for (unsigned k = 0; k < BETWEEN; k++) {
            struct result still = run_at(systems[i], 2000 - 60 - 120 * k, 0);
            sum += (double)step_of(&still) / BETWEEN;
            result_release(&still);
        }
        for (uint32_t part = 0; part < grown.part_count; part++) {
            parts += grown.parts[part].ns;
        }
        print_message("%s: %.0f, %lld\n", systems[i][0], sum, (long long)step_of(&grown));
        assert_true(fabs((double)step_of(&grown) / sum - 1) < 0.01);
        assert_int_equal(parts, step_of(&grown));
        assert_near(result_number(&grown, COLUMN(tokens_per_s_per_user)) *
                        result_number(&grown, COLUMN(step_us)),
                    1e6, 0.1);
        result_release(&grown);
    }
}

/* A context that outgrows the memory is refused as a whole. */
static void memory_is_that_of_the_whole_context(void **state)
{
    (void)state;
    struct result grown = run_at(OVERRIDES("system=fullattn", "batch=64"), 100000, 50000);
    assert_true(result_out_of_memory(&grown));
    assert_int_equal(grown.step_count, 0);
    result_release(&grown);
}

/* Where the window holds all, nothing leaves it and the CPU attends to nothing, whatever the blocks. */
static void a_window_that_is_not_full_keeps_all(void **state)
{
    (void)state;
    const uint64_t contexts[] = {3985, 4090, 4096};
    for (size_t i = 0; i < COUNT(contexts); i++) {
        struct result still =
            run_at(OVERRIDES("system=hgca", "trace=smollm2-135m"), contexts[i], 0);
        assert_int_equal(result_cell(&still, COLUMN(d2h_bytes_per_step))->integer, 0);
        assert_true(result_number(&still, COLUMN(hit_ratio)) == 1);
        result_release(&still);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_takes_what_its_length_takes),
        cmocka_unit_test(a_context_that_stands_still_is_as_before),
        cmocka_unit_test(the_mean_is_that_of_lengths_between),
        cmocka_unit_test(a_window_that_is_not_full_keeps_all),
        cmocka_unit_test(memory_is_that_of_the_whole_context),
    };
    make_runs(&runs, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    run_context_release(&runs);
    return failed;
}
