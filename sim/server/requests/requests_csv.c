/* Requests as tables. The column names in the first line tell which format it is.
 *
 * Azure writes arrivals as date and time of day, to 100 ns; the others write seconds. In BurstGPT a
 * response of 0 tokens means that the request failed (see its README). */
#include "server/requests/request_line.h"

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

/* A fraction of a second at `*rest`, such as ".9799600"; steps over it. */
static double read_fraction(const char **rest)
{
    char digits[16];
    if (**rest != '.') {
        return 0;
    }
    snprintf(digits, sizeof digits, ".%.*s", (int)strspn(*rest + 1, "0123456789"), *rest + 1);
    *rest += 1 + strspn(*rest + 1, "0123456789");
    return strtod(digits, NULL);
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
    *seconds = (double)timegm(&day) + read_fraction(&rest);
    bool ok = read_zone(rest, &zone) && day.tm_mday == said.tm_mday && day.tm_mon == said.tm_mon &&
              day.tm_sec == said.tm_sec;
    *seconds -= ok ? zone : 0;
    return ok;
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

static bool requests_csv_parse(struct csv_reader *reader, const struct csv_format *format,
                               struct request_line *line, struct error *why)
{
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
    if (!requests_csv_read_tokens(reader, format, format->prompt, &line->prompt, why) ||
        !requests_csv_read_tokens(reader, format, format->output, &line->output, why)) {
        return false;
    }
    line->hashes = 0;
    line->failed = format->marks_failures && line->output == 0;
    return true;
}

static bool parse_azure(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return requests_csv_parse(reader, &azure, line, why);
}

static bool parse_burst_gpt(struct csv_reader *reader, struct request_line *line, struct error *why)
{
    return requests_csv_parse(reader, &burst_gpt, line, why);
}

static bool parse_vllm_style(struct csv_reader *reader, struct request_line *line,
                             struct error *why)
{
    return requests_csv_parse(reader, &vllm_style, line, why);
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

const struct request_format *request_csv_format(struct csv_reader *reader)
{
    static const struct {
        const struct csv_format *format;
        struct request_format reader;
    } tables[] = {{&azure, {.parse = parse_azure}},
                  {&burst_gpt, {.parse = parse_burst_gpt}},
                  {&vllm_style, {.parse = parse_vllm_style}}};
    struct error unused;
    size_t count;
    if (!csv_reader_split_any(reader, &count, &unused)) {
        return NULL;
    }
    for (uint32_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (has_head(reader, tables[i].format, count)) {
            return &tables[i].reader;
        }
    }
    return NULL;
}
