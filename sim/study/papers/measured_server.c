#include "study/papers/measured_server.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/node.h"
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

bool measured_number(const json_t *object, const char *key, const char *path, double *out,
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
        error_set(why, path, 0, "'%s' is %.6g", key, number);
    } else {
        error_set(why, path, 0, "'%s' is not a number", key);
    }
    return error_expect(why, "a plausible measurement: 0, or from %g to %g", LEAST, MOST);
}

/* Percentiles of one time ascend. */
static bool check_percentiles(const struct measured *measured, const char *path, struct error *why)
{
    for (int i = 2; i < MEASURED_FIGURES; i += i % 4 == 2 ? 1 : 3) {
        const double *value = &measured->value[i];
        double before = i % 4 == 3 && isnan(value[-1]) ? value[-2] : value[-1];
        if (*value < before * (1 - 1e-9)) { /* but for rounding */
            return error_set(why, path, 0, "'%s' is %g, below a lower percentile, %g",
                             measured_figures[i].what, *value, before);
        }
    }
    return true;
}

/* The rate of a benchmark that was told none: of a replayed list, whose requests came over most of its duration,
 * theirs; of clients nothing, as their answers set it; else all came at once. */
static double sent_rate(const json_t *object)
{
    const json_t *times = json_object_get(object, "start_times");
    double first = INFINITY, last = -INFINITY, count = (double)json_array_size(times);
    for (size_t i = 0; i < json_array_size(times); i++) {
        first = fmin(first, json_number_value(json_array_get(times, i)));
        last = fmax(last, json_number_value(json_array_get(times, i)));
    }
    bool clients = json_is_number(json_object_get(object, "max_concurrency"));
    double duration = json_number_value(json_object_get(object, "duration"));
    return clients                                      ? (double)NAN
           : count > 1 && 2 * (last - first) > duration ? (count - 1) / (last - first)
                                                        : (double)INFINITY;
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
        if (!measured_number(object, key, path, &out->value[i], why)) {
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
                    ? sent_rate(object)
                    : (double)NAN;
    if (json_is_number(rate) && json_number_value(rate) == 0) {
        error_set(why, path, 0, "'request_rate' is 0");
        return error_expect(why, "more than 0, or \"inf\"");
    }
    out->ramps = json_is_string(json_object_get(object, "ramp_up_strategy"));
    return measured_number(object, "completed", path, &out->requests, why) &&
           measured_number(object, "max_concurrency", path, &out->clients, why) &&
           measured_number(object, "burstiness", path, &out->burstiness, why) &&
           measured_number(object, "total_input_tokens", path, &out->prompts, why) &&
           measured_number(object, "total_output_tokens", path, &out->outputs, why) &&
           (json_is_string(rate) || measured_number(object, "request_rate", path, &out->rate, why));
}

/* One object, over one line or several. With each request and its text it may be large. */
bool measured_read(const char *path, struct measured *out, struct error *why)
{
    size_t size;
    json_error_t fault;
    FILE *file = fopen(path, "r");
    char *text = file != NULL ? node_stream(file, path, (size_t)1 << 30, &size, why) : NULL;
    if (file == NULL) {
        return error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    fclose(file);
    if (text == NULL) {
        return false;
    }
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);
    free(text);
    if (object == NULL && json_error_code(&fault) == json_error_end_of_input_expected) {
        error_set(why, path, 0, "a second run");
        return error_expect(why, "one run: remove the line of the other");
    }
    if (object == NULL) {
        return error_set(why, path, fault.line, "invalid JSON: %s", fault.text);
    }
    bool good = read_summary(object, path, out, why) && check_percentiles(out, path, why);
    json_decref(object);
    return good;
}

double measured_predicted(const struct result *result, const struct measured_figure *figure)
{
    return result_number(result, column_find(figure->column));
}

bool measured_agrees_in_rate(double asked, double rate_in, double requests)
{
    return fabs(rate_in / asked - 1) <= fmin(0.75, 0.05 + 2 / sqrt(requests));
}
