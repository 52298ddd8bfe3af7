/* Runs of a server: the file of requests is the one that the scenario was read with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "predict/server/serving.h"

#include <math.h>

static struct error why;

/* Two points of one scenario, a server each; the second has another rate. */
static void points_share_requests_and_draw_their_own_arrivals(void **state)
{
    (void)state;
    const char *const overrides[] = {"model=llama-3-8b", "hardware=h200",
                                     "system=vllm",      "workload=conversations",
                                     "limit=10",         "sweep.rate=[1, 100]"};
    struct scenario scenario;
    struct point points[2];
    struct result results[2];
    struct run_context runs;
    make_runs(&runs, 1);
    assert_true(scenario_load(NULL, 0, overrides, COUNT(overrides), &scenario, &why));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(scenario_point(&scenario, i, &points[i], &why));
    }
    scenario_release(&scenario); /* points keep what they use */
    assert_ptr_equal(points[0].requests, points[1].requests);
    int64_t last = points[0].requests->all[9].arrival_ns;
    for (uint32_t i = 0; i < 2; i++) {
        if (!serving_run(&points[i], &runs, &results[i], &why)) {
            fail_msg("%s", message_of(&why));
        }
    }
    assert_int_equal(points[0].requests->all[9].arrival_ns, last);
    assert_true(results[0].requests[9].arrived_ns > 10 * results[1].requests[9].arrived_ns);
    for (uint32_t i = 0; i < 2; i++) {
        result_release(&results[i]);
        point_release(&points[i]);
    }
    run_context_release(&runs);
}

static void serve(const char *model, const char *one, const char *two, struct result *result)
{
    struct point point = POINT("context=", "hardware=h200", "system=vllm", "workload=conversations",
                               "limit=30", "rate=20", model, one, two);
    struct run_context runs;
    make_runs(&runs, 1);
    if (!serving_run(&point, &runs, result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    run_context_release(&runs);
    point_release(&point);
}

/* Ranks of a dense model share nothing, so they serve as replicas do. */
static void ranks_of_a_dense_model_serve_as_replicas(void **state)
{
    const struct column *const same[] = {COLUMN(ttft_ms), COLUMN(tpot_ms), COLUMN(e2e_ms),
                                         COLUMN(kv_blocks)};
    struct result ranks, replicas;
    (void)state;
    serve("model=llama-3-8b", "data_parallel=3", "replicas=2", &ranks);
    serve("model=llama-3-8b", "data_parallel=1", "replicas=6", &replicas);
    for (size_t i = 0; i < COUNT(same); i++) {
        assert_true(result_cell(&ranks, same[i])->set);
        assert_int_equal(result_cell(&ranks, same[i])->integer,
                         result_cell(&replicas, same[i])->integer);
    }
    assert_true(result_cell(&ranks, COLUMN(tokens_per_s_per_gpu))->real ==
                result_cell(&replicas, COLUMN(tokens_per_s_per_gpu))->real);
    result_release(&ranks);
    result_release(&replicas);
}

/* A GPU that holds half of the layers, or of the experts, has room for more KV, and the GPUs
 * together for more than twice as many blocks. */
static void gpus_that_share_weights_have_more_room(void **state)
{
    static const char *const forms[][2] = {{"tensor_parallel=2", "data_parallel=1"},
                                           {"data_parallel=2", "expert_parallel=2"},
                                           {"data_parallel=2", "expert_parallel=1"},
                                           {"pipeline_parallel=2", "data_parallel=1"}};
    struct result one, two;
    (void)state;
    serve("model=qwen3-30b-a3b", "tensor_parallel=1", "data_parallel=1", &one);
    for (size_t i = 0; i < COUNT(forms); i++) {
        serve("model=qwen3-30b-a3b", forms[i][0], forms[i][1], &two);
        int64_t alone = result_cell(&one, COLUMN(kv_blocks))->integer;
        assert_true(result_cell(&two, COLUMN(kv_blocks))->integer > 2 * alone);
        assert_int_equal(result_cell(&two, COLUMN(replicas))->integer, 1);
        result_release(&two);
    }
    result_release(&one);
}

/* Requests that warm the cache count in no figure: the tokens of all others add up. */
static void tokens_of_prompts_add_up_without_those_that_warm(void **state)
{
    struct result all, some;
    (void)state;
    serve("model=llama-3-8b", "tensor_parallel=1", "replicas=1", &all);
    serve("model=llama-3-8b", "warm_requests=10", "replicas=1", &some);
    const struct cell *cells = some.cells;
    assert_true(cells[COLUMN(prompt_tokens)->index].integer <
                result_cell(&all, COLUMN(prompt_tokens))->integer);
    assert_int_equal(cells[COLUMN(prompt_tokens)->index].integer,
                     cells[COLUMN(hit_tokens_gpu)->index].integer +
                         cells[COLUMN(hit_tokens_host)->index].integer +
                         cells[COLUMN(recompute_tokens)->index].integer);
    result_release(&all);
    result_release(&some);
}

/* In steady state a server ends what is asked of it, however many requests its run drew: tokens a second,
 * and with them dollars a token, are not of the draw. */
static void a_stream_ends_what_is_asked_for(void **state)
{
    (void)state;
    struct point point = POINT("context=", "hardware=h200", "system=vllm", "model=llama-3-8b",
                               "rate=3", "workload=synthetic:prompt=500,output=40,turns=4,think=2s",
                               "hardware.price_per_hour=3");
    struct run_context runs;
    struct result result;
    make_runs(&runs, 1);
    if (!serving_run(&point, &runs, &result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    assert_true(result_number(&result, COLUMN(requests_out_half)) > 0.001);
    assert_true(fabs(result_number(&result, COLUMN(requests_in_per_s)) - 3) < 1e-9);
    assert_true(fabs(result_number(&result, COLUMN(requests_out_per_s)) - 3) < 1e-9);
    assert_true(fabs(result_number(&result, COLUMN(decode_tokens_per_s)) - 120) < 1e-6);
    assert_true(fabs(result_number(&result, COLUMN(cost_per_million_tokens)) -
                     3 * 1e6 / 3600 / 120) < 1e-6);
    result_release(&result);
    run_context_release(&runs);
    point_release(&point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_share_requests_and_draw_their_own_arrivals),
        cmocka_unit_test(ranks_of_a_dense_model_serve_as_replicas),
        cmocka_unit_test(gpus_that_share_weights_have_more_room),
        cmocka_unit_test(tokens_of_prompts_add_up_without_those_that_warm),
        cmocka_unit_test(a_stream_ends_what_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
