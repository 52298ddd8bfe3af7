/* Queues against queueing theory: the mean time in the system lies in its confidence interval.
 *
 * Batch means: the customers are cut into batches so long that their means are all but
 * independent; Student's t gives the interval. Seeds are fixed, so that a test that passes always
 * does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"
#include "core/engine/engine.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

enum { BATCHES = 40, BATCH = 15000, CUSTOMERS = (BATCHES + 1) * BATCH };

#define SERVICE_NS 1e6 /* mean; a nanosecond more or less is nothing */
#define CONFIDENCE 0.999

/* ---- How long a service is ---- */

static double draw_exponential(gsl_rng *random)
{
    return gsl_ran_exponential(random, SERVICE_NS);
}

static double draw_constant(gsl_rng *random)
{
    (void)random;
    return SERVICE_NS;
}

/* One in ten takes 5.5, the rest half a mean: a squared coefficient of variation of 5.5. */
static double draw_mixed(gsl_rng *random)
{
    double mean_ns = gsl_rng_uniform(random) < 0.1 ? 5.5 * SERVICE_NS : 0.5 * SERVICE_NS;
    return gsl_ran_exponential(random, mean_ns);
}

/* ---- How long theory says a customer stays, in services ---- */

/* Pollaczek and Khinchine: one server, `c2` the squared coefficient of variation of a service. */
static double stay_in_order(double load, double c2)
{
    return 1.0 + load * (1.0 + c2) / (2.0 * (1.0 - load));
}

/* Erlang C: several servers, exponential services. */
static double stay_with_servers(double load, uint32_t servers)
{
    double offered = load * servers, term = 1.0, sum = 0.0;
    for (uint32_t k = 0; k < servers; k++) {
        sum += term;
        term *= offered / (k + 1);
    }
    double wait = term / (1.0 - load) / (sum + term / (1.0 - load));
    return 1.0 + wait / (servers * (1.0 - load));
}

/* Processor sharing does not care for the distribution of services. */
static double stay_sharing(double load)
{
    return 1.0 / (1.0 - load);
}

/* ---- The queues ---- */

struct queue_case {
    const char *name;
    double load;
    double (*draw_ns)(gsl_rng *);
    uint32_t servers; /* 0: all share a channel */
};

struct queue {
    const struct queue_case *what;
    gsl_rng *random;
    int64_t arrivals_ns[CUSTOMERS];
    double batch_ns[BATCHES + 1]; /* sums of stays; the first batch warms up */
};

/* Submit all customers, each to be released when it arrives. */
static void submit_customers(struct engine *engine, struct queue *queue)
{
    double servers = queue->what->servers > 0 ? queue->what->servers : 1.0, arrival_ns = 0.0;
    struct error why;
    for (uint32_t id = 0; id < CUSTOMERS; id++) {
        double service_ns = queue->what->draw_ns(queue->random);
        struct engine_task customer = {.resource = 0, .fixed_ns = llround(service_ns)};
        if (queue->what->servers == 0) {
            customer = (struct engine_task){
                .resource = ENGINE_NONE, .amount = service_ns, .cap = INFINITY};
        }
        customer.release_ns = queue->arrivals_ns[id] = llround(arrival_ns);
        assert_int_equal(engine_submit(engine, &customer, &why), id);
        arrival_ns +=
            gsl_ran_exponential(queue->random, SERVICE_NS / (queue->what->load * servers));
    }
}

static void simulate(struct queue *queue)
{
    static const struct engine_route shared = {.uses = {{0, 1.0, ENGINE_PER_UNIT}}, .count = 1};
    struct error why;
    struct engine *engine = engine_create(&why);
    assert_non_null(engine);
    uint32_t servers = queue->what->servers > 0 ? queue->what->servers : 1;
    assert_int_equal(engine_resource_add(engine, "server", servers, &why), 0);
    assert_int_equal(engine_channel_add(engine, "processor", 1.0, &why), 0);
    assert_int_equal(engine_route_add(engine, &shared, &why), 0);
    submit_customers(engine, queue);
    assert_true(engine_run(engine, &why));
    for (uint32_t id = 0; id < CUSTOMERS; id++) {
        queue->batch_ns[id / BATCH] +=
            (double)(engine_task_record(engine, id)->end_ns - queue->arrivals_ns[id]);
    }
    engine_destroy(engine);
}

/* Mean stay over the batches, in services, and half the width of its interval. */
static double mean_stay(const struct queue *queue, double *half)
{
    double sum = 0.0, squares = 0.0;
    for (int b = 1; b <= BATCHES; b++) {
        double mean = queue->batch_ns[b] / BATCH / SERVICE_NS;
        sum += mean;
        squares += mean * mean;
    }
    double mean = sum / BATCHES;
    double variance = (squares - sum * mean) / (BATCHES - 1);
    *half = gsl_cdf_tdist_Pinv(0.5 + 0.5 * CONFIDENCE, BATCHES - 1) * sqrt(variance / BATCHES);
    return mean;
}

static void check_stay(const struct queue_case *what, double expected)
{
    enum { SEED = 1 };
    static struct queue queue;
    struct error why;
    queue = (struct queue){.what = what, .random = random_stream(SEED, what->name, 0, &why)};
    assert_non_null(queue.random);
    simulate(&queue);
    gsl_rng_free(queue.random);
    double half, mean = mean_stay(&queue, &half);
    print_message("%-32s stays %.3f +- %.3f services, theory %.3f\n", what->name, mean, half,
                  expected);
    assert_true(half < 0.06 * expected); /* or the test says nothing */
    if (fabs(mean - expected) > half) {
        fail_msg("%s, seed %d: %g +- %g, not %g", what->name, SEED, mean, half, expected);
    }
}

static void one_server_obeys_pollaczek_and_khinchine(void **state)
{
    (void)state;
    check_stay(&(struct queue_case){"M/M/1", 0.7, draw_exponential, 1}, stay_in_order(0.7, 1.0));
    check_stay(&(struct queue_case){"M/D/1", 0.7, draw_constant, 1}, stay_in_order(0.7, 0.0));
    check_stay(&(struct queue_case){"M/H2/1", 0.6, draw_mixed, 1}, stay_in_order(0.6, 5.5));
}

static void several_servers_obey_erlang(void **state)
{
    (void)state;
    check_stay(&(struct queue_case){"M/M/2", 0.75, draw_exponential, 2},
               stay_with_servers(0.75, 2));
    check_stay(&(struct queue_case){"M/M/5", 0.8, draw_exponential, 5}, stay_with_servers(0.8, 5));
}

static void processor_sharing_ignores_the_distribution(void **state)
{
    (void)state;
    check_stay(&(struct queue_case){"M/M/1 sharing", 0.7, draw_exponential, 0}, stay_sharing(0.7));
    check_stay(&(struct queue_case){"M/D/1 sharing", 0.7, draw_constant, 0}, stay_sharing(0.7));
    check_stay(&(struct queue_case){"M/H2/1 sharing", 0.7, draw_mixed, 0}, stay_sharing(0.7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_server_obeys_pollaczek_and_khinchine),
        cmocka_unit_test(several_servers_obey_erlang),
        cmocka_unit_test(processor_sharing_ignores_the_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
