/* The critical path: its pieces cover the span exactly, each with what was waited for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/engine/engine.h"
#include "unit/fixture/random_graph.h"

#include <stdio.h>

enum { MOST_PIECES = 4 * GRAPH_MOST };

struct piece {
    engine_task_id task;
    int64_t begin_ns, end_ns;
};

struct path {
    struct piece pieces[MOST_PIECES];
    uint32_t count;
};

static void add_piece(engine_task_id task, int64_t begin_ns, int64_t end_ns, void *context)
{
    struct path *path = context;
    assert_true(path->count < MOST_PIECES);
    path->pieces[path->count++] = (struct piece){task, begin_ns, end_ns};
}

/* "TASK:BEGIN-END ", latest first. */
static void write_path(const struct path *path, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < path->count; i++) {
        const struct piece *piece = &path->pieces[i];
        length += (size_t)snprintf(text + length, size - length, "%u:%d-%d ", piece->task,
                                   (int)piece->begin_ns, (int)piece->end_ns);
    }
}

/* A step of a small pipeline on two resources; 2 and 6 are on none:
 *
 *   main  |--- 0 ---|               |-- 3 --|5 |-- 7 --|
 *   link            |----- 1 -----|-- 4 --|
 *         0         4             9 10    12 14 16     19
 *
 * 1 waits for 0, 3 for 2, which ends at 10, 4 queues behind 1, 5 takes no time and waits for 3,
 * 7 for 6, which ends at 16. */
static struct engine *make_pipeline(void)
{
    static const engine_task_id ids[] = {0, 1, 2, 3, 4, 5, 6};
    const struct engine_task tasks[] = {
        {.resource = 0, .fixed_ns = 4},
        {.resource = 1, .fixed_ns = 5, .after = &ids[0], .after_count = 1},
        {.resource = ENGINE_NONE, .fixed_ns = 10},
        {.resource = 0, .fixed_ns = 4, .after = &ids[2], .after_count = 1},
        {.resource = 1, .fixed_ns = 3},
        {.resource = 0, .fixed_ns = 0, .after = &ids[3], .after_count = 1},
        {.resource = ENGINE_NONE, .fixed_ns = 16},
        {.resource = 0, .fixed_ns = 3, .after = &ids[6], .after_count = 1},
    };
    struct error why;
    struct engine *engine = engine_create(&why);
    assert_non_null(engine);
    assert_int_equal(engine_resource_add(engine, "main", &why), 0);
    assert_int_equal(engine_resource_add(engine, "link", &why), 1);
    for (uint32_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        assert_int_equal(engine_submit(engine, &tasks[i], &why), i);
    }
    assert_true(engine_run(engine, NULL, &why));
    return engine;
}

static void paths_are_those_worked_by_hand(void **state)
{
    (void)state;
    static const struct {
        engine_task_id last;
        int64_t from_ns;
        const char *path;
    } cases[] = {
        {1, 0, "1:4-9 0:0-4 "},
        {4, 0, "4:9-12 1:4-9 0:0-4 "},
        {4, 6, "4:9-12 1:6-9 "},
        {4, 9, "4:9-12 "},
        {4, 11, "4:11-12 "},
        {4, 12, ""},
        {4, 99, ""},
        {3, 0, "3:10-14 2:0-10 "},
        {5, 3, "3:10-14 2:3-10 "},
        {7, 0, "7:16-19 6:0-16 "},
        {0, 0, "0:0-4 "},
    };
    struct engine *engine = make_pipeline();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct path path = {.count = 0};
        char text[256];
        critical_path_walk(engine, cases[i].last, cases[i].from_ns, add_piece, &path);
        write_path(&path, text, sizeof text);
        assert_string_equal(text, cases[i].path);
    }
    engine_destroy(engine);
}

static void check_path(const struct graph *graph, const struct engine *engine, engine_task_id last,
                       int64_t from_ns)
{
    struct path path = {.count = 0};
    int64_t end_ns = engine_task_record(engine, last)->end_ns;
    critical_path_walk(engine, last, from_ns, add_piece, &path);
    for (uint32_t i = 0; i < path.count; i++) {
        const struct piece *piece = &path.pieces[i];
        if (piece->end_ns != end_ns || piece->begin_ns >= piece->end_ns) {
            fail_msg("seed %d, task %u from %d: piece %u from %d to %d", (int)graph->seed, last,
                     (int)from_ns, i, (int)piece->begin_ns, (int)piece->end_ns);
        }
        const struct engine_record *record = engine_task_record(engine, piece->task);
        assert_true(record->start_ns <= piece->begin_ns && piece->end_ns <= record->end_ns);
        end_ns = piece->begin_ns;
    }
    if (path.count == 0 ? end_ns > from_ns : end_ns != from_ns) {
        fail_msg("seed %d, task %u: the path ends at %d, not %d", (int)graph->seed, last,
                 (int)end_ns, (int)from_ns);
    }
}

static void pieces_add_up_on_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct graph graph;
        graph_draw(&graph, seed, true);
        struct engine *engine = graph_run(&graph);
        for (engine_task_id last = 0; last < graph.count; last++) {
            for (int64_t from_ns = 0; from_ns < 40; from_ns += 7) {
                check_path(&graph, engine, last, from_ns);
            }
        }
        engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_those_worked_by_hand),
        cmocka_unit_test(pieces_add_up_on_random_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
