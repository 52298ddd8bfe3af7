/* Tries: points that no sweep of a key lists, such as the next values of several searches. They run
 * together, so that all processors have work, and share their replays and tables. */
#pragma once

#include "study/sweep/sweep.h"

struct tries {
    uint32_t count;      /* 0: nothing is run */
    bool rough;          /* cheap runs: nothing is kept, as no figure of theirs is shown */
    struct store *store; /* NULL: keep nothing */
    uint32_t jobs;       /* 0: one per processor */
    const struct run_context *runs;
    struct sources *sources; /* of the question's scenario; borrowed */
    /* Make the scenario of a try. The caller releases it, on failure too. */
    bool (*lay)(uint32_t index, struct scenario *out, void *context, struct error *why);
    /* As a sweep's on_result: a try that cannot run has a failed result. */
    bool (*take)(uint32_t index, struct result *result, void *context, struct error *why);
    void *context;
};

bool tries_run(const struct tries *tries, bool *interrupted, struct error *why);
