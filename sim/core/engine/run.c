/* Running: the calendar and the flows make tasks start, be served, move their amounts and end. */
#include "core/stop_flag.h"
#include "core/engine/state.h"

#include <assert.h>

/* ---- what a task waited for ---- */

/* Bindings: engine.h defines which task it is when there are several. A resource keeps the last
 * task of each free server, so that a task knows its predecessor. */

/* `ended`, a predecessor of task `id`, has ended. Until the task starts, its binding is the
 * predecessor that ended last; among equals, the lowest id. */
static void binding_note_ended(struct engine *engine, engine_task_id id, engine_task_id ended)
{
    const struct engine_record *records = engine->records;
    engine_task_id best = records[id].binding;
    if (best == ENGINE_NONE || records[ended].end_ns > records[best].end_ns ||
        (records[ended].end_ns == records[best].end_ns && ended < best)) {
        engine->records[id].binding = ended;
    }
}

static bool ended_now(const struct engine *engine, engine_task_id id)
{
    return id != ENGINE_NONE && engine->records[id].end_ns == engine->now_ns;
}

/* Take the server that has been free longest; returns the last task that it served. */
static engine_task_id take_server(struct resource *resource)
{
    if (resource->unused == 0) {
        return ring_pop(&resource->freed);
    }
    resource->unused--;
    return ENGINE_NONE;
}

/* The task starts now, and takes a server if it is on a resource. `before`: the task ahead of it in
 * the queue that started at this same event, or ENGINE_NONE. */
static void binding_note_start(struct engine *engine, engine_task_id id, engine_task_id before)
{
    struct engine_record *record = &engine->records[id];
    record->start_ns = engine->now_ns;
    engine_task_id served = record->resource == ENGINE_NONE
                                ? ENGINE_NONE
                                : take_server(&engine->resources[record->resource]);
    if (ended_now(engine, served)) {
        record->binding = served;
    } else if (!ended_now(engine, record->binding)) {
        record->binding = before == ENGINE_NONE ? ENGINE_NONE : engine->records[before].binding;
    }
}

/* The task ends now, and leaves its server. */
static void binding_note_end(struct engine *engine, engine_task_id id)
{
    struct engine_record *record = &engine->records[id];
    record->end_ns = engine->now_ns;
    if (record->resource != ENGINE_NONE) {
        ring_push(&engine->resources[record->resource].freed, id);
    }
}

/* ---- starting and ending ---- */

static void begin_flow(struct engine *engine, engine_task_id id)
{
    struct task *task = &engine->tasks[id];
    task->state = TASK_MOVING;
    flow_begin(&engine->flows, id, task->route, task->amount, task->cap, engine->now_ns);
}

static void start_task(struct engine *engine, engine_task_id id, engine_task_id before)
{
    struct task *task = &engine->tasks[id];
    if (task->resource != ENGINE_NONE) {
        engine->resources[task->resource].serving++;
    }
    binding_note_start(engine, id, before);
    if (task->moves) {
        flow_hold(&engine->flows, task->route);
    }
    task->state = TASK_SERVED;
    if (task->fixed_ns == 0 && task->moves) {
        begin_flow(engine, id);
    } else {
        calendar_push(&engine->calendar, engine_later(engine->now_ns, task->fixed_ns), id);
    }
}

/* May a task whose turn has come start now? If only its release is missing, the calendar gets an
 * event for it. */
static bool may_start(struct engine *engine, engine_task_id id)
{
    struct task *task = &engine->tasks[id];
    if (task->waiting > 0 || task->state == TASK_DUE) {
        return false;
    }
    if (task->release_ns <= engine->now_ns) {
        return true;
    }
    task->state = TASK_DUE;
    calendar_push(&engine->calendar, engine_later(0, task->release_ns), id);
    return false;
}

/* Start the tasks at the head of the queue that can start. */
static void engine_run_serve(struct engine *engine, struct resource *resource)
{
    engine_task_id before = ENGINE_NONE;
    while (resource->queue.count > 0 && resource->serving < resource->servers) {
        engine_task_id id = ring_first(&resource->queue);
        if (!may_start(engine, id)) {
            return;
        }
        ring_pop(&resource->queue);
        start_task(engine, id, before);
        before = id;
    }
}

void engine_try_to_start(struct engine *engine, engine_task_id id)
{
    uint32_t resource = engine->tasks[id].resource;
    if (resource != ENGINE_NONE) {
        engine_run_serve(engine, &engine->resources[resource]);
    } else if (may_start(engine, id)) {
        start_task(engine, id, ENGINE_NONE);
    }
}

static void leave_server(struct engine *engine, struct resource *resource)
{
    resource->serving--;
    engine_run_serve(engine, resource);
}

/* Notify the successors, in order of submission. */
static void notify_dependents(struct engine *engine, engine_task_id ended)
{
    uint32_t last = engine->tasks[ended].dependents;
    if (last == ENGINE_NONE) {
        return;
    }
    uint32_t edge = last;
    do {
        edge = engine->edges[edge].next;
        engine_task_id id = engine->edges[edge].to;
        binding_note_ended(engine, id, ended);
        if (--engine->tasks[id].waiting == 0) {
            engine_try_to_start(engine, id);
        }
    } while (edge != last);
}

static void end_task(struct engine *engine, engine_task_id id)
{
    struct task *task = &engine->tasks[id];
    task->state = TASK_ENDED;
    engine->live--;
    if (task->moves) {
        engine->moving--;
        flow_give_back(&engine->flows, task->route);
    }
    binding_note_end(engine, id);
    if (task->resource != ENGINE_NONE) {
        leave_server(engine, &engine->resources[task->resource]);
    }
    notify_dependents(engine, id);
}

static void go_on(struct engine *engine, engine_task_id id)
{
    struct task *task = &engine->tasks[id];
    if (task->state == TASK_DUE) {
        task->state = TASK_QUEUED;
        engine_try_to_start(engine, id);
    } else if (task->moves) {
        begin_flow(engine, id);
    } else {
        end_task(engine, id);
    }
}

static void end_flows(struct engine *engine)
{
    flow_end_due(&engine->flows, engine->now_ns);
    for (size_t i = 0; i < engine->flows.ended_count; i++) {
        end_task(engine, engine->flows.ended[i]);
    }
}

/* Look at the flag every so many events: some 100 us. */
static bool engine_run_goes_on(struct engine *engine, struct error *why)
{
    return ++engine->unwatched % 1024 != 0 || stop_flag_check(engine->stop, why);
}

bool engine_run(struct engine *engine, struct error *why)
{
    struct flow_set *flows = &engine->flows;
    for (;;) {
        int64_t event_ns = calendar_next_ns(&engine->calendar);
        if (flows->changed && event_ns > engine->now_ns && flows->next_ns > engine->now_ns) {
            flow_refresh(flows, engine->now_ns);
        }
        int64_t next_ns = event_ns <= flows->next_ns ? event_ns : flows->next_ns;
        if (next_ns == INT64_MAX) {
            assert(engine->live == 0);
            return true;
        }
        if (next_ns > ENGINE_LAST_NS) {
            return error_set(why, NULL, 0, "the simulated time exceeds 2^62 ns, about 146 years");
        }
        if (!engine_run_goes_on(engine, why)) {
            return false;
        }
        engine->now_ns = next_ns;
        if (event_ns == next_ns) {
            go_on(engine, calendar_item(calendar_pop(&engine->calendar)));
        } else {
            end_flows(engine);
        }
    }
}
