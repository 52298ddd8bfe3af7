/* Intervals against queueing theory: servers with constant steps, asked endlessly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "predict/server/stationary.h"
#include "server/requests/stream.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/server_course.h"

#include <gsl/gsl_randist.h>
#include <math.h>

static struct error why;

/* ---- by hand ---------------------------------------------------------------------------- */

static void a_warm_up_ends_where_the_mean_is_known_best(void **state)
{
    (void)state;
    const double falls[] = {90, 40, 5, 4, 5, 4, 5, 4, 5, 4, 5, 4};
    const double level[] = {4, 4, 4, 4, 4, 4, 4, 4};
    const double grows[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    assert_int_equal(stationary_warm_up(falls, 12), 2);
    assert_int_equal(stationary_warm_up(level, 8), 0);
    assert_int_equal(stationary_warm_up(grows, 12), 12); /* it never ends */
}

/* Two batches of a deviation of root 2: t(1) at 97.5 % is 12.706. */
static void an_interval_is_students(void **state)
{
    (void)state;
    const double batches[] = {1, 3};
    struct estimate two = stationary_interval(2, batches, 2);
    assert_true(fabs(two.half - 12.706) < 0.001);
    assert_true(isinf(stationary_interval(1, batches, 1).half));
}

/* ---- a server --------------------------------------------------------------------------- */

enum { MANY = 12000 };

static struct course random_prompts(uint64_t seed, bool even)
{
    struct course course = begin_course(MANY);
    gsl_rng *random = random_stream(seed, "test.prompts", 0, &why);
    for (uint32_t i = 0; i < MANY; i++) {
        double tokens = even ? 1000 : ceil(gsl_ran_exponential(random, 1000));
        add_request(&course, 0, (uint32_t)tokens, 1);
    }
    gsl_rng_free(random);
    course.options.sequences = 1;
    course.clock = (struct plain_clock){.token_ns = MS / 10, .load_rate = 1e9}; /* 10 a second */
    course.prefix.gpu_blocks = 1 << 10;
    return course;
}

/* Serve the requests as a stream. Returns its end. */
static int64_t serve_stream(struct course *course, const struct stream_options *options)
{
    struct request_stream stream;
    struct way_shares shares = make_shares(1e9, 1e9, 2e9);
    const struct step_clock clock = {
        .step = plain_step, .context = &course->clock, .shares = &shares};
    for (size_t i = 0; i < course->requests.count; i++) {
        course->served[i] = (struct served){.arrived_ns = -1, .end_ns = -1};
    }
    assert_true(stream_lay(&course->requests, options, &stream, &why));
    struct prefix_cache *cache = prefix_cache_create(&course->prefix, &course->requests, &why);
    struct server *server = server_create(&course->options, &clock, &course->requests, cache,
                                          course->served, &course->totals, &why);
    struct fleet fleet = {.servers = &server,
                          .server_count = 1,
                          .served = course->served,
                          .requests = &course->requests,
                          .indices = stream.order,
                          .count = stream.count,
                          .clients = options->clients,
                          .is_stream = true};
    int64_t end_ns;
    assert_true(fleet_run(&fleet, &end_ns, &why));
    server_destroy(server);
    prefix_cache_destroy(cache);
    way_shares_release(&shares);
    stream_release(&stream);
    return end_ns;
}

/* The mean wait of requests that came after a tenth, in seconds. They are served in their order. */
static struct estimate mean_wait(const struct course *course)
{
    static double waits[MANY];
    size_t count = 0;
    for (size_t i = MANY / 10; i < MANY; i++) {
        const struct served *served = &course->served[i];
        if (served->end_ns > 0) {
            waits[count++] = (double)(served->scheduled_ns - served->arrived_ns) / 1e9;
        }
    }
    return stationary_mean(waits, count);
}

/* M/M/1: rho / (mu - lambda); M/D/1: half of it. Of `rounds` intervals of 95 % nine tenths cover it. */
static void waits_are_those_of_theory(void **state)
{
    (void)state;
    const double mu = 10, rates[] = {5, 7, 8};
    int rounds = ROUNDS(15, 2), covered = 0, all = 0;
    for (int i = 0; i < 3; i++) {
        for (int even = 0; even < 2; even++) {
            double exact = rates[i] / mu / (mu - rates[i]) / (even ? 2 : 1);
            for (int seed = 1; seed <= rounds; seed++) {
                struct course course = random_prompts((uint64_t)seed, even);
                const struct stream_options options = {
                    .rate = rates[i], .shape = 1, .seed = (uint64_t)seed};
                serve_stream(&course, &options);
                struct estimate wait = mean_wait(&course);
                covered += fabs(wait.value - exact) <= wait.half;
                all++;
                end_course(&course);
            }
        }
    }
    print_message("%d of %d intervals cover the exact wait\n", covered, all);
    assert_true(covered >= 0.9 * all - 2);
    assert_true(covered <= 0.99 * all + 2);
}

/* L = lambda W, of the queue and of the server: what the series hold over time is the sum of what the
 * requests took. Those that the end cuts off are few. */
static void levels_are_rates_times_times(void **state)
{
    const struct stream_options options = {.rate = 8, .shape = 1, .seed = 1};
    struct course course = random_prompts(1, false);
    struct series series;
    double level[2] = {0, 0}, taken[2] = {0, 0};
    (void)state;
    assert_true(series_init(&series, &why));
    course.options.series = &series;
    serve_stream(&course, &options);
    for (uint32_t i = 0; i < series.count; i++) {
        level[0] += series.bins[i][SERIES_WAITING];
        level[1] += series.bins[i][SERIES_RUNNING];
    }
    for (size_t i = 0; i < MANY; i++) {
        const struct served *served = &course.served[i];
        if (served->end_ns >= 0) {
            taken[0] += (double)(served->scheduled_ns - served->arrived_ns);
            taken[1] += (double)(served->end_ns - served->scheduled_ns);
        }
    }
    for (int i = 0; i < 2; i++) {
        print_message("%.6g s held, %.6g s taken\n", level[i] / 1e9, taken[i] / 1e9);
        assert_true(fabs(level[i] / taken[i] - 1) < 0.01);
    }
    series_release(&series);
    end_course(&course);
}

/* Clients with requests of one length, which would end together if they had begun together, wait for
 * nobody's prompt but their neighbours': steps of 1 ms, and 20 ms a prompt of 200 tokens. */
static void clients_are_spread(void **state)
{
    (void)state;
    struct course course = begin_course(400);
    course.options.sequences = 64;
    course.clock = (struct plain_clock){.fixed_ns = MS, .token_ns = MS / 10, .load_rate = 1e9};
    for (uint32_t i = 0; i < 400; i++) {
        add_request(&course, 0, 200, 1000);
    }
    const struct stream_options options = {.clients = 10, .seed = 1};
    int64_t end_ns = serve_stream(&course, &options);
    double ttft = 0, count = 0;
    for (size_t i = 100; i < 400; i++) {
        const struct served *served = &course.served[i];
        if (served->end_ns > 0 && served->end_ns <= end_ns) {
            ttft += (double)(served->first_token_ns - served->arrived_ns) / MS;
            count++;
        }
    }
    assert_true(count >= 250);
    assert_true(ttft / count < 25); /* ten prompts one after the other would take 210 */
    end_course(&course);
}

/* Sessions of 4 turns, of 10 s each with the time to think: as many turns come at the beginning as at
 * the end. */
static void sessions_are_under_way(void **state)
{
    (void)state;
    const double rate = 8, whole_s = 160;
    struct course course = begin_course(2000);
    course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
    for (uint32_t i = 0; i < 2000; i++) {
        add_request(&course, 0, 10, 1);
        course.requests.all[i].turn = i % 4;
        course.requests.all[i].think_ns = i % 4 > 0 ? 10000ll * MS : 0;
    }
    course.requests.sessions = true;
    const struct stream_options options = {
        .rate = rate, .shape = 1, .seed = 3, .answer_ns = MS, .most_past = UINT64_MAX};
    assert_int_equal(stream_past(&course.requests, &options), 484); /* two lives of 30.004 s */
    int64_t end_ns = serve_stream(&course, &options);
    double early = 0, late = 0;
    for (size_t i = 0; i < 2000; i++) {
        int64_t ns = course.served[i].arrived_ns;
        early += ns >= 0 && ns < end_ns / 8;
        late += ns >= end_ns / 8 * 7;
    }
    double each = rate * whole_s / 8, deviation = sqrt(each * 4);
    assert_true(fabs((double)end_ns / 1e9 - (2000 - 484) / rate) < 40);
    assert_true(fabs(early - rate * (double)end_ns / 8e9) < 3 * deviation);
    assert_true(fabs(late - rate * (double)end_ns / 8e9) < 3 * deviation);
    end_course(&course);
}

/* More sessions may be under way than a list has: its last one begins at 0. */
static void a_list_shorter_than_its_past_is_laid(void **state)
{
    (void)state;
    struct request_stream stream;
    struct course course = begin_course(40);
    for (uint32_t i = 0; i < 40; i++) {
        add_request(&course, 0, 10, 1);
        course.requests.all[i].turn = i % 4;
        course.requests.all[i].think_ns = i % 4 > 0 ? 10000ll * MS : 0;
    }
    course.requests.sessions = true;
    const struct stream_options options = {
        .rate = 100, .shape = 1, .seed = 3, .answer_ns = MS, .most_past = UINT64_MAX};
    assert_true(stream_past(&course.requests, &options) > 40);
    assert_true(stream_lay(&course.requests, &options, &stream, &why));
    assert_int_equal(course.requests.all[36].arrival_ns, 0);
    stream_release(&stream);
    end_course(&course);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_up_ends_where_the_mean_is_known_best),
        cmocka_unit_test(an_interval_is_students),
        cmocka_unit_test(waits_are_those_of_theory),
        cmocka_unit_test(levels_are_rates_times_times),
        cmocka_unit_test(clients_are_spread),
        cmocka_unit_test(sessions_are_under_way),
        cmocka_unit_test(a_list_shorter_than_its_past_is_laid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
