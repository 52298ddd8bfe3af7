/* Traces as CSV text, and numbers in fields. tests/script/traces/swt_python.py reads the text back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/csv/csv.h"
#include "unit/fixture/fault.h"
#include "unit/fixture/trace_files.h"

#include <math.h>

/* Export the trace at `path` as text, which the caller frees. */
static char *export_text(const char *path, size_t *size)
{
    char *text;
    struct error why;
    FILE *out = open_memstream(&text, size);
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL && out != NULL, &why);
    make_check(trace_export_csv(trace, out, &why), &why);
    trace_close(trace);
    fclose(out);
    return text;
}

/* ---- by hand ----------------------------------------------------------------------------------
 */

/* One layer, one KV head of two query heads, two steps; unit 0 is a sink, unit 9 recent. */
#define HAND_HEADER                                                                                \
    "# swt 1 layers=1 kv_heads=1 query_heads=2 head_dim=2 context=10 unit_kind=0 unit_tokens=1 "   \
    "units=10 sinks=1 recent=1 keep=2 sequences=1 steps=2 steps_per_tile=2 flags=3\n"              \
    "# source {\"model\": \"by hand\"}\n"                                                          \
    "sequence,step,layer,head,unit,mass\n"
#define HAND_STEP_0                                                                                \
    "0,0,0,0,born,0.25\n"                                                                          \
    "0,0,0,0,tail,0.125\n"                                                                         \
    "0,0,0,0,0,0.5\n"                                                                              \
    "0,0,0,0,4,0.0625\n"                                                                           \
    "0,0,0,0,9,2.107e-08\n"                                                                        \
    "0,0,0,0,~0,1\n"                                                                               \
    "0,0,0,0,~9,0.933\n"                                                                           \
    "0,0,0,0,query,0.5 1 -2\n"                                                                     \
    "0,0,0,1,query,0.100000001 127 -128\n"
#define HAND_STEP_1                                                                                \
    "0,1,0,0,born,0\n"                                                                             \
    "0,1,0,0,tail,0\n"                                                                             \
    "0,1,0,0,0,0.5\n"                                                                              \
    "0,1,0,0,9,0.25\n"                                                                             \
    "0,1,0,0,~0,0.5\n"                                                                             \
    "0,1,0,0,~9,0.25\n"                                                                            \
    "0,1,0,0,query,0 0 0\n"                                                                        \
    "0,1,0,1,query,1 3 4\n"
#define HAND HAND_HEADER HAND_STEP_0 HAND_STEP_1

/* The trace whose text is HAND. */
static void write_by_hand(const char *path)
{
    uint32_t start[] = {0, 3, 5}, units[] = {0, 4, 9, 0, 9};
    uint32_t asked_start[] = {0, 2, 4}, asked[] = {0, 9, 0, 9};
    uint8_t mass[] = {10, 40, 255, 10, 20}, asked_mass[] = {0, 1, 10, 20};
    int8_t query[] = {1, -2, 0, 0, 127, -128, 3, 4};
    float scale[] = {0.5f, 0, 0.1f, 1}, born[] = {0.25f, 0}, tail[] = {0.125f, 0};
    const struct trace_header header = {.layers = 1,
                                        .kv_heads = 1,
                                        .query_heads = 2,
                                        .head_dim = 2,
                                        .context = 10,
                                        .unit_tokens = 1,
                                        .units = 10,
                                        .sinks = 1,
                                        .recent = 1,
                                        .keep = 2,
                                        .sequences = 1,
                                        .steps = 2,
                                        .steps_per_tile = 2,
                                        .has_queries = true,
                                        .has_approximate = true,
                                        .source = (char *)"{\"model\": \"by hand\"}"};
    struct trace_frame frame = {
        .steps = 2,
        .rows = {.start = start, .units = units, .mass = mass},
        .approximate = {.start = asked_start, .units = asked, .mass = asked_mass},
        .born = born,
        .tail = tail,
        .scale = scale,
        .query = query};
    struct error why;
    struct trace_writer *writer = trace_writer_open(path, &header, &why);
    make_check(writer != NULL && trace_writer_put(writer, &frame, &why) &&
                   trace_writer_close(writer, &why),
               &why);
    free(frame.stored);
    free(frame.raw);
}

static void rows_become_lines(void **state)
{
    (void)state;
    char swt[64];
    size_t size;
    write_by_hand(make_path(folder, "x.swt", swt));
    char *text = export_text(swt, &size);
    assert_string_equal(text, HAND);
    free(text);
    unlink(swt);
}

static void every_mass_code_survives_as_text(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        char text[32];
        snprintf(text, sizeof text, "%.4g", (double)trace_mass[code]);
        assert_int_equal(trace_mass_code((double)strtof(text, NULL)), code);
    }
}

static void a_full_disk_is_no_csv(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_header header = make_header();
    make_trace(&header, make_path(folder, "x.swt", path), 30);
    struct trace *trace = trace_open(path, &why);
    FILE *full = fopen("/dev/full", "w");
    assert_true(trace != NULL && full != NULL);
    assert_false(trace_export_csv(trace, full, &why));
    assert_string_equal(why.found, "cannot write CSV: No space left on device");
    fclose(full);
    trace_close(trace);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_become_lines),
        cmocka_unit_test(every_mass_code_survives_as_text),
        cmocka_unit_test(a_full_disk_is_no_csv),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
