/* The figures of a summary are read by key; from single requests the same figures are computed. */

#include "study/papers/measured.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/array.h"
#include "core/text.h"

/* In groups of four: mean, median, 90th and 99th percentile. */
const struct measured_figure measured_figures[MEASURED_FIGURES] = {
    {"ttft_ms", "TTFT mean, ms", "mean_ttft_ms", "mean_ttft_ms", "measured_ttft"},
    {"ttft_p50_ms", "TTFT p50, ms", "median_ttft_ms", "median_ttft_ms", NULL},
    {"ttft_p90_ms", "TTFT p90, ms", "p90_ttft_ms", "p90_ttft_ms", NULL},
    {"ttft_p99_ms", "TTFT p99, ms", "p99_ttft_ms", "p99_ttft_ms", NULL},
    {"tpot_ms", "TPOT mean, ms", "mean_tpot_ms", "mean_tpot_ms", "measured_tpot"},
    {"tpot_p50_ms", "TPOT p50, ms", "median_tpot_ms", "median_tpot_ms", NULL},
    {"tpot_p90_ms", "TPOT p90, ms", "p90_tpot_ms", "p90_tpot_ms", NULL},
    {"tpot_p99_ms", "TPOT p99, ms", "p99_tpot_ms", "p99_tpot_ms", NULL},
    {"itl_ms", "ITL mean, ms", "mean_itl_ms", "mean_itl_ms", NULL},
    {"itl_p50_ms", "ITL p50, ms", "median_itl_ms", "median_itl_ms", NULL},
    {"itl_p90_ms", "ITL p90, ms", "p90_itl_ms", "p90_itl_ms", NULL},
    {"itl_p99_ms", "ITL p99, ms", "p99_itl_ms", "p99_itl_ms", NULL},
    {"e2e_ms", "end to end mean, ms", "mean_e2el_ms", "mean_e2e_latency_ms", NULL},
    {"e2e_p50_ms", "end to end p50, ms", "median_e2el_ms", "median_e2e_latency_ms", NULL},
    {"e2e_p90_ms", "end to end p90, ms", "p90_e2el_ms", "p90_e2e_latency_ms", NULL},
    {"e2e_p99_ms", "end to end p99, ms", "p99_e2el_ms", "p99_e2e_latency_ms", NULL},
    {"decode_tokens_per_s", "output, tokens/s", "output_throughput", "output_throughput",
     "measured_rate"},
};

/* ---- a number ---- */

#define LEAST 1e-6
#define MOST 1e12

/* The value for a message, such as "-5", "1e+308" or "a text". */
static const char *measured_number_describe(const json_t *value, char *text, size_t size)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_STRING] = "a text",
        [JSON_TRUE] = "true",        [JSON_FALSE] = "false",
    };
    if (json_is_number(value)) {
        snprintf(text, size, "%.6g", json_number_value(value));
    } else {
        snprintf(text, size, "%s", kinds[json_typeof(value)]);
    }
    return text;
}

bool measured_number(const json_t *object, const char *key, const char *path, int line, double *out,
                     struct error *why)
{
    const json_t *value = json_object_get(object, key);
    char text[32];
    *out = NAN;
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    double number = json_number_value(value); /* 0 if it is not a number */
    if (json_is_number(value) && (number == 0 || (number >= LEAST && number <= MOST))) {
        *out = number;
        return true;
    }
    error_set(why, path, line, "'%s' is %s", key,
              measured_number_describe(value, text, sizeof text));
    return error_expect(why, "a plausible measurement: 0, or from %g to %g", LEAST, MOST);
}

/* ---- times of single requests, and the figures that follow from them ---- */

/* Times in ms. */
struct request_times {
    struct times_list {
        double *ms;
        size_t count, capacity;
    } ttft, tpot, e2e, itl; /* owned */
};

static void request_times_release(struct request_times *times)
{
    free(times->ttft.ms);
    free(times->tpot.ms);
    free(times->e2e.ms);
    free(times->itl.ms);
}

static bool times_list_add(struct times_list *list, double ms, struct error *why)
{
    if (!array_reserve(&list->ms, &list->capacity, list->count + 1, sizeof *list->ms, why)) {
        return false;
    }
    list->ms[list->count++] = ms;
    return true;
}

/* An answer of `tokens` tokens, by when the first and the last one came. An answer of one token has no
 * TPOT. */
static bool request_times_add(struct request_times *times, double ttft_ms, double e2e_ms,
                              double tokens, struct error *why)
{
    return times_list_add(&times->ttft, ttft_ms, why) && times_list_add(&times->e2e, e2e_ms, why) &&
           (tokens <= 1 || times_list_add(&times->tpot, (e2e_ms - ttft_ms) / (tokens - 1), why));
}

/* Mean, median, 90th and 99th percentile; those that are known stay. */
static void times_list_sum_up(struct times_list *list, double value[4])
{
    const double shares[] = {0.5, 0.9, 0.99};
    if (list->count == 0) {
        return;
    }
    gsl_sort(list->ms, 1, list->count);
    value[0] = isnan(value[0]) ? gsl_stats_mean(list->ms, 1, list->count) : value[0];
    for (int i = 0; i < 3; i++) {
        double at = gsl_stats_quantile_from_sorted_data(list->ms, 1, list->count, shares[i]);
        value[1 + i] = isnan(value[1 + i]) ? at : value[1 + i];
    }
}

/* Compute the figures that `out` does not have yet, and move TTFT and TPOT to it. */
static void request_times_sum_up(struct request_times *times, struct measured *out)
{
    times_list_sum_up(&times->ttft, &out->value[MEASURED_TTFT]);
    times_list_sum_up(&times->tpot, &out->value[MEASURED_TPOT]);
    times_list_sum_up(&times->e2e, &out->value[MEASURED_E2E]);
    times_list_sum_up(&times->itl, &out->value[MEASURED_ITL]);
    out->ttft = (struct measured_times){times->ttft.ms, times->ttft.count};
    out->tpot = (struct measured_times){times->tpot.ms, times->tpot.count};
    times->ttft.ms = times->tpot.ms = NULL;
}

/* ---- lists of a benchmark that kept each request ---- */

static const double most_s = 1e9, ms = 1e3;

static const char *const keys[] = {"ttfts", "itls", "output_lens"};
enum { TTFTS, ITLS, OUTPUTS, LISTS };

static bool blame(const char *path, const char *key, size_t place, struct error *why)
{
    error_set(why, path, 0, "'%s': entry %zu is no time or number of tokens", key, place + 1);
    return error_expect(why, "seconds in 'ttfts', lists of seconds in 'itls', whole numbers in "
                             "'output_lens'");
}

/* A number from 0 to most_s, or NAN. */
static double detail_number(const json_t *value)
{
    double number = json_number_value(value);
    return json_is_number(value) && number >= 0 && number <= most_s ? number : (double)NAN;
}

static bool find_lists(const json_t *object, const char *path, const json_t *lists[LISTS],
                       struct error *why)
{
    for (int i = 0; i < LISTS; i++) {
        lists[i] = json_object_get(object, keys[i]);
        if (!json_is_array(lists[i]) || json_array_size(lists[i]) != json_array_size(lists[0])) {
            error_set(why, path, 0, "'%s' is not a list with an entry for each of 'ttfts'",
                      keys[i]);
            return error_expect(why, "'ttfts', 'itls' and 'output_lens' of one benchmark");
        }
    }
    return true;
}

/* Add the gaps of a request; `*sum_s` is how long its answer took after the first token. */
static bool add_gaps(const json_t *gaps, const char *path, size_t place,
                     struct request_times *times, double *sum_s, struct error *why)
{
    *sum_s = 0;
    if (!json_is_array(gaps)) {
        return blame(path, keys[ITLS], place, why);
    }
    for (size_t i = 0; i < json_array_size(gaps); i++) {
        double gap = detail_number(json_array_get(gaps, i));
        if (isnan(gap)) {
            return blame(path, keys[ITLS], place, why);
        }
        *sum_s += gap;
        if (!times_list_add(&times->itl, ms * gap, why)) {
            return false;
        }
    }
    return true;
}

static bool measured_detail_add(const json_t *lists[LISTS], const char *path, size_t place,
                                struct request_times *times, struct error *why)
{
    double sum_s, first = detail_number(json_array_get(lists[TTFTS], place));
    double tokens = detail_number(json_array_get(lists[OUTPUTS], place));
    if (isnan(first) || isnan(tokens)) {
        return blame(path, keys[isnan(first) ? TTFTS : OUTPUTS], place, why);
    }
    return tokens < 1 ||
           (add_gaps(json_array_get(lists[ITLS], place), path, place, times, &sum_s, why) &&
            request_times_add(times, ms * first, ms * (first + sum_s), tokens, why));
}

/* `ttfts` in seconds, and with it `itls`, the seconds between the tokens of each, and `output_lens`.
 * Without `ttfts` it adds nothing. Requests without output, or with an error, have failed and are
 * left out. */
static bool measured_detail_read(const json_t *object, const char *path,
                                 struct request_times *times, struct error *why)
{
    const json_t *lists[LISTS], *errors = json_object_get(object, "errors");
    if (json_object_get(object, keys[TTFTS]) == NULL) {
        return true;
    }
    if (!find_lists(object, path, lists, why)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(lists[TTFTS]); i++) {
        const char *fault = json_string_value(json_array_get(errors, i));
        bool failed = fault != NULL && fault[0] != '\0';
        if (!failed && !measured_detail_add(lists, path, i, times, why)) {
            return false;
        }
    }
    return true;
}

double measured_predicted(const struct result *result, const struct measured_figure *figure)
{
    return result_number(result, column_find(figure->column));
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

/* The stamps of a request in seconds; `arrival` NAN: absent. */
struct stamps {
    double arrival, queued, first, last, tokens;
};

struct stamped {
    struct stamps *all;
    size_t count, capacity;
};

static bool add_request(const json_t *object, const struct objects *in, struct stamped *stamped,
                        struct error *why)
{
    struct stamps at;
    if (!measured_number(object, "arrival_time", in->path, 0, &at.arrival, why) ||
        !measured_number(object, "queued_ts", in->path, 0, &at.queued, why) ||
        !measured_number(object, "first_token_ts", in->path, 0, &at.first, why) ||
        !measured_number(object, "last_token_ts", in->path, 0, &at.last, why) ||
        !measured_number(object, "output_toks", in->path, 0, &at.tokens, why)) {
        why->line = first_line(in);
        return false;
    }
    if (!(at.first >= at.queued && at.last >= at.first && at.tokens >= 1)) {
        error_set(why, in->path, first_line(in), "no served request");
        return error_expect(why, "queued_ts, first_token_ts and last_token_ts, in this order, and "
                                 "output_toks");
    }
    if (!array_reserve(&stamped->all, &stamped->capacity, stamped->count + 1, sizeof at, why)) {
        return false;
    }
    stamped->all[stamped->count++] = at;
    return true;
}

/* How much later the queue's clock is than the arrivals'; NAN if not all requests have both. */
static double clocks_apart(const struct stamped *stamped)
{
    double least = INFINITY;
    for (size_t i = 0; i < stamped->count; i++) {
        double apart = stamped->all[i].queued - stamped->all[i].arrival;
        least = isnan(apart) || isnan(least) ? (double)NAN : fmin(least, apart);
    }
    return least;
}

/* Compute the file's figures. */
static bool sum_up_stamps(const struct stamped *stamped, struct request_times *times,
                          struct measured *out, struct error *why)
{
    double apart = clocks_apart(stamped), start = INFINITY, end = 0, tokens = 0;
    for (size_t i = 0; i < stamped->count; i++) {
        const struct stamps *at = &stamped->all[i];
        double sent = isnan(apart) ? at->queued : at->arrival + apart;
        if (!request_times_add(times, 1e3 * (at->first - sent), 1e3 * (at->last - sent), at->tokens,
                               why)) {
            return false;
        }
        start = fmin(start, sent);
        end = fmax(end, at->last);
        tokens += at->tokens;
    }
    out->tool = "requests";
    out->requests = (double)stamped->count;
    out->value[MEASURED_RATE] = end > start ? tokens / (end - start) : NAN;
    return true;
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

/* What a file is read into. */
struct measured_reading {
    struct objects in;
    struct stamped stamped;     /* owned */
    struct request_times times; /* owned */
};

/* A file is one summary, or requests only. */
static bool take_object(struct measured_reading *reading, const json_t *object,
                        struct measured *out, struct error *why)
{
    const struct objects *in = &reading->in;
    bool request = json_object_get(object, "first_token_ts") != NULL;
    if (request && reading->stamped.count + 1 == (size_t)in->read) {
        return add_request(object, in, &reading->stamped, why);
    }
    if (in->read == 1) {
        return measured_detail_read(object, in->path, &reading->times, why) &&
               read_summary(object, in->path, out, why);
    }
    error_set(why, in->path, first_line(in), "a second run");
    return error_expect(why, "one run: remove the line of the other");
}

static bool read_objects(struct measured_reading *reading, struct measured *out, struct error *why)
{
    bool ended = false, ok = true;
    while (ok) {
        json_t *object = next_object(&reading->in, &ended, why);
        if (object == NULL) {
            ok = ended;
            break;
        }
        ok = take_object(reading, object, out, why);
        json_decref(object);
    }
    if (ok && reading->in.read == 0) {
        return error_set(why, reading->in.path, 0, "is empty");
    }
    ok = ok && (reading->stamped.count == 0 ||
                sum_up_stamps(&reading->stamped, &reading->times, out, why));
    if (ok) {
        request_times_sum_up(&reading->times, out);
    }
    return ok;
}

bool measured_read(const char *path, struct measured *out, struct error *why)
{
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
    struct measured_reading reading = {.in = {.file = file, .path = path}};
    skip_mark(file);
    bool ok = read_objects(&reading, out, why);
    request_times_release(&reading.times);
    free(reading.stamped.all);
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
