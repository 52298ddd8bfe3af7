/* The way of a request outside the GPU, against timelines worked out by hand, and under storms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "unit/fixture/engine_of.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/server_course.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps of 10 ms. */
static struct course ten_ms_steps(uint32_t count)
{
    struct course course = begin_course(count);
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
    return course;
}

/* A token of a prompt takes 1 ms, a request 5 more, a token back 1. A (3 tokens) comes at 0, B (2)
 * at 1: A's prompt has passed at 3, B's at 5, and the engine has them at 8 and 10. A's first token
 * is computed at 18 and with its client at 19. The second step ends at 28: A's token is there at
 * 29, and B's, which passes after it, at 30. */
static void prompts_and_tokens_pass_one_after_the_other(void **state)
{
    (void)state;
    struct course course = ten_ms_steps(2);
    course.options.path =
        (struct server_path){.prompt_token_ns = MS, .request_ns = 5 * MS, .output_token_ns = MS};
    add_request(&course, 0, 3, 2);
    add_request(&course, 1 * MS, 2, 1);
    run_course(&course);
    check_served(&course.served[0], 8, 19, 29);
    check_served(&course.served[1], 18, 30, 30);
    const int64_t *a = course.served[0].waits.ns, *b = course.served[1].waits.ns;
    assert_int_equal(a[WAIT_API], (8 + 1) * MS);
    assert_int_equal(a[WAIT_QUEUE], 0);
    assert_int_equal(b[WAIT_API], (9 + 2) * MS);
    assert_int_equal(b[WAIT_QUEUE], 8 * MS);
    assert_int_equal(waited_ns(&course.served[0]), 29 * MS);
    assert_int_equal(waited_ns(&course.served[1]), 29 * MS);
    assert_int_equal(course.totals.end_ns, 30 * MS);
    end_course(&course);
}

/* A client sends its next request when it has the last token, not when that is computed: 5 ms. */
static void clients_wait_for_the_api(void **state)
{
    (void)state;
    struct course course = ten_ms_steps(2);
    course.clients = 1;
    course.options.path.output_token_ns = 5 * MS;
    add_request(&course, 0, 1, 1);
    add_request(&course, 0, 1, 1);
    run_course(&course);
    check_served(&course.served[0], 0, 15, 15);
    check_served(&course.served[1], 15, 30, 30);
    end_course(&course);
}

/* A (4 out) runs from 0 to 40. B comes at 1, during the first step, when the second is scheduled
 * already: it is in the third, 20 to 30; C, which comes at 10, too. In a synchronous server both
 * are in the second, and where arrivals are stamps of the queue, behind which the next step was
 * scheduled. D comes at 35, in A's last step. Nothing was scheduled behind that, so D starts at 40
 * in all. */
static void a_step_is_scheduled_when_the_last_one_begins(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        bool later = way == 1;
        struct course course = ten_ms_steps(4);
        course.options.path.overlaps = way > 0;
        course.options.path.queued = way == 2;
        add_request(&course, 0, 1, 4);
        add_request(&course, 1 * MS, 1, 1);
        add_request(&course, 10 * MS, 1, 1);
        add_request(&course, 35 * MS, 1, 1);
        run_course(&course);
        check_served(&course.served[0], 0, 10, 40);
        for (int i = 1; i < 3; i++) {
            check_served(&course.served[i], later ? 20 : 10, later ? 30 : 20, later ? 30 : 20);
        }
        check_served(&course.served[3], 40, 50, 50);
        end_course(&course);
    }
}

/* At most 4 tokens a step. A (4 tokens, 3 out) comes at 0, B (6, 1 out) at 5. As vLLM does it, A's
 * second token and 3 of B's share a step, then A's third and B's last 3: both end at 30. As SGLang
 * does it, A waits while B's 4 and 2 are computed, and has its other tokens at 40 and 50. */
static void prompts_are_computed_beside_decodes_or_before_them(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        struct course course = ten_ms_steps(2);
        course.options.batched_tokens = 4;
        course.options.path.prompts_alone = alone;
        add_request(&course, 0, 4, 3);
        add_request(&course, 5 * MS, 6, 1);
        run_course(&course);
        check_served(&course.served[0], 0, 10, alone ? 50 : 30);
        check_served(&course.served[1], 10, 30, 30);
        assert_int_equal(course.served[0].waits.ns[WAIT_OTHERS], alone ? 20 * MS : 0);
        assert_int_equal(course.totals.steps, alone ? 5 : 3);
        end_course(&course);
    }
}

/* Steps of decodes have no limit of tokens where prompts are computed alone. */
static void decodes_are_not_cut(void **state)
{
    (void)state;
    struct course course = ten_ms_steps(3);
    course.options.batched_tokens = 2;
    course.options.path.prompts_alone = true;
    for (int i = 0; i < 3; i++) {
        add_request(&course, 0, 1, 2);
    }
    run_course(&course);
    for (int i = 0; i < 3; i++) { /* prompts at 10, 10 and 20; then all three decode at once */
        check_served(&course.served[i], i < 2 ? 0 : 10, i < 2 ? 10 : 20, 30);
    }
    end_course(&course);
}

/* 9 blocks of 128; steps of 1 ms. A has a prompt of 128 and 640 tokens out, B 128 and 460. Without
 * a reserve B starts at 1. With one B's 588 tokens must be less than the free blocks, 896 tokens
 * from A's second token to its 128th, less what A may need: when s steps have passed,
 * 1 + (0.7 - 0.602 (s - 1) / 600) (640 - s). That is 308.4 for s = 115 and 307.3 for s = 116. */
static void admission_leaves_room_for_outputs(void **state)
{
    (void)state;
    for (int reserves = 0; reserves < 2; reserves++) {
        struct course course = begin_course(2);
        course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
        course.prefix.gpu_blocks = 9;
        course.options.path.prompts_alone = true;
        course.options.path.reserves = reserves;
        add_request(&course, 0, 128, 640);
        add_request(&course, MS / 2, 128, 460);
        run_course(&course);
        assert_int_equal(course.served[1].scheduled_ns, (reserves ? 116 : 1) * MS);
        end_course(&course);
    }
}

/* At most 4 tokens a step. A (2 tokens, 3 out) comes at 0, B (4 tokens) at 5. B's prompt does not fit
 * beside A's token, so it waits until A has ended at 30, where 3 of its tokens could have been
 * computed at 10. */
static void whole_prompts_wait_for_a_step_with_room(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct course course = ten_ms_steps(2);
        course.options.batched_tokens = 4;
        course.options.path.whole_prompts = whole;
        add_request(&course, 0, 2, 3);
        add_request(&course, 5 * MS, 4, 1);
        run_course(&course);
        check_served(&course.served[0], 0, 10, 30);
        check_served(&course.served[1], whole ? 30 : 10, whole ? 40 : 30, whole ? 40 : 30);
        end_course(&course);
    }
}

/* B has 6 tokens, more than any step: 3 of them are computed beside A's token at 10, the others at 20,
 * instead of none until A has ended. */
static void a_prompt_longer_than_a_step_is_divided(void **state)
{
    (void)state;
    struct course course = ten_ms_steps(2);
    course.options.batched_tokens = 4;
    course.options.path.whole_prompts = true;
    add_request(&course, 0, 2, 3);
    add_request(&course, 5 * MS, 6, 1);
    run_course(&course);
    check_served(&course.served[0], 0, 10, 30);
    check_served(&course.served[1], 10, 30, 30);
    end_course(&course);
}

/* 8 free blocks of 128 tokens beside a first sequence of 128 + 640: where all of each output counts,
 * the second one of 128 + 460 waits for its end, at 640. */
static void room_for_all_outputs_means_no_preemption(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
    course.prefix.gpu_blocks = 9;
    course.options.path.reserves = course.options.path.reserves_all = true;
    add_request(&course, 0, 128, 640);
    add_request(&course, MS / 2, 128, 460);
    run_course(&course);
    assert_int_equal(course.served[1].scheduled_ns, 640 * MS);
    assert_int_equal(course.served[0].preemptions + course.served[1].preemptions, 0);
    end_course(&course);
}

/* The same two at once: the output of the first, admitted where nothing runs, counts already for the
 * second. 588 tokens are not less than the 1024 of 8 free blocks less 640. */
static void a_first_request_reserves_too(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
    course.prefix.gpu_blocks = 9;
    course.options.path.prompts_alone = course.options.path.reserves = true;
    add_request(&course, 0, 128, 640);
    add_request(&course, 0, 128, 460);
    run_course(&course);
    assert_int_equal(course.served[0].scheduled_ns, 0);
    assert_int_equal(course.served[1].scheduled_ns, 116 * MS);
    end_course(&course);
}

static void random_path(struct course *course, gsl_rng *random)
{
    struct server_path *path = &course->options.path;
    path->prompt_token_ns = (int64_t)gsl_rng_uniform_int(random, 5000);
    path->request_ns = (int64_t)gsl_rng_uniform_int(random, 5 * MS);
    path->output_token_ns = (int64_t)gsl_rng_uniform_int(random, 100000);
    path->overlaps = gsl_rng_uniform_int(random, 2) > 0;
    path->prompts_alone = gsl_rng_uniform_int(random, 2) > 0;
    path->reserves = gsl_rng_uniform_int(random, 2) > 0;
    path->reserves_all = path->reserves && !path->prompts_alone;
    path->whole_prompts = gsl_rng_uniform_int(random, 2) > 0;
}

/* J. D. C. Little, "A Proof for the Queuing Formula L = λ W", 1961: over the system, over its queue and
 * over its service, the requests that are there in the mean are those that came a second times the time of
 * each. In a run with a beginning and an end both are sums over the same spans. A request that is put back
 * queues again, for a part of the time that it waits for its next token. */
static void check_littles_law(const struct course *course)
{
    double system = 0, queue = 0, put_back = 0;
    for (size_t i = 0; i < course->requests.count; i++) {
        const struct served *served = &course->served[i];
        if (!served->too_long) {
            system += (double)(served->end_ns - served->arrived_ns);
            queue += (double)(served->scheduled_ns - served->arrived_ns);
            put_back += (double)served->waits.ns[WAIT_PREEMPTED];
        }
    }
    double waiting = series_sum(course, SERIES_WAITING);
    double serving = series_sum(course, SERIES_RUNNING) + series_sum(course, SERIES_LOADING);
    double some = 1e-9 * system;
    assert_true(fabs(waiting + serving - system) <= some);
    assert_true(waiting >= queue - some && waiting <= queue + put_back + some);
    assert_true(serving >= system - queue - put_back - some && serving <= system - queue + some);
}

static void check_course(const struct course *course)
{
    double tokens = 0;
    for (size_t i = 0; i < course->requests.count; i++) {
        const struct request *request = &course->requests.all[i];
        const struct served *served = &course->served[i];
        if (served->too_long) {
            assert_int_equal(waited_ns(served), 0);
            continue;
        }
        tokens += request->output;
        int64_t ready = course->options.path.prompt_token_ns * request->prompt +
                        course->options.path.request_ns;
        assert_true(served->scheduled_ns - served->arrived_ns >= ready);
        assert_true(served->first_token_ns > served->scheduled_ns);
        assert_true(served->end_ns >=
                    served->first_token_ns +
                        (request->output - 1) * course->options.path.output_token_ns);
        assert_int_equal(waited_ns(served), served->end_ns - served->arrived_ns);
        assert_true(served->end_ns <= course->totals.end_ns);
    }
    assert_true(series_sum(course, SERIES_OUTPUT) == tokens);
    check_littles_law(course);
}

static void nothing_is_lost_on_the_way(void **state)
{
    (void)state;
    uint64_t preemptions = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(20, 6); seed++) {
        struct error why;
        gsl_rng *random = random_stream(seed, "test.server-path.storm", 0, &why);
        struct course course = begin_course(200);
        print_message("seed %u\n", (unsigned)seed);
        random_path(&course, random);
        course.clients = seed % 3 == 0 ? 7 : 0;
        course.prefix.gpu_blocks = 4 + gsl_rng_uniform_int(random, 20);
        course.options.sequences = 1 + (uint32_t)gsl_rng_uniform_int(random, 30);
        course.options.batched_tokens = 1 + (uint32_t)gsl_rng_uniform_int(random, 700);
        course.clock = (struct plain_clock){MS, MS, 1000, 1e9, MS / 3};
        int64_t at_ns = 0;
        for (int i = 0; i < 200; i++) {
            at_ns += (int64_t)gsl_rng_uniform_int(random, 300 * MS);
            add_request(&course, at_ns, 1 + (uint32_t)gsl_rng_uniform_int(random, 600),
                        1 + (uint32_t)gsl_rng_uniform_int(random, 400));
        }
        run_course(&course);
        check_course(&course);
        for (int i = 0; i < 200; i++) {
            preemptions += course.served[i].preemptions;
        }
        gsl_rng_free(random);
        end_course(&course);
    }
    assert_true(preemptions > 0);
}

/* All overlap steps; only SGLang keeps prompts apart, and only TensorRT-LLM keeps them whole. A server whose
 * engine is not stated has no way to go. */
static void engines_differ_in_the_order_of_prompts(void **state)
{
    (void)state;
    struct error why;
    for (const char *const *name = server_engine_names(&why); *name != NULL; name++) {
        const struct server_engine engine = engine_of(*name);
        const struct server_path *path = &engine.path;
        bool none = strcmp(*name, "none") == 0;
        bool early = strcmp(*name, "vllm-0.8") == 0 || strcmp(*name, "vllm-0.11") == 0 ||
                     strcmp(*name, "vllm-0.12") == 0;
        assert_int_equal(path->overlaps, !none && !early);
        assert_int_equal(path->prompt_token_ns > 0, !none);
        assert_int_equal(path->prompts_alone, strncmp(*name, "sglang", 6) == 0);
        assert_int_equal(path->whole_prompts, strncmp(*name, "tensorrt", 8) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_and_tokens_pass_one_after_the_other),
        cmocka_unit_test(clients_wait_for_the_api),
        cmocka_unit_test(a_step_is_scheduled_when_the_last_one_begins),
        cmocka_unit_test(prompts_are_computed_beside_decodes_or_before_them),
        cmocka_unit_test(decodes_are_not_cut),
        cmocka_unit_test(admission_leaves_room_for_outputs),
        cmocka_unit_test(a_first_request_reserves_too),
        cmocka_unit_test(whole_prompts_wait_for_a_step_with_room),
        cmocka_unit_test(a_prompt_longer_than_a_step_is_divided),
        cmocka_unit_test(room_for_all_outputs_means_no_preemption),
        cmocka_unit_test(nothing_is_lost_on_the_way),
        cmocka_unit_test(engines_differ_in_the_order_of_prompts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
