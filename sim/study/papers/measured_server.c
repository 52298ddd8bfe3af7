#include "study/papers/measured_server.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/node.h"
#include "core/text.h"

/* In groups of five: mean, median, 90th, 95th and 99th percentile. */
#define MEASURED(column, what, vllm, sglang, key)                                                  \
    {column "_ms", what " mean, ms", "mean_" vllm "_ms", "mean_" sglang "_ms", key},               \
        {column "_p50_ms", what " p50, ms", "median_" vllm "_ms", "median_" sglang "_ms", NULL},   \
        {column "_p90_ms", what " p90, ms", "p90_" vllm "_ms", "p90_" sglang "_ms", NULL},         \
        {column "_p95_ms", what " p95, ms", "p95_" vllm "_ms", "p95_" sglang "_ms", NULL},         \
    {                                                                                              \
        column "_p99_ms", what " p99, ms", "p99_" vllm "_ms", "p99_" sglang "_ms", NULL            \
    }
const struct measured_figure measured_figures[MEASURED_FIGURES] = {
    MEASURED("ttft", "TTFT", "ttft", "ttft", "measured_ttft"),
    MEASURED("tpot", "TPOT", "tpot", "tpot", "measured_tpot"),
    MEASURED("itl", "ITL", "itl", "itl", NULL),
    MEASURED("e2e", "end to end", "e2el", "e2e_latency", NULL),
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
    double before = NAN; /* the percentile that was stated last, of the same time */
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        double value = measured->value[i];
        before = i % 5 < 2 ? (double)NAN : before;
        if (value < before * (1 - 1e-9)) { /* but for rounding */
            return error_set(why, path, 0, "'%s' is %g, below a lower percentile, %g",
                             measured_figures[i].what, value, before);
        }
        before = isnan(value) ? before : value;
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
