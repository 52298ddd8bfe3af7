/* The figures of a summary are read by key; from the details of requests those that it lacks are computed. */

#include "study/papers/measured_server.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

#define LEAST 1e-6
#define MOST 1e12

bool measured_number(const json_t *object, const char *key, const char *path, int line, double *out,
                     struct error *why)
{
    const json_t *value = json_object_get(object, key);
    double number = json_number_value(value); /* 0 if it is not a number */
    *out = NAN;
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    if (json_is_number(value) && (number == 0 || (number >= LEAST && number <= MOST))) {
        *out = number;
        return true;
    }
    if (json_is_number(value)) {
        error_set(why, path, line, "'%s' is %.6g", key, number);
    } else {
        error_set(why, path, line, "'%s' is not a number", key);
    }
    return error_expect(why, "a plausible measurement: 0, or from %g to %g", LEAST, MOST);
}

/* ---- times of single requests, and the figures that follow from them ---- */

enum { TTFT, TPOT, ITL, E2E, TIMES }; /* in the order of the figures */

/* Times in ms. */
struct request_times {
    struct times_list {
        double *ms; /* owned */
        size_t count, capacity;
    } of[TIMES];
};

static bool measured_add_time(struct request_times *times, int of, double ms, struct error *why)
{
    struct times_list *list = &times->of[of];
    if (!array_reserve(&list->ms, &list->capacity, list->count + 1, sizeof *list->ms, why)) {
        return false;
    }
    list->ms[list->count++] = ms;
    return true;
}

/* An answer of `tokens` tokens, by when the first and the last came. One token has no TPOT. */
static bool add_answer(struct request_times *times, double ttft_ms, double e2e_ms, double tokens,
                       struct error *why)
{
    return measured_add_time(times, TTFT, ttft_ms, why) &&
           measured_add_time(times, E2E, e2e_ms, why) &&
           (tokens <= 1 || measured_add_time(times, TPOT, (e2e_ms - ttft_ms) / (tokens - 1), why));
}

/* Compute the figures that `out` does not have yet. Percentiles of one time ascend. */
static bool sum_up(struct request_times *times, const char *path, struct measured *out,
                   struct error *why)
{
    static const double shares[] = {0.5, 0.9, 0.99};
    for (int of = 0; of < TIMES; of++) {
        struct times_list *list = &times->of[of];
        double *value = &out->value[4 * of];
        gsl_sort(list->ms, 1, list->count);
        for (int i = 0; i < 4 && list->count > 0; i++) {
            double is = i == 0 ? gsl_stats_mean(list->ms, 1, list->count)
                               : gsl_stats_quantile_from_sorted_data(list->ms, 1, list->count,
                                                                     shares[i - 1]);
            value[i] = isnan(value[i]) ? is : value[i];
        }
        for (int i = 2; i < 4; i++) {
            double before = isnan(value[i - 1]) ? value[1] : value[i - 1];
            if (value[i] < before * (1 - 1e-9)) { /* but for rounding */
                return error_set(why, path, 0, "'%s' is %g, below a lower percentile, %g",
                                 measured_figures[4 * of + i].what, value[i], before);
            }
        }
    }
    return true;
}

/* ---- a benchmark that kept each request ---- */

/* A number from 0 to 10^9, or NAN. */
static double detail_number(const json_t *value)
{
    double number = json_number_value(value);
    return json_is_number(value) && number >= 0 && number <= 1e9 ? number : (double)NAN;
}

/* Add a request by its TTFT, its gaps and its number of tokens; false if one of them is none. Requests
 * without output have failed and are left out. */
static bool add_detail(const json_t *ttft, const json_t *gaps, const json_t *output,
                       struct request_times *times, struct error *why)
{
    double first = detail_number(ttft), tokens = detail_number(output), last = first;
    bool good = !isnan(first) && !isnan(tokens) && json_is_array(gaps);
    for (size_t i = 0; good && tokens >= 1 && i < json_array_size(gaps); i++) {
        double gap = detail_number(json_array_get(gaps, i));
        last += gap;
        good = !isnan(gap) && measured_add_time(times, ITL, 1e3 * gap, why);
    }
    return good && (tokens < 1 || add_answer(times, 1e3 * first, 1e3 * last, tokens, why));
}

/* `ttfts` in seconds, and with it `itls`, the seconds between the tokens of each, and `output_lens`.
 * Without `ttfts` it adds nothing. Requests with an error are left out. */
static bool read_details(const json_t *object, const char *path, struct request_times *times,
                         struct error *why)
{
    const json_t *ttfts = json_object_get(object, "ttfts"), *gaps = json_object_get(object, "itls");
    const json_t *outputs = json_object_get(object, "output_lens");
    const json_t *errors = json_object_get(object, "errors");
    size_t count = json_array_size(ttfts);
    bool good = ttfts == NULL || (json_is_array(ttfts) && json_array_size(gaps) == count &&
                                  json_array_size(outputs) == count);
    for (size_t i = 0; good && i < count; i++) {
        const char *fault = json_string_value(json_array_get(errors, i));
        good = (fault != NULL && fault[0] != '\0') ||
               add_detail(json_array_get(ttfts, i), json_array_get(gaps, i),
                          json_array_get(outputs, i), times, why);
    }
    if (!good) {
        error_set(why, path, 0, "'ttfts', 'itls' and 'output_lens' are not those of one benchmark");
        error_expect(why, "seconds, lists of seconds, and whole numbers, as many of each");
    }
    return good;
}

static bool read_summary(const json_t *object, const char *path, struct measured *out,
                         struct error *why)
{
    bool sglang = json_object_get(object, "mean_e2e_latency_ms") != NULL;
    const char *model = json_string_value(json_object_get(object, "model_id"));
    const json_t *rate = json_object_get(object, "request_rate");
    bool any = false;
    text_copy(out->model, sizeof out->model, model != NULL ? model : "");
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
        return error_expect(why, "output of vLLM's or SGLang's benchmark (mean_ttft_ms, ...)");
    }
    /* "inf" is vLLM's word for all at once, "trace" SGLang's for as recorded. */
    out->rate = json_is_string(rate) && strcmp(json_string_value(rate), "inf") == 0
                    ? (double)INFINITY
                    : (double)NAN;
    if (json_is_number(rate) && json_number_value(rate) == 0) {
        error_set(why, path, 0, "'request_rate' is 0");
        return error_expect(why, "more than 0, or \"inf\"");
    }
    out->ramps = json_is_string(json_object_get(object, "ramp_up_strategy"));
    return measured_number(object, "completed", path, 0, &out->requests, why) &&
           measured_number(object, "max_concurrency", path, 0, &out->clients, why) &&
           measured_number(object, "burstiness", path, 0, &out->burstiness, why) &&
           measured_number(object, "total_input_tokens", path, 0, &out->prompts, why) &&
           measured_number(object, "total_output_tokens", path, 0, &out->outputs, why) &&
           (json_is_string(rate) ||
            measured_number(object, "request_rate", path, 0, &out->rate, why));
}

/* ---- the file ---- */

/* One object, over one line or several. */
static bool read_object(FILE *file, const char *path, struct request_times *times,
                        struct measured *out, struct error *why)
{
    json_error_t fault;
    int c;
    json_t *object = json_loadf(file, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &fault);
    if (object == NULL) {
        return error_set(why, path, fault.line, "invalid JSON: %s", fault.text);
    }
    bool good = read_details(object, path, times, why) && read_summary(object, path, out, why);
    json_decref(object);
    while (good && (c = getc(file)) != EOF) {
        if (strchr(" \n\r\t", c) == NULL) {
            error_set(why, path, 0, "a second run");
            return error_expect(why, "one run: remove the line of the other");
        }
    }
    return good;
}

bool measured_read(const char *path, struct measured *out, struct error *why)
{
    struct request_times times = {0};
    struct stat status;
    char start[3];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        return error_set(why, path, 0, "is a directory, not the file of a benchmark");
    }
    *out = (struct measured){.requests = NAN,
                             .rate = NAN,
                             .clients = NAN,
                             .burstiness = NAN,
                             .prompts = NAN,
                             .outputs = NAN};
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        out->value[i] = NAN;
    }
    if (text_mark(start, fread(start, 1, sizeof start, file)) == 0) {
        rewind(file);
    }
    bool ok = read_object(file, path, &times, out, why) && sum_up(&times, path, out, why);
    for (int of = 0; of < TIMES; of++) {
        free(times.of[of].ms);
    }
    fclose(file);
    return ok;
}

double measured_predicted(const struct result *result, const struct measured_figure *figure)
{
    return result_number(result, column_find(figure->column));
}

/* ---- does it match a run? ---- */

bool measured_agrees_in_rate(double asked, double rate_in, double requests)
{
    return fabs(rate_in / asked - 1) <= fmin(0.75, 0.05 + 2 / sqrt(requests));
}
