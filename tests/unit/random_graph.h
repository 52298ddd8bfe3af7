/* Random task graphs on a small machine, for tests of what every schedule must obey. */
#ifndef TESTS_RANDOM_GRAPH_H
#define TESTS_RANDOM_GRAPH_H

#include "base/random.h"
#include "engine/engine.h"

#include <math.h>

enum {
    GRAPH_MOST = 24,
    GRAPH_AFTER = 3,
    GRAPH_RESOURCES = 3,
    GRAPH_CHANNELS = 2,
    GRAPH_ROUTES = 4,
};

struct graph {
    uint64_t seed;
    uint32_t servers[GRAPH_RESOURCES];
    double capacities[GRAPH_CHANNELS];
    struct engine_route routes[GRAPH_ROUTES]; /* the last one withholds as well */
    uint32_t count;
    struct engine_task tasks[GRAPH_MOST];
    engine_task_id after[GRAPH_MOST][GRAPH_AFTER];
};

static uint32_t graph_below(gsl_rng *random, uint32_t bound)
{
    return (uint32_t)gsl_rng_uniform_int(random, bound);
}

static void graph_draw_task(struct graph *graph, gsl_rng *random, bool withhold)
{
    uint32_t id = graph->count++;
    uint32_t resource = graph_below(random, GRAPH_RESOURCES + 1);
    struct engine_task *task = &graph->tasks[id];
    *task = (struct engine_task){
        .resource = resource < GRAPH_RESOURCES ? resource : ENGINE_NONE,
        .tag = id,
        .release_ns = graph_below(random, 4) == 0 ? (int64_t)graph_below(random, 30) : 0,
        .fixed_ns = graph_below(random, 7),
        .after = graph->after[id],
        .after_count = id > 0 ? graph_below(random, GRAPH_AFTER + 1) : 0,
        .route = graph_below(random, withhold ? GRAPH_ROUTES : GRAPH_ROUTES - 1),
        .cap = graph_below(random, 3) == 0 ? INFINITY : 0.2 + 3.0 * gsl_rng_uniform(random),
        .amount = graph_below(random, 2) == 0 ? 0.0 : 20.0 * gsl_rng_uniform(random),
    };
    for (uint32_t i = 0; i < task->after_count; i++) {
        graph->after[id][i] = graph_below(random, id);
    }
}

static void graph_draw(struct graph *graph, uint64_t seed, bool withhold)
{
    struct error why;
    gsl_rng *random = random_stream(seed, "test.graph", 0, &why);
    *graph = (struct graph){.seed = seed};
    for (int i = 0; i < GRAPH_RESOURCES; i++) {
        graph->servers[i] = 1 + graph_below(random, 3) / 2 * (1 + graph_below(random, 2));
    }
    for (int i = 0; i < GRAPH_CHANNELS; i++) {
        graph->capacities[i] = 1.0 + 2.0 * gsl_rng_uniform(random);
    }
    graph->routes[0] = (struct engine_route){{{0, 1.0, ENGINE_PER_UNIT}}, 1};
    graph->routes[1] = (struct engine_route){{{1, 1.5, ENGINE_PER_UNIT}}, 1};
    graph->routes[2] =
        (struct engine_route){{{0, 1.0, ENGINE_PER_UNIT}, {1, 1.5, ENGINE_AT_CAP}}, 2};
    graph->routes[3] =
        (struct engine_route){{{0, 1.0, ENGINE_PER_UNIT}, {1, 0.7, ENGINE_WITHHELD}}, 2};
    uint32_t count = 2 + graph_below(random, GRAPH_MOST - 2);
    while (graph->count < count) {
        graph_draw_task(graph, random, withhold);
    }
    gsl_rng_free(random);
}

/* An engine on which the graph has been submitted and run. */
static struct engine *graph_run(const struct graph *graph)
{
    static const char *const names[GRAPH_RESOURCES] = {"r0", "r1", "r2"};
    struct error why;
    struct engine *engine = engine_create(true, &why);
    assert_non_null(engine);
    for (uint32_t i = 0; i < GRAPH_RESOURCES; i++) {
        assert_int_equal(engine_resource_add(engine, names[i], graph->servers[i], &why), i);
    }
    for (uint32_t i = 0; i < GRAPH_CHANNELS; i++) {
        assert_int_equal(engine_channel_add(engine, "channel", graph->capacities[i], &why), i);
    }
    for (uint32_t i = 0; i < GRAPH_ROUTES; i++) {
        assert_int_equal(engine_route_add(engine, &graph->routes[i], &why), i);
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        assert_int_equal(engine_submit(engine, &graph->tasks[i], &why), i);
    }
    assert_true(engine_run(engine, INT64_MAX, &why));
    return engine;
}

#endif
