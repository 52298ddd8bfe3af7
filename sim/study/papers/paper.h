/* A file of what a paper states, beside how it is predicted.
 *
 *   paper: "CLO, 2025"
 *   figure: a decode layer at 128K tokens
 *   scenario: {model: llama-3-8b, hardware: a40, trace: llama-3-8b-like, context: 131072}
 *   rows:
 *     - what: RetroInfer over all KV in HBM
 *       set: {system: retroinfer}      # over the scenario
 *       take: layer_us                 # what is predicted (formula.h)
 *       against: {system: fullattn}    # over the same of another run: `set`, and this over it
 *       published: 137%                # or 1490us..1517us
 *       note: "..."                    # of a miss: what would settle it
 *
 * `over` (other figures to divide by, of the run itself where there is no `against`), `minus` (a
 * run to subtract), `sweep` (one key and a list: a row for each value, with a list in `published`).
 * `assumed`: keys of the scenario that no source states, each with the two ends of its range, as in
 * {mechanisms.operators: [30, 80]}; said for the file, it holds for rows that say nothing. `rank`:
 * runs, the one with the best `take` first, which is decode_tokens_per_s unless said.
 * `not_comparable`: the reason; such a row counts for nothing and may lack all but `what` and
 * `published`.
 */
#ifndef STUDY_PAPERS_PAPER_H
#define STUDY_PAPERS_PAPER_H

#include "scenario/scenario.h"
#include "study/papers/formula.h"

enum { PAPER_MOST_RUNS = 8, PAPER_MOST_ASSUMED = 4 };

/* The runs of a row by role; of a rank all of them, the best first. */
enum paper_role { PAPER_RUN, PAPER_AGAINST, PAPER_MINUS, PAPER_ROLES };

/* A key at both ends of its range, in all runs of a row. */
struct paper_assumed {
    const char *key, *values[2];
    struct scenario runs[2][PAPER_ROLES]; /* root NULL: not asked for */
};

struct paper_row {
    char what[160];
    char published[64];         /* as written */
    enum unit unit;             /* of it */
    double least, most;         /* of it, in its base unit */
    const char *not_comparable; /* NULL: it is */
    const char *note;           /* NULL: none */
    bool rank;
    struct formula take, over;
    struct scenario runs[PAPER_MOST_RUNS]; /* root NULL: not asked for */
    struct paper_assumed assumed[PAPER_MOST_ASSUMED];
    uint32_t assumed_count;
};

struct paper {
    struct node *tree;
    const char *title, *figure;
    struct paper_row *rows;
    size_t row_count, row_capacity;
};

bool paper_load(const char *path, struct paper *out, struct error *why);
void paper_release(struct paper *paper);

#endif
