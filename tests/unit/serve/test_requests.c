/* Files of requests: each format's words, and lines that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/arrivals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/spillway-requests-XXXXXX";
static struct requests requests;
static struct complaints complaints;
static struct error why;

static bool read_text(const char *text, uint64_t limit)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    complaints = (struct complaints){.count = 0};
    return requests_read(path, limit, &requests, &complaints, &why);
}

static void check_request(size_t index, int64_t arrival_ns, uint32_t prompt, uint32_t output)
{
    assert_int_equal(requests.all[index].arrival_ns, arrival_ns);
    assert_int_equal(requests.all[index].prompt, prompt);
    assert_int_equal(requests.all[index].output, output);
}

static void arrivals_count_from_the_first_in_every_format(void **state)
{
    (void)state;
    const char *texts[] = {
        "{\"timestamp\": 27000, \"input_length\": 7, \"output_length\": 5, \"hash_ids\": [3]}\n"
        "{\"timestamp\": 28500, \"input_length\": 9, \"output_length\": 2, \"hash_ids\": [4]}\n",
        "{\"arrival_time\": 10.25, \"input_toks\": 7, \"output_toks\": 5, \"request_id\": \"a\"}\n"
        "{\"arrival_time\": 11.75, \"input_toks\": 9, \"output_toks\": 2}\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
        "2023-11-16 23:59:59.5000000,7,5\r\n2023-11-17 00:00:01.0000000,9,2\r\n",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,7,5,12,Conversation log\n6,GPT-4,8,0,8,API log\n6.5,GPT-4,9,2,11,API log\n",
        "arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,7,5\n2,9,2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(read_text(texts[i], 0));
        assert_int_equal(requests.count, 2);
        check_request(0, 0, 7, 5);
        check_request(1, 1500000000, 9, 2);
        assert_int_equal(requests.skipped, i == 3 ? 1 : 0);
        requests_release(&requests);
    }
}

static void a_limit_ends_reading_and_a_stretch_moves_arrivals(void **state)
{
    (void)state;
    assert_true(read_text("arrived_at,num_prefill_tokens,num_decode_tokens\n1,7,5\n2,9,2\nx\n", 2));
    assert_true(requests_stretch(&requests, 2.5, &why));
    check_request(0, 0, 7, 5);
    check_request(1, 2500000000, 9, 2);
    requests_release(&requests);
}

static void nothing_arrives_past_the_end_of_time(void **state)
{
    (void)state;
    assert_true(read_text("arrived_at,num_prefill_tokens,num_decode_tokens\n0,7,5\n4e6,9,2\n", 0));
    assert_false(requests_stretch(&requests, 2001, &why));
    check_request(1, 4000000000000000, 9, 2);
    assert_true(requests_stretch(&requests, 2000, &why));
    check_request(1, 8000000000000000000, 9, 2);
    assert_false(arrivals_draw(&requests, 1e-15, 1, 1, &why));
    assert_true(arrivals_draw(&requests, 1, 1, 1, &why));
    requests_release(&requests);
}

/* Prompts of 512 + 88 and 512 + 1 tokens that begin alike. */
static void equal_hashes_are_one_chunk(void **state)
{
    (void)state;
    const uint32_t expected[] = {0, 1, 0, 2};
    assert_true(read_text("{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 1, "
                          "\"hash_ids\": [70, 12]}\n"
                          "{\"timestamp\": 0, \"input_length\": 513, \"output_length\": 1, "
                          "\"hash_ids\": [70, 13]}\n",
                          0));
    assert_int_equal(requests.ids.count, 3);
    assert_int_equal(requests.chunk_tokens, 512);
    assert_int_equal(requests.all[1].first_chunk, 2);
    assert_memory_equal(requests.chunks, expected, sizeof expected);
    assert_int_equal(requests.kind[1].tokens, 88);
    assert_int_equal(requests.kind[2].before, 0);
    requests_release(&requests);
}

static void a_line_at_fault_is_named_with_its_reason(void **state)
{
    (void)state;
    const char *head = "arrived_at,num_prefill_tokens,num_decode_tokens\n";
    const char *json = "{\"timestamp\": 5, \"input_length\": 600, \"output_length\": 1, "
                       "\"hash_ids\": [1, 2]}\n";
    const struct {
        const char *before, *line, *found;
    } cases[] = {
        {head, "0,0,5\n", "a prompt of 0 tokens"},
        {head, "0,5,0\n", "an output of 0 tokens"},
        {head, "soon,5,1\n", "'arrived_at' is 'soon'"},
        {head, "-3,5,1\n", "arrives at -3 s"},
        {head, "1,5.5,1\n", "'num_prefill_tokens' is '5.5'"},
        {head, "1,99999999999,1\n", "'num_prefill_tokens' is '99999999999'"},
        {json, "{\"timestamp\": 4}\n", "'input_length' is missing or not a whole number"},
        {json, "[]\n", "'timestamp' is missing or not a number"},
        {json, "{\"timestamp\": 5, \"timestamp\"",
         "invalid JSON: duplicate object key near '\"timestamp\"'"},
        {json, "{\"timestamp\": 4, \"input_length\": 2, \"output_length\": 1, \"hash_ids\": [9]}\n",
         "arrives 0.001000 s before the previous request"},
        {json,
         "{\"timestamp\": 5, \"input_length\": 513, \"output_length\": 1, \"hash_ids\": [9]}\n",
         "1 hashes for a prompt of 513 tokens"},
        {json,
         "{\"timestamp\": 5, \"input_length\": 513, \"output_length\": 1, \"hash_ids\": [1, 2]}\n",
         "hash 2 stands for 1 tokens here and for 88 earlier"},
        {json,
         "{\"timestamp\": 5, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [3, 2]}\n",
         "hash 2 has another predecessor than earlier"},
        {json, "{\"timestamp\": 5, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": []}\n",
         "'hash_ids' is missing or not a list of hashes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", cases[i].before, cases[i].line);
        assert_false(read_text(text, 0));
        assert_string_equal(why.found, cases[i].found);
        assert_int_equal(why.line, 2);
        assert_int_equal(requests.count, 0);
    }
}

static void all_faults_of_a_file_are_counted(void **state)
{
    (void)state;
    assert_false(
        read_text("arrived_at,num_prefill_tokens,num_decode_tokens\n1,7,0\n2,9,2\n1,0,2\n", 0));
    assert_string_equal(why.found, "2 faults; nothing was read");
    assert_int_equal(complaints.shown[0].line, 2);
    assert_int_equal(complaints.shown[1].line, 4);
}

static void files_without_requests_are_refused(void **state)
{
    (void)state;
    assert_false(read_text("", 0));
    assert_string_equal(why.found, "no requests: the file is empty");
    assert_false(read_text("arrived_at,num_prefill_tokens,num_decode_tokens\n", 0));
    assert_string_equal(why.found, "no requests");
    assert_false(read_text("when,how much\n1,2\n", 0));
    assert_string_equal(why.found, "unknown format: not the first line of a file of requests");
}

static int make_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file) != 0 ? -1 : 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_count_from_the_first_in_every_format),
        cmocka_unit_test(a_limit_ends_reading_and_a_stretch_moves_arrivals),
        cmocka_unit_test(nothing_arrives_past_the_end_of_time),
        cmocka_unit_test(equal_hashes_are_one_chunk),
        cmocka_unit_test(a_line_at_fault_is_named_with_its_reason),
        cmocka_unit_test(all_faults_of_a_file_are_counted),
        cmocka_unit_test(files_without_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
