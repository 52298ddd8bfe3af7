/* When a server in steady state has answered a question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/server/serving_stream.h"
#include "predict/server/stream_question.h"

#include <math.h>

enum { REQUESTS = 4000 };

static struct stream_time all[REQUESTS];
static double values[REQUESTS], scratch[REQUESTS];
static struct stream_times times = {.all = all, .values = values, .scratch = scratch};

/* `count` requests, whose times to the first token are 100 +- 50 ms, evenly and in no order. */
static void fill(size_t count)
{
    times.count = count;
    for (size_t i = 0; i < count; i++) {
        double share = fmod(0.618033988749895 * (double)i, 1);
        all[i] = (struct stream_time){.ns[SERVED_TTFT] = (50 + 100 * share) * 1e6};
    }
}

static bool answered(const struct column *column, double ms, struct stream_load load)
{
    struct stream_question question = {.all = {{column, true, ms}}, .count = 1};
    return stream_question_answered(&question, &load, &times);
}

static void a_bound_far_off_is_answered(void **state)
{
    const struct stream_load load = {.calm = true};
    (void)state;
    fill(REQUESTS);
    assert_true(answered(COLUMN(ttft_ms), 200, load));
    assert_true(answered(COLUMN(ttft_ms), 50, load));
    assert_true(answered(COLUMN(ttft_p99_ms), 250, load));
    assert_false(answered(COLUMN(ttft_ms), 100, load)); /* it is 100 */
}

/* Of 1000 requests ten are beyond the 99th percentile, of 100 in a section one. */
static void a_tail_needs_many_requests(void **state)
{
    const struct stream_load load = {.calm = true};
    (void)state;
    fill(1000);
    assert_true(answered(COLUMN(ttft_ms), 200, load));
    assert_true(answered(COLUMN(ttft_p95_ms), 250, load)); /* five in a section */
    assert_false(answered(COLUMN(ttft_p99_ms), 250, load));
}

/* The longest of few requests takes 150 ms. */
static void few_requests_tell_what_is_far_off(void **state)
{
    const struct stream_load load = {.few = true, .calm = true};
    (void)state;
    fill(600);
    assert_true(answered(COLUMN(ttft_p99_ms), 310, load));
    assert_false(answered(COLUMN(ttft_p99_ms), 290, load));
    assert_true(answered(COLUMN(ttft_ms), 200, load));
    assert_false(answered(COLUMN(queue_grows), 0, (struct stream_load){.few = true}));
    assert_false(stream_question_answered(&(struct stream_question){.count = 0}, &load, &times));
}

static void a_queue_is_answered_by_the_load(void **state)
{
    (void)state;
    fill(REQUESTS);
    assert_false(answered(COLUMN(queue_grows), 0, (struct stream_load){.grows = true}));
    assert_true(answered(COLUMN(queue_grows), 0, (struct stream_load){.calm = true}));
    assert_true(
        answered(COLUMN(queue_grows), 0, (struct stream_load){.grows = true, .overloaded = true}));
}

static void one_missed_bound_is_enough(void **state)
{
    struct stream_question question = {
        .all = {{COLUMN(ttft_ms), true, 100}, {COLUMN(ttft_p50_ms), true, 10}}, .count = 2};
    const struct stream_load load = {.calm = true};
    (void)state;
    fill(REQUESTS);
    assert_true(stream_question_answered(&question, &load, &times));
    question.all[1].value = 1000; /* met, and the other one is open */
    assert_false(stream_question_answered(&question, &load, &times));
}

static void questions_have_names_of_their_own(void **state)
{
    struct stream_question question = {.all = {{COLUMN(ttft_ms), true, 100}}, .count = 1};
    uint64_t first = stream_question_hash(&question);
    (void)state;
    question.all[0].value = 101;
    assert_int_not_equal(stream_question_hash(&question), first);
    question.all[0].value = 100;
    question.most = STREAM_MOST;
    assert_int_not_equal(stream_question_hash(&question), first);
}

/* A server may be so slow that no request of a run ends: the next run has to be longer. */
static void a_run_in_which_none_ends_is_followed_by_a_longer_one(void **state)
{
    static const struct point point; /* one server, and no clients */
    const struct stream_question question = {.most = 2500};
    const struct serving_window window = {.from_ns = 0};
    const struct stream_finding none_ended = {.come = 2500, .most = 64000, .lasts_ns = 10e9};
    struct stream_stage stage = {.number = 1, .requests = 2500};
    (void)state;
    stream_stage_next(&point, &question, &none_ended, &window, &stage);
    assert_int_equal(stage.requests, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_far_off_is_answered),
        cmocka_unit_test(a_tail_needs_many_requests),
        cmocka_unit_test(few_requests_tell_what_is_far_off),
        cmocka_unit_test(a_queue_is_answered_by_the_load),
        cmocka_unit_test(one_missed_bound_is_enough),
        cmocka_unit_test(questions_have_names_of_their_own),
        cmocka_unit_test(a_run_in_which_none_ends_is_followed_by_a_longer_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
