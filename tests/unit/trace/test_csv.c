/* Traces as CSV: there and back, and what is refused on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/csv/csv.h"
#include "trace/csv/csv_number.h"
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

static bool import_csv(const char *path, const char *out_path, struct error *why)
{
    struct complaints complaints = {.count = 0};
    return trace_import_csv(path, out_path, &complaints, why);
}

static void save_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
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

static void lines_become_rows(void **state)
{
    (void)state;
    char csv[64], swt[64];
    struct error why;
    struct trace_frame frame;
    save_text(make_path(folder, "x.csv", csv), HAND);
    make_check(import_csv(csv, make_path(folder, "x.swt", swt), &why), &why);
    struct trace *trace = trace_open(swt, &why);
    trace_frame_init(&frame);
    make_check(trace != NULL && trace_read(trace, 0, 0, 0, &frame, &why), &why);
    const uint32_t start[] = {0, 3, 5}, units[] = {0, 4, 9, 0, 9}, approximate[] = {0, 9, 0, 9};
    const uint8_t mass[] = {10, 40, 255, 10, 20}, approximate_mass[] = {0, 1, 10, 20};
    const int8_t query[] = {1, -2, 0, 0, 127, -128, 3, 4};
    const float scale[] = {0.5f, 0, 0.1f, 1}, born[] = {0.25f, 0}, tail[] = {0.125f, 0};
    assert_string_equal(trace_header(trace)->source, "{\"model\": \"by hand\"}");
    assert_memory_equal(frame.rows.start, start, sizeof start);
    assert_memory_equal(frame.rows.units, units, sizeof units);
    assert_memory_equal(frame.rows.mass, mass, sizeof mass);
    assert_memory_equal(frame.approximate.units, approximate, sizeof approximate);
    assert_memory_equal(frame.approximate.mass, approximate_mass, sizeof approximate_mass);
    assert_memory_equal(frame.query, query, sizeof query);
    assert_memory_equal(frame.scale, scale, sizeof scale);
    assert_memory_equal(frame.born, born, sizeof born);
    assert_memory_equal(frame.tail, tail, sizeof tail);
    trace_frame_release(&frame);
    trace_close(trace);
    unlink(csv);
    unlink(swt);
}

static void rows_become_lines(void **state)
{
    (void)state;
    char csv[64], swt[64];
    size_t size;
    struct error why;
    save_text(make_path(folder, "x.csv", csv), HAND);
    make_check(import_csv(csv, make_path(folder, "x.swt", swt), &why), &why);
    char *text = export_text(swt, &size);
    assert_string_equal(text, HAND);
    free(text);
    unlink(csv);
    unlink(swt);
}

static void other_ways_to_write_the_same_are_read(void **state)
{
    (void)state;
    const char *const variants[] = {
        HAND_HEADER "0,0,0,0,born, 2.5e-1\r\n" /* blanks, exponents, carriage returns */
                    "0, 0,0,0,\"tail\",.125\n" /* quotes, no digit before the point */
                    "0,0,0,0,00,0.49\n"        /* the nearest code */
                    "0,0,0,0,4,0.0625\n"
                    "0,0,0,0,9,0\n"
                    "0,0,0,0,~0,1.0005\n"
                    "0,0,0,0,~9,0.93\n"
                    "0,0,0,0,query,.5 1 -2\n"
                    "0,0,0,1,query,0.1 127 -128\n"
                    "0,1,0,0,born,0\n"
                    "0,1,0,0,tail,0\n"
                    "0,1,0,0,~0,0.5\n" /* approximate units first */
                    "0,1,0,0,0,0.5\n"
                    "0,1,0,0,~9,0.25\n"
                    "0,1,0,0,9,0.25\n"
                    "0,1,0,0,query,0 0 0\n"
                    "0,1,0,1,query,1 3 4", /* no end of line */
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        char csv[64], swt[64];
        size_t size;
        struct error why;
        save_text(make_path(folder, "x.csv", csv), variants[i]);
        make_check(import_csv(csv, make_path(folder, "x.swt", swt), &why), &why);
        char *text = export_text(swt, &size);
        assert_string_equal(text, HAND);
        free(text);
        unlink(csv);
        unlink(swt);
    }
}

static void malformed_lines_are_named(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int line;
        const char *facts; /* fault.h */
    } cases[] = {
        {"", 1, ""},      /* no trace */
        {"a,b\n", 1, ""}, /* no trace */
        {"# swt 2 layers=1\n", 1, "'2'"},
        {"# swt 1 layers\n", 1, "'layers'"},
        {"# swt 1 layer=1\n", 1, "'layer'"},
        {"# swt 1 layers=1 layers=1\n", 1, "'layers'"},
        {"# swt 1 layers=-1\n", 1, "'layers'"},
        {"# swt 1 layers=4294967296\n", 1, "'layers'"},
        {"# swt 1 layers=1\n", 1, "'kv_heads'"},
        {HAND_HEADER "0,0,0,0,born\n", 4, "5"},    /* fields */
        {HAND_HEADER "\n", 4, "0"},                /* fields */
        {HAND_HEADER "0,0,0,0,born,0,\n", 4, "7"}, /* fields */
        {HAND_HEADER "0,0,0,0,\"born,0\n", 4, ""}, /* libcsv's */
        {HAND_HEADER "x,0,0,0,born,0\n", 4, "'x'"},
        {HAND_HEADER "0,0,0,0,burn,0\n", 4, "'burn'"},
        {HAND_HEADER "0,0,0,0,~,0\n", 4, "'~'"},
        {HAND_HEADER "0,0,0,0,born,1e\n", 4, "'1e'"},
        {HAND_HEADER "0,0,0,0,born,\n", 4, "''"},
        {HAND_HEADER "0,0,0,0,born,nan\n", 4, "'nan'"},
        {HAND_HEADER "0,0,0,0,born,0x1\n", 4, "'0x1'"},
        {HAND_HEADER "0,0,0,0,born,-0.1\n", 4, "'-0.1'"},
        {HAND_HEADER "0,0,0,0,born,1.01\n", 4, "'1.01'"},
        {HAND_HEADER "0,0,0,0,tail,0\n", 4, "'tail'"},
        {HAND_HEADER "0,0,0,0,0,0\n", 4, "'unit'"},
        {HAND_HEADER "0,0,0,0,query,0 0 0\n", 4, "'query'"},
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,0,0\n", 5, "'unit'"},
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,born,0\n", 5, "'born'"},
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,10,0\n", 6,
         "10 10"}, /* unit 10 of 10 */
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,1,0,0,1,0\n", 6, "'unit'"},
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,1,0\n0,0,0,0,1,0\n", 7,
         "1 1"}, /* unit 1 after 1 */
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,query,1 2\n", 6, "'1 2'"},
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,query,1 2 3 4\n", 6, "'1 2 3 4'"},
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,query,1 2 128\n", 6, "'1 2 128'"},
        {HAND_HEADER HAND_STEP_0 "0,0,0,0,9,0\n", 13, "'unit'"},
        {HAND_HEADER HAND_STEP_0, 13, ""}, /* the end */
        {HAND_HEADER HAND_STEP_1, 4, "'born'"},
        {HAND_HEADER HAND_STEP_0 HAND_STEP_0, 13, "'born'"},
        {HAND "0,1,0,0,born,0\n", 21, "'born'"},
        {HAND "0,2,0,0,born,0\n", 21, "'born'"},
        {HAND_HEADER "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,9,0\n0,0,0,0,~0,0\n0,0,0,0,~9,0\n"
                     "0,0,0,0,query,0 0 0\n0,0,0,1,query,0 0 0\n" HAND_STEP_1,
         19, "0 0 0 0 0"}, /* a sink is missing in the first row */
    };
    char csv[64], swt[64];
    make_path(folder, "x.csv", csv);
    make_path(folder, "x.swt", swt);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error why;
        save_text(csv, cases[i].text);
        assert_false(import_csv(csv, swt, &why));
        char facts[FAULT_SIZE];
        if (strcmp(facts_of(&why, facts), cases[i].facts) != 0 || why.line != cases[i].line ||
            strcmp(why.file, csv) != 0) {
            fail_msg("case %zu: %s:%d: '%s' is not line %d: %s", i, why.file, why.line, why.found,
                     cases[i].line, cases[i].facts);
        }
        assert_int_equal(access(swt, F_OK), -1);
    }
    unlink(csv);
}

static void lines_behind_a_fault_are_looked_at_one_by_one(void **state)
{
    (void)state;
    char csv[64], swt[64];
    struct error why;
    struct complaints complaints = {.count = 0};
    save_text(make_path(folder, "x.csv", csv), HAND_HEADER "0,0,0,0,born,0\n"
                                                           "0,0,0,0,tail,x\n" /* line 5 */
                                                           "0,0,0,0,0,0.5\n"
                                                           "0,0,0,0,9\n"        /* 7 */
                                                           "\"a\"b,0,0,0,9,0\n" /* 8 */
                                                           "0,0,0,0,~9,0.25\n"
                                                           "0,0,-1,0,query,0 0 0\n" /* 10 */);
    assert_false(trace_import_csv(csv, make_path(folder, "x.swt", swt), &complaints, &why));
    assert_string_equal(why.found, "4 faults; nothing was read");
    assert_int_equal(complaints.count, 4);
    const int lines[] = {5, 7, 8, 10};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(complaints.shown[i].line, lines[i]);
        assert_string_equal(complaints.shown[i].file, csv);
    }
    assert_string_equal(complaints.shown[0].found, "'x' is not a mass");
    assert_int_equal(access(swt, F_OK), -1);
    unlink(csv);
}

static void what_is_no_text_is_refused(void **state)
{
    (void)state;
    static struct bytes bytes;
    char csv[64], swt[64];
    struct error why;
    make_path(folder, "x.csv", csv);
    make_path(folder, "x.swt", swt);
    bytes.size = 71000;
    memset(bytes.at, '#', bytes.size);
    FILE *file = fopen(csv, "wb");
    for (int i = 0; i < 240; i++) {
        assert_int_equal(fwrite(bytes.at, 1, bytes.size, file), bytes.size);
    }
    assert_int_equal(fclose(file), 0);
    assert_false(import_csv(csv, swt, &why));
    assert_string_equal(why.found, "the line is too long");
    bytes.at[5] = '\0';
    save(csv, &bytes);
    assert_false(import_csv(csv, swt, &why));
    assert_string_equal(why.found, "a zero byte: not a text file");
    unlink(csv);
    assert_false(import_csv(csv, swt, &why));
    assert_string_equal(why.found, "cannot open: No such file or directory");
    assert_false(import_csv(folder, swt, &why));
    assert_string_equal(why.found, "cannot read: Is a directory");
}

/* ---- there and back ---------------------------------------------------------------------------
 */

static void export_import_export_gives_the_same_bytes(void **state)
{
    (void)state;
    struct trace_header headers[5];
    headers[0] = make_header();
    headers[1] = make_header();
    headers[1].has_approximate = true;
    headers[2] = make_header();
    headers[2].has_queries = false;
    headers[3] = make_header(); /* rows may be empty, as are whole tiles */
    headers[3].sinks = headers[3].recent = headers[3].keep = 0;
    headers[4] = make_header(); /* clusters, tiles of one step, a source of several lines */
    headers[4].unit_kind = TRACE_CLUSTERS;
    headers[4].units = 5;
    headers[4].steps_per_tile = 1;
    headers[4].source = (char *)"{\n  \"model\": \"a\\nb\"\r\n}";
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        static struct bytes before, after;
        char first[64], csv[64], second[64];
        size_t size, again_size;
        struct error why;
        make_trace(&headers[i], make_path(folder, "x.swt", first), 20 + i);
        char *text = export_text(first, &size);
        save_text(make_path(folder, "x.csv", csv), text);
        make_check(import_csv(csv, make_path(folder, "y.swt", second), &why), &why);
        char *again = export_text(second, &again_size);
        assert_int_equal(size, again_size);
        assert_memory_equal(text, again, size);
        load(first, &before);
        load(second, &after);
        if (strchr(headers[i].source, '\n') == NULL) { /* nothing at all is lost */
            assert_int_equal(before.size, after.size);
            assert_memory_equal(before.at, after.at, before.size);
        }
        free(text);
        free(again);
        unlink(first);
        unlink(csv);
        unlink(second);
    }
}

static void every_mass_code_survives_as_text(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        char text[32];
        float mass;
        snprintf(text, sizeof text, "%.4g", (double)trace_mass[code]);
        assert_true(csv_float(text, &mass));
        assert_int_equal(trace_mass_code((double)mass), code);
    }
}

static void numbers_are_all_of_a_field_or_none(void **state)
{
    (void)state;
    const char *const wrong[] = {"",    " ",   "1 ",   " 1",   "+",     "-",   ".",  "e5", "1e",
                                 "inf", "nan", "0x10", "1e39", "-1e39", "1,5", "1f", "--1"};
    const char *const not_whole[] = {"",   "-1", "+1", "1.0", "4294967296", "99999999999999999999",
                                     "1 ", "0x1"};
    float real;
    uint32_t whole;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (csv_float(wrong[i], &real)) {
            fail_msg("'%s' is read as %g", wrong[i], (double)real);
        }
    }
    for (size_t i = 0; i < sizeof not_whole / sizeof *not_whole; i++) {
        if (csv_whole(not_whole[i], &whole)) {
            fail_msg("'%s' is read as %u", not_whole[i], whole);
        }
    }
    assert_true(csv_whole("4294967295", &whole) && whole == UINT32_MAX);
    assert_true(csv_float("-1.5e-3", &real) && real == -1.5e-3f);
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
        cmocka_unit_test(lines_become_rows),
        cmocka_unit_test(rows_become_lines),
        cmocka_unit_test(other_ways_to_write_the_same_are_read),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(lines_behind_a_fault_are_looked_at_one_by_one),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(export_import_export_gives_the_same_bytes),
        cmocka_unit_test(every_mass_code_survives_as_text),
        cmocka_unit_test(numbers_are_all_of_a_field_or_none),
        cmocka_unit_test(a_full_disk_is_no_csv),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
