/* Output of a hire: which machines hold a rate of requests, and what they cost. */
#ifndef CLI_ADVISE_ADVISE_HIRE_H
#define CLI_ADVISE_ADVISE_HIRE_H

#include "study/advise/hire.h"

#include <stdio.h>

/* The verdict, and a table of the machines. `model` as it was typed. Of an interrupted search what it
 * found so far, as such; nothing if that is nothing. */
bool advise_hire_print(const struct hire *hire, const char *model, FILE *out, struct error *why);

/* JSON objects, each on its own line: first the verdict as for one machine, then one for each form:
 *
 *   kind              hire
 *   system hardware   as named
 *   weights           type of the weights
 *   gpus              of a server
 *   servers           that hold the rate; null: none do, or it was not tried whole
 *   fewer             the most servers tried that miss a limit; or null
 *   price_per_hour    of a GPU; cost_per_hour: of all; cost_per_request; or null
 *   advised           whether it is the answer
 *   why               why it does not hold the rate, or was not tried whole; or null
 *   scenario          a scenario for 'simulate' that gives `run`; or null
 *   run               as 'simulate --json' prints it; or null */
bool advise_hire_json(const struct hire *hire, const char *model, FILE *out, struct error *why);

#endif
