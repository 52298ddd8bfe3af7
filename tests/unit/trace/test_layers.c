/* Layers of a trace: their numbers in the model, the choice of some, and those with sliding
 * windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/demand.h"
#include "unit/fixture/trace_files.h"

#include <math.h>

/* Layers 5, 11 and 17 of a model. Its contexts of 20 tokens are 2 sinks, 3 recent tokens and 15
 * others, of which rows keep 6. */
static struct trace_header some_layers(void)
{
    struct trace_header header = make_header();
    header.layers = 3;
    header.source = (char *)"{\"model\":\"none\",\"layers\":[5,11,17],\"model_layers\":18}";
    return header;
}

static void read_first(const struct trace *trace, uint32_t layer, struct trace_frame *frame)
{
    struct error why;
    make_check(trace_read(trace, 1, 1, layer, frame, &why), &why);
    assert_int_equal(frame->layer, layer);
}

static void chosen_layers_are_those_of_the_file(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_frame all, some;
    struct trace_header header = some_layers();
    make_trace(&header, make_path(folder, "some.swt", path), 5);
    struct trace *trace = trace_open(path, &why), *whole = trace_open(path, &why);
    uint64_t hash, whole_hash;
    uint32_t layer, chosen[] = {0, 2}, again[] = {1};
    assert_non_null(trace);
    assert_int_equal(trace_model_layer(trace, 1), 11);
    assert_true(trace_find_layer(trace, 17, &layer));
    assert_int_equal(layer, 2);
    assert_false(trace_find_layer(trace, 2, &layer));

    assert_true(trace_choose_layers(trace, chosen, 2, &why));
    assert_int_equal(trace_header(trace)->layers, 2);
    assert_int_equal(trace_model_layer(trace, 1), 17);
    assert_false(trace_find_layer(trace, 11, &layer));
    assert_true(trace_hash(trace, &hash, &why) && trace_hash(whole, &whole_hash, &why));
    assert_true(hash != whole_hash);

    assert_true(trace_choose_layers(trace, again, 1, &why)); /* of those that are left */
    all = (struct trace_frame){0};
    some = (struct trace_frame){0};
    read_first(trace, 0, &some);
    read_first(whole, 2, &all);
    uint32_t rows = header.kv_heads * all.steps;
    assert_memory_equal(some.tail, all.tail, rows * sizeof *all.tail);
    assert_false(trace_read(trace, 0, 0, 1, &some, &why));
    trace_frame_release(&all);
    trace_frame_release(&some);
    trace_close(trace);
    trace_close(whole);
    unlink(path);
}

/* A list that does not fit the file is no list: layers keep their numbers of the file. */
static void other_lists_do_not_count(void **state)
{
    (void)state;
    static const char *const lists[] = {"[5,11]", "[5,11,11]", "[5,-1,6]", "[5,11,1.5]", "7"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char path[64], source[64];
        struct error why;
        struct trace_header header = some_layers();
        snprintf(source, sizeof source, "{\"layers\":%s}", lists[i]);
        header.source = source;
        make_trace(&header, make_path(folder, "list.swt", path), 5);
        struct trace *trace = trace_open(path, &why);
        assert_non_null(trace);
        assert_int_equal(trace_model_layer(trace, 2), 2);
        trace_close(trace);
        unlink(path);
    }
}

/* What rows hold besides the window, at steps 0 and 1. */
struct rows_case {
    const char *name;
    uint32_t first[2], count[2]; /* units from `first` on */
    uint32_t gap;                /* 1: leave out the second unit */
    bool slides;
};

static const struct rows_case rows_cases[] = {
    {"the last 8 tokens, then 7", {12, 13}, {5, 4}, 0, true},
    {"as many units as rows keep", {11, 12}, {6, 5}, 0, false},
    {"one unit within the window is missing", {12, 12}, {5, 5}, 1, false},
    {"a run that ends before the recent tokens", {8, 8}, {5, 5}, 0, false},
    {"nothing besides the window", {17, 17}, {0, 0}, 0, false},
};

static void write_rows(const struct rows_case *rows, const char *path)
{
    struct error why;
    struct trace_frame frame = {0};
    struct trace_header header = make_header();
    header.layers = header.kv_heads = header.sequences = 1;
    header.query_heads = 1;
    header.steps = 2;
    header.has_queries = false;
    struct trace_writer *writer = trace_writer_open(path, &header, &why);
    assert_non_null(writer);
    frame.steps = 2;
    make_check(trace_frame_reserve(&header, &frame, &why) &&
                   trace_rows_reserve(&frame.rows, 40, &why),
               &why);
    uint32_t total = 0;
    for (uint32_t s = 0; s < 2; s++) {
        frame.rows.start[s] = total;
        for (uint32_t unit = 0; unit < 20; unit++) {
            uint32_t place = unit - rows->first[s];
            bool held =
                unit >= rows->first[s] && place < rows->count[s] && !(rows->gap && place == 1);
            if (held || make_is_window(&header, unit)) {
                frame.rows.units[total] = unit;
                frame.rows.mass[total++] = 40;
            }
        }
        frame.born[s] = frame.tail[s] = 0;
    }
    frame.rows.start[2] = total;
    make_check(trace_writer_put(writer, &frame, &why), &why);
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
}

static void windows_that_slide_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows_cases / sizeof *rows_cases; i++) {
        char path[64];
        bool slides;
        struct error why;
        write_rows(&rows_cases[i], make_path(folder, "rows.swt", path));
        struct trace *trace = trace_open(path, &why);
        assert_non_null(trace);
        make_check(trace_layer_slides(trace, 0, &slides, &why), &why);
        if (slides != rows_cases[i].slides) {
            fail_msg("%s: %d", rows_cases[i].name, slides);
        }
        trace_close(trace);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_layers_are_those_of_the_file),
        cmocka_unit_test(other_lists_do_not_count),
        cmocka_unit_test(windows_that_slide_are_found),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
