/* Requests as JSON, one object a line: Mooncake's published traces, and a benchmark's record of a
 * real server. Other keys are ignored. */
#include "serve/request_line.h"

#include <jansson.h>
#include <string.h>

/* The names of a format's keys. */
struct json_format {
    const char *arrival, *prompt, *output, *hashes;
    double seconds; /* of the arrival's unit */
};

static const struct json_format mooncake = {"timestamp", "input_length", "output_length",
                                            "hash_ids", 1e-3};
static const struct json_format measured = {"arrival_time", "input_toks", "output_toks", NULL, 1.0};

static bool blame(const struct csv_reader *reader, const char *key, const char *expected,
                  struct error *why)
{
    error_set(why, reader->path, reader->line, "'%s' is missing or not %s", key, expected);
    return error_expect(why, "%s", expected);
}

static bool read_arrival(const json_t *object, const struct json_format *format,
                         const struct csv_reader *reader, struct request_line *line,
                         struct error *why)
{
    const json_t *arrival = json_object_get(object, format->arrival);
    if (!json_is_number(arrival)) {
        return blame(reader, format->arrival, "a number", why);
    }
    line->arrival_s = json_number_value(arrival) * format->seconds;
    return true;
}

static bool read_tokens(const json_t *object, const char *key, const struct csv_reader *reader,
                        uint64_t *tokens, struct error *why)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return blame(reader, key, "a whole number", why);
    }
    *tokens = (uint64_t)json_integer_value(value);
    return true;
}

/* Every prompt of a format with hashes must have them. */
static bool read_hashes(const json_t *object, const char *key, const struct csv_reader *reader,
                        struct request_line *line, struct error *why)
{
    const json_t *hashes = json_object_get(object, key);
    if (json_array_size(hashes) == 0) {
        return blame(reader, key, "a list of hashes", why);
    }
    line->hashes = (uint32_t)json_array_size(hashes); /* fits: a line's length is limited */
    for (uint32_t i = 0; i < line->hashes; i++) {
        const json_t *hash = json_array_get(hashes, i);
        if (!json_is_integer(hash)) {
            return blame(reader, key, "a list of whole numbers", why);
        }
        line->hash[i] = (uint64_t)json_integer_value(hash);
    }
    return true;
}

static bool read_object(const json_t *object, const struct json_format *format,
                        const struct csv_reader *reader, struct request_line *line,
                        struct error *why)
{
    line->hashes = 0;
    line->failed = false;
    return read_arrival(object, format, reader, line, why) &&
           read_tokens(object, format->prompt, reader, &line->prompt, why) &&
           read_tokens(object, format->output, reader, &line->output, why) &&
           (format->hashes == NULL || read_hashes(object, format->hashes, reader, line, why));
}

static bool parse(struct csv_reader *reader, const struct json_format *format,
                  struct request_line *line, struct error *why)
{
    json_error_t fault;
    json_t *object = json_loads(reader->text, JSON_REJECT_DUPLICATES, &fault);
    if (object == NULL) {
        return error_set(why, reader->path, reader->line, "invalid JSON: %s", fault.text);
    }
    bool ok = read_object(object, format, reader, line, why);
    json_decref(object);
    return ok;
}

static bool parse_mooncake(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return parse(reader, &mooncake, line, why);
}

static bool parse_measured(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return parse(reader, &measured, line, why);
}

request_parse request_json_parser(const struct csv_reader *reader)
{
    if (reader->text[0] != '{') {
        return NULL;
    }
    return strstr(reader->text, "\"arrival_time\"") != NULL ? parse_measured : parse_mooncake;
}
