/* Predictions beside what papers state.
 *
 * Every run that the papers' rows ask for is run once, and again with each figure of its machine at
 * the ends of its range; rows are then read off. A row is
 *
 *     met             its error is within what its class promises
 *     missed          it is not; the figure of the machine that would explain it is named
 *     not comparable  the paper's file says why; it counts for nothing
 *
 * The error is predicted over published, less 1, and 0 within a published range.
 */
#ifndef STUDY_PAPERS_COMPARISON_H
#define STUDY_PAPERS_COMPARISON_H

#include "decode/error_band.h"
#include "serving/answer.h"
#include "study/papers/paper.h"

enum verdict { VERDICT_MET, VERDICT_MISSED, VERDICT_NOT_COMPARABLE, VERDICT_COUNT };
extern const char *const verdict_names[VERDICT_COUNT];

/* Classes of rows besides those of systems. */
extern const char comparison_geometry_class[], comparison_trace_class[], comparison_rank_class[];

/* What the error becomes with one figure of the machine at a share of itself, or with a key that
 * the paper's file calls assumed at an end. */
struct comparison_end {
    const char *name;  /* "host.sync", "mechanisms.operators"; NULL: nothing was moved */
    enum basis basis;  /* of what is moved */
    double share;      /* of a figure */
    const char *value; /* of a key; NULL: it is a figure */
    double error;
};

#define COMPARISON_NO_RUN UINT32_MAX

struct comparison_row {
    const struct paper *paper;
    const struct paper_row *row;
    uint32_t runs[PAPER_MOST_RUNS]; /* in the comparison, or COMPARISON_NO_RUN */
    uint32_t assumed[PAPER_MOST_ASSUMED][2][PAPER_ROLES];
    const char *class_name;
    double tolerance;
    enum verdict verdict;
    double predicted, error;           /* NaN: there is none */
    struct comparison_end least, most; /* over all ranges */
    /* What reaches the published figure within its range, on the worst basis and with the least
     * change, and about the share that would do; where nothing does, the end that comes nearest. */
    struct comparison_end suspect;
};

struct comparison_run {
    char run[17];
    struct point point;
    struct result result;
    struct run_range *ranges;
    uint32_t range_count;
    bool ran;
};

struct comparison {
    struct paper *papers;
    struct comparison_row *rows;
    struct comparison_run *runs;
    size_t paper_count, row_count, run_count;
    size_t row_capacity, run_capacity;
    struct run_context context; /* while they run */
};

/* Told by the thread that ended a run, and so now and then out of order; `context` is NULL. */
typedef void comparison_progress(uint32_t done, uint32_t runs, void *context);

/* Load the files and run everything on `threads` threads (0: one a processor). `on_progress` may be
 * NULL. */
bool comparison_create(const char *const *files, uint32_t count, uint32_t threads,
                       comparison_progress *on_progress, struct comparison *out, struct error *why);
void comparison_release(struct comparison *comparison);

/* The bands of all comparable rows that predict a whole step's time or a rate, absolutely or over
 * that of a bandwidth-bound system. A prediction inside a published range wider than the class
 * promises says nothing, and does not count. */
void comparison_bands(const struct comparison *comparison,
                      struct error_band bands[SYSTEM_CLASS_COUNT]);

/* The runs of a rank as predicted, best first. */
void comparison_order(const struct comparison *comparison, const struct comparison_row *row,
                      uint32_t order[PAPER_MOST_RUNS], uint32_t *count);

/* The result of a row's run, NULL where it has none. */
const struct result *comparison_result(const struct comparison *comparison,
                                       const struct comparison_row *row, int role);

/* Fill a row in from its runs, which have run (judge.c). */
void judge_row(const struct comparison *comparison, struct comparison_row *row);

#endif
