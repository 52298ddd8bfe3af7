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

#include <zstd.h>

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

/* An array of numpy, whose header is `version` 1 or 2. */
static struct file npy_file(int version, const char *header, const int64_t *items, size_t count,
                            size_t size)
{
    struct file file = {.size = 0};
    put_text(&file, "\x93NUMPY");
    put(&file, (uint64_t)version, 2);
    put(&file, strlen(header), version == 1 ? 2 : 4);
    put_text(&file, header);
    for (size_t i = 0; i < count; i++) {
        put(&file, (uint64_t)items[i], size);
    }
    return file;
}

struct oracle_record {
    uint64_t id;
    int64_t next;
};

static struct file oracle_file(const struct oracle_record *records, size_t count)
{
    struct file file = {.size = 0};
    for (size_t i = 0; i < count; i++) {
        put(&file, 1000 + i, 4);
        put(&file, records[i].id, 8);
        put(&file, 4096, 4);
        put(&file, (uint64_t)records[i].next, 8);
    }
    return file;
}

static struct file compress(const struct file *file)
{
    struct file packed;
    packed.size = ZSTD_compress(packed.at, sizeof packed.at, file->at, file->size, 3);
    assert_false(ZSTD_isError(packed.size));
    return packed;
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
    report = (struct import_report){.traces = 0};
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

static void objects_are_numbered_as_they_come(void **state)
{
    (void)state;
    const struct oracle_record records[] = {
        {UINT64_MAX, 2}, {5, -1}, {UINT64_MAX, INT64_MAX}, {0, -1}};
    const char *rows = "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,0,1\n"
                       "0,1,0,0,born,0\n0,1,0,0,tail,0\n0,1,0,0,1,1\n"
                       "0,2,0,0,born,0\n0,2,0,0,tail,0\n0,2,0,0,0,1\n"
                       "0,3,0,0,born,0\n0,3,0,0,tail,0\n0,3,0,0,2,1\n";
    struct file file = oracle_file(records, 4), packed = compress(&file);
    assert_imports(&import_oracle_general, &file, &plain, "units=3 ", "oracle-general", rows);
    assert_imports(&import_oracle_general, &packed, &plain, "units=3 ", "oracle-general", rows);
}

static void broken_records_are_counted(void **state)
{
    (void)state;
    const struct oracle_record early[] = {{1, 1}, {1, 1}}, negative[] = {{1, -2}};
    struct file file = oracle_file(early, 2);
    assert_refused(&import_oracle_general, &file, &plain, 0, "1 1");
    file = oracle_file(negative, 1);
    assert_refused(&import_oracle_general, &file, &plain, 0, "0 2");
    file = oracle_file(early, 1);
    file.size--;
    assert_refused(&import_oracle_general, &file, &plain, 0, "0 23 24");
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

static void a_cut_compressed_file_is_refused(void **state)
{
    (void)state;
    const struct oracle_record records[] = {{1, -1}};
    struct file file = oracle_file(records, 1), packed = compress(&file);
    packed.size--;
    assert_refused(&import_oracle_general, &packed, &plain, 0, "");
    packed = compress(&file);
    packed.at[5] ^= 0xff;
    assert_refused(&import_oracle_general, &packed, &plain, 0, "");
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

/* ---- arrays --------------------------------------------------------------------------- */

#define SHAPE_223 "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2, 3), }   \n"

static const int64_t indices[] = {5, 0, 9, 2, -1, -1, -1, 4, 5, -1, -1, -1};

static void tokens_and_layers_of_an_array_become_rows(void **state)
{
    (void)state;
    const char *rows = "0,0,0,0,born,0\n0,0,0,0,tail,0\n"
                       "0,0,0,0,0,0.3299\n0,0,0,0,5,0.3299\n0,0,0,0,9,0.3299\n"
                       "0,0,1,0,born,0\n0,0,1,0,tail,0\n0,0,1,0,2,1\n"
                       "0,1,0,0,born,0\n0,1,0,0,tail,0\n0,1,0,0,4,0.5\n0,1,0,0,5,0.5\n"
                       "0,1,1,0,born,0\n0,1,1,0,tail,1\n";
    const char *numbers = "layers=2 kv_heads=1 query_heads=1 head_dim=1 context=10 unit_kind=0 "
                          "unit_tokens=1 units=10 sinks=0 recent=0 keep=3 sequences=1 steps=2";
    const struct {
        const char *type;
        size_t size;
    } types[] = {{"<i4", 4}, {"<i8", 8}, {"<u4", 4}, {"<u8", 8}};
    for (int version = 1; version <= 2; version++) {
        for (size_t t = 0; t < 4; t++) {
            char header[128];
            snprintf(header, sizeof header,
                     "{\"shape\":(2,2,3),'fortran_order': False , 'descr' :'%s'}", types[t].type);
            struct file file = npy_file(version, header, indices, 12, types[t].size);
            assert_imports(&import_npy, &file, &plain, numbers, "npy", rows);
        }
    }
    struct file file = npy_file(1, SHAPE_223, indices, 12, 4), packed = compress(&file);
    assert_imports(&import_npy, &packed, &plain, numbers, "npy", rows);
}

/* 1 : 1/2 : 1/3 makes 6/11, 3/11, 2/11; codes are steps of 7 %: .5359 = 2^-.9, .2679 = 2^-1.9,
 * .1768 = 2^-2.5. What is behind the context was born. */
static void ranks_and_tokens_born_share_the_mass(void **state)
{
    (void)state;
    const struct import_options options = {.mass = IMPORT_RANK, .context = 8, .share = 2};
    struct file file =
        npy_file(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1, 3)}", indices, 3, 4);
    assert_imports(&import_npy, &file, &options,
                   "layers=2 kv_heads=1 query_heads=1 head_dim=1 "
                   "context=8 unit_kind=0 unit_tokens=1 units=8 sinks=0 recent=0 keep=2",
                   "\"assumed: 1/rank in a row\"",
                   "0,0,0,0,born,0.181818187\n0,0,0,0,tail,0\n0,0,0,0,0,0.2679\n"
                   "0,0,0,0,5,0.5359\n"
                   "0,0,1,0,born,0.181818187\n0,0,1,0,tail,0\n0,0,1,0,0,0.2679\n"
                   "0,0,1,0,5,0.5359\n");
}

static void wrong_arrays_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *header;
        size_t items;
        const char *facts;
    } cases[] = {
        {SHAPE_223, 11, "1 1 2 2"}, /* ends in token 1, layer 1 of 2, 2 */
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2, 2)}", 12,
         ""}, /* items after the array */
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (12,)}", 12, "1"}, /* dimensions */
        {"{'descr': '<i4', 'fortran_order': False, 'shape': ()}", 12, "0"},    /* dimensions */
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 0, 3)}", 0,
         "3"}, /* dimensions, no items */
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1025, 1)}", 12,
         "1025"}, /* layers */
        {"{'descr': '>i4', 'fortran_order': False, 'shape': (2, 2, 3)}", 12, "'>i4'"},
        {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2, 2, 3)}", 12,
         "'[('a' '<i4' 'for'"},
        {"{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2, 3)}", 12, ""},
        {"{'descr': '<i4', 'shape': (2, 2, 3)}", 12, ""}, /* no order */
        {"{'descr': '<i4', 'order': 1}", 12, "'order'"},
        {"{'descr': '<i4' 'shape': (1)}", 12, "''shape' 1"},
        {"{'descr", 12, "''descr'"},
        {"{'shape': (1, 2, -3)}", 12, "'-3)}'"},
        {"{'shape': (4294967296)}", 12, "')}'"},
        {"{'shape': (1,1,1,1,1,1,1,1,1)}", 12, "')}'"},
        {"", 12, "''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct file file = npy_file(1, cases[i].header, indices, cases[i].items, 4);
        assert_refused(&import_npy, &file, &plain, 0, cases[i].facts);
    }
    struct file file = npy_file(3, SHAPE_223, indices, 12, 4);
    assert_refused(&import_npy, &file, &plain, 0, "3.0");
    file = npy_file(1, SHAPE_223, indices, 12, 4);
    file.at[8] = 0xff; /* longer than the file */
    assert_refused(&import_npy, &file, &plain, 0, "");
    file = text_file("NUMPY not at all");
    assert_refused(&import_npy, &file, &plain, 0, "");
}

static void impossible_indices_are_told_by_place(void **state)
{
    (void)state;
    const int64_t wrong[] = {1, 2, 3, -7, 5, INT64_C(1) << 40, 4, 1, 4, 1, 2, 3};
    struct file file =
        npy_file(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2, 3)}", wrong, 12, 8);
    assert_refused(&import_npy, &file, &plain, 0, "3");
    assert_int_equal(report.complaints.count, 3);
    assert_string_equal(report.complaints.shown[0].found, "token 0, layer 1, item 0: index -7");
    assert_string_equal(report.complaints.shown[1].found,
                        "token 0, layer 1, item 2: index 1099511627776");
    assert_string_equal(report.complaints.shown[2].found,
                        "step 1: layer 0, head 0 wants unit 4 twice");
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
    assert_imports(&import_columns, &file, &options,
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
    assert_imports(&import_columns, &file, &options, "keep=2 sequences=1 steps=2", "csv",
                   "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,1,0.5\n0,0,0,0,3,0.5\n"
                   "0,1,0,0,born,0\n0,1,0,0,tail,0\n0,1,0,0,2,1\n");
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
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct import_options options = {.columns = cases[i].columns};
        struct file file = text_file(cases[i].text);
        assert_refused(&import_columns, &file, &options, cases[i].line, cases[i].facts);
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
    assert_refused(&import_columns, &file, &(struct import_options){.columns = "unit=1"}, 0, "13");
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
        assert_refused(&import_columns, &file, &options, 0, cases[i].facts);
    }
}

/* ---- formats -------------------------------------------------------------------------- */

static void a_name_says_its_format(void **state)
{
    (void)state;
    struct error why;
    assert_ptr_equal(import_format_of("a/b.npy.zst", false, &why), &import_npy);
    assert_ptr_equal(import_format_of("w.oracleGeneral.bin.zst", false, &why),
                     &import_oracle_general);
    assert_ptr_equal(import_format_of("x.csv", false, &why), &import_csv);
    assert_ptr_equal(import_format_of("x.csv", true, &why), &import_columns);
    assert_null(import_format_of("x.bin", false, &why));
    assert_int_equal(why.kind, ERROR_USAGE);
    assert_ptr_equal(import_format_named("csv", true, &why), &import_columns);
    assert_null(import_format_named("oracle", false, &why));
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
    assert_false(trace_import(&import_npy, swt, swt, &plain, &report, &why));
    assert_string_equal(why.found, "cannot open: No such file or directory");
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
        cmocka_unit_test(objects_are_numbered_as_they_come),
        cmocka_unit_test(broken_records_are_counted),
        cmocka_unit_test(a_cut_compressed_file_is_refused),
        cmocka_unit_test(ids_stay_apart_when_the_table_grows),
        cmocka_unit_test(tokens_and_layers_of_an_array_become_rows),
        cmocka_unit_test(ranks_and_tokens_born_share_the_mass),
        cmocka_unit_test(wrong_arrays_are_refused),
        cmocka_unit_test(impossible_indices_are_told_by_place),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(columns_are_found_by_number),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(ten_faults_are_kept_and_all_are_counted),
        cmocka_unit_test(a_mapping_that_cannot_be_meant_is_refused),
        cmocka_unit_test(a_name_says_its_format),
        cmocka_unit_test(what_cannot_be_read_twice_is_refused),
        cmocka_unit_test(steps_go_on_from_tile_to_tile),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
