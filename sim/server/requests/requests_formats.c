/* Requests as tables. The column names in the first line tell which format it is.
 *
 * Azure writes arrivals as date and time of day, to 100 ns; the others write seconds. A response of 0
 * tokens, or an empty field, means that the request failed (see BurstGPT's README). */
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

typedef bool (*read_arrival)(const char *text, double *seconds);

struct csv_format {
    struct request_format reader;
    size_t columns;
    const char *head[8]; /* names in the file's order; case does not matter */
    uint32_t arrival, prompt, output;
    read_arrival read;
};

/* ---- arrivals ------------------------------------------------------------------------- */

static bool read_seconds(const char *text, double *seconds)
{
    char *end;
    if (text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0') {
        return false;
    }
    *seconds = strtod(text, &end);
    return *end == '\0';
}

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

/* ---- lines ---------------------------------------------------------------------------- */

static bool requests_csv_blame(const struct csv_reader *reader, const struct csv_format *format,
                               uint32_t column, const char *expected, struct error *why)
{
    error_set(why, reader->path, reader->line, "'%s' is '%.60s'", format->head[column],
              reader->fields[column]);
    return error_expect(why, "%s", expected);
}

static bool requests_csv_read_tokens(const struct csv_reader *reader,
                                     const struct csv_format *format, uint32_t column,
                                     uint64_t *tokens, struct error *why)
{
    const char *text = reader->fields[column];
    bool whole = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
    *tokens = whole ? strtoull(text, NULL, 10) : 0;
    return (whole && *tokens <= UINT32_MAX) ||
           requests_csv_blame(reader, format, column, "a whole number of tokens", why);
}

static bool requests_csv_parse(const struct request_format *of, struct csv_reader *reader,
                               struct request_line *line, struct error *why)
{
    const struct csv_format *format = (const struct csv_format *)of;
    if (!csv_reader_split(reader, format->columns, why)) {
        return false;
    }
    if (!format->read(reader->fields[format->arrival], &line->arrival_s)) {
        return requests_csv_blame(
            reader, format, format->arrival,
            format->read == read_date
                ? "a time such as 2023-11-16 18:17:03.9799600, on a day that exists"
                : "a number of seconds",
            why);
    }
    line->hashes = 0;
    line->output = 0;
    if (!requests_csv_read_tokens(reader, format, format->prompt, &line->prompt, why) ||
        (reader->fields[format->output][0] != '\0' &&
         !requests_csv_read_tokens(reader, format, format->output, &line->output, why))) {
        return false;
    }
    line->failed = line->output == 0;
    return true;
}

/* ---- which table ---------------------------------------------------------------------- */

static const struct csv_format tables[] = {
    {.reader.parse = requests_csv_parse, /* Azure */
     .columns = 3,
     .head = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
     .arrival = 0,
     .prompt = 1,
     .output = 2,
     .read = read_date},
    {.reader.parse = requests_csv_parse, /* BurstGPT */
     .columns = 6,
     .head = {"Timestamp", "Model", "Request tokens", "Response tokens", "Total tokens",
              "Log Type"},
     .arrival = 0,
     .prompt = 2,
     .output = 3,
     .read = read_seconds},
    {.reader.parse = requests_csv_parse, /* BurstGPT 2 */
     .columns = 8,
     .head = {"Timestamp", "Session ID", "Elapsed time", "Model", "Request tokens",
              "Response tokens", "Total tokens", "Log Type"},
     .arrival = 0,
     .prompt = 4,
     .output = 5,
     .read = read_seconds},
    {.reader.parse = requests_csv_parse, /* vLLM-style */
     .columns = 3,
     .head = {"arrived_at", "num_prefill_tokens", "num_decode_tokens"},
     .arrival = 0,
     .prompt = 1,
     .output = 2,
     .read = read_seconds},
};

const struct request_format *request_csv_format(struct csv_reader *reader)
{
    struct error unused;
    if (!csv_reader_split(reader, 0, &unused)) {
        return NULL;
    }
    size_t count = reader->count;
    for (uint32_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        bool same = count == tables[i].columns;
        for (uint32_t k = 0; same && k < count; k++) {
            same = strcasecmp(reader->fields[k], tables[i].head[k]) == 0;
        }
        if (same) {
            return &tables[i].reader;
        }
    }
    return NULL;
}

/* Requests as JSON, one object a line: published traces, the workloads of a simulator, and a
 * benchmark's record of a real server. Other keys are ignored.
 *
 * Prefixes are known from hashes of chunks, or from the token ids themselves, which are cut into
 * chunks and hashed here. A line without either is a prompt whose content is unknown. */

/* The names of a format's keys. */
struct json_format {
    struct request_format reader;
    const char *mark; /* a key that tells it from the formats after it */
    const char *arrival, *prompt, *output;
    const char *hashes;    /* of chunks, or NULL */
    const char *token_ids; /* of the prompt, or NULL */
    double seconds;        /* of the arrival's unit */
    bool chained;          /* a hash covers all tokens before its chunk */
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
        return requests_json_blame(reader, "delay", "a number", why);
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

static bool requests_json_parse(const struct request_format *of, struct csv_reader *reader,
                                struct request_line *line, struct error *why)
{
    const struct json_format *format = (const struct json_format *)of;
    json_error_t fault;
    json_t *object = json_loads(reader->text, JSON_REJECT_DUPLICATES, &fault);
    if (object == NULL) {
        return error_set(why, reader->path, reader->line, "invalid JSON: %s", fault.text);
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

const struct request_format *request_json_format(const struct csv_reader *reader)
{
    if (reader->text[0] != '{') {
        return NULL;
    }
    json_t *object = json_loads(reader->text, 0, NULL);
    const struct json_format *format = formats;
    while (format->mark != NULL && json_object_get(object, format->mark) == NULL) {
        format++;
    }
    json_decref(object);
    return &format->reader;
}
