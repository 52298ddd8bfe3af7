/* The time of one step stands for the mean of a run's steps. */
#include "unit/fixture/make_setup.h"

#include "unit/fixture/run_setup.h"

static struct error why;

/* A run times each of its steps. */
static void check_step(const char *const *overrides)
{
    struct setup setup = make_setup(overrides);
    struct run_context runs;
    struct result result;
    struct step_answer answer;
    make_runs(&runs, 1);
    setup.unlimited_memory = true;
    assert_true(run_setup(&setup, &runs, &result, &why));
    assert_true(run_step(&setup, &runs, &answer, &why));
    print_message("%s %s: %lld ns\n", overrides[0], overrides[1], (long long)answer.ns);
    assert_int_equal(answer.ns, result_cell(&result, COLUMN(step_us))->integer);
    for (uint32_t i = 0; i < result.stall_count; i++) {
        for (int part = 0; part < PART_COUNT; part++) {
            if (strcmp(result.stalls[i].name, pipeline_part_names[part]) == 0) {
                assert_int_equal(answer.stall_ns[part], result.stalls[i].ns);
            }
        }
    }
    result_release(&result);
    run_context_release(&runs);
    setup_release(&setup);
}

static void one_step_has_the_mean_of_all(void **state)
{
    (void)state;
    check_step(OVERRIDES("system=fullattn", "batch=4"));
    check_step(OVERRIDES("system=vllm", "model=deepseek-v3", "hardware=h200", "tensor_parallel=8"));
    check_step(OVERRIDES("system=fullattn", "mechanisms.weights=40%", "context=1000"));
    check_step(OVERRIDES("system=retroinfer-10pct", "batch=2", "context=30000"));
    check_step(OVERRIDES("system=flexgen", "batch=8", "context=5000"));
    check_step(OVERRIDES("system=litecache", "model=smollm2-135m", "trace=smollm2-135m",
                         "context=3840", "batch=2")); /* the only one whose steps differ */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_has_the_mean_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
