/* The runs of a row of a paper's file, each a scenario. */
#ifndef STUDY_PAPERS_PAPER_RUNS_H
#define STUDY_PAPERS_PAPER_RUNS_H

#include "study/papers/paper.h"

/* What a sweep, a range or `across` lays over a run: a value under its key, or a whole map. */
struct paper_overlay {
    const char *key; /* NULL: the map `value`, or nothing if that is NULL too */
    const struct node *value;
};

/* Fill the formulas, cases, runs and assumed ranges of `row` from its `node`; `swept` is the value
 * of its sweep. A row that is not comparable may have none. After a failure paper_release()
 * releases what was built. */
bool paper_runs_build(const struct paper *paper, const struct node *node,
                      struct paper_overlay swept, struct paper_row *row, struct error *why);

#endif
