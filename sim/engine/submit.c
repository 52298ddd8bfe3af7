/* Submitting tasks and timers. All memory that a task or timer needs is allocated before anything
 * changes, so a failed submission has no effect. */
#include "base/array.h"
#include "engine/binding.h"

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
    size_t needed = engine->live + engine->timers_set + 1;
    return needed <= engine->calendar.capacity || calendar_reserve(&engine->calendar, needed, why);
}

bool engine_reserve(struct engine *engine, size_t tasks, struct error *why)
{
    return (!engine->record || array_reserve(&engine->records, &engine->record_capacity, tasks,
                                             sizeof *engine->records, why)) &&
           array_reserve(&engine->tasks, &engine->task_capacity, tasks, sizeof *engine->tasks, why);
}

static bool reserve_slot(struct engine *engine, struct error *why)
{
    if (engine->free_task != ENGINE_NONE) {
        return true;
    }
    if (engine->task_count == TIMER_BIT) {
        return error_set(why, NULL, 0, "more than %u tasks at once", TIMER_BIT);
    }
    return engine_reserve(engine, engine->task_count + 1, why);
}

static bool reserve_edges(struct engine *engine, uint32_t count, struct error *why)
{
    if (count <= engine->edges_free) {
        return true;
    }
    size_t needed = engine->edge_count + count - engine->edges_free;
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
    return !engine->record ||
           ring_reserve(&resource->freed, tasks < resource->servers ? tasks : resource->servers,
                        why);
}

static bool reserve_all(struct engine *engine, const struct engine_task *given, struct error *why)
{
    return reserve_slot(engine, why) && reserve_event(engine, why) &&
           reserve_queue(engine, given->resource, why) &&
           reserve_edges(engine, given->after_count, why) &&
           (!(given->amount > 0.0) || flow_reserve(&engine->flows, engine->moving + 1, why));
}

static uint32_t take_edge(struct engine *engine)
{
    if (engine->free_edge == ENGINE_NONE) {
        return (uint32_t)engine->edge_count++;
    }
    uint32_t edge = engine->free_edge;
    engine->free_edge = engine->edges[edge].next;
    engine->edges_free--;
    return edge;
}

static void add_edge(struct engine *engine, engine_task_id from, engine_task_id to)
{
    uint32_t edge = take_edge(engine);
    uint32_t last = engine->tasks[from].dependents;
    engine->edges[edge] = (struct edge){to, edge};
    if (last != ENGINE_NONE) {
        engine->edges[edge].next = engine->edges[last].next;
        engine->edges[last].next = edge;
    }
    engine->tasks[from].dependents = edge;
    engine->tasks[to].waiting++;
}

static void wait_for(struct engine *engine, engine_task_id id, engine_task_id predecessor)
{
    assert(predecessor < engine->task_count && predecessor != id);
    if (engine->tasks[predecessor].state != TASK_ENDED) {
        add_edge(engine, predecessor, id);
    } else {
        assert(engine->record);
        binding_note_ended(engine, id, predecessor);
    }
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

static engine_task_id take_slot(struct engine *engine)
{
    if (engine->free_task == ENGINE_NONE) {
        return (engine_task_id)engine->task_count++;
    }
    engine_task_id id = engine->free_task;
    engine->free_task = engine->tasks[id].dependents;
    return id;
}

engine_task_id engine_submit(struct engine *engine, const struct engine_task *given,
                             struct error *why)
{
    assert(is_valid(engine, given));
    if (!reserve_all(engine, given, why)) {
        return ENGINE_NONE;
    }
    engine_task_id id = take_slot(engine);
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
    if (engine->record) {
        engine->records[id] =
            (struct engine_record){given->resource, given->tag, -1, -1, ENGINE_NONE};
    }
    engine->live++;
    engine->moving += given->amount > 0.0;
    for (uint32_t i = 0; i < given->after_count; i++) {
        wait_for(engine, id, given->after[i]);
    }
    if (stand_in_line(engine, id)) {
        engine_try_to_start(engine, id);
    }
    return id;
}

static bool reserve_timer(struct engine *engine, struct error *why)
{
    if (engine->free_timer != ENGINE_NONE) {
        return true;
    }
    if (engine->timer_count == TIMER_BIT) {
        return error_set(why, NULL, 0, "more than %u timers at once", TIMER_BIT);
    }
    return array_reserve(&engine->timers, &engine->timer_capacity, engine->timer_count + 1,
                         sizeof *engine->timers, why);
}

static uint32_t take_timer(struct engine *engine)
{
    if (engine->free_timer == ENGINE_NONE) {
        return (uint32_t)engine->timer_count++;
    }
    uint32_t slot = engine->free_timer;
    engine->free_timer = engine->timers[slot].tag;
    return slot;
}

bool engine_timer(struct engine *engine, int64_t at_ns, uint32_t tag, engine_callback callback,
                  void *context, struct error *why)
{
    assert(at_ns >= engine->now_ns && callback);
    if (!reserve_event(engine, why) || !reserve_timer(engine, why)) {
        return false;
    }
    uint32_t slot = take_timer(engine);
    engine->timers[slot] = (struct timer){callback, context, tag};
    engine->timers_set++;
    calendar_push(&engine->calendar, engine_later(0, at_ns), slot | TIMER_BIT);
    return true;
}
