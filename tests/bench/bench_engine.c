/* Speed of the engine: customers of an M/M/1 queue a second through the public interface, compared
 * with the Lindley recurrence on the same random numbers; and tasks a second of a graph
 * that resembles decoding. */
#include "core/random.h"
#include "bench.h"
#include "core/engine/engine.h"

#include <math.h>

#define CUSTOMERS 1000000
#define ROUNDS 20 /* taken in turns; the best counts, as others may use the machine too */
#define SERVICE_NS 1e6
#define LOAD 0.8

/* An M/M/1 queue: its customers and results. */
struct queue {
    gsl_rng *random;
    uint32_t server;
    uint32_t left; /* customers yet to arrive */
    int64_t arrival_ns;
    int64_t sojourn_ns; /* sum over customers */
};

static int64_t draw_ns(gsl_rng *random, double mean_ns)
{
    return (int64_t)(-mean_ns * log(gsl_rng_uniform_pos(random)));
}

static void run_bare(struct queue *queue)
{
    int64_t wait_ns = 0;
    for (uint32_t left = queue->left; left > 0; left--) {
        int64_t gap_ns = draw_ns(queue->random, SERVICE_NS / LOAD);
        wait_ns = wait_ns > gap_ns ? wait_ns - gap_ns : 0;
        wait_ns += draw_ns(queue->random, SERVICE_NS);
        queue->sojourn_ns += wait_ns;
    }
}

static struct engine *make_engine(const char *server)
{
    struct error why;
    struct engine *engine = engine_create(&why);
    if (!engine || engine_resource_add(engine, server, &why) == ENGINE_NONE) {
        die(&why);
    }
    return engine;
}

static void submit_customer(struct engine *engine, struct queue *queue)
{
    struct error why;
    const struct engine_task door = {.resource = queue->server + 1,
                                     .fixed_ns = draw_ns(queue->random, SERVICE_NS / LOAD)};
    engine_task_id came = engine_submit(engine, &door, &why);
    const struct engine_task customer = {.resource = queue->server,
                                         .fixed_ns = draw_ns(queue->random, SERVICE_NS),
                                         .after = &came,
                                         .after_count = 1};
    queue->arrival_ns += door.fixed_ns;
    queue->sojourn_ns -= queue->arrival_ns;
    if (engine_submit(engine, &customer, &why) == ENGINE_NONE) {
        die(&why);
    }
}

/* Customers are submitted ahead, and come through a door one after the other. */
static void run_arrivals(struct queue *queue)
{
    struct error why;
    struct engine *engine = make_engine("server");
    uint32_t count = queue->left;
    if (engine_resource_add(engine, "door", &why) == ENGINE_NONE) {
        die(&why);
    }
    for (; queue->left > 0; queue->left--) {
        submit_customer(engine, queue);
    }
    if (!engine_run(engine, NULL, &why)) {
        die(&why);
    }
    for (uint32_t id = 0; id < count; id++) {
        queue->sojourn_ns += engine_task_record(engine, 2 * id + 1)->end_ns;
    }
    engine_destroy(engine);
}

struct measured_queue {
    const char *name;
    void (*run)(struct queue *);
    double best_s; /* of all rounds */
    int64_t sojourn_ns;
};

static void measure_queue(struct measured_queue *measured)
{
    struct error why;
    struct queue queue = {.random = random_stream(1, "bench.queue", 0, &why), .left = CUSTOMERS};
    if (!queue.random) {
        die(&why);
    }
    double begin = seconds();
    measured->run(&queue);
    measured->best_s = fmin(measured->best_s, seconds() - begin);
    measured->sojourn_ns = queue.sojourn_ns;
    gsl_rng_free(queue.random);
}

enum { STEPS = 32, LAYERS = 32, STAGES = 30, TASKS = STEPS * LAYERS * STAGES };

/* The kinds of stages of a decode-like machine, which follow each other. */
enum { KINDS = 5 };

struct machine {
    struct engine_task kinds[KINDS];
};

/* A route over one channel, or two. */
static uint32_t add_route(struct engine *engine, uint32_t first, uint32_t second)
{
    struct error why;
    struct engine_route route = {
        .uses = {{first, 1.0, ENGINE_PER_UNIT}, {second, 1.0, ENGINE_PER_UNIT}},
        .count = second == ENGINE_NONE ? 1 : 2,
    };
    uint32_t id = engine_route_add(engine, &route, &why);
    if (id == ENGINE_NONE) {
        die(&why);
    }
    return id;
}

static struct engine *make_machine(struct machine *machine)
{
    struct error why;
    struct engine *engine = make_engine("main");
    uint32_t main = 0;
    uint32_t side = engine_resource_add(engine, "side", &why);
    uint32_t h2d = engine_resource_add(engine, "h2d", &why);
    uint32_t pool = engine_resource_add(engine, "pool", &why);
    uint32_t hbm = engine_channel_add(engine, 600.0);
    uint32_t link = engine_channel_add(engine, 26.0);
    uint32_t dram = engine_channel_add(engine, 200.0);
    if (pool == ENGINE_NONE || dram == ENGINE_NONE) {
        die(&why);
    }
    uint32_t kernel = add_route(engine, hbm, ENGINE_NONE);
    uint32_t copy = add_route(engine, link, dram), gather = add_route(engine, dram, dram);
    *machine = (struct machine){{
        {.resource = main, .fixed_ns = 2000, .amount = 3e5, .cap = 550.0, .route = kernel},
        {.resource = pool, .fixed_ns = 1500, .amount = 5e4, .cap = 20.0, .route = gather},
        {.resource = h2d, .fixed_ns = 4000, .amount = 5e4, .cap = 26.0, .route = copy},
        {.resource = side, .fixed_ns = 3000},
        {.resource = main, .fixed_ns = 2500, .amount = 1e5, .cap = 300.0, .route = kernel},
    }};
    return engine;
}

/* A stage waits for the second and third before it, so that neighbours overlap. */
static void submit_stage(struct engine *engine, const struct machine *machine, uint32_t index)
{
    struct error why;
    engine_task_id after[2] = {index - 2, index - 3};
    struct engine_task task = machine->kinds[index % KINDS];
    task.after = after;
    task.after_count = index < 3 ? 0 : 2;
    if (engine_submit(engine, &task, &why) == ENGINE_NONE) {
        die(&why);
    }
}

/* Seconds of a whole program, submitted and run. */
static double measure_graph(void)
{
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        struct error why;
        struct machine machine;
        struct engine *engine = make_machine(&machine);
        double begin = seconds();
        for (uint32_t index = 0; index < TASKS; index++) {
            submit_stage(engine, &machine, index);
        }
        if (!engine_run(engine, NULL, &why)) {
            die(&why);
        }
        best = fmin(best, seconds() - begin);
        engine_destroy(engine);
    }
    return best;
}

int main(void)
{
    struct measured_queue queues[] = {
        {"M/M/1 by hand", run_bare, INFINITY, 0},
        {"engine, with arrivals", run_arrivals, INFINITY, 0},
    };
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            measure_queue(&queues[i]);
        }
    }
    for (int i = 1; i < 2; i++) {
        print_row(queues[i].name, CUSTOMERS, "customers", queues[i].best_s, "a bare M/M/1 loop",
                  queues[0].best_s);
    }
    print_row("engine, decode-like graph", TASKS, "tasks", measure_graph(), NULL, 0);
    return 0;
}
