/* The options of `advise`, and the two questions that they ask. Internal to advise*.c. */
#pragma once

#include "cli/frame/arguments.h"
#include "store/store.h"
#include "study/advise/advice.h"
#include "tables/frame.h"

enum advise_option {
    ADVISE_CONTEXT,
    ADVISE_TPOT,
    ADVISE_TTFT,
    ADVISE_RATE,
    ADVISE_PRICE,
    ADVISE_WEIGHTS,
    ADVISE_GPUS,
    ADVISE_MASS,
    ADVISE_PAPER,
    ADVISE_WORKLOAD,
    ADVISE_SET,
    ADVISE_DB,
    ADVISE_HTML,
    ADVISE_DEPLOY,
    ADVISE_NO_CACHE,
    ADVISE_JOBS,
    ADVISE_WIDE,
    ADVISE_WHY,
    ADVISE_JSON
};

extern const struct command_option advise_options[];

/* Read the limits, the number of GPUs and the jobs into zeroed options. With requests (`serves`)
 * times are percentiles. */
bool advise_read_limits(const struct arguments *arguments, bool serves, struct advice_options *out,
                        struct error *why);

/* Say which requests were made up, if nobody stated any. */
void advise_print_made(const struct arguments *arguments, const struct scenario *ran, FILE *out);

/* Write the page that --html asks for, if it does. `best` is the advised run; NULL: none. */
bool advise_page(const struct arguments *arguments, struct store *store, const struct result *best,
                 const struct targets *targets, const struct frame *verdict, struct error *why);

/* What one machine holds, and how. */
bool advise_machine(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why);

/* How many GPUs of which machine hold a rate. The first fails for options that have no part in
 * that. */
bool advise_rate_check(const struct arguments *arguments, struct error *why);
bool advise_at_rate(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why);
