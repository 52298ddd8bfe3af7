/* The figures of a summary are read by key; from single requests the same figures are computed. */
#include "study/papers/measured.h"

#include "base/array.h"
#include "base/text.h"
#include "study/papers/measured_number.h"

#include <ctype.h>
#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* In groups of four: mean, median, 90th and 99th percentile. */
const struct measured_figure measured_figures[MEASURED_FIGURES] = {
    {COLUMN_TTFT, "TTFT mean, ms", "mean_ttft_ms", "mean_ttft_ms"},
    {COLUMN_TTFT_P50, "TTFT p50, ms", "median_ttft_ms", "median_ttft_ms"},
    {COLUMN_TTFT_P90, "TTFT p90, ms", "p90_ttft_ms", "p90_ttft_ms"},
    {COLUMN_TTFT_P99, "TTFT p99, ms", "p99_ttft_ms", "p99_ttft_ms"},
    {COLUMN_TPOT, "TPOT mean, ms", "mean_tpot_ms", "mean_tpot_ms"},
    {COLUMN_TPOT_P50, "TPOT p50, ms", "median_tpot_ms", "median_tpot_ms"},
    {COLUMN_TPOT_P90, "TPOT p90, ms", "p90_tpot_ms", "p90_tpot_ms"},
    {COLUMN_TPOT_P99, "TPOT p99, ms", "p99_tpot_ms", "p99_tpot_ms"},
    {COLUMN_E2E, "end to end mean, ms", "mean_e2el_ms", "mean_e2e_latency_ms"},
    {COLUMN_E2E_P50, "end to end p50, ms", "median_e2el_ms", "median_e2e_latency_ms"},
    {COLUMN_E2E_P90, "end to end p90, ms", "p90_e2el_ms", "p90_e2e_latency_ms"},
    {COLUMN_E2E_P99, "end to end p99, ms", "p99_e2el_ms", "p99_e2e_latency_ms"},
    {COLUMN_DECODE_RATE, "output, tokens/s", "output_throughput", "output_throughput"},
};

enum { TTFT_AT = 0, TPOT_AT = 4, E2E_AT = 8, RATE_AT = 12 };

double measured_predicted(const struct result *result, const struct measured_figure *figure)
{
    const struct cell *cell = &result->cells[figure->column];
    if (!cell->set) {
        return NAN;
    }
    return column_kinds[figure->column].type == COLUMN_TYPE_MS ? (double)cell->integer / 1e6
                                                               : cell->real;
}

/* ---- a summary ------------------------------------------------------------------------ */

/* The model that was served, and the rate. "inf" is vLLM's word for all at once, "trace" SGLang's
 * for as recorded. */
static bool read_conditions(const json_t *object, const char *path, struct measured *out,
                            struct error *why)
{
    const char *model = json_string_value(json_object_get(object, "model_id"));
    const json_t *rate = json_object_get(object, "request_rate");
    text_copy(out->model, sizeof out->model, model != NULL ? model : "");
    for (char *c = out->model; *c != '\0'; c++) {
        *c = iscntrl((unsigned char)*c) ? '?' : *c; /* it is shown on a terminal */
    }
    if (json_is_string(rate)) {
        out->rate = strcmp(json_string_value(rate), "inf") == 0 ? (double)INFINITY : (double)NAN;
        return true;
    }
    return measured_number(object, "request_rate", path, 0, &out->rate, why);
}

static bool read_summary(const json_t *object, const char *path, struct measured *out,
                         struct error *why)
{
    bool sglang = json_object_get(object, "mean_e2e_latency_ms") != NULL;
    bool any = false;
    out->tool = sglang ? "SGLang's benchmark" : "vLLM's benchmark";
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        const struct measured_figure *figure = &measured_figures[i];
        const char *key = sglang ? figure->sglang : figure->vllm;
        if (!measured_number(object, key, path, 0, &out->value[i], why)) {
            return false;
        }
        any = any || !isnan(out->value[i]);
    }
    if (!any) {
        error_set(why, path, 0, "no figure that a run predicts");
        return error_expect(why, "output of vLLM's or SGLang's benchmark (mean_ttft_ms, ...), or "
                                 "a JSON line per request (queued_ts, first_token_ts, ...)");
    }
    return measured_number(object, "completed", path, 0, &out->requests, why) &&
           read_conditions(object, path, out, why);
}

/* A file of consecutive objects. */
struct objects {
    FILE *file;
    const char *path;
    long start; /* of the last object, in bytes */
    int read;
};

/* The line on which the last object begins, for errors. Loses the position in the file. */
static int first_line(const struct objects *in)
{
    int line = 1;
    rewind(in->file);
    for (long at = 0; at < in->start; at++) {
        line += getc(in->file) == '\n';
    }
    return line;
}

/* ---- requests ------------------------------------------------------------------------- */

struct request_times {
    double *ttft, *tpot, *e2e; /* ms */
    size_t count, tpot_count, capacity;
    double first_s, last_s, tokens;
};

static void times_release(struct request_times *times)
{
    free(times->ttft);
    free(times->tpot);
    free(times->e2e);
}

static bool reserve_times(struct request_times *times, struct error *why)
{
    size_t ttft = times->capacity, tpot = times->capacity;
    return array_reserve(&times->ttft, &ttft, times->count + 1, sizeof *times->ttft, why) &&
           array_reserve(&times->tpot, &tpot, times->count + 1, sizeof *times->tpot, why) &&
           array_reserve(&times->e2e, &times->capacity, times->count + 1, sizeof *times->e2e, why);
}

static bool add_request(const json_t *object, const struct objects *in, struct request_times *times,
                        struct error *why)
{
    double queued, first, last, tokens;
    if (!measured_number(object, "queued_ts", in->path, 0, &queued, why) ||
        !measured_number(object, "first_token_ts", in->path, 0, &first, why) ||
        !measured_number(object, "last_token_ts", in->path, 0, &last, why) ||
        !measured_number(object, "output_toks", in->path, 0, &tokens, why)) {
        why->line = first_line(in);
        return false;
    }
    if (!(first >= queued && last >= first && tokens >= 1)) {
        error_set(why, in->path, first_line(in), "no served request");
        return error_expect(why, "queued_ts, first_token_ts and last_token_ts, in this order, and "
                                 "output_toks");
    }
    if (!reserve_times(times, why)) {
        return false;
    }
    times->first_s = times->count == 0 ? queued : fmin(times->first_s, queued);
    times->last_s = times->count == 0 ? last : fmax(times->last_s, last);
    times->tokens += tokens;
    times->ttft[times->count] = 1e3 * (first - queued);
    times->e2e[times->count++] = 1e3 * (last - queued);
    if (tokens > 1) {
        times->tpot[times->tpot_count++] = 1e3 * (last - first) / (tokens - 1);
    }
    return true;
}

static void measured_sum_up(double *ms, size_t count, double value[4])
{
    const double shares[] = {0.5, 0.9, 0.99};
    gsl_sort(ms, 1, count);
    for (int i = 0; count > 0 && i < 3; i++) {
        value[1 + i] = gsl_stats_quantile_from_sorted_data(ms, 1, count, shares[i]);
    }
    value[0] = count > 0 ? gsl_stats_mean(ms, 1, count) : NAN;
}

/* Compute the file's figures. The times move to `out`. */
static void sum_up_all(struct request_times *times, struct measured *out)
{
    out->tool = "requests";
    out->requests = (double)times->count;
    measured_sum_up(times->ttft, times->count, &out->value[TTFT_AT]);
    measured_sum_up(times->tpot, times->tpot_count, &out->value[TPOT_AT]);
    measured_sum_up(times->e2e, times->count, &out->value[E2E_AT]);
    double seconds = times->last_s - times->first_s;
    out->value[RATE_AT] = seconds > 0 ? times->tokens / seconds : NAN;
    out->ttft = (struct measured_times){times->ttft, times->count};
    out->tpot = (struct measured_times){times->tpot, times->tpot_count};
    times->ttft = times->tpot = NULL;
}

/* ---- the file ------------------------------------------------------------------------- */

/* The next object; NULL at the end (`*ended`) or on an error. */
static json_t *next_object(struct objects *in, bool *ended, struct error *why)
{
    json_error_t fault;
    int c;
    while ((c = getc(in->file)) == ' ' || c == '\n' || c == '\r' || c == '\t') {
    }
    *ended = c == EOF;
    if (*ended) {
        return NULL;
    }
    ungetc(c, in->file);
    in->start = ftell(in->file);
    in->read++;
    json_t *object = json_loadf(in->file, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &fault);
    if (object == NULL) {
        error_set(why, in->path, first_line(in) + fault.line - 1, "invalid JSON: %s", fault.text);
    } else if (!json_is_object(object)) {
        error_set(why, in->path, first_line(in), "not a JSON object");
        json_decref(object);
        object = NULL;
    }
    return object;
}

static void skip_mark(FILE *file)
{
    char start[3];
    if (text_mark(start, fread(start, 1, sizeof start, file)) == 0) {
        rewind(file);
    }
}

/* A file is one summary, or requests only. */
static bool take_object(const struct objects *in, const json_t *object, struct request_times *times,
                        struct measured *out, struct error *why)
{
    bool request = json_object_get(object, "first_token_ts") != NULL;
    if (request && times->count + 1 == (size_t)in->read) {
        return add_request(object, in, times, why);
    }
    if (in->read == 1) {
        return read_summary(object, in->path, out, why);
    }
    error_set(why, in->path, first_line(in), "a second run");
    return error_expect(why, "one run: remove the line of the other");
}

static bool read_objects(struct objects *in, struct request_times *times, struct measured *out,
                         struct error *why)
{
    bool ended = false, ok = true;
    while (ok) {
        json_t *object = next_object(in, &ended, why);
        if (object == NULL) {
            ok = ended;
            break;
        }
        ok = take_object(in, object, times, out, why);
        json_decref(object);
    }
    if (ok && in->read == 0) {
        return error_set(why, in->path, 0, "is empty");
    }
    if (ok && times->count > 0) {
        sum_up_all(times, out);
    }
    return ok;
}

bool measured_read(const char *path, struct measured *out, struct error *why)
{
    struct request_times times = {.count = 0};
    struct stat status;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return error_set(why, path, 0, "cannot open: %s", strerror(errno));
    }
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        return error_set(why, path, 0, "is a directory, not the file of a benchmark");
    }
    *out = (struct measured){.requests = NAN, .rate = NAN};
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        out->value[i] = NAN;
    }
    struct objects in = {.file = file, .path = path};
    skip_mark(file);
    bool ok = read_objects(&in, &times, out, why);
    times_release(&times);
    fclose(file);
    return ok;
}

void measured_release(struct measured *measured)
{
    free(measured->ttft.ms);
    free(measured->tpot.ms);
    measured->ttft = measured->tpot = (struct measured_times){.ms = NULL};
}

/* ---- does it match a run? ---- */

static const char separators[] = "-_/";

/* Step over a word and the separator after it. */
static const char *measured_next_word(const char *at)
{
    at += strcspn(at, separators);
    return at + strspn(at, separators);
}

static bool same_word(const char *a, const char *b)
{
    size_t length = strcspn(a, separators);
    return length == strcspn(b, separators) && strncasecmp(a, b, length) == 0;
}

bool measured_names_model(const char *model_id, const char *model)
{
    while (*model != '\0' && *model_id != '\0') {
        model = same_word(model_id, model) ? measured_next_word(model) : model;
        model_id = measured_next_word(model_id);
    }
    return *model == '\0';
}

bool measured_agrees_in_rate(double asked, double rate_in, double requests)
{
    return fabs(rate_in / asked - 1) <= 0.05 + 2 / sqrt(requests);
}
