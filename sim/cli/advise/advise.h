/* `advise`: the answers to its two questions: what one machine holds (advise_machine.c),
 * and how many GPUs hold a rate (advise_rate.c). An answer is a verdict (advise_verdict.c) and the rows
 * that were weighed. Internal to this folder. Functions that fill a frame take NULL for one that could not
 * be made, as in tables/frame.h. */
#pragma once

#include "cli/frame/arguments.h"
#include "cli/plan/plan_report.h"
#include "cli/runs/runs.h"
#include "store/store.h"
#include "study/advise/advice.h"
#include "study/advise/fleet_size.h"
#include "tables/frame.h"

enum { ADVISE_WORDS = 256, ADVISE_SENTENCE = 4096 };

/* Append to a sentence. */
#define advise_say(text, ...) text_append(text, ADVISE_SENTENCE, __VA_ARGS__)

bool advise_machine(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why);
bool advise_at_rate(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why);

/* ---- an answer ---- */

struct advise_answer {
    const struct targets *targets;
    struct frame *verdict;       /* owned */
    struct scenario scenario;    /* that is advised, of one point; owned */
    const struct result *result; /* its run; NULL: nothing is advised */
    uint32_t servers;            /* of `scenario`, alike */
    bool unnamed;                /* its checkpoint is not known here; set by verdict_put_start() */
    /* what was weighed */
    const struct scenario *ran; /* one of the runs */
    uint32_t most_gpus;         /* of a server, or of what would do instead */
    const void *context;        /* of what follows */
    struct frame *(*rows)(const void *context, bool for_people, struct error *why);
    void (*take_notes)(const void *context, struct runs_notes *notes, struct runs_notes *sources);
    void (*print_rest)(const void *context, bool wide, FILE *out); /* what the rows leave out */
};

/* Print the verdict and the rows: as JSON, or with what explains the answer and what the figures rest on; then
 * write the page and the files that options ask for. */
bool advise_write(const struct arguments *arguments, const struct study *study,
                  const struct advise_answer *answer, struct error *why);
void advise_answer_release(struct advise_answer *answer);

/* ---- the verdict: columns with a title are sentences, the others numbers for programs ---- */

#define LIST "tables/verdicts.def"
#define ID(name) VERDICT_##name
#include "tables/columns.h"

/* A verdict that says nothing yet but what was asked: `asked`, then the limits.
 *   ran   the scenario of one of the runs */
struct frame *verdict_create(const char *asked, const struct scenario *ran,
                             const struct targets *targets, struct error *why);

/* " of the shape of llama-3.1-8b", if the model was typed by another name; else "". */
const char *verdict_shape(const char *model, const struct scenario *asked, char text[ADVISE_WORDS]);

/* The verdict about a machine. `answer` has what is advised. NULL on failure. */
struct frame *advise_verdict(const struct advice *advice, struct advise_answer *answer,
                             const char *model, struct error *why);

/* Fill `start`, the command that starts the advised servers or why there is none, and `answer`. */
bool verdict_put_start(struct frame *verdict, struct advise_answer *answer, struct error *why);

/* Fill the draws of what the next higher rate, or fewer servers, miss; NULL: they were not asked in any. And
 * `sure`: the error of a run, and what its time rests on where that is unknown. */
void verdict_put_draws(struct frame *verdict, const struct capacity_draws *draws);
void verdict_put_sure(struct frame *verdict, const struct result *result);

/* ---- words (advise_words.c) ---- */

/* Fill a column with all limits and what a run has of each. */
void advise_put_limits(struct frame *frame, uint32_t column, const struct targets *targets,
                       const struct result *result);

/* What a run that meets all limits has of each but those that every server has: "TTFT p99 1.7 s of 2s".
 * Returns `text`. */
const char *advise_limits(const struct targets *targets, const struct result *result,
                          char text[ADVISE_SENTENCE]);

/* "TTFT p99 ms" for the columns of times that people have a name for; else the column's name. */
const char *advise_title(const struct column *column);

/* "round-robin"; "prefix-load 8", as the threshold is not the router's own. */
const char *advise_router(enum routing routing);

/* "128K", "4000"; "one GPU", "one server of 8 GPUs", "2 servers of 4 ranks each". Both return `text`. */
const char *advise_tokens(uint64_t tokens, char text[ADVISE_WORDS]);
const char *advise_form(uint32_t servers, uint32_t gpus, bool ranks, char text[ADVISE_WORDS]);

bool advise_put_run(const struct scenario *scenario, const struct result *run, struct frame *rows,
                    uint32_t scenario_column, uint32_t run_column, struct error *why);

/* ---- figures of an advice ---- */

/* What others are compared with: plain vLLM, or if that has no result the answer. */
const struct search *advise_base(const struct advice *advice);

/* How many times as many tokens a second as that, with the range of both error bands (NaN: without one, or a
 * form of the same system). Both have a result. */
struct advise_ratio {
    double times, low, high;
    bool tie;
};
struct advise_ratio advise_ratio(const struct advice *advice, const struct search *search,
                                 const struct advice_form *form);

/* The same of the answer's tokens a second, where there is an answer. */
struct advise_ratio advise_gain(const struct advice *advice, const struct search *search,
                                const struct advice_form *form);

/* Tokens a second of a form, between the ends of its error; NaN if that is unknown. */
struct advise_range {
    double value, low, high;
};
struct advise_range advise_range(const struct advice *advice, const struct search *search,
                                 const struct advice_form *form);

/* Why the figures of a system that one can start differ from the answer's, but too little to call. */
enum tie advise_too_close(const struct advice *advice, const struct search *search);

/* Requests a second of a value of the search's axis; NaN without one, or if a batch decodes. */
double advise_rate_of(const struct advice *advice, const struct search *search, uint32_t value);

/* What was tried with plain vLLM: "one server of 2 GPUs", "KV in fp8", "1 GPU more". Returns `text`. */
const char *advise_what(const struct advice *advice, const struct advice_trial *trial,
                        char text[ADVISE_WORDS]);
