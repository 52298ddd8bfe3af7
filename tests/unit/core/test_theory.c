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
    bool shares; /* all share a channel; else one server takes them in order */
};

struct queue {
    const struct queue_case *what;
    gsl_rng *random;
    int64_t arrivals_ns[CUSTOMERS];
    double batch_ns[BATCHES + 1]; /* sums of stays; the first batch warms up */
};

/* Submit all customers. Each comes through a door, which takes as long as it arrives after the one
 * before. */
static void submit_customers(struct engine *engine, struct queue *queue)
{
    int64_t arrival_ns = 0;
    struct error why;
    for (uint32_t i = 0; i < CUSTOMERS; i++) {
        double service_ns = queue->what->draw_ns(queue->random);
        struct engine_task door = {.resource = 1,
                                   .fixed_ns = llround(gsl_ran_exponential(
                                       queue->random, SERVICE_NS / queue->what->load))};
        engine_task_id came = engine_submit(engine, &door, &why);
        struct engine_task customer = {.resource = 0, .fixed_ns = llround(service_ns)};
        if (queue->what->shares) {
            customer = (struct engine_task){
                .resource = ENGINE_NONE, .amount = service_ns, .cap = INFINITY};
        }
        customer.after = &came;
        customer.after_count = 1;
        assert_int_equal(engine_submit(engine, &customer, &why), 2 * i + 1);
        queue->arrivals_ns[i] = arrival_ns += door.fixed_ns;
    }
}

static void simulate(struct queue *queue)
{
    static const struct engine_route shared = {.uses = {{0, 1.0, ENGINE_PER_UNIT}}, .count = 1};
    struct error why;
    struct engine *engine = engine_create(&why);
    assert_non_null(engine);
    assert_int_equal(engine_resource_add(engine, "server", &why), 0);
    assert_int_equal(engine_resource_add(engine, "door", &why), 1);
    assert_int_equal(engine_channel_add(engine, 1.0), 0);
    assert_int_equal(engine_route_add(engine, &shared, &why), 0);
    submit_customers(engine, queue);
    assert_true(engine_run(engine, NULL, &why));
    for (uint32_t i = 0; i < CUSTOMERS; i++) {
        queue->batch_ns[i / BATCH] +=
            (double)(engine_task_record(engine, 2 * i + 1)->end_ns - queue->arrivals_ns[i]);
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
    check_stay(&(struct queue_case){"M/M/1", 0.7, draw_exponential, false},
               stay_in_order(0.7, 1.0));
    check_stay(&(struct queue_case){"M/D/1", 0.7, draw_constant, false}, stay_in_order(0.7, 0.0));
    check_stay(&(struct queue_case){"M/H2/1", 0.6, draw_mixed, false}, stay_in_order(0.6, 5.5));
}

static void processor_sharing_ignores_the_distribution(void **state)
{
    (void)state;
    check_stay(&(struct queue_case){"M/M/1 sharing", 0.7, draw_exponential, true},
               stay_sharing(0.7));
    check_stay(&(struct queue_case){"M/D/1 sharing", 0.7, draw_constant, true}, stay_sharing(0.7));
    check_stay(&(struct queue_case){"M/H2/1 sharing", 0.7, draw_mixed, true}, stay_sharing(0.7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_server_obeys_pollaczek_and_khinchine),
        cmocka_unit_test(processor_sharing_ignores_the_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
