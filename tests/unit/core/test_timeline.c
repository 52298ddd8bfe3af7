/* The timeline: valid JSON, a slice for each task in the window, no two on one row at once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/engine/chrome_trace.h"
#include "unit/fixture/random_graph.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Characters that JSON must not see as they are. */
static void label_oddly(uint32_t tag, char *name, size_t name_size, char *category,
                        size_t category_size, const void *context)
{
    snprintf(name, name_size, "%s %u", (const char *)context, tag);
    snprintf(category, category_size, "\"\\\n");
}

/* The file's events; the caller gives the document back. */
static json_t *write_and_parse(const struct engine *engine, int64_t from_ns, int64_t to_ns,
                               const char *name)
{
    struct error why;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(timeline_write(engine, from_ns, to_ns, label_oddly, name, out, &why));
    fclose(out);
    json_error_t error;
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!document) {
        fail_msg("line %d: %s in\n%s", error.line, error.text, text);
    }
    assert_true(json_is_array(json_object_get(document, "traceEvents")));
    free(text);
    return document;
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    assert_non_null(text);
    return text;
}

static int64_t ns_of(const json_t *event, const char *key)
{
    return llround(1000.0 * json_number_value(json_object_get(event, key)));
}

/* Three tasks at once on no resource and two behind one of them, one on the link that begins later. */
static struct engine *make_small(void)
{
    static const engine_task_id ids[] = {0, 1, 2, 3, 4};
    const struct engine_task tasks[] = {
        {.resource = ENGINE_NONE, .tag = 10, .fixed_ns = 2500},
        {.resource = ENGINE_NONE, .tag = 11, .fixed_ns = 1500},
        {.resource = ENGINE_NONE, .tag = 16, .fixed_ns = 500, .after = &ids[1], .after_count = 1},
        {.resource = ENGINE_NONE, .tag = 12, .fixed_ns = 1, .after = &ids[2], .after_count = 1},
        {.resource = 0, .tag = 17, .fixed_ns = 1001},
        {.resource = 1, .tag = 13, .fixed_ns = 4000, .after = &ids[4], .after_count = 1},
        {.resource = ENGINE_NONE, .tag = 14, .fixed_ns = 7},
        {.resource = 1, .tag = 15, .fixed_ns = 0},
    };
    struct error why;
    struct engine *engine = engine_create(&why);
    assert_non_null(engine);
    assert_int_equal(engine_resource_add(engine, "pool", &why), 0);
    assert_int_equal(engine_resource_add(engine, "link", &why), 1);
    for (uint32_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        assert_int_equal(engine_submit(engine, &tasks[i], &why), i);
    }
    assert_true(engine_run(engine, NULL, &why));
    return engine;
}

struct slice {
    const char *name, *row;
    int64_t begin_ns, duration_ns;
};

static const char *row_name(const json_t *events, json_int_t tid)
{
    size_t index;
    json_t *event;
    json_array_foreach(events, index, event)
    {
        if (strcmp(text_of(event, "name"), "thread_name") == 0 &&
            json_integer_value(json_object_get(event, "tid")) == tid) {
            return text_of(json_object_get(event, "args"), "name");
        }
    }
    fail_msg("row %d has no name", (int)tid);
    return NULL;
}

static void check_slices(const struct slice *expected, size_t count, int64_t from_ns, int64_t to_ns)
{
    struct engine *engine = make_small();
    json_t *document = write_and_parse(engine, from_ns, to_ns, "task");
    json_t *events = json_object_get(document, "traceEvents");
    size_t index, found = 0;
    json_t *event;
    json_array_foreach(events, index, event)
    {
        if (strcmp(text_of(event, "ph"), "X") != 0) {
            continue;
        }
        assert_true(found < count);
        json_int_t tid = json_integer_value(json_object_get(event, "tid"));
        assert_string_equal(text_of(event, "name"), expected[found].name);
        assert_string_equal(text_of(event, "cat"), "\"\\\n");
        assert_string_equal(row_name(events, tid), expected[found].row);
        assert_int_equal(ns_of(event, "ts"), expected[found].begin_ns);
        assert_int_equal(ns_of(event, "dur"), expected[found].duration_ns);
        found++;
    }
    assert_int_equal(found, count);
    json_decref(document);
    engine_destroy(engine);
}

static void slices_lie_on_the_rows_of_their_resource(void **state)
{
    (void)state;
    static const struct slice whole[] = {
        {"task 10", "no queue", 0, 2500},   {"task 11", "no queue 2", 0, 1500},
        {"task 17", "pool", 0, 1001},       {"task 14", "no queue 3", 0, 7},
        {"task 13", "link", 1001, 4000},    {"task 16", "no queue 2", 1500, 500},
        {"task 12", "no queue 2", 2000, 1},
    };
    check_slices(whole, 7, 0, INT64_MAX);
}

static void slices_are_cut_at_the_window(void **state)
{
    (void)state;
    static const struct slice window[] = {
        {"task 10", "no queue", 0, 500},
        {"task 13", "link", 0, 1000},
        {"task 12", "no queue 2", 0, 1},
    };
    check_slices(window, 3, 2000, 3000);
    check_slices(NULL, 0, 3000, 2000);
    check_slices(NULL, 0, 6000, INT64_MAX);
}

static void any_label_gives_valid_json(void **state)
{
    (void)state;
    struct engine *engine = make_small();
    for (int c = 1; c < 256; c++) {
        char name[3] = {(char)c, (char)(c ^ 0x55), '\0'};
        json_decref(write_and_parse(engine, 0, INT64_MAX, name));
    }
    engine_destroy(engine);
}

/* Slices of a row come in order, so that only the last one counts; a resource has one row. */
static void rows_never_hold_two_slices_at_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct graph graph;
        graph_draw(&graph, seed, true);
        struct engine *engine = graph_run(&graph);
        json_t *document = write_and_parse(engine, 0, INT64_MAX, "task");
        int64_t row_end_ns[8 * GRAPH_MOST] = {0}, total_ns = 0;
        uint32_t rows[GRAPH_RESOURCES] = {0};
        bool used[8 * GRAPH_MOST] = {false};
        size_t index;
        json_t *event;
        json_array_foreach(json_object_get(document, "traceEvents"), index, event)
        {
            json_int_t tid = json_integer_value(json_object_get(event, "tid"));
            if (strcmp(text_of(event, "ph"), "X") == 0) {
                if (ns_of(event, "ts") < row_end_ns[tid]) {
                    fail_msg("seed %d: two slices at once on row %d", (int)seed, (int)tid);
                }
                row_end_ns[tid] = ns_of(event, "ts") + ns_of(event, "dur");
                total_ns += ns_of(event, "dur");
                used[tid] = true;
            } else if (strcmp(text_of(event, "name"), "thread_name") == 0) {
                const char *name = text_of(json_object_get(event, "args"), "name");
                if (name[0] == 'r') {
                    rows[name[1] - '0']++;
                }
            }
        }
        for (engine_task_id id = 0; id < graph.count; id++) {
            const struct engine_record *record = engine_task_record(engine, id);
            total_ns -= record->end_ns - record->start_ns;
        }
        assert_int_equal(total_ns, 0);
        for (uint32_t i = 0; i < GRAPH_RESOURCES; i++) {
            assert_int_equal(rows[i], used[i]); /* an empty row has no name */
        }
        json_decref(document);
        engine_destroy(engine);
    }
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    struct error why;
    struct engine *engine = make_small();
    FILE *out = fopen("/dev/full", "w");
    assert_non_null(out);
    assert_false(timeline_write(engine, 0, INT64_MAX, label_oddly, "", out, &why));
    assert_non_null(strstr(why.found, "timeline"));
    fclose(out);
    engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_lie_on_the_rows_of_their_resource),
        cmocka_unit_test(slices_are_cut_at_the_window),
        cmocka_unit_test(any_label_gives_valid_json),
        cmocka_unit_test(rows_never_hold_two_slices_at_once),
        cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
