/* The answer of `advise`: a verdict (tables/verdicts.def), and the rows that were weighed. About a
 * machine: advise_verdict.c, advise_sure.c, advise_rows.c; about a rate: advise_rate.c. Functions that fill a frame take NULL for one that could not be made, as in tables/frame.h. */
#pragma once

#include "tables/frame.h"
#include "study/advise/advice.h"
#include "study/advise/fleet_size.h"

enum { ADVISE_WORDS = 256 };

enum advise_verdict {
#define SENTENCE(name, what, words) VERDICT_##name,
#define FIELD(name, type, what) VERDICT_##name,
#define SHOWN(name, type, what, ...) VERDICT_##name,
#define WORD(name, type, ...) VERDICT_##name,
#include "tables/verdicts.def"
    VERDICT_COLUMNS
};

/* The verdict, and with `for_people` the rows that they are shown, else all, with their runs. NULL
 * on failure. The caller destroys the frames.
 *   model   as it was typed */
struct frame *advise_rows(const struct advice *advice, bool for_people, struct error *why);
struct frame *advise_verdict(const struct advice *advice, const char *model, struct frame *rows,
                             const struct run_context *runs, struct error *why);

/* ---- lines below the table: advise_rows.c and advise_rate.c ---- */

/* Ways to share a mixture of experts between GPUs that are not tried, if it is shared at all; and of
 * the model of any scenario, by `gpus`, with the option that they exclude. */
void advise_print_untried(const struct advice *advice, FILE *out);
void advise_print_unshared(const struct scenario *scenario, uint32_t gpus, const char *without,
                           FILE *out);

/* Systems with the same answer as one that is shown. */
void advise_print_alike(const struct advice *advice, FILE *out);

/* ---- parts of both ---- */

/* A verdict that says nothing yet but what was asked.
 *   asked   the scenario that names the model
 *   ran     that of one of the runs */
struct frame *verdict_create(const char *model, const struct scenario *asked,
                             const struct scenario *ran, const struct targets *targets,
                             struct error *why);

/* Fill the cells of `start`, and what published times say of limits. `scenario` is that of `result`. */
bool verdict_put_start(struct frame *verdict, const struct scenario *scenario,
                       const struct targets *targets, const struct result *result, uint32_t servers,
                       struct error *why);

/* Where published times per token of such servers were all longer than predicted: what a limit on a
 * token then comes to. */
void advise_put_longer(struct frame *verdict, const struct error_band *missed,
                       const struct targets *targets, const struct result *result);

/* Fill a column with all limits and what a run has of each. A sentence can say of a row what it
 * `have`s, "TTFT p99 1.7 s of 2s", or `miss`es, "TTFT p99 2.4 s instead of 2s". A run without
 * figures misses whatever is its reason. */
void advise_put_limits(struct frame *frame, uint32_t column, const struct targets *targets,
                       const struct result *result);

/* "TTFT p99 ms" for the columns of times that people have a name for; else the column's name. */
const char *advise_title(const struct column *column);

/* Fill the cells of a row's scenario and of its run. */
bool advise_put_run(const struct scenario *scenario, const struct result *run, struct frame *rows,
                    uint32_t scenario_column, uint32_t run_column, struct error *why);

/* Say that requests wait for most of the time to their first token, if no limit of `targets` is on
 * that time; and of a run the time, "490 ms", "12 s", "5.1 minutes". */
void advise_put_queued(struct frame *verdict, const struct targets *targets,
                       const struct result *result);
const char *advise_time(double ms, char text[ADVISE_WORDS]);

/* "128K", "4000". Returns `text`. */
const char *advise_tokens(uint64_t tokens, char text[ADVISE_WORDS]);

/* "one GPU", "one server of 8 GPUs", "2 servers of 4 GPUs each". Returns `text`. */
const char *advise_form(const struct advice_form *form, char text[ADVISE_WORDS]);

/* ---- of an advice ---- */

/* How many times as many tokens a second as plain vLLM, with the range of both error bands (NaN:
 * without). Both have a result. */
struct advise_ratio {
    double times, low, high;
    bool tie;
};
struct advise_ratio advise_ratio(const struct advice *advice, const struct search *search,
                                 const struct advice_form *form);

/* The tokens a second of all servers, with the range of the error band if it is known. */
void advise_put_rate(const struct advice *advice, const struct search *search,
                     const struct advice_form *form, struct frame *frame, uint32_t column);

/* Requests a second of a value of the search's axis; NaN without one, or if a batch decodes. */
double advise_rate_of(const struct advice *advice, const struct search *search, uint32_t value);

/* What holds a run up, and how sure its figures are: the cells of `limit` and `sure`. */
bool verdict_put_explained(struct frame *verdict, bool serves, const struct scenario *scenario,
                           const struct run_context *runs, struct error *why);
