/* Output of a hire: which machines hold a rate of requests, and what they cost. */
#ifndef CLI_ADVISE_ADVISE_HIRE_H
#define CLI_ADVISE_ADVISE_HIRE_H

#include "cli/advise/advise_verdict.h"
#include "study/advise/hire.h"

/* The verdict, a table of the machines and the notes on their runs, with `reasons` all of them.
 * `model` as it was typed. Of an interrupted search what it found so far, as such; nothing if that
 * is nothing. */
bool advise_hire_print(const struct hire *hire, const char *model, bool reasons, FILE *out,
                       struct error *why);

/* JSON objects, each on its own line: the verdict (answer/hire_verdicts.def), then a row for each
 * form (answer/hires.def). */
bool advise_hire_json(const struct hire *hire, const char *model, FILE *out, struct error *why);

/* ---- advise_hire_words.c ---- */

/* The verdict: run, meets, others, sure and start, and their numbers. NULL on failure. The caller
 * destroys the frame. `model` as it was typed. */
struct frame *hire_verdict(const struct hire *hire, const char *model, struct error *why);

/* Why a form has no answer: what it misses, or why it was not tried whole. */
void hire_say_why(const struct hire *hire, const struct hire_form *form, char text[VERDICT_TEXT]);

/* Dollars of all servers an hour, and a request; NaN without a price, or if none holds the rate. */
double hire_hour_cost(const struct hire_form *form);
double hire_request_cost(const struct hire *hire, const struct hire_form *form);

#endif
