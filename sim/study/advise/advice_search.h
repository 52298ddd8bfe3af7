/* One search of an advice: the best batch of each system, or with requests the highest rate that
 * each holds. Internal to advice*.c. */
#pragma once

#include "study/advise/advice.h"

/* A server must answer every request, and a rate must keep the queue bounded: requests that arrive
 * faster than they are answered can meet every other target if there are few of them. */
bool advice_add_targets(bool serves, struct targets *targets, struct error *why);

/* Set a key of the scenario to a number. */
bool advice_set_number(struct scenario *scenario, const char *key, double number,
                       struct error *why);

/* Lay a form over a scenario: GPUs of a server, and with requests the number of servers. */
bool advice_set_form(struct scenario *scenario, const struct advice_form *form, struct error *why);

/* Are the requests made up, and does no prompt begin like another? */
bool advice_is_unshared(const struct scenario *scenario);

/* Search `systems` (NULL: the scenario's; if it names none, all). With requests only
 * systems of engines are searched unless the scenario names one. */
bool advice_search(const struct scenario *scenario, const struct advice_options *options,
                   const char *systems, struct planning *out, bool *interrupted, struct error *why);

/* Fix the number of made-up requests, so that all searches serve the same ones
 * (0: the default). A number that was stated stays. */
bool advice_set_count(struct scenario *scenario, uint64_t requests, struct error *why);

/* Search plain vLLM into a trial whose form is set. Released it is empty. */
void advice_trial_release(struct advice_trial *trial);
bool advice_try(const struct scenario *scenario, const struct advice_options *options,
                struct advice_trial *out, bool *interrupted, struct error *why);

/* Try each change that the scenario leaves room for. If nothing fits, GPUs are doubled and contexts
 * halved until something does. A change that cannot be is not tried, nor
 * are more GPUs for requests that the stated GPUs serve. */
bool advice_try_changes(const struct scenario *scenario, const struct advice_options *options,
                        struct advice *out, bool *interrupted, struct error *why);
