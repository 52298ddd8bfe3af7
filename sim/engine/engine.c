/* The engine: creating it, adding resources, channels and routes, and reading its results. */
#include "base/array.h"
#include "engine/state.h"

#include <assert.h>
#include <stdlib.h>

struct engine *engine_create(bool record, struct error *why)
{
    struct engine *engine = array_zeroed(1, sizeof *engine, why);
    if (!engine) {
        return NULL;
    }
    engine->record = record;
    engine_reset(engine);
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
    free(engine->timers);
    free(engine);
}

void engine_reset(struct engine *engine)
{
    engine->now_ns = 0;
    calendar_clear(&engine->calendar);
    flow_clear(&engine->flows);
    for (size_t i = 0; i < engine->resource_count; i++) {
        struct resource *resource = &engine->resources[i];
        ring_clear(&resource->queue);
        ring_clear(&resource->freed);
        resource->serving = 0;
        resource->unused = resource->servers;
        resource->busy_ns = 0;
    }
    engine->task_count = engine->live = engine->moving = 0;
    engine->edge_count = engine->edges_free = 0;
    engine->timer_count = engine->timers_set = 0;
    engine->free_task = engine->free_edge = engine->free_timer = ENGINE_NONE;
}

void engine_on_end(struct engine *engine, engine_callback callback, void *context)
{
    engine->on_end = callback;
    engine->on_end_context = context;
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
    assert(engine->record);
    return (uint32_t)engine->task_count;
}

const struct engine_record *engine_task_record(const struct engine *engine, engine_task_id task)
{
    assert(engine->record && task < engine->task_count);
    return &engine->records[task];
}

uint32_t engine_resource_count(const struct engine *engine)
{
    return (uint32_t)engine->resource_count;
}

const char *engine_resource_name(const struct engine *engine, uint32_t resource)
{
    assert(resource < engine->resource_count);
    return engine->resources[resource].name;
}

int64_t engine_busy_ns(const struct engine *engine, uint32_t index)
{
    assert(index < engine->resource_count);
    const struct resource *resource = &engine->resources[index];
    return resource->busy_ns +
           (resource->serving > 0 ? engine->now_ns - resource->busy_since_ns : 0);
}
