/* One search of an advice: the best batch of each system, or with requests the highest rate that
 * each holds. Internal to advice*.c. */
#ifndef STUDY_ADVISE_ADVICE_SEARCH_H
#define STUDY_ADVISE_ADVICE_SEARCH_H

#include "study/advise/advice.h"

/* A rate must also keep the queue bounded: requests that arrive faster than they are answered can
 * meet every other target if there are few of them. */
bool advice_add_targets(bool serves, struct targets *targets, struct error *why);

/* Lay a form over a scenario: GPUs of a server, and with requests the number of servers. */
bool advice_lay_form(struct scenario *scenario, const struct advice_form *form, struct error *why);

/* Search `systems` (NULL: the scenario's; if it names none, all). */
bool advice_search(const struct scenario *scenario, const struct advice_options *options,
                   const char *systems, struct planning *out, bool *interrupted, struct error *why);

/* Search plain vLLM into a trial whose form is set. */
bool advice_try(const struct scenario *scenario, const struct advice_options *options,
                struct advice_trial *out, bool *interrupted, struct error *why);

#endif
