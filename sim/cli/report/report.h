/* The page of one question: a verdict first, then the page of its runs. */
#pragma once

#include "store/store.h"
#include "tables/frame.h"

struct report_answer {
    const char *title;           /* of the page */
    struct store *store;         /* with the question's runs, and others perhaps */
    const struct frame *verdict; /* cli/advise/advise.h */
    const char *run;             /* the advised one; NULL: nothing is advised */
    const char *targets;         /* "tpot_ms<=50ms, ...": the limits that it met */
};

/* Write the page to `path`. */
bool report_answer(const struct report_answer *answer, const char *path, struct error *why);
