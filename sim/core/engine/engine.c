/* The engine: creating it, adding resources, channels and routes, and reading its results. */
#include "core/array.h"
#include "core/engine/state.h"

#include <assert.h>
#include <stdlib.h>

struct engine *engine_create(struct error *why)
{
    struct engine *engine = array_zeroed(1, sizeof *engine, why);
    if (engine) {
        flow_init(&engine->flows);
    }
    return engine;
}

void engine_destroy(struct engine *engine)
{
    if (!engine) {
        return;
    }
    for (size_t i = 0; i < engine->resource_count; i++) {
        ring_release(&engine->resources[i].queue);
        ring_release(&engine->resources[i].freed);
    }
    calendar_release(&engine->calendar);
    flow_release(&engine->flows);
    free(engine->resources);
    free(engine->tasks);
    free(engine->records);
    free(engine->edges);
    free(engine);
}

uint32_t engine_resource_add(struct engine *engine, const char *name, uint32_t servers,
                             struct error *why)
{
    if (servers == 0) {
        error_set(why, NULL, 0, "resource '%s' has no server", name);
        return ENGINE_NONE;
    }
    if (!array_reserve(&engine->resources, &engine->resource_capacity, engine->resource_count + 1,
                       sizeof *engine->resources, why)) {
        return ENGINE_NONE;
    }
    engine->resources[engine->resource_count] =
        (struct resource){.name = name, .servers = servers, .unused = servers};
    return (uint32_t)engine->resource_count++;
}

uint32_t engine_channel_add(struct engine *engine, const char *name, double capacity,
                            struct error *why)
{
    return flow_channel_add(&engine->flows, name, capacity, why);
}

uint32_t engine_route_add(struct engine *engine, const struct engine_route *route,
                          struct error *why)
{
    return flow_route_add(&engine->flows, route, why);
}

void engine_stop_when(struct engine *engine, const struct stop_flag *stop)
{
    engine->stop = stop;
}

int64_t engine_now(const struct engine *engine)
{
    return engine->now_ns;
}

uint32_t engine_task_count(const struct engine *engine)
{
    return (uint32_t)engine->task_count;
}

const struct engine_record *engine_task_record(const struct engine *engine, engine_task_id task)
{
    assert(task < engine->task_count);
    return &engine->records[task];
}

const char *engine_resource_name(const struct engine *engine, uint32_t resource)
{
    assert(resource < engine->resource_count);
    return engine->resources[resource].name;
}
