/* Requests as JSON, one object a line: published traces, the workloads of a simulator, and a benchmark's
 * record of a real server. Other keys are ignored. And as tables, whose lines are read as objects of the
 * columns that count.
 *
 * Prefixes are known from hashes of chunks, or from the token ids themselves, which are cut into chunks
 * and hashed here. A line without either is a prompt whose content is unknown.
 *
 * Azure writes arrivals as date and time of day, to 100 ns; others are numbers. A response of 0 tokens, or
 * an empty field, means that the request failed (see BurstGPT's README). */
#include "core/array.h"
#include "server/requests/request_line.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <xxhash.h>

/* The names of a format's keys. */
struct json_format {
    struct request_format reader;
    const char
        *head[9];     /* of a table: its columns in the file's order, whose case does not matter */
    const char *mark; /* of others: a key that tells it from the formats after it */
    const char *arrival, *prompt, *output;
    const char *hashes;    /* of chunks, or NULL */
    const char *token_ids; /* of the prompt, or NULL */
    double seconds;        /* of the arrival's unit; 0: it is a date */
    bool chained;          /* a hash covers all tokens before its chunk */
};

/* ---- arrivals ------------------------------------------------------------------------- */

/* What follows a time of day: nothing, "Z", or an offset from UTC such as "+01:30". */
static bool read_zone(const char *text, double *seconds)
{
    int hours, minutes, end = 0;
    if (text[0] == '\0' || strcmp(text, "Z") == 0) {
        *seconds = 0;
        return true;
    }
    if (strlen(text) != 6 || sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &end) != 2 ||
        end != 5 || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 ||
        (text[0] != '+' && text[0] != '-')) {
        return false;
    }
    *seconds = (text[0] == '+' ? 1 : -1) * (3600.0 * hours + 60.0 * minutes);
    return true;
}

/* "2023-11-16 18:17:03.9799600", with or without a time zone. timegm() makes 2 March of 30
 * February; such a date is refused. */
static bool read_date(const char *text, double *seconds)
{
    struct tm said = {.tm_year = 0};
    const char *rest = strptime(text, "%Y-%m-%d %H:%M:%S", &said);
    struct tm day = said;
    double zone;
    if (rest == NULL) {
        return false;
    }
    *seconds = (double)timegm(&day);
    if (*rest == '.') { /* a fraction of a second, such as ".9799600" */
        char digits[16];
        size_t count = strspn(rest + 1, "0123456789");
        snprintf(digits, sizeof digits, ".%.*s", (int)count, rest + 1);
        *seconds += strtod(digits, NULL);
        rest += 1 + count;
    }
    bool ok = read_zone(rest, &zone) && day.tm_mday == said.tm_mday && day.tm_mon == said.tm_mon &&
              day.tm_sec == said.tm_sec;
    *seconds -= ok ? zone : 0;
    return ok;
}

static bool requests_json_blame(const struct csv_reader *reader, const char *key,
                                const json_t *value, const char *expected, struct error *why)
{
    if (json_is_string(value)) {
        error_set(why, reader->path, reader->line, "'%s' is '%.60s'", key,
                  json_string_value(value));
    } else {
        error_set(why, reader->path, reader->line, "'%s' is missing or not %s", key, expected);
    }
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
    if (format->seconds == 0) {
        const char *text = json_string_value(arrival);
        return (text != NULL && read_date(text, &line->arrival_s)) ||
               requests_json_blame(
                   reader, format->arrival, arrival,
                   "a time such as 2023-11-16 18:17:03.9799600, on a day that exists", why);
    }
    if (!json_is_number(arrival)) {
        return requests_json_blame(reader, format->arrival, arrival, "a number", why);
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
        return requests_json_blame(reader, key, value, "a whole number", why);
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
           requests_json_blame(reader, key, *list, "a list of numbers", why);
}

/* The whole number at `at` of a list. */
static bool requests_json_read_item(const json_t *list, size_t at, const char *key,
                                    const struct csv_reader *reader, uint64_t *value,
                                    struct error *why)
{
    const json_t *item = json_array_get(list, at);
    if (!json_is_integer(item)) {
        return requests_json_blame(reader, key, item, "a list of whole numbers", why);
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
        return requests_json_blame(reader, format->hashes, NULL, "a list of hashes", why);
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

/* ---- sessions ------------------------------------------------------------------------- */

/* A turn with a "delay" (ms) comes so long after the end of the one before, which is in the line
 * before it and of the same "session_id" (AIPerf, dynamo.replay). Turns without an answer are left out:
 * the next one follows the last that has one, or begins the session. A prompt is known by its hashes:
 * without them programs differ in whether its length counts the turns before. */
static bool read_turn(const json_t *object, const struct csv_reader *reader,
                      struct request_line *line, struct error *why)
{
    const json_t *delay = json_object_get(object, "delay");
    const char *id = json_string_value(json_object_get(object, "session_id"));
    uint64_t session = id != NULL ? XXH64(id, strlen(id), 1) : 0;
    bool has_delay = delay != NULL && !json_is_null(delay);
    bool follows = has_delay && session != 0 && session == line->session;
    line->session = session;
    line->answered = follows ? line->answered : 0;
    line->turn = (uint16_t)line->answered;
    line->think_ns = 0;
    if (!has_delay) {
        line->session_start_s = line->arrival_s;
        return true;
    }
    if (!json_is_number(delay)) {
        return requests_json_blame(reader, "delay", delay, "a number", why);
    }
    double ms = json_number_value(delay);
    if (!follows || line->answered > UINT16_MAX || line->hashes == 0 || !(ms >= 0 && ms <= 1e12)) {
        error_set(why, reader->path, reader->line, "'delay': a turn %s",
                  line->hashes == 0 ? "without 'hash_ids'" : "that does not follow another");
        return error_expect(why, "behind the turn before of its 'session_id', and the 'hash_ids' "
                                 "of its whole prompt");
    }
    line->arrival_s = line->session_start_s;
    line->think_ns = line->turn > 0 ? (int64_t)(ms * 1e6) : 0;
    return true;
}

/* ---- a line --------------------------------------------------------------------------- */

/* A field as JSON would have it; an empty one is null. */
static json_t *field_value(const char *text)
{
    bool whole = text[strspn(text, "0123456789")] == '\0';
    bool number = text[strspn(text, "0123456789.eE+-")] == '\0';
    char *end;
    double value = strtod(text, &end);
    return text[0] == '\0'          ? json_null()
           : whole                  ? json_integer(strtoll(text, NULL, 10))
           : number && *end == '\0' ? json_real(value)
                                    : json_string(text);
}

/* The line of a table, as an object of the columns that count. */
static json_t *table_row(const struct json_format *format, struct csv_reader *reader,
                         struct error *why)
{
    size_t columns = 0;
    while (format->head[columns] != NULL) {
        columns++;
    }
    json_t *object = csv_reader_split(reader, columns, why) ? json_object() : NULL;
    for (size_t i = 0; object != NULL && i < columns; i++) {
        const char *name = format->head[i];
        bool counts = strcmp(name, format->arrival) == 0 || strcmp(name, format->prompt) == 0 ||
                      strcmp(name, format->output) == 0;
        if (counts) {
            json_object_set_new(object, name, field_value(reader->fields[i]));
        }
    }
    return object;
}

static bool requests_json_parse(const struct request_format *of, struct csv_reader *reader,
                                struct request_line *line, struct error *why)
{
    const struct json_format *format = (const struct json_format *)of;
    json_error_t fault;
    json_t *object = format->reader.table
                         ? table_row(format, reader, why)
                         : json_loads(reader->text, JSON_REJECT_DUPLICATES, &fault);
    if (object == NULL) {
        return !format->reader.table &&
               error_set(why, reader->path, reader->line, "invalid JSON: %s", fault.text);
    }
    bool ok = false;
    line->hashes = 0;
    const json_t *output = json_object_get(object, format->output);
    line->failed = output == NULL || json_is_null(output);
    if (!json_is_object(object)) {
        error_set(why, reader->path, reader->line, "not a JSON object");
    } else if (json_object_get(object, "sub_requests") != NULL) {
        /* A session's requests depend on the ends of earlier ones, which only a run knows. */
        error_set(why, reader->path, reader->line, "'sub_requests': a session of chained requests");
        error_expect(why, "a line for each request, with a time of its own");
    } else {
        ok = requests_json_read_arrival(object, format, reader, line, why) &&
             requests_json_read_count(object, format->prompt, reader, &line->prompt, why) &&
             (line->failed ||
              requests_json_read_count(object, format->output, reader, &line->output, why)) &&
             read_hashes(object, format, reader, line, why) &&
             read_token_ids(object, format, reader, line, why) &&
             read_turn(object, reader, line, why);
        line->failed = line->failed || line->output == 0;
        line->answered += !line->failed;
    }
    json_decref(object);
    return ok;
}

/* 512: as Mooncake documents. 16: as Bailian's does; of token ids, a block of vLLM. The last one has
 * no mark. */
static const struct json_format formats[] = {
    {.reader = {.parse = requests_json_parse, .hash_tokens = 16}, /* Bailian */
     .mark = "chat_id",
     .arrival = "timestamp",
     .prompt = "input_length",
     .output = "output_length",
     .hashes = "hash_ids",
     .seconds = 1},
    {.reader = {.parse = requests_json_parse, .hash_tokens = 16}, /* a server's */
     .mark = "arrival_time",
     .arrival = "arrival_time",
     .prompt = "input_toks",
     .output = "output_toks",
     .token_ids = "input_tok_ids",
     .seconds = 1},
    {.reader = {.parse = requests_json_parse, .hash_tokens = 16, .queued = true},
     .mark = "queued_ts",
     .arrival = "queued_ts",
     .prompt = "input_toks",
     .output = "output_toks",
     .token_ids = "input_tok_ids",
     .seconds = 1},
    {.reader = {.parse = requests_json_parse, .hash_tokens = 16}, /* LLMServingSim */
     .mark = "input_toks",
     .arrival = "arrival_time_ns",
     .prompt = "input_toks",
     .output = "output_toks",
     .token_ids = "input_tok_ids",
     .seconds = 1e-9},
    {.reader = {.parse = requests_json_parse, .hash_tokens = 512}, /* Mooncake */
     .arrival = "timestamp",
     .prompt = "input_length",
     .output = "output_length",
     .hashes = "hash_ids",
     .seconds = 1e-3,
     .chained = true},
};

static const struct json_format tables[] = {
    {.reader = {.parse = requests_json_parse, .table = true}, /* Azure */
     .head = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
     .arrival = "TIMESTAMP",
     .prompt = "ContextTokens",
     .output = "GeneratedTokens"},
    {.reader = {.parse = requests_json_parse, .table = true}, /* BurstGPT */
     .head = {"Timestamp", "Model", "Request tokens", "Response tokens", "Total tokens",
              "Log Type"},
     .arrival = "Timestamp",
     .prompt = "Request tokens",
     .output = "Response tokens",
     .seconds = 1},
    {.reader = {.parse = requests_json_parse, .table = true}, /* BurstGPT 2 */
     .head = {"Timestamp", "Session ID", "Elapsed time", "Model", "Request tokens",
              "Response tokens", "Total tokens", "Log Type"},
     .arrival = "Timestamp",
     .prompt = "Request tokens",
     .output = "Response tokens",
     .seconds = 1},
    {.reader = {.parse = requests_json_parse, .table = true}, /* vLLM-style */
     .head = {"arrived_at", "num_prefill_tokens", "num_decode_tokens"},
     .arrival = "arrived_at",
     .prompt = "num_prefill_tokens",
     .output = "num_decode_tokens",
     .seconds = 1},
};

const struct request_format *request_format_of(struct csv_reader *reader)
{
    struct error unused;
    if (reader->text[0] == '{') {
        json_t *object = json_loads(reader->text, 0, NULL);
        const struct json_format *format = formats;
        while (format->mark != NULL && json_object_get(object, format->mark) == NULL) {
            format++;
        }
        json_decref(object);
        return &format->reader;
    }
    for (size_t i = 0; csv_reader_split(reader, 0, &unused) && i < sizeof tables / sizeof *tables;
         i++) {
        size_t k = 0;
        while (k < reader->count && tables[i].head[k] != NULL &&
               strcasecmp(reader->fields[k], tables[i].head[k]) == 0) {
            k++;
        }
        if (k == reader->count && tables[i].head[k] == NULL) {
            return &tables[i].reader;
        }
    }
    return NULL;
}
