/* A search: the loop over tries, for every study that looks for a value.
 *
 * A line has values, such as the batches of a system on a machine, or the numbers of servers of a
 * form, and decides from what was tried which ones it tries next (study/plan/grid.h). The tries of
 * all lines run together, round by round, so that all processors have work and equal replays and
 * tables are shared, until no line has a next value. Each try is the run that `simulate` makes of
 * its scenario, but for those that are rough or only answer a question. */
#pragma once

#include "study/sweep/sweep.h"

enum { ROUNDS_MOST = 9 }; /* values of a line in a round */

struct rounds {
    uint32_t lines;
    bool once; /* one round only */
    /* Servers in steady state need only answer this (predict/server/stream_question.h): their runs are
     * shorter than those of `simulate`, and have an identity of their own. NULL: every figure. */
    const struct stream_question *question;
    bool rough;                /* cheap runs: nothing is kept, as no figure of theirs is shown */
    const struct study *study; /* its progress is the callee's */
    struct sources *sources;   /* of the question's scenario; borrowed */
    /* The values that a line tries next, at most ROUNDS_MOST. Returns their number. */
    uint32_t (*next)(uint32_t line, uint32_t *values, void *context);
    /* Make the scenario of a value. The caller releases it, on failure too. */
    bool (*set)(uint32_t line, uint32_t value, struct scenario *out, void *context,
                struct error *why);
    /* Judge its run, failed if it cannot run. A kept result is replaced by a new one (result_init()). */
    bool (*take)(uint32_t line, uint32_t value, struct result *result, void *context,
                 struct error *why);
    void (*on_round)(uint32_t open,
                     void *context); /* lines with tries in the next round; may be NULL */
    void *context;
};

bool rounds_run(const struct rounds *rounds, struct error *why);
