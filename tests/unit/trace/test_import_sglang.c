/* Responses with the top-k indices of an indexer, made by hand in the shape in which SGLang sends
 * them: managers/tokenizer_manager.py and state_capturer/indexer_topk.py of sgl-project/sglang at
 * 0564b52, whose test_return_indexer_topk.py reads them as this importer does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/csv/csv.h"
#include "trace/import/import.h"
#include "unit/fixture/fault.h"
#include "unit/fixture/trace_files.h"

#include <zstd.h>

/* ---- files by hand -------------------------------------------------------------------- */

static void put_base64(FILE *out, const int32_t *items, size_t count)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = 4 * count;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = 0;
        for (size_t byte = 0; byte < 3; byte++) {
            size_t at = i + byte;
            bits = bits << 8 | (at < size ? (uint32_t)items[at / 4] >> 8 * (at % 4) & 255 : 0);
        }
        for (size_t c = 0; c < 4; c++) {
            fputc(i + c > size ? '=' : letters[bits >> (18 - 6 * c) & 63], out);
        }
    }
}

/* The `meta_info` of an answer. */
static void put_meta(FILE *out, int prompt, int completion, const int32_t *items, size_t count)
{
    fprintf(
        out,
        "\"meta_info\": {\"id\": \"5f\", \"finish_reason\": {\"type\": \"stop\", \"matched\": 1}, "
        "\"prompt_tokens\": %d, \"completion_tokens\": %d, \"cached_tokens\": 0, "
        "\"indexer_topk\": \"",
        prompt, completion);
    put_base64(out, items, count);
    fprintf(out, "\", \"dp_rank\": 0, \"e2e_latency\": 0.5}");
}

static char *text;
static size_t text_size;

static FILE *begin(void)
{
    free(text);
    return open_memstream(&text, &text_size);
}

/* A file with one response of /generate. */
static void one_response(int prompt, int completion, const int32_t *items, size_t count)
{
    FILE *out = begin();
    fprintf(out, "{\"text\": \" \\\"indexer_topk\\\": \", \"output_ids\": [1, 2], ");
    put_meta(out, prompt, completion, items, count);
    fprintf(out, "}\n");
    fclose(out);
}

/* ---- importing them ------------------------------------------------------------------- */

static struct import_report report;

static bool import_bytes_at(const void *at, size_t size, const struct import_options *options,
                            struct error *why)
{
    char path[64], traces[64];
    FILE *out = fopen(make_path(folder, "x.jsonl", path), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(at, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    report = (struct import_report){.traces = 0};
    bool ok = trace_import(&import_sglang_indexer, path, make_path(folder, "x", traces), options,
                           &report, why);
    unlink(path);
    return ok;
}

static const char *trace_name(uint32_t request, char path[64])
{
    char name[32];
    snprintf(name, sizeof name, "x/request-%04u.swt", request);
    return make_path(folder, name, path);
}

/* Remove the traces up to this request, and their folder. */
static void remove_traces(uint32_t requests)
{
    char path[64];
    for (uint32_t request = 1; request <= requests; request++) {
        unlink(trace_name(request, path));
    }
    assert_int_equal(rmdir(make_path(folder, "x", path)), 0);
}

/* The rows of a request as CSV, after a header with these numbers. */
static void assert_rows(uint32_t request, const char *numbers, const char *rows)
{
    char path[64], *csv;
    size_t size;
    struct error why;
    struct trace *trace = trace_open(trace_name(request, path), &why);
    FILE *out = open_memstream(&csv, &size);
    make_check(trace != NULL && trace_export_csv(trace, out, &why), &why);
    trace_close(trace);
    fclose(out);
    if (strstr(csv, numbers) == NULL) {
        fail_msg("no '%s' in\n%s", numbers, csv);
    }
    const char *columns = "sequence,step,layer,head,unit,mass\n";
    assert_string_equal(strstr(csv, columns) + strlen(columns), rows);
    free(csv);
}

static void assert_refused(const struct import_options *options, const char *fault)
{
    char found[FAULT_SIZE + 64], path[64];
    struct error why = {.found = ""};
    bool ok = import_bytes_at(text, text_size, options, &why);
    snprintf(found, sizeof found, "%d: %s", why.line, why.found);
    if (ok || strncmp(found, fault, strlen(fault)) != 0) {
        fail_msg("'%s' is not '%s'", found, fault);
    }
    assert_int_equal(access(make_path(folder, "x", path), F_OK), -1);
}

static const struct import_options two_layers = {.layers = 2};

/* Prompt 0 1 2, answer 3 4 and one more, which was never an input: five rows of two layers. Layer 1
 * reuses layer 0's indices in the last row. */
static const int32_t indices[] = {
    0, -1, 0, -1, /* token 0 */
    1, 0,  0, 1,  /* token 1 */
    2, 0,  1, 2,  /* token 2 */
    0, 2,  3, 1,  /* token 3, the first that was generated */
    4, 1,  4, 1,  /* token 4 */
};
enum { INDICES = sizeof indices / sizeof *indices };

/* ---- what becomes of them ------------------------------------------------------------- */

#define ROWS                                                                                       \
    "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,0,0.5\n0,0,0,0,2,0.5\n"                               \
    "0,0,1,0,born,0.5\n0,0,1,0,tail,0\n0,0,1,0,1,0.5\n"                                            \
    "0,1,0,0,born,0.5\n0,1,0,0,tail,0\n0,1,0,0,1,0.5\n"                                            \
    "0,1,1,0,born,0.5\n0,1,1,0,tail,0\n0,1,1,0,1,0.5\n"

static void generated_tokens_are_steps(void **state)
{
    (void)state;
    struct error why;
    one_response(3, 3, indices, INDICES);
    make_check(import_bytes_at(text, text_size, &two_layers, &why), &why);
    assert_int_equal(report.traces, 1);
    assert_rows(1,
                "layers=2 kv_heads=1 query_heads=1 head_dim=1 context=3 unit_kind=0 unit_tokens=1 "
                "units=3 sinks=0 recent=0 keep=2 sequences=1 steps=2",
                ROWS);
    remove_traces(1);
}

static void the_context_may_end_elsewhere(void **state)
{
    (void)state;
    struct error why;
    struct import_options options = two_layers;
    one_response(3, 3, indices, INDICES);
    options.context = 4;
    make_check(import_bytes_at(text, text_size, &options, &why), &why);
    assert_rows(1,
                "context=4 unit_kind=0 unit_tokens=1 units=4 sinks=0 recent=0 keep=2 sequences=1 "
                "steps=1",
                "0,0,0,0,born,0.5\n0,0,0,0,tail,0\n0,0,0,0,1,0.5\n"
                "0,0,1,0,born,0.5\n0,0,1,0,tail,0\n0,0,1,0,1,0.5\n");
    remove_traces(1);
    options.context = 5;
    assert_refused(&options, "0: none of 1 responses has a step");
}

static void units_of_four_tokens_are_counted_in_four(void **state)
{
    (void)state;
    /* 8 tokens of prompt are units 0 and 1; token 8 begins unit 2 */
    const int32_t compressed[] = {-1, -1, -1, 0, 0, 0, 0, 1, 0, 2};
    const struct import_options options = {.layers = 1, .unit_tokens = 4};
    struct error why;
    one_response(8, 3, compressed, 10);
    make_check(import_bytes_at(text, text_size, &options, &why), &why);
    assert_rows(1, "context=8 unit_kind=0 unit_tokens=4 units=2",
                "0,0,0,0,born,0\n0,0,0,0,tail,0\n0,0,0,0,0,1\n"
                "0,1,0,0,born,1\n0,1,0,0,tail,0\n");
    remove_traces(1);
    const int32_t beyond[] = {-1, -1, -1, 0, 0, 0, 0, 1, 3, 2}; /* unit 3 begins at token 12 */
    one_response(8, 3, beyond, 10);
    assert_refused(&options, "1: token 8, layer 0: index 3 is beyond this token");
}

/* Two prompts in one request give an array, two answers to a chat two choices; nothing needs to stand
 * between objects. The second answer has one token: no step. */
static void several_answers_are_numbered(void **state)
{
    (void)state;
    struct error why;
    FILE *out = begin();
    fprintf(out, "[{");
    put_meta(out, 3, 3, indices, INDICES);
    fprintf(out, "},\n{");
    put_meta(out, 5, 1, indices, INDICES);
    fprintf(out, "}]\n{\"choices\": [{\"index\": 0, ");
    put_meta(out, 4, 2, indices, INDICES);
    fprintf(out, "}, {");
    put_meta(out, 3, 3, indices, INDICES);
    fprintf(out, "}]}{");
    put_meta(out, 3, 3, indices, INDICES);
    fprintf(out, "}");
    fclose(out);
    make_check(import_bytes_at(text, text_size, &two_layers, &why), &why);
    assert_int_equal(report.traces, 4);
    assert_int_equal(report.skipped, 1);
    assert_rows(1, "context=3", ROWS);
    assert_rows(3, "context=4",
                "0,0,0,0,born,0.5\n0,0,0,0,tail,0\n0,0,0,0,1,0.5\n"
                "0,0,1,0,born,0.5\n0,0,1,0,tail,0\n0,0,1,0,1,0.5\n");
    assert_rows(5, "\"request\": 5", ROWS);
    remove_traces(5);
}

/* As the branch of SGLang for training sends it. */
static void a_response_may_state_its_layers(void **state)
{
    (void)state;
    static const struct import_options plain, three = {.layers = 3};
    struct error why;
    FILE *out = begin();
    fprintf(out, "{\"meta_info\": {\"indexer_topk_num_layers\": 2, \"indexer_topk\": \"");
    put_base64(out, indices, INDICES);
    fprintf(out, "\", \"completion_tokens\": 3, \"prompt_tokens\": 3}}");
    fclose(out);
    make_check(import_bytes_at(text, text_size, &plain, &why), &why);
    assert_rows(1, "context=3", ROWS);
    remove_traces(1);
    assert_refused(&three, "1: 'indexer_topk_num_layers' is 2");
}

/* Longer than the blocks in which the file is read, also when compressed. */
static void long_indices_come_in_pieces(void **state)
{
    (void)state;
    enum { PROMPT = 700, ROWS_ALL = PROMPT + 40, K = 64 };
    static int32_t items[ROWS_ALL * K];
    static char packed[1 << 20];
    static const struct import_options one_layer = {.layers = 1};
    char path[64];
    struct error why;
    for (int32_t i = 0; i < ROWS_ALL * K; i++) {
        items[i] = i % K <= i / K ? i / K - (i % K) * (i / K / K + 1) : -1;
        items[i] = items[i] < 0 ? -1 : items[i];
    }
    one_response(PROMPT, 41, items, ROWS_ALL * K);
    assert_true(text_size > 3 * 65536);
    make_check(import_bytes_at(text, text_size, &one_layer, &why), &why);
    struct trace *trace = trace_open(trace_name(1, path), &why);
    uint64_t hash, other;
    make_check(trace != NULL && trace_hash(trace, &hash, &why), &why);
    assert_int_equal(trace_header(trace)->steps, 40);
    trace_close(trace);
    remove_traces(1);
    size_t size = ZSTD_compress(packed, sizeof packed, text, text_size, 1);
    make_check(import_bytes_at(packed, size, &one_layer, &why), &why);
    trace = trace_open(trace_name(1, path), &why);
    make_check(trace != NULL && trace_hash(trace, &other, &why), &why);
    trace_close(trace);
    assert_int_equal(hash, other);
    remove_traces(1);
}

/* ---- what is refused ------------------------------------------------------------------ */

static void files_that_are_no_objects_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *fault;
    } cases[] = {
        {"{\"a\": 1}\n{\"a\": ", "2: the file ends within the object"},
        {"{\"a\": \"", "1: the file ends within the object"},
        {"[{\"a\": 1}", "1: the file ends within an array"},
        {"[{\"a\": 1} {\"a\": 1}]", "1: '{' between two objects"},
        {"[[{\"a\": 1}]]", "1: '[' between two objects"},
        {"data: {\"a\": 1}", "1: 'd' between two objects"},
        {"\xff{\"a\": 1}", "1: the byte 0xff between two objects"},
        {"\xef\xbb\xbf{\"a\": 1]\n", "1: not JSON"}, /* a mark at the beginning is skipped */
        {"{\"indexer_topk\": \"AA\\u0041", "1: 'indexer_topk' holds a character"},
        {"{\"indexer_topk\": \"AA\n", "2: 'indexer_topk' holds a character"},
        {"{\"a\": 1]\n", "1: not JSON"},
        {"{\"a\": 1, \"a\": 2}\n", "1: not JSON"},
        {"", "0: none of 0 responses has a step"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *out = begin();
        fputs(cases[i].text, out);
        fclose(out);
        assert_refused(&two_layers, cases[i].fault);
    }
}

static void responses_without_indices_are_counted(void **state)
{
    (void)state;
    FILE *out = begin();
    fprintf(out, "{\"meta_info\": {\"prompt_tokens\": 3, \"completion_tokens\": 3}}\n"
                 "{\"error\": {\"message\": \"too long\", \"code\": 400}}\n"
                 "{\"object\": \"error\", \"message\": \"no\"}\n"
                 "{\"text\": \"\"}\n"
                 "{\"meta_info\": {\"indexer_topk\": \"AAAA\", \"completion_tokens\": 3}}\n");
    fclose(out);
    assert_refused(&two_layers, "0: 5 faults");
    const char *faults[] = {"the response has no 'indexer_topk'", "the server refused: too long",
                            "the server refused: no", "the response has no 'meta_info'",
                            "'prompt_tokens' is missing"};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(report.complaints.shown[i].line, i + 1);
        assert_memory_equal(report.complaints.shown[i].found, faults[i], strlen(faults[i]));
    }
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct import_options plain, three = {.layers = 3};
    one_response(3, 3, indices, INDICES);
    assert_refused(&plain, "1: the response does not say how many layers");
    assert_refused(&three,
                   "1: 'indexer_topk' has 20 indices, which are not those of 5 tokens in 3");
    one_response(3, 4, indices, INDICES);
    assert_refused(&two_layers, "1: 'indexer_topk' has 20 indices, which are not those of 6");
    one_response(3, 3, indices, 0);
    assert_refused(&two_layers, "1: 'indexer_topk' has 0 indices");
}

/* Slots of the KV pool, which begin behind its first page; negative indices; a stale row. */
static void indices_that_are_no_positions_are_refused(void **state)
{
    (void)state;
    int32_t wrong[INDICES];
    for (int i = 0; i < INDICES; i++) {
        wrong[i] = indices[i] < 0 ? -1 : indices[i] + 64;
    }
    one_response(3, 3, wrong, INDICES);
    assert_refused(&two_layers, "1: token 3, layer 0: index 64 is beyond this token");
    memcpy(wrong, indices, sizeof wrong);
    wrong[INDICES - 1] = -2;
    one_response(3, 3, wrong, INDICES);
    assert_refused(&two_layers, "1: token 4, layer 1: index -2");
    wrong[INDICES - 1] = 5;
    one_response(3, 3, wrong, INDICES);
    assert_refused(&two_layers, "1: token 4, layer 1: index 5 is beyond this token");
    wrong[INDICES - 1] = wrong[INDICES - 2];
    one_response(3, 3, wrong, INDICES);
    assert_refused(&two_layers, "1: layer 1, head 0 wants unit 4 twice");
    wrong[0] = 7; /* of the prompt, and not read */
    wrong[INDICES - 1] = 0;
    struct error why;
    one_response(3, 3, wrong, INDICES);
    make_check(import_bytes_at(text, text_size, &two_layers, &why), &why);
    remove_traces(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_tokens_are_steps),
        cmocka_unit_test(the_context_may_end_elsewhere),
        cmocka_unit_test(units_of_four_tokens_are_counted_in_four),
        cmocka_unit_test(several_answers_are_numbered),
        cmocka_unit_test(a_response_may_state_its_layers),
        cmocka_unit_test(long_indices_come_in_pieces),
        cmocka_unit_test(files_that_are_no_objects_are_refused),
        cmocka_unit_test(responses_without_indices_are_counted),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(indices_that_are_no_positions_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
    free(text);
    return failed;
}
