/* Reading a file of requests, line by line. */
#include "serve/requests/request_line.h"
#include "serve/requests/requests_benchmark.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct requests_reading {
    struct csv_reader in;
    struct request_line line;
    double origin_s;
    struct requests_options options;
    struct complaints *complaints; /* the caller's */
};

/* Say which format is known, and how a table or an array gets one. */
static bool refuse_format(const struct csv_reader *in, struct error *why)
{
    static const char *const vllm = "arrived_at,num_prefill_tokens,num_decode_tokens";
    const char *line = in->text + strspn(in->text, " \t");
    error_set(why, in->path, in->line, "unknown format: not the first line of a file of requests");
    if (line[0] == '[') {
        return error_expect(why, "an object on each line, not an array: jq -c '.[]' %.100s",
                            in->path);
    }
    if (line[0] != '{' && strpbrk(line, ",;\t") != NULL) {
        return error_expect(
            why,
            "columns between commas that are called %s, in this order (arrival in "
            "seconds; rename yours, or add this first line), or the head of Azure (TIMESTAMP,ContextTokens,"
            "GeneratedTokens) or BurstGPT (Timestamp,Model,Request tokens,...)",
            vllm);
    }
    return error_expect(why,
                        "JSON lines such as {\"timestamp\": 0, \"input_length\": 1000, "
                        "\"output_length\": 200} (Mooncake; ms), or as of Bailian or "
                        "LLMServingSim, or a table with columns %s",
                        vllm);
}

static bool find_format(struct requests_reading *reading, const struct request_format **format,
                        bool *line_is_request, struct requests *requests, struct error *why)
{
    bool more;
    if (!csv_reader_next(&reading->in, &more, why)) {
        return false;
    }
    if (!more) {
        return error_set(why, reading->in.path, 0, "no requests: the file is empty");
    }
    *format = request_json_format(&reading->in);
    *line_is_request = *format != NULL;
    *format = *format != NULL ? *format : request_csv_format(&reading->in);
    if (*format == NULL) {
        return refuse_format(&reading->in, why);
    }
    requests->queued = (*format)->queued;
    uint32_t asked = reading->options.hash_tokens;
    reading->line.hash_tokens =
        (*format)->hash_tokens > 0 && asked > 0 ? asked : (*format)->hash_tokens;
    return true;
}

/* Append the line's request. Faults are collected, so that reading goes on. */
static void requests_read_take_line(struct requests_reading *reading, request_parse parse,
                                    struct requests *requests)
{
    struct error fault;
    if (!parse(&reading->in, &reading->line, &fault)) {
        complaints_add(reading->complaints, &fault);
    } else if (reading->line.failed) {
        requests->skipped++;
    } else if (!requests_add(requests, &reading->line, &reading->origin_s, &reading->in, &fault)) {
        complaints_add(reading->complaints, &fault);
    }
}

static bool requests_read_lines(struct requests_reading *reading, struct requests *requests,
                                struct error *why)
{
    const struct request_format *format;
    bool more, is_request;
    if (!find_format(reading, &format, &is_request, requests, why)) {
        return false;
    }
    if (is_request) {
        requests_read_take_line(reading, format->parse, requests);
    }
    while (reading->options.limit == 0 || requests->count < reading->options.limit) {
        if (!stop_flag_check(reading->options.stop, why) ||
            !csv_reader_next(&reading->in, &more, why)) {
            return false;
        }
        if (!more) {
            break;
        }
        requests_read_take_line(reading, format->parse, requests);
    }
    if (reading->complaints->count > 0) {
        return complaints_fail(reading->complaints, reading->in.path, why);
    }
    return requests->count > 0 || error_set(why, reading->in.path, 0, "no requests");
}

/* The hash of the whole file; reading begins at its start again. */
static bool requests_read_hash_file(FILE *file, const char *path, const struct stop_flag *stop,
                                    uint64_t *hash, struct error *why)
{
    char bytes[4096];
    size_t size;
    *hash = 0;
    while (stop_flag_check(stop, why) && (size = fread(bytes, 1, sizeof bytes, file)) > 0) {
        *hash = XXH64(bytes, size, *hash);
    }
    bool ok = stop_flag_check(stop, why) &&
              (!ferror(file) || error_set(why, path, 0, "cannot read: %s", strerror(errno)));
    rewind(file);
    return ok;
}

bool requests_read(const char *path, const struct requests_options *options, struct requests *out,
                   struct complaints *complaints, struct error *why)
{
    *out = (struct requests){.count = 0};
    struct requests_reading reading = {
        .origin_s = NAN, .options = *options, .complaints = complaints};
    bool ok = csv_reader_open(&reading.in, path, why);
    if (ok) {
        bool taken = false;
        ok = requests_read_hash_file(reading.in.file, path, options->stop, &out->content, why) &&
             requests_benchmark_read(&reading.in, options->limit, out, &taken, why) &&
             (taken || requests_read_lines(&reading, out, why));
        csv_reader_close(&reading.in);
    }
    free(reading.line.hash);
    if (!ok) {
        requests_release(out);
    }
    return ok;
}
