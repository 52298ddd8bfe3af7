/* What every schedule must obey, on random task graphs: it is that of a simulation that goes on
 * nanosecond by nanosecond, and lies between the busiest resource and the serial sum. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/fixture/random_graph.h"
#include "unit/fixture/rounds.h"

/* The slow simulation: what each task has done by now. */
struct slow_task {
    bool started, ended;
    int64_t start_ns, end_ns;
    double moved, rate;
};

struct slow {
    const struct graph *graph;
    struct slow_task tasks[GRAPH_MOST];
    int64_t now_ns;
    uint32_t left;
};

static bool is_moving(const struct slow *slow, uint32_t id)
{
    const struct engine_task *task = &slow->graph->tasks[id];
    const struct slow_task *did = &slow->tasks[id];
    return did->started && !did->ended && task->amount > 0.0 &&
           slow->now_ns >= did->start_ns + task->fixed_ns;
}

static bool is_done(const struct slow *slow, uint32_t id)
{
    const struct engine_task *task = &slow->graph->tasks[id];
    const struct slow_task *did = &slow->tasks[id];
    return did->started && !did->ended && slow->now_ns >= did->start_ns + task->fixed_ns &&
           did->moved >= task->amount * (1.0 - 1e-12);
}

static bool can_start(const struct slow *slow, uint32_t id)
{
    const struct engine_task *task = &slow->graph->tasks[id];
    if (slow->tasks[id].started) {
        return false;
    }
    for (uint32_t i = 0; i < task->after_count; i++) {
        if (!slow->tasks[task->after[i]].ended) {
            return false;
        }
    }
    uint32_t serving = 0;
    for (uint32_t other = 0; other < id && task->resource != ENGINE_NONE; other++) {
        if (slow->graph->tasks[other].resource == task->resource) {
            if (!slow->tasks[other].started) {
                return false;
            }
            serving += !slow->tasks[other].ended;
        }
    }
    return task->resource == ENGINE_NONE || serving == 0;
}

/* End and start what can until nothing more happens at this instant. */
static void settle(struct slow *slow)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t id = 0; id < slow->graph->count; id++) {
            struct slow_task *did = &slow->tasks[id];
            if (is_done(slow, id)) {
                did->ended = true;
                did->end_ns = slow->now_ns;
                slow->left--;
                again = true;
            } else if (can_start(slow, id)) {
                did->started = true;
                did->start_ns = slow->now_ns;
                again = true;
            }
        }
    }
}

/* Units of the channel that the task takes when it moves at `rate`. */
static double load_of(const struct slow *slow, uint32_t id, uint32_t channel, double rate)
{
    const struct engine_task *task = &slow->graph->tasks[id];
    const struct engine_route *route = &slow->graph->routes[task->route];
    double load = 0.0;
    for (uint32_t i = 0; i < route->count && is_moving(slow, id); i++) {
        const struct engine_use *use = &route->uses[i];
        if (use->channel == channel && use->kind != ENGINE_WITHHELD) {
            load += use->weight * rate / (use->kind == ENGINE_AT_CAP ? task->cap : 1.0);
        }
    }
    return load;
}

static double capacity_of(const struct slow *slow, uint32_t channel)
{
    double capacity = slow->graph->capacities[channel], left = capacity;
    for (uint32_t id = 0; id < slow->graph->count; id++) {
        const struct slow_task *did = &slow->tasks[id];
        const struct engine_task *task = &slow->graph->tasks[id];
        const struct engine_route *route = &slow->graph->routes[task->route];
        bool serves = did->started && !did->ended && task->amount > 0.0;
        for (uint32_t i = 0; i < route->count && serves; i++) {
            const struct engine_use *use = &route->uses[i];
            if (use->channel == channel && use->kind == ENGINE_WITHHELD) {
                left -= use->weight;
            }
        }
    }
    return fmax(left, 1e-6 * capacity);
}

/* Whether all fit when those that are still open move at `level` or their cap. */
static bool fits(const struct slow *slow, const bool *open, double level, uint32_t channel)
{
    double load = 0.0;
    for (uint32_t id = 0; id < slow->graph->count; id++) {
        double rate = open[id] ? fmin(level, slow->graph->tasks[id].cap) : slow->tasks[id].rate;
        load += load_of(slow, id, channel, rate);
    }
    return load <= capacity_of(slow, channel);
}

/* The highest level at which all channels are full at most, by bisection; every flow that
 * the fullest stops is closed there. Again until none is open. */
static void find_rates(struct slow *slow)
{
    bool open[GRAPH_MOST];
    for (uint32_t id = 0; id < slow->graph->count; id++) {
        open[id] = is_moving(slow, id);
    }
    for (int round = 0; round < GRAPH_CHANNELS + 1; round++) {
        double low = 0.0, high = 100.0;
        for (int i = 0; i < 80; i++) {
            double level = 0.5 * (low + high);
            bool all = fits(slow, open, level, 0) && fits(slow, open, level, 1);
            *(all ? &low : &high) = level;
        }
        for (uint32_t c = 0; c < GRAPH_CHANNELS; c++) {
            if (fits(slow, open, low + 1e-9, c) && low < 99.0) {
                continue;
            }
            for (uint32_t id = 0; id < slow->graph->count; id++) {
                if (open[id] && (load_of(slow, id, c, 1.0) > 0.0 || low >= 99.0)) {
                    slow->tasks[id].rate = fmin(low, slow->graph->tasks[id].cap);
                    open[id] = false;
                }
            }
        }
    }
}

static void run_slowly(struct slow *slow, const struct graph *graph)
{
    *slow = (struct slow){.graph = graph, .left = graph->count};
    for (settle(slow); slow->left > 0; settle(slow)) {
        find_rates(slow);
        for (uint32_t id = 0; id < graph->count; id++) {
            slow->tasks[id].moved += is_moving(slow, id) ? slow->tasks[id].rate : 0.0;
        }
        slow->now_ns++;
    }
}

static void schedules_match_a_simulation_by_the_nanosecond(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS(300, 60); seed++) {
        struct graph graph;
        struct slow slow;
        graph_draw(&graph, seed, seed % 2 == 0);
        struct engine *engine = graph_run(&graph);
        run_slowly(&slow, &graph);
        for (uint32_t id = 0; id < graph.count; id++) {
            const struct engine_record *record = engine_task_record(engine, id);
            if (record->start_ns != slow.tasks[id].start_ns ||
                record->end_ns != slow.tasks[id].end_ns) {
                fail_msg("seed %d: task %u from %d to %d, slowly from %d to %d", (int)seed, id,
                         (int)record->start_ns, (int)record->end_ns, (int)slow.tasks[id].start_ns,
                         (int)slow.tasks[id].end_ns);
            }
        }
        engine_destroy(engine);
    }
}

/* Time the task is served when it has the machine to itself. */
static int64_t time_alone(const struct graph *graph, uint32_t id)
{
    const struct engine_task *task = &graph->tasks[id];
    if (task->amount == 0.0) {
        return task->fixed_ns;
    }
    double rate = task->cap;
    const struct engine_route *route = &graph->routes[task->route];
    for (uint32_t i = 0; i < route->count; i++) {
        const struct engine_use *use = &route->uses[i];
        double unit = use->kind == ENGINE_AT_CAP ? task->cap : 1.0;
        rate = fmin(rate, graph->capacities[use->channel] / use->weight * unit);
    }
    return task->fixed_ns + (int64_t)ceil(task->amount / rate - 1e-9);
}

/* Without withholding, as that may slow others down without end. */
static void a_schedule_is_no_longer_than_its_serial_sum(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct graph graph;
        graph_draw(&graph, seed, false);
        struct engine *engine = graph_run(&graph);
        int64_t serial_ns = 0;
        for (uint32_t id = 0; id < graph.count; id++) {
            serial_ns += time_alone(&graph, id);
        }
        if (engine_now(engine) > serial_ns) {
            fail_msg("seed %d: %d ns, serial %d ns", (int)seed, (int)engine_now(engine),
                     (int)serial_ns);
        }
        engine_destroy(engine);
    }
}

static void a_schedule_is_no_shorter_than_its_busiest_resource(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct graph graph;
        graph_draw(&graph, seed, true);
        struct engine *engine = graph_run(&graph);
        int64_t needed_ns[GRAPH_RESOURCES] = {0};
        for (uint32_t id = 0; id < graph.count; id++) {
            if (graph.tasks[id].resource != ENGINE_NONE) {
                needed_ns[graph.tasks[id].resource] += graph.tasks[id].fixed_ns;
            }
        }
        for (uint32_t i = 0; i < GRAPH_RESOURCES; i++) {
            if (engine_now(engine) < needed_ns[i]) {
                fail_msg("seed %d: %d ns, resource %u needs %d", (int)seed, (int)engine_now(engine),
                         i, (int)needed_ns[i]);
            }
        }
        engine_destroy(engine);
    }
}

/* Whether `binding` may be what `id` waited for: a task on the same resource or one that it was
 * submitted after. */
static bool may_bind(const struct graph *graph, engine_task_id id, engine_task_id binding)
{
    const struct engine_task *task = &graph->tasks[id];
    bool may = task->resource != ENGINE_NONE && graph->tasks[binding].resource == task->resource;
    for (uint32_t i = 0; i < task->after_count; i++) {
        may = may || task->after[i] == binding;
    }
    return may;
}

static void every_start_has_its_cause(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct graph graph;
        graph_draw(&graph, seed, true);
        struct engine *engine = graph_run(&graph);
        for (engine_task_id id = 0; id < graph.count; id++) {
            const struct engine_record *record = engine_task_record(engine, id);
            bool explained =
                record->binding == ENGINE_NONE
                    ? record->start_ns == 0
                    : engine_task_record(engine, record->binding)->end_ns == record->start_ns &&
                          may_bind(&graph, id, record->binding);
            if (!explained) {
                fail_msg("seed %d: task %u starts at %d for no reason (%d)", (int)seed, id,
                         (int)record->start_ns, (int)record->binding);
            }
        }
        engine_destroy(engine);
    }
}

static void the_same_graph_gives_the_same_schedule(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct graph graph;
        graph_draw(&graph, seed, true);
        struct engine *engines[2] = {graph_run(&graph), graph_run(&graph)};
        for (engine_task_id id = 0; id < graph.count; id++) {
            const struct engine_record *first = engine_task_record(engines[0], id);
            const struct engine_record *second = engine_task_record(engines[1], id);
            assert_int_equal(first->start_ns, second->start_ns);
            assert_int_equal(first->end_ns, second->end_ns);
            assert_int_equal(first->binding, second->binding);
        }
        engine_destroy(engines[0]);
        engine_destroy(engines[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_match_a_simulation_by_the_nanosecond),
        cmocka_unit_test(a_schedule_is_no_longer_than_its_serial_sum),
        cmocka_unit_test(a_schedule_is_no_shorter_than_its_busiest_resource),
        cmocka_unit_test(every_start_has_its_cause),
        cmocka_unit_test(the_same_graph_gives_the_same_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
