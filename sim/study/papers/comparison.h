/* Predictions beside the figures that papers publish.
 *
 * Every run that the papers' rows need is run once, and again with each figure of its machine at
 * both ends of its range. Then the rows are read off the runs. The verdict of a row is
 *
 *     met             its error is within the tolerance of its class
 *     missed          it is not; the figure of the machine that would explain it is named
 *     not comparable  the paper's file says why; the row is not counted
 *
 * The error is predicted divided by published, minus 1; it is 0 within a published range.
 */
#ifndef STUDY_PAPERS_COMPARISON_H
#define STUDY_PAPERS_COMPARISON_H

#include "serving/answer.h"
#include "study/papers/paper.h"

enum verdict { VERDICT_MET, VERDICT_MISSED, VERDICT_NOT_COMPARABLE, VERDICT_COUNT };
extern const char *const verdict_names[VERDICT_COUNT];

/* Classes of rows in addition to those of systems. */
extern const char comparison_geometry_class[], comparison_trace_class[], comparison_pool_class[],
    comparison_rank_class[], comparison_saturated_class[];

/* The error after one change: a figure of the machine scaled, or a key that the paper's file calls
 * assumed at an end of its range. */
struct comparison_end {
    const char *name;  /* "host.sync", "mechanisms.operators"; NULL: nothing was changed */
    enum basis basis;  /* of the figure or key */
    double share;      /* of a figure: its new value as a share of the old */
    const char *value; /* of a key; NULL: it is a figure */
    double error;
};

/* A case of a row, and the role of the run that its own run was divided by; PAPER_RUN: none. */
struct comparison_place {
    uint32_t which;
    int against;
};

#define COMPARISON_NO_RUN UINT32_MAX

struct comparison_row {
    const struct paper *paper;
    const struct paper_row *row;
    uint32_t runs[PAPER_MOST_RUNS]; /* index into the comparison's runs, or COMPARISON_NO_RUN */
    uint32_t assumed[PAPER_MOST_ASSUMED][2][PAPER_ROLES];
    const char *class_name;
    double tolerance;
    enum verdict verdict;
    double predicted, error;           /* NaN: unknown */
    struct comparison_place at;        /* what `predicted` was read off */
    struct comparison_end least, most; /* smallest and largest error over all ranges */
    /* The change that reaches the published figure within its range, on the worst basis and with
     * the smallest change, at about the share that suffices. If none does: the nearest end. */
    struct comparison_end suspect;
};

struct comparison_run {
    char run[17];
    struct point point;
    struct result result;
    struct run_ranges ranges;
    bool ran;
};

struct comparison {
    struct paper *papers;
    struct comparison_row *rows;
    struct comparison_run *runs;
    size_t paper_count, row_count, run_count;
    size_t row_capacity, run_capacity;
};

/* Called by the thread that finished a run, so calls may come out of order. `context` is NULL. */
typedef void comparison_progress(uint32_t done, uint32_t runs, void *context);

/* Load the files and run everything on `threads` threads (0: one per processor). `on_progress` may
 * be NULL. The caller releases `out`. */
bool comparison_create(const char *const *files, uint32_t count, uint32_t threads,
                       comparison_progress *on_progress, struct comparison *out, struct error *why);
void comparison_release(struct comparison *comparison);

/* The runs of a rank in predicted order, best first. */
void comparison_order(const struct comparison *comparison, const struct comparison_row *row,
                      uint32_t order[PAPER_MOST_RUNS], uint32_t *count);

/* The result of a run of a rank, by its place in the list; NULL if the list is shorter. */
const struct result *comparison_result(const struct comparison *comparison,
                                       const struct comparison_row *row, int run);

/* The result of a role in the case that decides the row; NULL if the row has no such run. */
const struct result *comparison_decides(const struct comparison *comparison,
                                        const struct comparison_row *row, int role);

/* How many runs of a row's cases do not fit the memory, of how many. */
uint32_t comparison_unfit(const struct comparison *comparison, const struct comparison_row *row,
                          uint32_t *runs);

/* Fill in a row from its finished runs (judge.c). */
void judge_row(const struct comparison *comparison, struct comparison_row *row);

#endif
