/* A discrete-event engine: tasks that queue for resources and share channels.
 *
 * Task      A piece of work: it waits for other tasks, queues for one resource, and is
 *           served for a fixed time and then, if it moves something, for as long as its flow
 *           takes.
 * Resource  A queue with one server. It serves in the order of submission, never in order of
 *           readiness: a task whose predecessors are late holds up the ones behind it, as
 *           a stream or a copy engine does.
 * Channel   What flows share, in units per nanosecond. Flows get max-min fair rates, each capped
 *           at its own rate. A flow may cross several channels; it uses some channel units for each
 *           unit it moves, or withholds a fixed amount from a channel while its task is served.
 *           However much is withheld, a millionth of the channel is left to share, so that every
 *           flow keeps moving.
 *
 * Time is integer nanoseconds from 0. Events of the same instant happen in order of insertion; flows that end
 * at that instant come last, in the order in which they began. The same submissions give the same schedule,
 * bit for bit. A flow ends at the first whole nanosecond at which it has moved everything.
 *
 * Submit a whole graph, then engine_run(). Every task keeps its times and its binding for
 * critical_path_walk() and chrome_trace.h, until engine_destroy(). Nothing is allocated per task once the
 * arrays have grown. Not thread-safe; engines are independent of each other. */
#pragma once

#include <stdint.h>

#include "core/error.h"

typedef uint32_t engine_task_id;
#define ENGINE_NONE UINT32_MAX

#define ENGINE_LAST_NS ((int64_t)1 << 62) /* the end of time, after 146 years */

#define ENGINE_MOST_CHANNELS 16
#define ENGINE_MOST_USES 6

struct engine;
struct stop_flag;

enum engine_use_kind {
    ENGINE_PER_UNIT, /* `weight` channel units for each unit moved */
    ENGINE_AT_CAP,   /* `weight` channel units when the flow moves at its cap, in proportion
                        below it; nothing if the cap is INFINITY */
    ENGINE_WITHHELD, /* `weight` channel units for as long as the task is served */
};

struct engine_use {
    uint32_t channel;
    double weight;
    enum engine_use_kind kind;
};

/* The channels that a task's flow crosses. At most ENGINE_MOST_USES. */
struct engine_route {
    struct engine_use uses[ENGINE_MOST_USES];
    uint32_t count;
};

struct engine_task {
    uint32_t resource; /* ENGINE_NONE: no queue, served as soon as it is ready */
    uint32_t tag;      /* the caller's; kept with the task */
    int64_t fixed_ns;  /* service before the flow starts; >= 0 */
    double amount;     /* units to move after that; 0: none */
    double cap;        /* units a nanosecond at most; used when amount > 0, and is then > 0; may
                           be INFINITY */
    uint32_t route;    /* from engine_route_add(); used when amount > 0; ENGINE_NONE: no channel */
    const engine_task_id *after; /* read during the call only; ids already submitted */
    uint32_t after_count;
};

struct engine *engine_create(struct error *why);
void engine_destroy(struct engine *engine);

/* Each returns an id, counted from 0; ENGINE_NONE with `why` when memory runs out. A name outlives the
 * engine. `capacity` is in units a nanosecond, > 0; there are at most ENGINE_MOST_CHANNELS. */
uint32_t engine_resource_add(struct engine *engine, const char *name, struct error *why);
uint32_t engine_channel_add(struct engine *engine, double capacity);
uint32_t engine_route_add(struct engine *engine, const struct engine_route *route,
                          struct error *why);

/* Make room for `tasks` tasks at once, so that memory need not grow while they are submitted. */
bool engine_reserve(struct engine *engine, size_t tasks, struct error *why);

/* Put a task into its resource's queue. Returns its id, or ENGINE_NONE with `why` when memory runs out; the
 * engine is then unchanged. All memory that the task will need is allocated here. A wrong id, a negative time
 * or a non-positive cap is the caller's bug and asserts, and so is a task after one that has ended. */
engine_task_id engine_submit(struct engine *engine, const struct engine_task *task,
                             struct error *why);

/* Run until no event is left; the clock then stands at the last one. Fails when the next event is past
 * ENGINE_LAST_NS, and with "interrupted" once `stop` is raised (NULL: it never is). */
bool engine_run(struct engine *engine, const struct stop_flag *stop, struct error *why);

int64_t engine_now(const struct engine *engine);

/* Tasks in order of submission, each with its times. The binding of a task is the task that it waited for
 * last: one that ended at start_ns, among its predecessor on its resource and the tasks it was submitted
 * after. The resource's comes first, then the lowest id. ENGINE_NONE when the task waited for nothing. */
struct engine_record {
    uint32_t resource, tag;
    int64_t start_ns, end_ns; /* -1 before it starts, before it ends */
    engine_task_id binding;   /* what it waited for last */
};
uint32_t engine_task_count(const struct engine *engine);
const struct engine_record *engine_task_record(const struct engine *engine, engine_task_id task);
uint32_t engine_resource_count(const struct engine *engine);
const char *engine_resource_name(const struct engine *engine, uint32_t resource);

/* The critical path: a walk back over binding predecessors. It splits a span of time into pieces
 * that add up to the span exactly; each piece belongs to one task. */

/* A piece of the path: `task` held up the end of the walk from begin to end. */
typedef void (*critical_path_piece)(engine_task_id task, int64_t begin_ns, int64_t end_ns,
                                    void *context);

/* Walk from the end of `last` back to `from_ns`, latest piece first. The pieces do not overlap and cover that
 * span without a hole; there is none if `last` ends before. The engine must have run. */
void critical_path_walk(const struct engine *engine, engine_task_id last, int64_t from_ns,
                        critical_path_piece piece, void *context);
