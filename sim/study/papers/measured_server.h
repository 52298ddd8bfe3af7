/* Figures measured on a real server, as a benchmark wrote them down.
 *
 *   vLLM's benchmark   `--save-result`: one JSON object; mean_ttft_ms, median_tpot_ms, ...
 *   SGLang's benchmark `--output-file`: a JSON object on one line; mean_e2e_latency_ms ...
 *
 * Percentiles and times that a summary lacks are not computed from its requests (`--save-detailed`): the
 * benchmark states them if it is asked (`--metric-percentiles 50,90,95,99`). */
#pragma once

#include "predict/result/result.h"

enum { MEASURED_FIGURES = 21 }; /* of four times in groups of five, and the rate */

/* A figure that may have been measured, and the column that predicts it. */
struct measured_figure {
    const char *column;
    const char *what;   /* "TTFT p99, ms" */
    const char *vllm;   /* key */
    const char *sglang; /* key */
    const char *key;    /* of a scenario, for how many times the predicted figure it is; or NULL */
};
extern const struct measured_figure measured_figures[MEASURED_FIGURES];

struct measured {
    const char *tool;               /* that wrote the file */
    double value[MEASURED_FIGURES]; /* NAN: absent */
    double requests;                /* answered; NAN: absent */
    char model[128];                /* the server's name for it; "": absent */
    double rate;                    /* requests sent per second; INFINITY: at once, NAN: absent */
    double clients;                 /* most requests at a time; NAN: no limit */
    double burstiness;              /* of the gaps; NAN: absent */
    double prompts, outputs;        /* tokens of all requests; NAN: absent */
    bool ramps;                     /* the rate rises or falls */
};

/* Read a benchmark's file. Errors: another kind, several runs, no figure of a run, or an impossible one. */
bool measured_read(const char *path, struct measured *out, struct error *why);

/* A run's prediction of a figure; NAN if it has none. */
double measured_predicted(const struct result *result, const struct measured_figure *figure);

/* ---- does a measurement match a run? ---- */

/* Can `requests` that arrived at `rate_in` per second have been sent at rate `asked`? Random gaps let the
 * rate deviate by about 1 / sqrt(requests): twice that is allowed, plus 5 %, and three quarters at most. */
bool measured_agrees_in_rate(double asked, double rate_in, double requests);

/* The number at `key`; NAN if absent or null. Not a number, negative, above 10^12 (of ms: 31 years), or
 * between 0 and 10^-6 (a nanosecond) is an error about `path`. */
bool measured_number(const json_t *object, const char *key, const char *path, double *out,
                     struct error *why);
