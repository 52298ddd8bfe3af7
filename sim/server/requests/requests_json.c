/* Requests as JSON, one object a line: published traces, the workloads of a simulator, and a
 * benchmark's record of a real server. Other keys are ignored.
 *
 * Prefixes are known from hashes of chunks, or from the token ids themselves, which are cut into
 * chunks and hashed here. A line without either is a prompt whose content is unknown. */
#include "server/requests/request_line.h"

#include "core/array.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

/* The names of a format's keys. */
struct json_format {
    const char *mark; /* a key that tells it from the formats after it */
    const char *arrival, *prompt, *output;
    const char *hashes;    /* of chunks, or NULL */
    const char *token_ids; /* of the prompt, or NULL */
    double seconds;        /* of the arrival's unit */
    bool chained;          /* a hash covers all tokens before its chunk */
};

enum format_number { BAILIAN, RECORDED, QUEUED, SIMULATED, MOONCAKE, FORMATS };

static const struct json_format formats[FORMATS] = {
    [BAILIAN] = {.mark = "chat_id",
                 .arrival = "timestamp",
                 .prompt = "input_length",
                 .output = "output_length",
                 .hashes = "hash_ids",
                 .seconds = 1},
    [RECORDED] = {.mark = "arrival_time",
                  .arrival = "arrival_time",
                  .prompt = "input_toks",
                  .output = "output_toks",
                  .token_ids = "input_tok_ids",
                  .seconds = 1},
    [QUEUED] = {.mark = "queued_ts",
                .arrival = "queued_ts",
                .prompt = "input_toks",
                .output = "output_toks",
                .token_ids = "input_tok_ids",
                .seconds = 1},
    [SIMULATED] = {.mark = "input_toks",
                   .arrival = "arrival_time_ns",
                   .prompt = "input_toks",
                   .output = "output_toks",
                   .token_ids = "input_tok_ids",
                   .seconds = 1e-9},
    [MOONCAKE] = {.mark = "",
                  .arrival = "timestamp",
                  .prompt = "input_length",
                  .output = "output_length",
                  .hashes = "hash_ids",
                  .seconds = 1e-3,
                  .chained = true},
};

static bool requests_json_blame(const struct csv_reader *reader, const char *key,
                                const char *expected, struct error *why)
{
    error_set(why, reader->path, reader->line, "'%s' is missing or not %s", key, expected);
    bool mooncake = strcmp(key, "input_length") == 0 || strcmp(key, "output_length") == 0;
    return error_expect(why, "%s%s", expected,
                        mooncake ? ", as in {\"timestamp\": 0, \"input_length\": 1000, "
                                   "\"output_length\": 200}"
                                 : "");
}

static bool requests_json_read_arrival(const json_t *object, const struct json_format *format,
                                       const struct csv_reader *reader, struct request_line *line,
                                       struct error *why)
{
    const json_t *arrival = json_object_get(object, format->arrival);
    if (arrival == NULL) {
        line->arrival_s = NAN;
        return true;
    }
    if (!json_is_number(arrival)) {
        return requests_json_blame(reader, format->arrival, "a number", why);
    }
    line->arrival_s = json_number_value(arrival) * format->seconds;
    return true;
}

static bool requests_json_read_count(const json_t *object, const char *key,
                                     const struct csv_reader *reader, uint64_t *tokens,
                                     struct error *why)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return requests_json_blame(reader, key, "a whole number", why);
    }
    *tokens = (uint64_t)json_integer_value(value);
    return true;
}

/* ---- prefixes ------------------------------------------------------------------------- */

/* The list at `key`, or NULL in `*list` if the line has none. */
static bool find_list(const json_t *object, const char *key, const struct csv_reader *reader,
                      const json_t **list, struct error *why)
{
    *list = key != NULL ? json_object_get(object, key) : NULL;
    return *list == NULL || json_is_array(*list) ||
           requests_json_blame(reader, key, "a list of numbers", why);
}

/* The whole number at `at` of a list. */
static bool requests_json_read_item(const json_t *list, size_t at, const char *key,
                                    const struct csv_reader *reader, uint64_t *value,
                                    struct error *why)
{
    const json_t *item = json_array_get(list, at);
    if (!json_is_integer(item)) {
        return requests_json_blame(reader, key, "a list of whole numbers", why);
    }
    *value = (uint64_t)json_integer_value(item);
    return true;
}

/* Hashes that cover their own chunk only are chained here. */
static bool read_hashes(const json_t *object, const struct json_format *format,
                        const struct csv_reader *reader, struct request_line *line,
                        struct error *why)
{
    const json_t *list;
    if (!find_list(object, format->hashes, reader, &list, why) || list == NULL) {
        return list == NULL;
    }
    size_t count = json_array_size(list);
    if (count == 0) {
        return requests_json_blame(reader, format->hashes, "a list of hashes", why);
    }
    if (!array_reserve(&line->hash, &line->hash_capacity, count, sizeof *line->hash, why)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!requests_json_read_item(list, i, format->hashes, reader, &line->hash[i], why)) {
            return false;
        }
        if (!format->chained) {
            line->hash[i] =
                XXH64(&line->hash[i], sizeof line->hash[i], i > 0 ? line->hash[i - 1] : 0);
        }
    }
    line->hashes = (uint32_t)count; /* fits: a line's length is limited */
    return true;
}

/* Cut the prompt's token ids into chunks. */
static bool read_token_ids(const json_t *object, const struct json_format *format,
                           const struct csv_reader *reader, struct request_line *line,
                           struct error *why)
{
    const json_t *list;
    if (!find_list(object, format->token_ids, reader, &list, why) || list == NULL) {
        return list == NULL;
    }
    size_t count = json_array_size(list), most = count / line->hash_tokens + 1;
    if (count != line->prompt) {
        error_set(why, reader->path, reader->line, "%zu token ids for a prompt of %llu tokens",
                  count, (unsigned long long)line->prompt);
        return error_expect(why, "one id for each token of '%s'", format->prompt);
    }
    if (!array_reserve(&line->hash, &line->hash_capacity, most, sizeof *line->hash, why)) {
        return false;
    }
    uint64_t hash = 0, id;
    for (size_t i = 0; i < count; i++) {
        if (!requests_json_read_item(list, i, format->token_ids, reader, &id, why)) {
            return false;
        }
        hash = XXH64(&id, sizeof id, hash);
        line->hash[i / line->hash_tokens] = hash;
    }
    line->hashes = (uint32_t)((count + line->hash_tokens - 1) / line->hash_tokens);
    return true;
}

/* ---- a line --------------------------------------------------------------------------- */

/* A session's requests depend on the ends of earlier ones, which only a run knows. */
static bool check_no_session(const json_t *object, const struct csv_reader *reader,
                             struct error *why)
{
    if (json_object_get(object, "sub_requests") == NULL) {
        return true;
    }
    error_set(why, reader->path, reader->line, "'sub_requests': a session of chained requests");
    return error_expect(why, "a line for each request, with a time of its own");
}

static bool read_object(const json_t *object, const struct json_format *format,
                        const struct csv_reader *reader, struct request_line *line,
                        struct error *why)
{
    line->hashes = 0;
    line->failed = false;
    return check_no_session(object, reader, why) &&
           requests_json_read_arrival(object, format, reader, line, why) &&
           requests_json_read_count(object, format->prompt, reader, &line->prompt, why) &&
           requests_json_read_count(object, format->output, reader, &line->output, why) &&
           read_hashes(object, format, reader, line, why) &&
           read_token_ids(object, format, reader, line, why);
}

static bool requests_json_parse(struct csv_reader *reader, const struct json_format *format,
                                struct request_line *line, struct error *why)
{
    json_error_t fault;
    json_t *object = json_loads(reader->text, JSON_REJECT_DUPLICATES, &fault);
    if (object == NULL) {
        return error_set(why, reader->path, reader->line, "invalid JSON: %s", fault.text);
    }
    bool ok = json_is_object(object)
                  ? read_object(object, format, reader, line, why)
                  : error_set(why, reader->path, reader->line, "not a JSON object");
    json_decref(object);
    return ok;
}

static bool parse_bailian(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return requests_json_parse(reader, &formats[BAILIAN], line, why);
}

static bool parse_recorded(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return requests_json_parse(reader, &formats[RECORDED], line, why);
}

static bool parse_queued(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return requests_json_parse(reader, &formats[QUEUED], line, why);
}

static bool parse_simulated(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return requests_json_parse(reader, &formats[SIMULATED], line, why);
}

static bool parse_mooncake(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return requests_json_parse(reader, &formats[MOONCAKE], line, why);
}

/* 512: as Mooncake documents. 16: as Bailian's does; of token ids, a block of vLLM. */
static const struct request_format readers[FORMATS] = {
    [BAILIAN] = {.parse = parse_bailian, .hash_tokens = 16},
    [RECORDED] = {.parse = parse_recorded, .hash_tokens = 16},
    [QUEUED] = {.parse = parse_queued, .hash_tokens = 16, .queued = true},
    [SIMULATED] = {.parse = parse_simulated, .hash_tokens = 16},
    [MOONCAKE] = {.parse = parse_mooncake, .hash_tokens = 512},
};

const struct request_format *request_json_format(const struct csv_reader *reader)
{
    if (reader->text[0] != '{') {
        return NULL;
    }
    json_t *object = json_loads(reader->text, 0, NULL);
    int number = 0;
    while (number < MOONCAKE && json_object_get(object, formats[number].mark) == NULL) {
        number++;
    }
    json_decref(object);
    return &readers[number];
}
