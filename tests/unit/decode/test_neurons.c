/* Weights that the CPU multiplies by, and neurons that are not computed: by hand, for the model and the
 * machine of tiny.h. A layer has 4804000 B of other weights and 12000000 B of neurons' (2000, each with
 * 6000 B and as many FLOPs); 64.2942 % of all are the others and half of the neurons. Of these neurons'
 * activations they have 80 %: .5 ^ (ln .8 / ln .5). */
#include "unit/fixture/expected_times.h"

#define HALF_OF_THE_NEURONS                                                                        \
    "mechanisms={resident_heads: all, weights: 64.2942%, weights_at: cpu, ffn_active: 10%,"        \
    " ffn_hot: 50%, operators: 8}"

/* Of 10 tokens in a hundred, 8 are of the hot half and 2 of the cold one: a hot neuron is active in 16 % of
 * the tokens, a cold one in 4 %. Two tokens need .5 * (1 - .84 ^ 2) = 14.72 % and .5 * (1 - .96 ^ 2) =
 * 3.92 % of all neurons, and twice the FLOPs. A third of the CPU's weights are of the down projection, where
 * each token reads its own 2 %. */
static void neurons_are_read_once_for_all_rows_but_down(void **state)
{
    static const double gpu[] = {.08, .1472}, cpu[] = {.02, .0392};
    struct setup setup = make_tiny(1, HALF_OF_THE_NEURONS, OVERRIDES("batch=1"));
    (void)state;
    for (uint64_t rows = 1; rows <= 2; rows++) {
        struct weights_read read = cost_weights_read(&setup, 0, model_rows(&setup.model, rows));
        double post = 2002000 + gpu[rows - 1] * 12e6;
        assert_near(read.gpu[MODEL_PRE], 1, 1e-9);
        assert_near(read.gpu[MODEL_POST], post / 14002000, 1e-6);
        assert_near(read.cpu_bytes, cpu[rows - 1] * 8e6, 10);
        assert_near(read.cpu_flops, .02 * (double)rows * 8e6, 10);
        assert_near(read.down_bytes, .02 * (double)rows * 4e6, 10);
        assert_near(read.down_flops, .02 * (double)rows * 4e6, 10);
    }
    setup_release(&setup);
}

/* What has no room in HBM: first neurons, then the predictor's weights, then others. The model has
 * 20806000 B, a tenth of it predicts. */
static void other_weights_take_hbm_first(void **state)
{
    static const struct {
        const char *weights;
        double pre, cpu_bytes;
    } cases[] = {
        {"mechanisms.weights=0%", 0, 4804000 + 2080600 + 12e6},
        {"mechanisms.weights=14.29422%", .5, 2402000 + 2080600 + 12e6},
        {"mechanisms.weights=28.58843%", 1, 2080600 + 12e6},
        {"mechanisms.weights=40.97001%", 1, 12e6},
        {"mechanisms.weights=76.675791%", 1, 6e6},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup =
            make_tiny(1, "mechanisms={resident_heads: all, weights_at: cpu, ffn_predictor: 10%}",
                      OVERRIDES("batch=1", cases[i].weights));
        struct weights_read read = cost_weights_read(&setup, 0, model_rows(&setup.model, 1));
        assert_near(read.gpu[MODEL_PRE], cases[i].pre, 1e-6);
        assert_near(read.cpu_bytes + read.down_bytes, cases[i].cpu_bytes, 20);
        setup_release(&setup);
    }
}

/* The CPU's 240000 FLOPs take 240000, more than 240000 B at 8 B/ns; 20000 for the query to be seen, 10000 to
 * wake 4 threads. The GPU's part of the FFN ends long before.
 *
 *  launch  token 20000, pre 21000 (23000), attend 24000, copy call 25000, ..., copy call 329452-330452
 *  main    pre 21000-49212, attend 1000 tokens -57252, post 29705, edge 332652-352832
 *  d2h     hidden states 57252-59452
 *  pool    59452-329452
 *  h2d     sums 330452-332652 */
static void gpu_waits_for_the_products_of_the_cpu(void **state)
{
    struct setup setup = make_tiny(1, HALF_OF_THE_NEURONS, OVERRIDES("batch=1"));
    struct course course;
    (void)state;
    make_course(&setup, &course);
    assert_near((double)course.timing.step[0].ns, 352832, 10);
    assert_int_equal(course.timing.step[0].moved[WAY_IN], 2000);
    assert_int_equal(course.plan.memory.in[TIER_HOST].weights, 6000003);
    course_release(&course);
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neurons_are_read_once_for_all_rows_but_down),
        cmocka_unit_test(other_weights_take_hbm_first),
        cmocka_unit_test(gpu_waits_for_the_products_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
