/* Traces of other tools: what becomes of them, worked out by hand, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/csv/csv.h"
#include "trace/import/dense_ids.h"
#include "trace/import/import.h"
#include "unit/fixture/fault.h"
#include "unit/fixture/trace_files.h"

/* ---- files by hand -------------------------------------------------------------------- */

struct file {
    uint8_t at[4096];
    size_t size;
};

static void put(struct file *file, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        file->at[file->size++] = (uint8_t)(value >> 8 * i);
    }
}

static void put_text(struct file *file, const char *text)
{
    memcpy(file->at + file->size, text, strlen(text));
    file->size += strlen(text);
}

static struct file text_file(const char *text)
{
    struct file file = {.size = 0};
    put_text(&file, text);
    return file;
}

/* ---- importing them ------------------------------------------------------------------- */

static struct import_report report;

static bool import(const struct import_format *format, const struct file *file,
                   const struct import_options *options, const char *swt, struct error *why)
{
    char path[64];
    FILE *out = fopen(make_path(folder, "x.in", path), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file->at, 1, file->size, out), file->size);
    assert_int_equal(fclose(out), 0);
    report = (struct import_report){.unread = ""};
    bool ok = trace_import(format, path, swt, options, &report, why);
    unlink(path);
    return ok;
}

/* The trace as CSV, without the lines of its header but with their numbers. */
static void assert_imports(const struct import_format *format, const struct file *file,
                           const struct import_options *options, const char *numbers,
                           const char *source, const char *rows)
{
    char swt[64], *text;
    size_t size;
    struct error why;
    make_check(import(format, file, options, make_path(folder, "x.swt", swt), &why), &why);
    FILE *out = open_memstream(&text, &size);
    struct trace *trace = trace_open(swt, &why);
    make_check(trace != NULL && trace_export_csv(trace, out, &why), &why);
    trace_close(trace);
    fclose(out);
    if (strstr(text, numbers) == NULL || strstr(text, source) == NULL) {
        fail_msg("no '%s' or no '%s' in\n%s", numbers, source, text);
    }
    const char *columns = "sequence,step,layer,head,unit,mass\n";
    assert_string_equal(strstr(text, columns) + strlen(columns), rows);
    free(text);
    unlink(swt);
}

/* One fault, whose facts (fault.h) are these, and no trace. */
static void assert_refused(const struct import_format *format, const struct file *file,
                           const struct import_options *options, int line, const char *facts)
{
    char swt[64], text[FAULT_SIZE];
    struct error why = {.found = ""};
    bool ok = import(format, file, options, make_path(folder, "x.swt", swt), &why);
    if (ok || strcmp(facts_of(&why, text), facts) != 0 || why.line != line) {
        fail_msg("line %d: '%s' is not line %d: %s", why.line, why.found, line, facts);
    }
    assert_int_equal(access(swt, F_OK), -1);
}

static const struct import_options plain;

/* ---- plain streams -------------------------------------------------------------------- */

static void an_id_of_a_stream_is_a_step(void **state)
{
    (void)state;
    struct file file = {.size = 0};
    put(&file, 7, 4);
    put(&file, 0, 4);
    put(&file, 7, 4);
    assert_imports(&import_u32, &file, &plain,
                   "layers=1 kv_heads=1 query_heads=1 head_dim=1 "
                   "context=8 unit_kind=0 unit_tokens=1 units=8 sinks=0 recent=0 keep=1 "
                   "sequences=1 steps=3",
                   "\"assumed: equal in a row\"",
                   "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,7,1\n"
                   "0,1,0,0,born,0\n0,1,0,0,tail,0\n0,1,0,0,0,1\n"
                   "0,2,0,0,born,0\n0,2,0,0,tail,0\n0,2,0,0,7,1\n");
}

static void repeats_within_a_step_add_up(void **state)
{
    (void)state;
    const struct import_options four = {.per_step = 4, .unit_tokens = 16};
    const uint32_t ids[] = {7, 0, 7, 3, 2};
    struct file file = {.size = 0};
    for (size_t i = 0; i < 5; i++) {
        put(&file, ids[i], 4);
    }
    assert_imports(&import_u32, &file, &four,
                   "context=128 unit_kind=0 unit_tokens=16 units=8 "
                   "sinks=0 recent=0 keep=3 sequences=1 steps=2",
                   "u32",
                   "0,0,0,0,born,0\n0,0,0,0,tail,0\n"
                   "0,0,0,0,0,0.25\n0,0,0,0,3,0.25\n0,0,0,0,7,0.5\n"
                   "0,1,0,0,born,0\n0,1,0,0,tail,0\n0,1,0,0,2,1\n");
}

static void broken_records_are_counted(void **state)
{
    (void)state;
    struct file file = {.size = 0};
    put(&file, 7, 4);
    put(&file, 7, 3);
    assert_refused(&import_u32, &file, &plain, 0, "1 3 4");
    file.size = 0;
    put(&file, 1, 4);
    put(&file, UINT32_MAX, 4);
    assert_refused(&import_u32, &file, &plain, 0, "1 4294967295");
    file.size = 0;
    assert_refused(&import_u32, &file, &plain, 0, "");
    put(&file, 3 << 28, 4);
    assert_refused(&import_u32, &file, &(struct import_options){.unit_tokens = 16}, 0,
                   "1 12884901904");
}

static void ids_stay_apart_when_the_table_grows(void **state)
{
    (void)state;
    struct dense_ids dense = {.places = 0};
    struct error why;
    uint32_t number;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            make_check(dense_ids_find(&dense, i * 0x100000001u, &number, &why), &why);
            assert_int_equal(number, i);
        }
    }
    dense_ids_release(&dense);
}

/* ---- tables --------------------------------------------------------------------------- */

static void columns_are_found_by_name(void **state)
{
    (void)state;
    const struct import_options options = {.columns =
                                               "step=token,unit=block,mass=w,layer=l,head=h"};
    struct file file = text_file("w,block,token,l,h,more\n"
                                 "0.25,9,100,0,1,x\n"
                                 "0.5,\"3\",100,0,1,\"a,b\"\r\n"
                                 "1,4,100,0,0,\n"
                                 "0.125,4,101,0,0,");
    assert_imports(&import_csv, &file, &options,
                   "layers=1 kv_heads=2 query_heads=2 "
                   "head_dim=1 context=10 unit_kind=0 unit_tokens=1 units=10 sinks=0 recent=0 "
                   "keep=2 sequences=1 steps=2",
                   "\"recorded\"",
                   "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,4,1\n"
                   "0,0,0,1,born,0\n0,0,0,1,tail,0.25\n0,0,0,1,3,0.5\n0,0,0,1,9,0.25\n"
                   "0,1,0,0,born,0\n0,1,0,0,tail,0.875\n0,1,0,0,4,0.125\n"
                   "0,1,0,1,born,0\n0,1,0,1,tail,1\n");
}

static void columns_are_found_by_number(void **state)
{
    (void)state;
    const struct import_options options = {.columns = "unit=2", .per_step = 2};
    struct file file = text_file("a,3\nb,1\nc,2\n");
    assert_imports(&import_csv, &file, &options, "keep=2 sequences=1 steps=2", "csv",
                   "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,1,0.5\n0,0,0,0,3,0.5\n"
                   "0,1,0,0,born,0\n0,1,0,0,tail,0\n0,1,0,0,2,1\n");
}

/* 1 : 1/2 : 1/3 makes 6/11, 3/11, 2/11; codes are steps of 7 %: .5359 = 2^-.9, .2679 = 2^-1.9.
 * What is behind the context was born. */
static void ranks_and_tokens_born_share_the_mass(void **state)
{
    (void)state;
    const struct import_options options = {
        .columns = "unit=1", .mass = IMPORT_RANK, .context = 8, .share = 2, .per_step = 3};
    struct file file = text_file("5\n0\n9\n");
    assert_imports(&import_csv, &file, &options,
                   "layers=2 kv_heads=1 query_heads=1 head_dim=1 "
                   "context=8 unit_kind=0 unit_tokens=1 units=8 sinks=0 recent=0 keep=2",
                   "\"assumed: 1/rank in a row\"",
                   "0,0,0,0,born,0.181818187\n0,0,0,0,tail,0\n0,0,0,0,0,0.2679\n"
                   "0,0,0,0,5,0.5359\n"
                   "0,0,1,0,born,0.181818187\n0,0,1,0,tail,0\n0,0,1,0,0,0.2679\n"
                   "0,0,1,0,5,0.5359\n");
}

static void malformed_lines_are_named(void **state)
{
    (void)state;
    const struct {
        const char *columns, *text;
        int line;
        const char *facts;
    } cases[] = {
        {"step=s,unit=u", "s,u\n0,1\n0\n", 3, "1"}, /* fields */
        {"step=s,unit=u", "s,u\n0,1\n\n", 3, "0"},  /* fields */
        {"step=s,unit=u", "s,u\n0,x\n", 2, "'x'"},
        {"step=s,unit=u", "s,u\n-1,1\n", 2, "'-1'"},
        {"step=s,unit=u", "s,u\n0,4294967295\n", 2, "4294967295"},
        {"step=s,unit=u", "s,u\n3,1\n5,1\n", 3, "5 3"},        /* step 5 after 3 */
        {"step=s,unit=u", "s,u\n3,1\n4,1\n3,1\n", 4, "3 4"},   /* step 3 after 4 */
        {"step=s,unit=u", "s,u\n3,1\n3,2\n3,1\n", 4, "0 0 1"}, /* layer 0, head 0: unit 1 twice */
        {"step=s,unit=u", "s,u\n0,\"1\n", 2, ""},              /* libcsv's */
        {"step=s,unit=u", "s,u\n", 0, ""},                     /* no accesses */
        {"step=s,unit=u", "s,v\n0,1\n", 1, "'u'"},
        {"unit=1,layer=2", "1,1024\n", 1, "1024 0 1024"}, /* layer 1024, head 0: at most 1024 */
        {"unit=1,layer=2", "1,1\n", 0, "0 0"},            /* layer 0, head 0: no row */
        {"unit=1,layer=2", "1\n", 1, "1"},                /* fields */
        {"unit=1,mass=2", "1,2\n", 1, "'2'"},
        {"unit=1,mass=2,step=3", "1,.9,0\n2,.9,0\n", 1,
         "0 0 1.8"}, /* layer 0, head 0: sum of masses */
        {NULL, "", 1, ""},
        {NULL, "s,u\n", 1, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct import_options options = {.columns = cases[i].columns};
        struct file file = text_file(cases[i].text);
        assert_refused(&import_csv, &file, &options, cases[i].line, cases[i].facts);
    }
}

static void ten_faults_are_kept_and_all_are_counted(void **state)
{
    (void)state;
    char text[256] = "";
    for (int i = 0; i < 13; i++) {
        strcat(text, "x\n1\n");
    }
    struct file file = text_file(text);
    assert_refused(&import_csv, &file, &(struct import_options){.columns = "unit=1"}, 0, "13");
    assert_int_equal(complaints_shown(&report.complaints), 10);
    assert_int_equal(report.complaints.shown[9].line, 19);
}

static void a_mapping_that_cannot_be_meant_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *columns, *facts;
    } cases[] = {
        {"", ""},       /* no unit */
        {"step=1", ""}, /* no unit */
        {"unit", "'unit'"},
        {"unit=", "'unit='"},
        {"units=1", "'units'"},
        {"unit=1,unit=2", "'unit'"},
        {"unit=1,layer=s", ""}, /* names and numbers */
        {"unit=0", "0"},
        {"unit=65", "65"},
        {"unit=1,step=2", ""}, /* lines a step, and a column for it */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct import_options options = {.columns = cases[i].columns, .per_step = 1};
        struct file file = text_file("1,2\n");
        assert_refused(&import_csv, &file, &options, 0, cases[i].facts);
    }
}

/* ---- formats -------------------------------------------------------------------------- */

static void a_name_says_its_format(void **state)
{
    (void)state;
    struct error why;
    assert_ptr_equal(import_format_of("a/b.u32", &why), &import_u32);
    assert_ptr_equal(import_format_of("x.csv", &why), &import_csv);
    assert_null(import_format_of("x.bin", &why));
    assert_int_equal(why.kind, ERROR_USAGE);
    assert_ptr_equal(import_format_named("csv", &why), &import_csv);
    assert_null(import_format_named("oracle", &why));
    assert_int_equal(why.kind, ERROR_USAGE);
}

static void what_cannot_be_read_twice_is_refused(void **state)
{
    (void)state;
    char swt[64];
    struct error why;
    make_path(folder, "x.swt", swt);
    assert_false(trace_import(&import_u32, folder, swt, &plain, &report, &why));
    assert_string_equal(why.found, "not a regular file, but it must be read twice");
    assert_false(trace_import(&import_u32, swt, swt, &plain, &report, &why));
    assert_string_equal(why.found, "cannot be opened: No such file or directory");
}

/* A tile has as many steps as fit its frame, 256 at most. */
static void steps_go_on_from_tile_to_tile(void **state)
{
    (void)state;
    static struct file file;
    char swt[64];
    struct error why;
    struct trace_frame frame;
    file.size = 0;
    for (uint32_t i = 0; i < 600; i++) {
        put(&file, i % 7, 4);
    }
    make_check(import(&import_u32, &file, &plain, make_path(folder, "x.swt", swt), &why), &why);
    struct trace *trace = trace_open(swt, &why);
    make_check(trace != NULL, &why);
    trace_frame_init(&frame);
    assert_int_equal(trace_tiles(trace_header(trace)), 3);
    for (uint32_t tile = 0; tile < 3; tile++) {
        make_check(trace_read(trace, 0, tile, 0, &frame, &why), &why);
        for (uint32_t step = 0; step < frame.steps; step++) {
            assert_int_equal(frame.rows.start[step + 1], step + 1);
            assert_int_equal(frame.rows.units[step], (256 * tile + step) % 7);
        }
    }
    trace_frame_release(&frame);
    trace_close(trace);
    unlink(swt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_of_a_stream_is_a_step),
        cmocka_unit_test(repeats_within_a_step_add_up),
        cmocka_unit_test(broken_records_are_counted),
        cmocka_unit_test(ids_stay_apart_when_the_table_grows),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(columns_are_found_by_number),
        cmocka_unit_test(ranks_and_tokens_born_share_the_mass),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(ten_faults_are_kept_and_all_are_counted),
        cmocka_unit_test(a_mapping_that_cannot_be_meant_is_refused),
        cmocka_unit_test(a_name_says_its_format),
        cmocka_unit_test(what_cannot_be_read_twice_is_refused),
        cmocka_unit_test(steps_go_on_from_tile_to_tile),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
