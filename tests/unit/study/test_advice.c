/* What is advised is what brute force finds, and something that one can start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/advise/advice.h"
#include "study/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct scenario load(const char *model, const char *hardware, const char *more)
{
    char texts[2][64];
    const char *overrides[] = {texts[0], texts[1], more};
    struct scenario scenario;
    struct error why = {0};
    snprintf(texts[0], sizeof texts[0], "model=%s", model);
    snprintf(texts[1], sizeof texts[1], "hardware=%s", hardware);
    if (!scenario_load(NULL, 0, overrides, more != NULL ? 3 : 2, &scenario, &why) ||
        !node_set(scenario.root, "trace", "smollm2-135m", &why) ||
        !node_set(scenario.root, "steps", "4", &why)) {
        fail_msg("%s", why.found);
    }
    return scenario;
}

struct asked {
    struct scenario scenario;
    struct run_context runs;
    struct advice advice;
};

static void ask(const char *model, const char *hardware, const char *more, const char *target,
                struct advice_options options, struct asked *out)
{
    struct error why = {0};
    out->scenario = load(model, hardware, more);
    options.study.jobs = 2;
    options.study.runs = &out->runs;
    if (!run_context_init(&out->runs, sweep_users(2, false), NULL, &why) ||
        (target != NULL && !targets_parse(target, &options.targets, &why)) ||
        !advice_run(&out->scenario, &options, &out->advice, &why)) {
        fail_msg("%s", why.found);
    }
}

static void release(struct asked *asked)
{
    advice_release(&asked->advice);
    run_context_release(&asked->runs);
    scenario_release(&asked->scenario);
}

static const struct search *find(const struct advice *advice, const char *system)
{
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        if (strcmp(advice->systems.searches[i].candidate->system, system) == 0) {
            return &advice->systems.searches[i];
        }
    }
    fail_msg("no '%s'", system);
    return NULL;
}

/* The most tokens a second of all batches of vLLM that take at most `ns` a token. */
static double brute_force(const char *model, const char *hardware, const char *more, int64_t ns)
{
    struct scenario scenario = load(model, hardware, more);
    struct run_context runs;
    struct result results[8];
    struct error why;
    uint32_t count;
    double most = 0;
    assert_true(run_context_init(&runs, sweep_users(1, false), NULL, &why));
    const struct study study = {.jobs = 1, .runs = &runs};
    assert_true(node_set(scenario.root, "system", "vllm", &why));
    assert_true(scenario_sweep(&scenario, "batch", "[1, 2, 3, 4, 5, 6, 7, 8]", &why));
    assert_true(sweep_keep(&scenario, &study, results, &count, &why));
    for (uint32_t i = 0; i < count; i++) {
        if (result_ok(&results[i]) && result_cell(&results[i], COLUMN(tpot_ms))->integer <= ns) {
            most = fmax(most, result_cell(&results[i], COLUMN(decode_tokens_per_s))->real);
        }
        result_release(&results[i]);
    }
    run_context_release(&runs);
    scenario_release(&scenario);
    return most;
}

/* Six sequences of 32K fit an A40. */
static void the_best_batch_is_that_of_brute_force(void **state)
{
    const struct advice_options options = {.candidates = {.systems = "vllm"}};
    struct asked asked;
    (void)state;
    ask("llama-3-8b", "a40", "context=32K", "tpot_ms<=60", options, &asked);
    const struct search *vllm = find(&asked.advice, "vllm");
    double rate = advice_rate(&asked.advice, vllm, &asked.advice.form);
    assert_true(rate == brute_force("llama-3-8b", "a40", "context=32K", 60000000));
    assert_true(rate < brute_force("llama-3-8b", "a40", "context=32K", INT64_MAX));
    assert_int_equal(asked.advice.best, vllm - asked.advice.systems.searches);
    release(&asked);
}

/* Research code, references and paper may be faster, and HiSparse needs a model's own indexer. */
static void only_what_one_can_start_is_advised(void **state)
{
    const struct advice_options options = {
        .candidates = {.systems = "quest,fullattn-graph,litecache,vllm,sglang,vllm-hisparse",
                       .allow_lossy = true,
                       .allow_paper = true}};
    struct asked asked;
    (void)state;
    ask("llama-3-8b", "a40", "context=32K", NULL, options, &asked);
    const struct advice *advice = &asked.advice;
    const struct search *vllm = find(advice, "vllm");
    double rate = advice_rate(advice, vllm, &advice->form);
    static const char *const others[] = {"quest", "litecache", "vllm-hisparse"};
    assert_int_equal(advice->best, vllm - advice->systems.searches);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct search *other = find(advice, others[i]);
        assert_true(advice_rate(advice, other, &advice->form) > rate);
        assert_false(advice_starts(other));
    }
    assert_false(advice_starts(find(advice, "fullattn-graph")));
    assert_true(advice_starts(find(advice, "sglang")));
    release(&asked);
}

/* NULL: it was not tried. */
static const struct advice_trial *changed(const struct advice *advice, enum advice_change change)
{
    const struct advice_trial *found = NULL;
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        found = advice->trials[i].change == change ? &advice->trials[i] : found;
    }
    return found;
}

/* Two GPUs are one server or two; what is compared in makes at least as much as the other. */
static void gpus_are_tried_in_every_form(void **state)
{
    const struct advice_options options = {.candidates = {.systems = "vllm"}, .gpus = 2};
    struct asked asked;
    (void)state;
    ask("qwen2.5-7b", "l40s", "context=32K", NULL, options, &asked);
    const struct advice *advice = &asked.advice;
    for (uint32_t i = 0; i < 2; i++) {
        const struct advice_trial *form = &advice->trials[i];
        assert_int_equal(form->change, ADVICE_NO_CHANGE);
        const struct search *search = advice_trial_search(form);
        double each = result_cell(advice_result(search), COLUMN(decode_tokens_per_s))->real;
        assert_int_equal(form->form.servers * form->form.gpus, 2);
        assert_true(advice_rate(advice, search, &form->form) == form->form.servers * each);
        assert_true(advice_rate(advice, search, &form->form) <=
                    advice_rate(advice, advice_plain(advice), &advice->form));
    }
    assert_non_null(changed(advice, ADVICE_FP8_KV));
    assert_null(changed(advice, ADVICE_FP8_WEIGHTS));
    assert_int_equal(changed(advice, ADVICE_MORE_GPUS)->form.gpus, 4);
    assert_int_equal(changed(advice, ADVICE_SHORTER)->context, 16384);
    release(&asked);
}

/* 131 GiB of weights fit four GPUs of 45 GiB, and no context is short enough for one. */
static void what_would_fit_is_found_where_nothing_does(void **state)
{
    const struct advice_options options = {.candidates = {.systems = "vllm,sglang"}};
    struct asked asked;
    (void)state;
    ask("llama-3.1-70b", "a40", "context=8K", NULL, options, &asked);
    const struct advice_trial *gpus = changed(&asked.advice, ADVICE_MORE_GPUS);
    const struct advice_trial *shorter = changed(&asked.advice, ADVICE_SHORTER);
    assert_int_equal(asked.advice.best, PLANNING_NONE);
    assert_null(advice_result(advice_plain(&asked.advice)));
    assert_int_equal(gpus->form.gpus, 4);
    assert_non_null(advice_result(advice_trial_search(gpus)));
    assert_int_equal(shorter->context, 1024);
    assert_null(advice_result(advice_trial_search(shorter)));
    assert_non_null(changed(&asked.advice, ADVICE_FP8_WEIGHTS));
    release(&asked);
}

/* `expected` 0: none is set. */
static void check_context(const char *model, const char *more, int expected)
{
    struct scenario scenario = load(model, "a40", more);
    struct error why;
    assert_true(advice_set_context(&scenario, &why));
    assert_int_equal(scenario_stated(&scenario.values, "context", 0), expected);
    scenario_release(&scenario);
}

static void the_context_is_what_the_model_was_trained_to_at_most(void **state)
{
    (void)state;
    check_context("llama-3.1-8b", NULL, 131072);
    check_context("qwen2.5-7b", NULL, 32768);
    check_context("qwen2.5-7b", "context=4K", 4096);
    check_context("qwen2.5-7b", "workload=conversations", 0);
}

/* A prompt of 64K tokens takes seconds by itself: no rate is searched. */
static void one_idle_request_rules_a_limit_out(void **state)
{
    const struct advice_options options = {.candidates = {.systems = "vllm"}};
    struct asked asked;
    (void)state;
    ask("llama-3-8b", "a40", "workload=\"synthetic:prompt=64000,output=16\"", "ttft_p99_ms<=500",
        options, &asked);
    const struct search *plain = advice_plain(&asked.advice);
    assert_int_equal(asked.advice.best, PLANNING_NONE);
    assert_true(advice_is_idle(plain));
    assert_true(plain->nearest != PLANNING_NONE);
    assert_int_equal(plain->grid.tried, 1);
    release(&asked);
}

/* Only the answer is run to the full precision of its figures, and holds its rate there, too. */
static void the_answer_alone_is_run_whole(void **state)
{
    const struct advice_options options = {.candidates = {.systems = "vllm,sglang"}};
    struct asked asked;
    (void)state;
    ask("smollm2-135m", "a40", "workload=\"synthetic:prompt=2000,output=2\"", "ttft_p99_ms<=500",
        options, &asked);
    const struct planning *systems = &asked.advice.systems;
    assert_int_not_equal(asked.advice.best, PLANNING_NONE);
    for (uint32_t i = 0; i < systems->count; i++) {
        const struct search *search = &systems->searches[i];
        assert_int_equal(search->depth[search->found] == SEARCH_WHOLE, i == asked.advice.best);
        assert_true(search->grid.violation[search->found] == 0);
    }
    release(&asked);
}

/* What host memory gains is compared below the load that plain vLLM holds, and not at all where the queue grows with
 * it and without at each load that is tried: here that load is said to be the highest of the axis. */
static void memory_is_not_judged_by_queues(void **state)
{
    const struct advice_options options = {.candidates = {.systems = "vllm,vllm-offload"}};
    struct asked asked;
    struct error why = {0};
    (void)state;
    ask("llama-3.1-8b", "rtx-4090", "workload=\"synthetic:prompt=6000,output=2,turns=2,think=4s\"",
        "ttft_ms<=3000", options, &asked);
    struct advice *advice = &asked.advice;
    assert_true(advice->host.slower < 0); /* requests take less */
    assert_true(advice->host.share > 0.79 && advice->host.share < 0.81);
    struct search *plain = (struct search *)advice_plain(advice);
    struct advice_options again = options;
    again.study = (struct study){.jobs = 2, .runs = &asked.runs};
    again.targets = advice->targets;
    plain->found = 0; /* the best value comes first */
    advice->best = (uint32_t)(plain - advice->systems.searches);
    assert_true(advice_host_find(&again, advice, &why));
    assert_true(isnan(advice->host.slower) != 0);
    assert_true(advice->host.share > 0.51 && advice->host.share < 0.52);
    release(&asked);
}

/* Two capacities that differ are too close to call where the interval of a short run's reaches the other's:
 * it ends at a load that is missed by more than a short run is off; without one, a tenth beyond what was
 * missed. Of two that are too close the simplest wins; and the load that is told to miss is the nearest that
 * surely does. */
static void capacities_of_brief_runs_lie_in_intervals(void **state)
{
    (void)state;
    struct result results[3];
    struct capacity_draws none[3] = {{.asked = 0}}, asked[3] = {{7, 4, 0}, {7, 0, 0}, {1, 1, 0}};
    uint8_t brief[3] = {SEARCH_BRIEF, SEARCH_BRIEF, SEARCH_BRIEF}, whole[3] = {SEARCH_WHOLE};
    double held[3] = {0, NAN, NAN}, missed[3] = {0.05, 0, NAN};
    struct axis_value values[3] = {{.number = 80}, {.number = 90}, {.number = 100}};
    struct search a = {.results = results,
                       .depth = whole,
                       .draws = none,
                       .maximise = true,
                       .axis = {.values = values, .count = 3, .key = "rate"},
                       .grid = {.count = 3, .violation = held}};
    struct search b = a;
    struct error why;
    for (int i = 0; i < 3; i++) {
        result_init(&results[i]);
        assert_true(result_text(&results[i], COLUMN(system), "vllm", &why) &&
                    result_text(&results[i], COLUMN(model), "m", &why) &&
                    result_text(&results[i], COLUMN(hardware), "h", &why));
        result_real(&results[i], COLUMN(decode_tokens_per_s), values[2 - i].number);
    }
    b.found = 1;
    b.grid.violation = missed;
    assert_true(search_interval(&a).least == 100 && search_interval(&a).most == 100);
    b.depth = brief;
    assert_true(fabs(search_interval(&b).least - 90 / 1.1) < 1e-9 &&
                fabs(search_interval(&b).most - 121) < 1e-9);
    assert_int_equal(searches_tie(&a, &b), TIE_ROUGH);
    missed[0] = 0.3;
    assert_true(fabs(search_interval(&b).most - 110) < 1e-9);
    assert_int_equal(searches_tie(&a, &b), TIE_ROUGH);
    struct candidate tiers = {.system = "two-tier", .mechanisms = 1};
    struct candidate plain = {.system = PLAIN_SYSTEM};
    struct search both[] = {a, b};
    const struct planning planning = {.searches = both, .count = 2};
    both[0].candidate = &tiers;
    both[1].candidate = &plain;
    assert_int_equal(winner_simplest(&planning, &both[0], NULL), 1);
    b.found = 2;
    missed[1] = 0.2;
    missed[2] = 0;
    assert_true(fabs(search_interval(&b).most - 99) < 1e-9);
    assert_int_equal(searches_tie(&a, &b), TIE_NONE);
    for (int i = 0; i < 3; i++) {
        result_note(&results[i], note_plain(NOTE_too_close));
    }
    /* A short run misses by a fifth, although its interval is wide. */
    assert_int_equal(search_next_miss(&b), 1);
    missed[1] = 0.05;
    assert_int_equal(search_next_miss(&b), 0);
    brief[0] = SEARCH_LONG;
    assert_int_equal(search_next_miss(&b), 1); /* none misses surely */
    assert_false(search_surely_misses(&b, 1));
    /* A draw that misses is sure, however wide an interval is: an answer holds in all. */
    b.draws = asked;
    assert_int_equal(search_next_miss(&b), 0);
    assert_false(search_surely_misses(&b, 1));
    assert_true(search_surely_misses(&b, 2));
    for (int i = 0; i < 3; i++) {
        result_release(&results[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_batch_is_that_of_brute_force),
        cmocka_unit_test(only_what_one_can_start_is_advised),
        cmocka_unit_test(gpus_are_tried_in_every_form),
        cmocka_unit_test(what_would_fit_is_found_where_nothing_does),
        cmocka_unit_test(the_context_is_what_the_model_was_trained_to_at_most),
        cmocka_unit_test(one_idle_request_rules_a_limit_out),
        cmocka_unit_test(the_answer_alone_is_run_whole),
        cmocka_unit_test(memory_is_not_judged_by_queues),
        cmocka_unit_test(capacities_of_brief_runs_lie_in_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
