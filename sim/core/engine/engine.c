/* The engine: its resources, channels and routes, running tasks, what they waited for, and the results. */

#include "core/engine/engine.h"

#include <math.h>

#include "core/engine/calendar.h"
#include "core/engine/flow.h"
#include "core/stop_flag.h"

/* A task on its way:
 *
 *   submit -> in its queue --(first there, the server free, predecessors ended)-->
 *   served --(fixed_ns)--> moving, when it moves something --(its flow ends)--> ended
 *
 * Invariants: a task has at most one event or one flow at a time. Room for them is made once, at submission,
 * so running never allocates. A task waits only for tasks submitted before it, so some task can always go on.
 */

struct task {
    int64_t fixed_ns;
    double amount, cap;
    uint32_t resource, tag, route;
    uint32_t waiting;    /* predecessors that have not ended */
    uint32_t dependents; /* last edge to its successors */
    engine_task_id next; /* behind it in its queue */
    bool moves;          /* amount > 0 */
    bool ended;
};

/* One successor of a task. The edges of a task form a ring in order of submission. */
struct edge {
    engine_task_id to;
    uint32_t next;
};

struct resource {
    const char *name;
    bool busy;
    engine_task_id first, last; /* of the queue of tasks that have not started */
    engine_task_id served;      /* the last that ended */
};

struct engine {
    int64_t now_ns;
    uint32_t unwatched; /* events since the flag was looked at */
    struct calendar calendar;
    struct flow_set flows;
    struct resource *resources;
    size_t resource_count, resource_capacity;

    struct task *tasks;
    struct engine_record *records; /* of each task */
    size_t task_count, task_capacity, record_capacity;
    size_t live, moving; /* tasks that have not ended; those of them with an amount to move */

    struct edge *edges;
    size_t edge_count, edge_capacity;
};

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
    calendar_release(&engine->calendar);
    flow_release(&engine->flows);
    free(engine->resources);
    free(engine->tasks);
    free(engine->records);
    free(engine->edges);
    free(engine);
}

uint32_t engine_resource_add(struct engine *engine, const char *name, struct error *why)
{
    if (!array_reserve(&engine->resources, &engine->resource_capacity, engine->resource_count + 1,
                       sizeof *engine->resources, why)) {
        return ENGINE_NONE;
    }
    engine->resources[engine->resource_count] =
        (struct resource){name, false, ENGINE_NONE, ENGINE_NONE, ENGINE_NONE};
    return (uint32_t)engine->resource_count++;
}

uint32_t engine_channel_add(struct engine *engine, double capacity)
{
    return flow_channel_add(&engine->flows, capacity);
}

uint32_t engine_route_add(struct engine *engine, const struct engine_route *route,
                          struct error *why)
{
    return flow_route_add(&engine->flows, route, why);
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

uint32_t engine_resource_count(const struct engine *engine)
{
    return (uint32_t)engine->resource_count;
}

const char *engine_resource_name(const struct engine *engine, uint32_t resource)
{
    assert(resource < engine->resource_count);
    return engine->resources[resource].name;
}

/* Running: the calendar and the flows make tasks start, be served, move their amounts and end. */

static bool ended_now(const struct engine *engine, engine_task_id id)
{
    return id != ENGINE_NONE && engine->records[id].end_ns == engine->now_ns;
}

static void begin_flow(struct engine *engine, engine_task_id id)
{
    const struct task *task = &engine->tasks[id];
    flow_begin(&engine->flows, id, task->route, task->amount, task->cap, engine->now_ns);
}

static void start_task(struct engine *engine, engine_task_id id)
{
    const struct task *task = &engine->tasks[id];
    struct engine_record *record = &engine->records[id];
    engine_task_id served =
        record->resource == ENGINE_NONE ? ENGINE_NONE : engine->resources[record->resource].served;
    record->start_ns = engine->now_ns;
    if (ended_now(engine, served)) { /* until now the binding was the predecessor that ended last */
        record->binding = served;
    } else if (!ended_now(engine, record->binding)) {
        record->binding = ENGINE_NONE;
    }
    if (task->moves) {
        flow_hold(&engine->flows, task->route, 1);
    }
    if (task->fixed_ns == 0 && task->moves) {
        begin_flow(engine, id);
    } else {
        int64_t left = ENGINE_LAST_NS - engine->now_ns; /* until the end of time, or just past it */
        int64_t wait = task->fixed_ns <= left ? task->fixed_ns : left + 1;
        calendar_push(&engine->calendar, engine->now_ns + wait, id);
    }
}

/* Start the task at the head of the queue if it can start. */
static void engine_run_serve(struct engine *engine, struct resource *resource)
{
    engine_task_id id = resource->first;
    if (!resource->busy && id != ENGINE_NONE && engine->tasks[id].waiting == 0) {
        resource->first = engine->tasks[id].next;
        resource->busy = true;
        start_task(engine, id);
    }
}

/* What a queued task waited for has happened: start it, or its queue's head, if nothing is missing. */
static void engine_try_to_start(struct engine *engine, engine_task_id id)
{
    uint32_t resource = engine->tasks[id].resource;
    if (resource != ENGINE_NONE) {
        engine_run_serve(engine, &engine->resources[resource]);
    } else if (engine->tasks[id].waiting == 0) {
        start_task(engine, id);
    }
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
        /* `ended`, a predecessor of task `id`, has ended. Until the task starts, its binding is the
         * predecessor that ended last; among equals, the lowest id. */
        const struct engine_record *records = engine->records;
        engine_task_id best = records[id].binding;
        if (best == ENGINE_NONE || records[ended].end_ns > records[best].end_ns ||
            (records[ended].end_ns == records[best].end_ns && ended < best)) {
            engine->records[id].binding = ended;
        }
        if (--engine->tasks[id].waiting == 0) {
            engine_try_to_start(engine, id);
        }
    } while (edge != last);
}

static void end_task(struct engine *engine, engine_task_id id)
{
    struct task *task = &engine->tasks[id];
    task->ended = true;
    engine->live--;
    if (task->moves) {
        engine->moving--;
        flow_hold(&engine->flows, task->route, -1);
    }
    engine->records[id].end_ns = engine->now_ns;
    if (task->resource != ENGINE_NONE) {
        struct resource *resource = &engine->resources[task->resource];
        resource->served = id;
        resource->busy = false;
        engine_run_serve(engine, resource);
    }
    notify_dependents(engine, id);
}

bool engine_run(struct engine *engine, const struct stop_flag *stop, struct error *why)
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
        /* Look at the flag every so many events: some 100 us. */
        if (++engine->unwatched % 1024 == 0 && !stop_flag_check(stop, why)) {
            return false;
        }
        engine->now_ns = next_ns;
        if (event_ns == next_ns) {
            engine_task_id id = calendar_item(calendar_pop(&engine->calendar));
            (engine->tasks[id].moves ? begin_flow : end_task)(engine, id);
        } else {
            flow_end_due(&engine->flows, engine->now_ns);
            for (size_t i = 0; i < engine->flows.ended_count; i++) {
                end_task(engine, engine->flows.ended[i]);
            }
        }
    }
}

/* Submitting tasks. All memory of a task is allocated before anything changes, so a failure has no effect. */

static bool is_valid(const struct engine *engine, const struct engine_task *task)
{
    return (task->resource < engine->resource_count || task->resource == ENGINE_NONE) &&
           task->fixed_ns >= 0 &&
           (task->amount == 0.0 ||
            (task->amount > 0.0 && isfinite(task->amount) && task->cap > 0.0 &&
             (task->route < engine->flows.route_count || task->route == ENGINE_NONE)));
}

bool engine_reserve(struct engine *engine, size_t tasks, struct error *why)
{
    return array_reserve(&engine->records, &engine->record_capacity, tasks, sizeof *engine->records,
                         why) &&
           array_reserve(&engine->tasks, &engine->task_capacity, tasks, sizeof *engine->tasks, why);
}

static bool reserve_all(struct engine *engine, const struct engine_task *given, struct error *why)
{
    size_t edges = engine->edge_count + given->after_count;
    if (engine->task_count == ENGINE_NONE || edges >= ENGINE_NONE) {
        return error_set(why, NULL, 0, "more than %u tasks, or edges between them", ENGINE_NONE);
    }
    return engine_reserve(engine, engine->task_count + 1, why) &&
           calendar_reserve(&engine->calendar, engine->live + 1, why) &&
           array_reserve(&engine->edges, &engine->edge_capacity, edges, sizeof *engine->edges,
                         why) &&
           (!(given->amount > 0.0) || flow_reserve(&engine->flows, engine->moving + 1, why));
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
        .fixed_ns = given->fixed_ns,
        .amount = given->amount,
        .cap = given->cap,
        .resource = given->resource,
        .tag = given->tag,
        .route = given->route,
        .dependents = ENGINE_NONE,
        .next = ENGINE_NONE,
        .moves = given->amount > 0.0,
    };
    engine->records[id] = (struct engine_record){given->resource, given->tag, -1, -1, ENGINE_NONE};
    engine->live++;
    engine->moving += given->amount > 0.0;
    for (uint32_t i = 0; i < given->after_count; i++) {
        struct task *before = &engine->tasks[given->after[i]];
        uint32_t edge = (uint32_t)engine->edge_count++, last = before->dependents;
        assert(given->after[i] < id && !before->ended);
        engine->edges[edge] = (struct edge){id, edge};
        if (last != ENGINE_NONE) {
            engine->edges[edge].next = engine->edges[last].next;
            engine->edges[last].next = edge;
        }
        before->dependents = edge;
        engine->tasks[id].waiting++;
    }
    if (given->resource != ENGINE_NONE) { /* the last in its queue */
        struct resource *resource = &engine->resources[given->resource];
        bool empty = resource->first == ENGINE_NONE;
        *(empty ? &resource->first : &engine->tasks[resource->last].next) = id;
        resource->last = id;
    }
    engine_try_to_start(engine, id);
    return id;
}

/* The critical path leads from a task to the one whose end began it, so that the pieces meet. */

void critical_path_walk(const struct engine *engine, engine_task_id last, int64_t from_ns,
                        critical_path_piece piece, void *context)
{
    engine_task_id task = last;
    int64_t end_ns = engine_task_record(engine, last)->end_ns;
    while (task != ENGINE_NONE && end_ns > from_ns) {
        const struct engine_record *record = engine_task_record(engine, task);
        assert(record->end_ns == end_ns);
        int64_t begin_ns = record->start_ns > from_ns ? record->start_ns : from_ns;
        if (begin_ns < end_ns) {
            piece(task, begin_ns, end_ns, context);
        }
        end_ns = begin_ns;
        task = record->binding;
    }
}
