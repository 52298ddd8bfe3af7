/* What a real server was measured to do, as its users' tools write it down.
 *
 *   vLLM's benchmark   `--save-result`: one JSON object; mean_ttft_ms, median_tpot_ms, ...
 *   SGLang's benchmark `--output-file`: a JSON object on one line; mean_e2e_latency_ms ...
 *   requests           JSON lines, one a request: input_toks, output_toks, and queued_ts,
 *                      first_token_ts and last_token_ts in seconds (LLMServingSim's bench)
 */
#ifndef STUDY_PAPERS_MEASURED_H
#define STUDY_PAPERS_MEASURED_H

#include "base/error.h"
#include "result/result.h"

enum { MEASURED_FIGURES = 13 };

/* A figure that may be measured, and the column that predicts it. */
struct measured_figure {
    enum column column;
    const char *what;   /* "TTFT p99, ms" */
    const char *vllm;   /* key */
    const char *sglang; /* key */
};
extern const struct measured_figure measured_figures[MEASURED_FIGURES];

/* Of single requests, ascending. */
struct measured_times {
    double *ms; /* owned */
    size_t count;
};

struct measured {
    const char *tool;               /* whose file it is */
    double value[MEASURED_FIGURES]; /* NAN: not said */
    double requests;                /* that were answered; NAN: not said */
    char model[128];                /* as its server called it; "": not said */
    double rate;                    /* requests sent a second; INFINITY: at once, NAN: not said */
    struct measured_times ttft, tpot; /* none where the file sums them up */
};

/* Read the file at `path`. One of another kind, with several runs, or in which nothing is said that
 * can be predicted is an error, and so is a figure that none can be (study/papers/measured_number.h). */
bool measured_read(const char *path, struct measured *out, struct error *why);
void measured_release(struct measured *measured);

/* A run's prediction of a figure; NAN where it has none. */
double measured_predicted(const struct result *result, const struct measured_figure *figure);

#endif
