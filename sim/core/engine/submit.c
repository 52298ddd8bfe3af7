/* Submitting tasks. All memory that a task needs is allocated before anything changes, so a failed
 * submission has no effect. */
#include "core/array.h"
#include "core/engine/state.h"

#include <assert.h>
#include <math.h>

static bool is_valid_flow(const struct engine *engine, const struct engine_task *task)
{
    return task->amount > 0.0 && isfinite(task->amount) && task->cap > 0.0 &&
           (task->route < engine->flows.route_count || task->route == ENGINE_NONE);
}

static bool is_valid(const struct engine *engine, const struct engine_task *task)
{
    return (task->resource < engine->resource_count || task->resource == ENGINE_NONE) &&
           task->release_ns >= 0 && task->fixed_ns >= 0 &&
           (task->amount == 0.0 || is_valid_flow(engine, task));
}

/* Make room for one event more than there can be now. */
static bool reserve_event(struct engine *engine, struct error *why)
{
    size_t needed = engine->live + 1;
    return needed <= engine->calendar.capacity || calendar_reserve(&engine->calendar, needed, why);
}

bool engine_reserve(struct engine *engine, size_t tasks, struct error *why)
{
    return array_reserve(&engine->records, &engine->record_capacity, tasks, sizeof *engine->records,
                         why) &&
           array_reserve(&engine->tasks, &engine->task_capacity, tasks, sizeof *engine->tasks, why);
}

static bool reserve_slot(struct engine *engine, struct error *why)
{
    if (engine->task_count == ENGINE_NONE) {
        return error_set(why, NULL, 0, "more than %u tasks", ENGINE_NONE);
    }
    return engine_reserve(engine, engine->task_count + 1, why);
}

static bool reserve_edges(struct engine *engine, uint32_t count, struct error *why)
{
    size_t needed = engine->edge_count + count;
    if (needed >= ENGINE_NONE) {
        return error_set(why, NULL, 0, "more than %u edges between tasks", ENGINE_NONE);
    }
    return array_reserve(&engine->edges, &engine->edge_capacity, needed, sizeof *engine->edges,
                         why);
}

static bool reserve_queue(struct engine *engine, uint32_t index, struct error *why)
{
    if (index == ENGINE_NONE) {
        return true;
    }
    struct resource *resource = &engine->resources[index];
    if (resource->queue.count == resource->queue.capacity &&
        !ring_reserve(&resource->queue, resource->queue.count + 1, why)) {
        return false;
    }
    size_t tasks = engine->task_count + 1;
    return ring_reserve(&resource->freed, tasks < resource->servers ? tasks : resource->servers,
                        why);
}

static bool reserve_all(struct engine *engine, const struct engine_task *given, struct error *why)
{
    return reserve_slot(engine, why) && reserve_event(engine, why) &&
           reserve_queue(engine, given->resource, why) &&
           reserve_edges(engine, given->after_count, why) &&
           (!(given->amount > 0.0) || flow_reserve(&engine->flows, engine->moving + 1, why));
}

static void add_edge(struct engine *engine, engine_task_id from, engine_task_id to)
{
    assert(from < to && engine->tasks[from].state != TASK_ENDED);
    uint32_t edge = (uint32_t)engine->edge_count++;
    uint32_t last = engine->tasks[from].dependents;
    engine->edges[edge] = (struct edge){to, edge};
    if (last != ENGINE_NONE) {
        engine->edges[edge].next = engine->edges[last].next;
        engine->edges[last].next = edge;
    }
    engine->tasks[from].dependents = edge;
    engine->tasks[to].waiting++;
}

/* Put the task into its queue. Returns whether it may start now: not while all servers are busy. */
static bool stand_in_line(struct engine *engine, engine_task_id id)
{
    uint32_t index = engine->tasks[id].resource;
    if (index == ENGINE_NONE) {
        return true;
    }
    struct resource *resource = &engine->resources[index];
    ring_push(&resource->queue, id);
    return resource->serving < resource->servers;
}

engine_task_id engine_submit(struct engine *engine, const struct engine_task *given,
                             struct error *why)
{
    assert(is_valid(engine, given));
    if (!reserve_all(engine, given, why)) {
        return ENGINE_NONE;
    }
    engine_task_id id = (engine_task_id)engine->task_count++;
    engine->tasks[id] = (struct task){
        .release_ns = given->release_ns,
        .fixed_ns = given->fixed_ns,
        .amount = given->amount,
        .cap = given->cap,
        .resource = given->resource,
        .tag = given->tag,
        .route = given->route,
        .dependents = ENGINE_NONE,
        .moves = given->amount > 0.0,
        .state = TASK_QUEUED,
    };
    engine->records[id] = (struct engine_record){given->resource, given->tag, -1, -1, ENGINE_NONE};
    engine->live++;
    engine->moving += given->amount > 0.0;
    for (uint32_t i = 0; i < given->after_count; i++) {
        add_edge(engine, given->after[i], id);
    }
    if (stand_in_line(engine, id)) {
        engine_try_to_start(engine, id);
    }
    return id;
}
