/* Files of requests: each format's words, and lines that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/requests/requests.h"
#include "unit/fixture/rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/spillway-requests-XXXXXX";
static struct requests requests;
static struct error why;

static bool read_with(const char *text, const struct requests_options *options)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    return requests_read(path, options, &requests, &why);
}

static bool read_text(const char *text, uint64_t limit)
{
    return read_with(text, &(struct requests_options){.limit = limit});
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
        "{\"timestamp\": 27000, \"input_length\": 7, \"output_length\": 5}\n"
        "{\"timestamp\": 28500, \"input_length\": 9, \"output_length\": 2}\n",
        "{\"chat_id\": 159, \"timestamp\": 61.5, \"input_length\": 7, \"output_length\": 5}\n"
        "{\"chat_id\": 160, \"timestamp\": 63, \"input_length\": 9, \"output_length\": 2}\n",
        "{\"input_toks\": 7, \"output_toks\": 5, \"arrival_time_ns\": 4000000000}\n"
        "{\"input_toks\": 9, \"output_toks\": 2, \"arrival_time_ns\": 5500000000}\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2024-02-29 23:59:59.500000+00:00,7,5\n2024-03-01 01:00:01+01:00,9,2\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(read_text(texts[i], 0));
        assert_int_equal(requests.count, 2);
        assert_true(requests.arrive);
        check_request(0, 0, 7, 5);
        check_request(1, 1500000000, 9, 2);
        assert_int_equal(requests.skipped, i == 3 ? 1 : 0);
        requests_release(&requests);
    }
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    assert_true(read_text("\xef\xbb\xbf{\"input_toks\": 7, \"output_toks\": 5}\n", 0));
    check_request(0, 0, 7, 5);
    requests_release(&requests);
    assert_true(read_text("\xef\xbb\xbf"
                          "arrived_at,num_prefill_tokens,num_decode_tokens\n2,9,2\n",
                          0));
    check_request(0, 0, 9, 2);
    requests_release(&requests);
    assert_false(read_text("arrived_at,num_prefill_tokens,num_decode_tokens\n"
                           "\xef\xbb\xbf"
                           "2,9,2\n",
                           0));
}

static void lines_may_have_no_times(void **state)
{
    (void)state;
    const char *without = "{\"input_toks\": 7, \"output_toks\": 5}\n";
    const char *with = "{\"input_toks\": 7, \"output_toks\": 5, \"arrival_time_ns\": 8}\n";
    char text[256];
    snprintf(text, sizeof text, "%s%s", without, without);
    assert_true(read_text(text, 0));
    assert_false(requests.arrive);
    check_request(1, 0, 7, 5);
    requests_release(&requests);
    snprintf(text, sizeof text, "%s%s", without, with);
    assert_false(read_text(text, 0));
    assert_string_equal(why.found, "an arrival time, unlike earlier requests");
    snprintf(text, sizeof text, "%s%s", with, without);
    assert_false(read_text(text, 0));
    assert_string_equal(why.found, "no arrival time, unlike earlier requests");
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

/* 4 gaps at 2 a second take 2 s, whatever is drawn; at half the rate the same gaps take 4. */
static void drawn_arrivals_have_the_rate_that_was_asked(void **state)
{
    (void)state;
    int64_t slow[5];
    const char *line = "{\"input_toks\": 7, \"output_toks\": 5}\n";
    char text[256];
    snprintf(text, sizeof text, "%s%s%s%s%s", line, line, line, line, line);
    assert_true(read_text(text, 0));
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_true(arrivals_draw(&requests, 1, 0.5, seed, &why));
        assert_int_equal(requests.all[4].arrival_ns, 4000000000);
        for (int i = 0; i < 5; i++) {
            slow[i] = requests.all[i].arrival_ns;
        }
        assert_true(slow[1] != slow[2] - slow[1]);
        assert_true(arrivals_draw(&requests, 2, 0.5, seed, &why));
        for (int i = 0; i < 5; i++) {
            assert_in_range(requests.all[i].arrival_ns, slow[i] / 2, slow[i] / 2 + 1);
        }
    }
    requests_release(&requests);
}

/* 3 gaps at 2 a second. */
static void arrivals_may_be_constant(void **state)
{
    (void)state;
    const char *line = "{\"input_toks\": 7, \"output_toks\": 5}\n";
    char text[256];
    snprintf(text, sizeof text, "%s%s%s%s", line, line, line, line);
    assert_true(read_text(text, 0));
    assert_true(arrivals_draw(&requests, 2, INFINITY, 1, &why));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(requests.all[i].arrival_ns, i * 500000000LL);
    }
    requests_release(&requests);
}

/* The third has failed, and the second was sent before the first. */
static void a_benchmark_that_kept_requests_is_a_workload(void **state)
{
    (void)state;
    assert_true(read_text("{\"model_id\": \"m\", \"input_lens\": [1000, 500, 700, 64],\n"
                          "\"output_lens\": [3, 1, 0, 4], \"start_times\": [10.5, 10, 11, 12.5],\n"
                          "\"errors\": [\"\", \"\", \"timeout\", \"\"]}\n",
                          0));
    assert_int_equal(requests.count, 3);
    assert_int_equal(requests.skipped, 1);
    check_request(0, 0, 500, 1);
    check_request(1, 500000000, 1000, 3);
    check_request(2, 2500000000, 64, 4);
    assert_true(requests.arrive && !requests.queued);
    requests_release(&requests);
    assert_true(read_text("{\"input_lens\": [5, 6], \"output_lens\": [3, 1]}", 1));
    assert_int_equal(requests.count, 1);
    assert_false(requests.arrive);
    requests_release(&requests);
    /* Of a closed loop the times are those of the server that was measured. */
    assert_true(
        read_text("{\"input_lens\": [5, 6], \"output_lens\": [3, 1], \"start_times\": [10, 11],"
                  " \"max_concurrency\": 1}",
                  0));
    assert_false(requests.arrive);
    requests_release(&requests);
    const char *const wrong[] = {
        "{\"input_lens\": [5, 6], \"output_lens\": [3]}",
        "{\"input_lens\": [5, 6]}",
        "{\"input_lens\": []}",
        "{\"input_lens\": [5, \"x\"], \"output_lens\": [3, 1]}",
        "{\"input_lens\": [5, 6.5], \"output_lens\": [3, 1]}",
        "{\"input_lens\": [5, 6], \"output_lens\": [3, -1]}",
        "{\"input_lens\": [5, 1e300], \"output_lens\": [3, 1]}",
        "{\"input_lens\": [5, 6], \"output_lens\": [0, 0]}",
        "{\"input_lens\": [5, 6], \"output_lens\": [3, 1], \"start_times\": [-1, 0]}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(read_text(wrong[i], 0));
    }
}

/* A log whose only stamps are those of the engine's queue. */
static void stamps_of_the_queue_are_told_from_arrivals(void **state)
{
    (void)state;
    assert_true(read_text("{\"queued_ts\": 3, \"input_toks\": 7, \"output_toks\": 5}\n"
                          "{\"queued_ts\": 4.5, \"input_toks\": 9, \"output_toks\": 2}\n",
                          0));
    check_request(1, 1500000000, 9, 2);
    assert_true(requests.queued);
    requests_release(&requests);
    assert_true(read_text("{\"arrival_time\": 1, \"queued_ts\": 3, \"input_toks\": 7, "
                          "\"output_toks\": 5}\n",
                          0));
    assert_false(requests.queued);
    requests_release(&requests);
}

/* The numbers of all prompts' chunks, one prompt after the other. */
static void assert_numbers(const uint32_t *expected, size_t count)
{
    for (size_t i = 0; i < requests.count; i++) {
        const struct request *request = &requests.all[i];
        assert_true(request->chunks <= count);
        for (uint32_t j = 0; j < request->chunks; j++) {
            assert_int_equal(request_chunks(&requests, request)[j], *expected++);
        }
        count -= request->chunks;
    }
    assert_int_equal(count, 0);
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
    assert_numbers(expected, 4);
    assert_int_equal(requests.kind[1].tokens, 88);
    assert_int_equal(requests.kind[2].before, 0);
    requests_release(&requests);
}

static void check_chunks(const char *text, uint32_t hash_tokens, uint32_t tokens,
                         const uint32_t *expected, size_t count)
{
    const struct requests_options options = {.hash_tokens = hash_tokens};
    assert_true(read_with(text, &options));
    assert_int_equal(requests.chunk_tokens, tokens);
    assert_numbers(expected, count);
    requests_release(&requests);
}

/* 70 tokens in chunks of 64: the first chunk is shared, the second one is not. */
static void a_caller_says_how_many_tokens_a_hash_has(void **state)
{
    (void)state;
    const uint32_t expected[] = {0, 1, 0, 2};
    check_chunks("{\"timestamp\": 0, \"input_length\": 70, \"output_length\": 1, "
                 "\"hash_ids\": [5, 6]}\n"
                 "{\"timestamp\": 0, \"input_length\": 70, \"output_length\": 1, "
                 "\"hash_ids\": [5, 7]}\n",
                 64, 64, expected, 4);
}

/* Chunks of 2 tokens: 8 9 | 8 9 | 1, then 8 9 | 8 9 | 1 2, then 9 8: only the beginnings of the
 * first two are equal, although the chunk 8 9 occurs twice in each. */
static void token_ids_are_cut_into_chunks(void **state)
{
    (void)state;
    const uint32_t expected[] = {0, 1, 2, 0, 1, 3, 4};
    const char *text = "{\"input_toks\": 5, \"output_toks\": 1, \"input_tok_ids\": [8,9,8,9,1]}\n"
                       "{\"input_toks\": 6, \"output_toks\": 1, \"input_tok_ids\": [8,9,8,9,1,2]}\n"
                       "{\"input_toks\": 2, \"output_toks\": 1, \"input_tok_ids\": [9,8]}\n"
                       "{\"input_toks\": 2, \"output_toks\": 1}\n";
    const uint32_t whole[] = {0, 1, 2};
    check_chunks(text, 2, 2, expected, 7);
    check_chunks(text, 0, 16, whole, 3);
}

/* In a Bailian trace a hash covers its own block alone: 7 after 4 is not 7 after 5. The last 4
 * tokens of the second prompt have no hash and equal no other chunk. */
static void hashes_of_single_blocks_are_chained(void **state)
{
    (void)state;
    const uint32_t expected[] = {0, 1, 2, 3, 2, 3};
    check_chunks("{\"chat_id\": 1, \"timestamp\": 0, \"input_length\": 32, \"output_length\": 1, "
                 "\"hash_ids\": [4, 7]}\n"
                 "{\"chat_id\": 2, \"timestamp\": 0, \"input_length\": 36, \"output_length\": 1, "
                 "\"hash_ids\": [5, 7]}\n"
                 "{\"chat_id\": 3, \"timestamp\": 0, \"input_length\": 36, \"output_length\": 1, "
                 "\"hash_ids\": [5, 7]}\n",
                 0, 16, expected, 6);
}

/* Prompts of 512 + 300, 512 + 512 and again 512 + 300 tokens, then one that goes on. */
static void chunks_that_were_there_before_are_counted(void **state)
{
    (void)state;
    const uint32_t expected[] = {0, 1, 0, 2, 0, 1, 0, 2, 3, 0, 2, 4, 0, 2, 3};
    assert_true(read_text("{\"timestamp\": 0, \"input_length\": 812, \"output_length\": 1, "
                          "\"hash_ids\": [5, 6]}\n"
                          "{\"timestamp\": 0, \"input_length\": 1024, \"output_length\": 1, "
                          "\"hash_ids\": [5, 7]}\n"
                          "{\"timestamp\": 0, \"input_length\": 812, \"output_length\": 1, "
                          "\"hash_ids\": [5, 6]}\n"
                          "{\"timestamp\": 0, \"input_length\": 1025, \"output_length\": 1, "
                          "\"hash_ids\": [5, 7, 8]}\n"
                          "{\"timestamp\": 0, \"input_length\": 1025, \"output_length\": 1, "
                          "\"hash_ids\": [5, 7, 9]}\n"
                          "{\"timestamp\": 0, \"input_length\": 1025, \"output_length\": 1, "
                          "\"hash_ids\": [5, 7, 8]}\n",
                          0));
    assert_numbers(expected, 15);
    assert_int_equal(requests.hashed.all, 15);
    assert_int_equal(requests.hashed.hits, 10);
    assert_int_equal(requests.hashed.full, 10);
    assert_int_equal(requests.hashed.full_hits, 8);
    assert_int_equal(requests.hashed.distinct_tokens, 812 + 512 + 1 + 1);
    assert_int_equal(requests.chunk_count, 2 + 3 + 3); /* what is there is not stored again */
    requests_release(&requests);
}

/* They would take gigabytes. With a sanitizer it takes seconds to read so many. */
static void too_many_requests_are_refused(void **state)
{
    (void)state;
    if (ROUNDS(false, true)) {
        return;
    }
    const char *line = "0,5,1\n";
    enum { COUNT = 2000000 };
    char *text = malloc(64 + COUNT * strlen(line)), *end = text;
    assert_non_null(text);
    end += sprintf(end, "arrived_at,num_prefill_tokens,num_decode_tokens\n");
    for (int i = 0; i < COUNT; i++) {
        end = stpcpy(end, line);
    }
    assert_false(read_text(text, 0));
    assert_non_null(strstr(why.found, "would take more than 1 GB of memory"));
    assert_true(read_text(text, 1000));
    requests_release(&requests);
    free(text);
}

static void reading_stops(void **state)
{
    (void)state;
    struct stop_flag stop;
    atomic_init(&stop.raised, true);
    const struct requests_options options = {.stop = &stop};
    assert_false(read_with("arrived_at,num_prefill_tokens,num_decode_tokens\n0,5,1\n", &options));
    assert_string_equal(why.found, "interrupted");
}

static void a_line_at_fault_is_named_with_its_reason(void **state)
{
    (void)state;
    const char *head = "arrived_at,num_prefill_tokens,num_decode_tokens\n";
    const char *azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
    const char *json = "{\"timestamp\": 5, \"input_length\": 600, \"output_length\": 1, "
                       "\"hash_ids\": [1, 2]}\n";
    const struct {
        const char *before, *line, *found;
    } cases[] = {
        {head, "0,0,5\n", "a prompt of 0 tokens"},
        {json,
         "{\"session_id\": \"a\", \"delay\": 5, \"input_length\": 9, \"output_length\": 1, "
         "\"hash_ids\": [7]}\n",
         "'delay': a turn that does not follow another"},
        {head, "soon,5,1\n", "'arrived_at' is 'soon'"},
        {head, "-3,5,1\n", "arrives at -3 s"},
        {head, "1,5.5,1\n", "'num_prefill_tokens' is missing or not a whole number"},
        {head, "1,99999999999,1\n", "a prompt of 99999999999 tokens"},
        {json, "{\"timestamp\": 4}\n", "'input_length' is missing or not a whole number"},
        {json, "[]\n", "not a JSON object"},
        {json, "{\"timestamp\": \"now\"}\n", "'timestamp' is 'now'"},
        {"{\"timestamp\": 5, \"input_length\": 7, \"output_length\": 0}\n",
         "{\"timestamp\": 1735689600}\n",
         "'timestamp' is 1735689600, a date that is not in milliseconds"},
        {"{\"timestamp\": 0.0, \"input_length\": 7, \"output_length\": 1}\n",
         "{\"timestamp\": 1.35}\n", "'timestamp' is 1.35, no whole milliseconds"},
        {"arrived_at,num_prefill_tokens,num_decode_tokens\n", "1735689600000,5,1\n",
         "'arrived_at' is 1735689600000, a date that is not in seconds"},
        {json, "{\"timestamp\": 1735689600}\n", "'input_length' is missing or not a whole number"},
        {json, "{\"sub_requests\": []}\n", "'sub_requests': a session of chained requests"},
        {json, "{\"timestamp\": 5, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": 4}\n",
         "'hash_ids' is missing or not a list of numbers"},
        {"{\"input_toks\": 1, \"output_toks\": 1}\n",
         "{\"input_toks\": 2, \"output_toks\": 1, \"input_tok_ids\": [1]}\n",
         "1 token ids for a prompt of 2 tokens"},
        {azure, "2023-02-30 18:17:03.5,1,1\n", "'TIMESTAMP' is '2023-02-30 18:17:03.5'"},
        {azure, "2023-02-29 00:00:00,1,1\n", "'TIMESTAMP' is '2023-02-29 00:00:00'"},
        {azure, "2023-04-31 00:00:00,1,1\n", "'TIMESTAMP' is '2023-04-31 00:00:00'"},
        {azure, "2023-04-30 00:00:00+1,1,1\n", "'TIMESTAMP' is '2023-04-30 00:00:00+1'"},
        {json, "{\"timestamp\": 5, \"n\": 4}\n", "'n' is not modelled"},
        {json, "{\"timestamp\": 5, \"best_of\": 2}\n", "'best_of' is not modelled"},
        {json, "{\"timestamp\": 5, \"n\": 1, \"images\": [\"a.png\"]}\n",
         "'images' is not modelled"},
        {json, "{\"timestamp\": 5, \"lora_name\": \"a\"}\n", "'lora_name' is not modelled"},
        {json, "{\"timestamp\": 5, \"status\": \"error\"}\n", "'status': the request failed"},
        {json, "{\"timestamp\": 5, \"success\": false}\n", "'success': the request failed"},
        {json, "{\"user\": \"error\", \"error_rate\": 0.1, \"n\": 4}\n", "'n' is not modelled"},
        {json, "{\"timestamp\": 5, \"cached_tokens\": 80}\n", "'cached_tokens' is not modelled"},
        {"{\"timestamp\": 5, \"input_length\": 7, \"output_length\": 1, \"model\": \"a\"}\n",
         "{\"timestamp\": 5, \"model\": \"b\"}\n", "requests of several models: 'b'"},
        {json, "{\"timestamp\": 5, \"timestamp\"",
         "invalid JSON: duplicate object key near '\"timestamp\"'"},
        {json, "{\"timestamp\": 4, \"input_length\": 2, \"output_length\": 1, \"hash_ids\": [9]}\n",
         "arrives 0.001000 s before the previous request"},
        {json,
         "{\"timestamp\": 5, \"input_length\": 513, \"output_length\": 1, \"hash_ids\": [9,8,7]}\n",
         "3 hashes of 512 tokens for a prompt of 513"},
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

/* One bad row does not refuse a file. */
static void lines_without_an_answer_are_left_out_and_counted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "arrived_at,num_prefill_tokens,num_decode_tokens\n0,7,5\n1,8,0\n2,8,\n3,9,2\n",
        "{\"timestamp\": 0, \"input_length\": 7, \"output_length\": 5}\n"
        "{\"timestamp\": 1000, \"input_length\": 8, \"output_length\": 0}\n"
        "{\"timestamp\": 2000, \"input_length\": 8, \"output_length\": null}\n"
        "{\"timestamp\": 3000, \"input_length\": 9, \"output_length\": 2}\n",
        "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "9.0,a,1,GPT-4,7,5,12,API log\n9.5,a,1,GPT-4,8,0,8,API log\n9.5,b,1,GPT-4,8,0,8,API log\n"
        "12.0,b,1,GPT-4,9,2,11,API log\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(read_text(texts[i], 0));
        assert_int_equal(requests.count, 2);
        assert_int_equal(requests.skipped, 2);
        check_request(0, 0, 7, 5);
        check_request(1, 3000000000, 9, 2);
        requests_release(&requests);
    }
    assert_false(read_text("arrived_at,num_prefill_tokens,num_decode_tokens\n0,5,0\n", 0));
    assert_string_equal(why.found, "no requests: no line has output tokens");
}

/* The second turn comes half a second after the first has ended; the other session is of its own. */
static void a_delay_makes_a_line_the_next_turn(void **state)
{
    (void)state;
    assert_true(read_text(
        "{\"session_id\": \"a\", \"timestamp\": 5, \"input_length\": 512, \"output_length\": 4, \"hash_ids\": [1]}\n"
        "{\"session_id\": \"a\", \"delay\": 500, \"input_length\": 1024, \"output_length\": 5, \"hash_ids\": [1, 2]}\n"
        "{\"session_id\": \"b\", \"timestamp\": 8, \"input_length\": 512, \"output_length\": 6, \"hash_ids\": [3]}\n",
        0));
    assert_int_equal(requests.count, 3);
    assert_true(requests.sessions);
    assert_int_equal(requests.all[1].turn, 1);
    assert_int_equal(requests.all[1].think_ns, 500000000);
    assert_int_equal(requests.all[2].turn, 0);
    assert_int_equal(requests.all[2].arrival_ns, 3000000);
    requests_release(&requests);
}

/* Session a has no answer to its second turn, b none to its first: neither becomes a turn of another
 * session. */
static void turns_follow_those_that_have_an_answer(void **state)
{
    (void)state;
    assert_true(read_text(
        "{\"session_id\": \"a\", \"timestamp\": 5, \"input_length\": 512, \"output_length\": 4, \"hash_ids\": [1]}\n"
        "{\"session_id\": \"a\", \"delay\": 500, \"input_length\": 1024, \"output_length\": 0, \"hash_ids\": [1, 2]}\n"
        "{\"session_id\": \"a\", \"delay\": 300, \"input_length\": 1024, \"output_length\": 5, \"hash_ids\": [1, 3]}\n"
        "{\"session_id\": \"b\", \"timestamp\": 8, \"input_length\": 512, \"output_length\": 0, \"hash_ids\": [4]}\n"
        "{\"session_id\": \"b\", \"delay\": 500, \"input_length\": 1024, \"output_length\": 5, \"hash_ids\": [4, 5]}\n"
        "{\"session_id\": \"b\", \"delay\": null, \"timestamp\": 9, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [6]}\n",
        0));
    assert_int_equal(requests.count, 4);
    assert_int_equal(requests.skipped, 2);
    assert_int_equal(requests.all[1].turn, 1);
    assert_int_equal(requests.all[1].think_ns, 300000000);
    assert_int_equal(requests.all[2].turn, 0);
    assert_int_equal(requests.all[2].think_ns, 0);
    assert_int_equal(requests.all[2].arrival_ns, 3000000);
    assert_int_equal(requests.all[3].turn, 0);
    requests_release(&requests);
}

static void the_first_fault_of_a_file_is_told(void **state)
{
    (void)state;
    assert_false(
        read_text("arrived_at,num_prefill_tokens,num_decode_tokens\n1,0,7\n2,9,2\n1,0,2\n", 0));
    assert_int_equal(why.line, 2);
    assert_int_equal(requests.count, 0);
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
        cmocka_unit_test(drawn_arrivals_have_the_rate_that_was_asked),
        cmocka_unit_test(arrivals_may_be_constant),
        cmocka_unit_test(a_benchmark_that_kept_requests_is_a_workload),
        cmocka_unit_test(stamps_of_the_queue_are_told_from_arrivals),
        cmocka_unit_test(equal_hashes_are_one_chunk),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(lines_may_have_no_times),
        cmocka_unit_test(a_caller_says_how_many_tokens_a_hash_has),
        cmocka_unit_test(token_ids_are_cut_into_chunks),
        cmocka_unit_test(hashes_of_single_blocks_are_chained),
        cmocka_unit_test(chunks_that_were_there_before_are_counted),
        cmocka_unit_test(too_many_requests_are_refused),
        cmocka_unit_test(reading_stops),
        cmocka_unit_test(a_line_at_fault_is_named_with_its_reason),
        cmocka_unit_test(lines_without_an_answer_are_left_out_and_counted),
        cmocka_unit_test(a_delay_makes_a_line_the_next_turn),
        cmocka_unit_test(turns_follow_those_that_have_an_answer),
        cmocka_unit_test(the_first_fault_of_a_file_is_told),
        cmocka_unit_test(files_without_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
