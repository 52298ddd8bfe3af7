/* Requests as tables. The column names in the first line tell which format it is.
 *
 * Azure writes arrivals as date and time of day, to 100 ns; the others write seconds. In BurstGPT a
 * response of 0 tokens means that the request failed (see its README). */
#include "serve/request_line.h"

#include "trace/csv/csv_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

typedef bool (*read_arrival)(const char *text, double *seconds);

struct csv_format {
    size_t columns;
    const char *head[6]; /* names in the file's order; case does not matter */
    uint32_t arrival, prompt, output;
    read_arrival read;
    bool marks_failures; /* an output of 0 tokens is a failed request */
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

/* "2023-11-16 18:17:03.9799600" */
static bool read_date(const char *text, double *seconds)
{
    struct tm day = {.tm_year = 0};
    const char *rest = strptime(text, "%Y-%m-%d %H:%M:%S", &day);
    double fraction = 0;
    if (rest == NULL || (rest[0] != '\0' && (rest[0] != '.' || !read_seconds(rest, &fraction)))) {
        return false;
    }
    *seconds = (double)timegm(&day) + fraction;
    return true;
}

/* ---- lines ---------------------------------------------------------------------------- */

static const struct csv_format azure = {
    .columns = 3,
    .head = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
    .arrival = 0,
    .prompt = 1,
    .output = 2,
    .read = read_date,
};

static const struct csv_format burst_gpt = {
    .columns = 6,
    .head = {"Timestamp", "Model", "Request tokens", "Response tokens", "Total tokens", "Log Type"},
    .arrival = 0,
    .prompt = 2,
    .output = 3,
    .read = read_seconds,
    .marks_failures = true,
};

static const struct csv_format vllm_style = {
    .columns = 3,
    .head = {"arrived_at", "num_prefill_tokens", "num_decode_tokens"},
    .arrival = 0,
    .prompt = 1,
    .output = 2,
    .read = read_seconds,
};

static bool blame(const struct csv_reader *reader, const struct csv_format *format, uint32_t column,
                  const char *expected, struct error *why)
{
    error_set(why, reader->path, reader->line, "'%s' is '%.60s'", format->head[column],
              reader->fields[column]);
    return error_expect(why, "%s", expected);
}

static bool read_tokens(const struct csv_reader *reader, const struct csv_format *format,
                        uint32_t column, uint64_t *tokens, struct error *why)
{
    uint32_t value;
    if (!csv_whole(reader->fields[column], &value)) {
        return blame(reader, format, column, "a whole number of tokens", why);
    }
    *tokens = value;
    return true;
}

static bool parse(struct csv_reader *reader, const struct csv_format *format,
                  struct request_line *line, struct error *why)
{
    if (!csv_reader_split(reader, format->columns, why)) {
        return false;
    }
    if (!format->read(reader->fields[format->arrival], &line->arrival_s)) {
        return blame(reader, format, format->arrival,
                     format->read == read_date ? "a time such as 2023-11-16 18:17:03.9799600"
                                               : "a number of seconds",
                     why);
    }
    if (!read_tokens(reader, format, format->prompt, &line->prompt, why) ||
        !read_tokens(reader, format, format->output, &line->output, why)) {
        return false;
    }
    line->hashes = 0;
    line->failed = format->marks_failures && line->output == 0;
    return true;
}

static bool parse_azure(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return parse(reader, &azure, line, why);
}

static bool parse_burst_gpt(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return parse(reader, &burst_gpt, line, why);
}

static bool parse_vllm_style(struct csv_reader *reader, struct request_line *line,
                             struct error *why)
{
    return parse(reader, &vllm_style, line, why);
}

/* ---- which table ---------------------------------------------------------------------- */

static bool has_head(const struct csv_reader *reader, const struct csv_format *format, size_t count)
{
    bool same = count == format->columns;
    for (uint32_t i = 0; same && i < format->columns; i++) {
        same = strcasecmp(reader->fields[i], format->head[i]) == 0;
    }
    return same;
}

request_parse request_csv_parser(struct csv_reader *reader)
{
    static const struct {
        const struct csv_format *format;
        request_parse parse;
    } tables[] = {
        {&azure, parse_azure}, {&burst_gpt, parse_burst_gpt}, {&vllm_style, parse_vllm_style}};
    struct error unused;
    size_t count;
    if (!csv_reader_split_any(reader, &count, &unused)) {
        return NULL;
    }
    for (uint32_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (has_head(reader, tables[i].format, count)) {
            return tables[i].parse;
        }
    }
    return NULL;
}
