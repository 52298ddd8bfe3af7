/* The state of an engine. Three files share it: engine.c creates and shows it, submit.c puts tasks
 * in, run.c runs them and notes what they waited for.
 *
 * A task on its way:
 *
 *   submit -> QUEUED --(first in its queue, a server free, predecessors ended)--> released?
 *     yes -> SERVED --(fixed_ns)--> MOVING, when it moves something --(its flow ends)--> ENDED
 *     no  -> DUE: the calendar holds its release, then as above
 *
 * Invariants: a task has at most one event or one flow at a time. Room for them is made once, at
 * submission, so running never allocates. A task waits only for tasks submitted before it, so some
 * task can always go on.
 */
#pragma once

#include "core/engine/calendar.h"
#include "core/engine/engine.h"
#include "core/engine/flow.h"

enum task_state { TASK_QUEUED, TASK_DUE, TASK_SERVED, TASK_MOVING, TASK_ENDED };

struct task {
    int64_t release_ns, fixed_ns;
    double amount, cap;
    uint32_t resource, tag, route;
    uint32_t waiting;    /* predecessors that have not ended */
    uint32_t dependents; /* last edge to its successors */
    bool moves;          /* amount > 0 */
    enum task_state state;
};

/* One successor of a task. The edges of a task form a ring in order of submission. */
struct edge {
    engine_task_id to;
    uint32_t next;
};

struct resource {
    const char *name;
    uint32_t servers, serving;
    struct ring queue; /* tasks that have not started */
    struct ring freed; /* what each free server served last, longest free first */
    uint32_t unused;   /* servers that have served nothing yet */
};

struct engine {
    int64_t now_ns;
    const struct stop_flag *stop; /* may be NULL */
    uint32_t unwatched;           /* events since the flag was looked at */
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

/* `at_ns` + `wait_ns`, or just past the end of time. */
static inline int64_t engine_later(int64_t at_ns, int64_t wait_ns)
{
    return wait_ns <= ENGINE_LAST_NS - at_ns ? at_ns + wait_ns : ENGINE_LAST_NS + 1;
}

/* Something that a queued task waited for has happened: start it, or the tasks ahead of it in the
 * queue, if nothing else is missing. (run.c) */
void engine_try_to_start(struct engine *engine, engine_task_id id);
