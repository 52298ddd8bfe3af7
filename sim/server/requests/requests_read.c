/* Reading a file of requests: line by line, or a benchmark as a whole. */
#include "core/array.h"
#include "server/requests/request_line.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- a benchmark ---------------------------------------------------------------------------
 *
 * `vllm bench serve --save-result --save-detailed` and SGLang's `bench_serving --output-details`
 * write one JSON object with lists, an entry a request:
 *
 *   input_lens, output_lens   tokens of the prompt and of the answer; 0 or an error: it failed
 *   start_times               seconds at which it was sent, if the benchmark kept them
 *   errors                    "" or what went wrong
 *
 * Prompts are not kept, so what they share is unknown. */

/* The lists of the object; those that it need not have are NULL. */
struct benchmark {
    const json_t *prompts, *outputs, *starts, *errors;
    size_t count;
};

enum { MOST_BYTES = 128 << 20 };

/* A request by when it was sent. */
struct sent {
    double at_s; /* NAN: not kept */
    size_t place;
};

/* The list at `key`, as long as the first one. */
static bool take_list(const json_t *object, const char *key, bool needed,
                      const struct csv_reader *in, size_t count, const json_t **list,
                      struct error *why)
{
    *list = json_object_get(object, key);
    if (*list == NULL && !needed) {
        return true;
    }
    if (json_is_array(*list) && (count == 0 || json_array_size(*list) == count)) {
        return true;
    }
    error_set(why, in->path, 0, "'%s' of a benchmark is not a list with an entry for each request",
              key);
    return error_expect(why, "as 'vllm bench serve --save-detailed' and SGLang's "
                             "'bench_serving --output-details' write it");
}

static bool take_lists(const json_t *object, const struct csv_reader *in, struct benchmark *out,
                       struct error *why)
{
    if (!take_list(object, "input_lens", true, in, 0, &out->prompts, why)) {
        return false;
    }
    out->count = json_array_size(out->prompts);
    if (out->count == 0) {
        return error_set(why, in->path, 0, "no requests: 'input_lens' is empty");
    }
    return take_list(object, "output_lens", true, in, out->count, &out->outputs, why) &&
           take_list(object, "start_times", false, in, out->count, &out->starts, why) &&
           take_list(object, "errors", false, in, out->count, &out->errors, why);
}

/* The entry of a list that is a number, 0 or more; of tokens, a whole one. */
static bool take_number(const json_t *list, size_t place, const char *key, bool tokens,
                        const struct csv_reader *in, double *number, struct error *why)
{
    const json_t *entry = json_array_get(list, place);
    *number = json_number_value(entry);
    if (json_is_number(entry) && *number >= 0 && (!tokens || *number == floor(*number))) {
        return true;
    }
    error_set(why, in->path, 0, "'%s': entry %zu is no number%s, or negative", key, place + 1,
              tokens ? " of tokens" : "");
    return error_expect(why, tokens ? "a whole number, 0 or more" : "0 or more");
}

static int compare_sent(const void *a, const void *b)
{
    const struct sent *first = a, *second = b;
    int later = (first->at_s > second->at_s) - (first->at_s < second->at_s);
    return later != 0 ? later : (first->place > second->place) - (first->place < second->place);
}

/* Requests are started in order, but may be stamped in another. */
static bool sort_requests(const struct benchmark *from, const struct csv_reader *in,
                          struct sent *sent, struct error *why)
{
    for (size_t i = 0; i < from->count; i++) {
        sent[i] = (struct sent){NAN, i};
        if (from->starts != NULL &&
            !take_number(from->starts, i, "start_times", false, in, &sent[i].at_s, why)) {
            return false;
        }
    }
    qsort(sent, from->count, sizeof *sent, compare_sent);
    return true;
}

static bool add_requests(const struct benchmark *from, const struct sent *sent,
                         const struct csv_reader *in, const struct requests_options *options,
                         struct requests *out, struct error *why)
{
    double origin_s = NAN;
    uint64_t most = options->limit > 0 ? options->limit : UINT64_MAX;
    for (size_t i = 0; i < from->count && out->count < most; i++) {
        double prompt, output;
        if (!requests_have_room(out, options->stop, in, why)) {
            return false;
        }
        size_t place = sent[i].place;
        if (!take_number(from->prompts, place, "input_lens", true, in, &prompt, why) ||
            !take_number(from->outputs, place, "output_lens", true, in, &output, why)) {
            return false;
        }
        struct request_line line = {.arrival_s = sent[i].at_s};
        line.prompt = (uint64_t)fmin(prompt, 2.0 * REQUEST_MOST_TOKENS);
        line.output = (uint64_t)fmin(output, 2.0 * REQUEST_MOST_TOKENS);
        const char *fault = json_string_value(json_array_get(from->errors, place));
        if (output == 0 || (fault != NULL && fault[0] != '\0')) {
            out->skipped++;
        } else if (!requests_add(out, &line, &origin_s, in, why)) {
            return false;
        }
    }
    return out->count > 0 || error_set(why, in->path, 0, "no requests: all have failed");
}

static bool take_benchmark(const json_t *object, const struct csv_reader *in,
                           const struct requests_options *options, struct requests *out,
                           struct error *why)
{
    struct benchmark from = {.count = 0};
    if (!take_lists(object, in, &from, why)) {
        return false;
    }
    struct sent *sent = array_zeroed(from.count, sizeof *sent, why);
    bool ok = sent != NULL && sort_requests(&from, in, sent, why) &&
              add_requests(&from, sent, in, options, out, why);
    free(sent);
    return ok;
}

/* Read the file of `in`, of `size` bytes, which stands at its beginning. `*taken`: it is such an object,
 * and `out` has its requests in the order in which they were sent; else the file stands at its beginning
 * again. Failed requests are counted as skipped, at most options->limit others are read (0: all). An
 * object is in memory as a whole. */
static bool requests_benchmark_read(struct csv_reader *in, uint64_t size,
                                    const struct requests_options *options, struct requests *out,
                                    bool *taken, struct error *why)
{
    int first = getc(in->file);
    json_t *object = NULL;
    if (ungetc(first, in->file) == '{' && size <= MOST_BYTES) {
        object = json_loadf(in->file, JSON_DISABLE_EOF_CHECK, NULL);
    }
    *taken = json_object_get(object, "input_lens") != NULL;
    bool ok = stop_flag_check(options->stop, why) &&
              (!*taken || take_benchmark(object, in, options, out, why));
    json_decref(object);
    rewind(in->file);
    return ok;
}

/* ---- lines of a file ------------------------------------------------------------------- */

/* Files of fewer bytes are read once; what only one of their prompts has gets numbers, too. */
enum { SMALL = 1 << 24 };

/* Which hashes a file has twice: a bit by hash for the first and for the second time. Where two hashes
 * share a bit, one may count as another's second time, and gets a number that it does not need. */
struct requests_twice {
    uint64_t *once, *twice; /* NULL: unknown */
    uint64_t bits;          /* a power of two */
};

struct requests_reading {
    struct csv_reader in;
    struct request_line line;
    double origin_s;
    struct requests_options options;
    const struct request_format *format;
    int first_line; /* of a request */
    uint64_t taken; /* lines in this pass */
    struct requests_twice twice;
    uint64_t size; /* bytes of the file */
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

static bool find_format(struct requests_reading *reading, struct requests *requests,
                        struct error *why)
{
    bool more;
    if (!csv_reader_next(&reading->in, &more, why)) {
        return false;
    }
    if (!more) {
        return error_set(why, reading->in.path, 0, "no requests: the file is empty");
    }
    reading->format = request_format_of(&reading->in);
    if (reading->format == NULL) {
        return refuse_format(&reading->in, why);
    }
    reading->first_line = reading->format->table ? 2 : 1;
    requests->queued = reading->format->queued;
    uint32_t asked = reading->options.hash_tokens, usual = reading->format->hash_tokens;
    reading->line.hash_tokens = usual > 0 && asked > 0 ? asked : usual;
    return true;
}

/* ---- what only one prompt has ----------------------------------------------------------- */

static uint64_t twice_place(const struct requests_twice *twice, uint64_t hash)
{
    return XXH64(&hash, sizeof hash, 0) & (twice->bits - 1);
}

/* The line's first chunks that other lines may have. Behind a chunk of its own all are its own,
 * because a hash covers what is before it. */
static uint32_t twice_shared(const struct requests_twice *twice, const struct request_line *line)
{
    uint32_t shared = twice->twice != NULL ? 0 : line->hashes;
    while (shared < line->hashes) {
        uint64_t place = twice_place(twice, line->hash[shared]);
        if ((twice->twice[place / 64] >> place % 64 & 1) == 0) {
            break;
        }
        shared++;
    }
    return shared;
}

/* Note the hashes of a line, or append it. */
static bool requests_read_take_line(struct requests_reading *reading, bool counts,
                                    struct requests *requests, struct error *why)
{
    struct request_line *line = &reading->line;
    struct requests_twice *twice = &reading->twice;
    if (!reading->format->parse(reading->format, &reading->in, line, why)) {
        return false;
    }
    if (line->failed) {
        requests->skipped++;
        return true;
    }
    if (counts) {
        for (uint32_t i = 0; i < line->hashes; i++) {
            uint64_t place = twice_place(twice, line->hash[i]), bit = 1ull << place % 64;
            twice->twice[place / 64] |= twice->once[place / 64] & bit;
            twice->once[place / 64] |= bit;
        }
    } else {
        line->shared = twice_shared(twice, line);
        if (!requests_add(requests, line, &reading->origin_s, &reading->in, why)) {
            return false;
        }
    }
    reading->taken++;
    return true;
}

static bool requests_read_lines(struct requests_reading *reading, bool counts,
                                struct requests *requests, struct error *why)
{
    uint64_t limit = reading->options.limit;
    rewind(reading->in.file);
    reading->in.line = 0;
    reading->taken = 0;
    while (limit == 0 || reading->taken < limit) {
        bool more;
        if (!csv_reader_next(&reading->in, &more, why)) {
            return false;
        }
        if (!more) {
            break;
        }
        if (!requests_have_room(requests, reading->options.stop, &reading->in, why) ||
            (reading->in.line >= reading->first_line &&
             !requests_read_take_line(reading, counts, requests, why))) {
            return false;
        }
    }
    return true;
}

/* A large file with hashes is read twice. */
static bool requests_read_all(struct requests_reading *reading, struct requests *requests,
                              struct error *why)
{
    if (!find_format(reading, requests, why)) {
        return false;
    }
    if (reading->size >= SMALL && reading->format->hash_tokens > 0) {
        struct requests_twice *twice = &reading->twice;
        /* A bit for each byte of the file, which has fewer hashes; at most 128 MiB of them. */
        for (twice->bits = 64; twice->bits < reading->size && twice->bits < 1u << 30;
             twice->bits *= 2) {
        }
        twice->once = array_zeroed(twice->bits / 64, sizeof *twice->once, why);
        twice->twice = array_zeroed(twice->bits / 64, sizeof *twice->twice, why);
        if (twice->once == NULL || twice->twice == NULL ||
            !requests_read_lines(reading, true, requests, why)) {
            return false;
        }
    }
    return requests_read_lines(reading, false, requests, why) &&
           (requests->count > 0 ||
            error_set(why, reading->in.path, 0, "no requests%s",
                      requests->skipped > 0 ? ": no line has output tokens" : ""));
}

/* The hash of the whole file, and its size. */
static bool requests_read_hash_file(struct requests_reading *reading, uint64_t *hash,
                                    struct error *why)
{
    char bytes[4096];
    size_t size = 1;
    *hash = 0;
    while (size > 0) {
        if (!stop_flag_check(reading->options.stop, why)) {
            return false;
        }
        size = fread(bytes, 1, sizeof bytes, reading->in.file);
        *hash = size > 0 ? XXH64(bytes, size, *hash) : *hash;
        reading->size += size;
    }
    bool ok = !ferror(reading->in.file) ||
              error_set(why, reading->in.path, 0, "cannot read: %s", strerror(errno));
    rewind(reading->in.file);
    return ok;
}

bool requests_read(const char *path, const struct requests_options *options, struct requests *out,
                   struct error *why)
{
    *out = (struct requests){.count = 0};
    struct requests_reading reading = {.origin_s = NAN, .options = *options};
    bool ok = csv_reader_open(&reading.in, path, why);
    if (ok) {
        bool taken = false;
        ok = requests_read_hash_file(&reading, &out->content, why) &&
             requests_benchmark_read(&reading.in, reading.size, options, out, &taken, why) &&
             (taken || requests_read_all(&reading, out, why));
        csv_reader_close(&reading.in);
    }
    free(reading.twice.once);
    free(reading.twice.twice);
    free(reading.line.hash);
    dense_ids_close(&out->ids);
    if (!ok) {
        requests_release(out);
    }
    return ok;
}
