/* Ablation: what each mechanism by which a system differs from a base saves, by itself and among
 * the others.
 *
 * What differs are the mechanisms of difference.h. Each is switched on nearest to the base, alone
 * where that can be meant and else on top of the least that it needs, and nearest to the system, as
 * the last of all or else as the last of the most that can be had. What cannot be meant is a row
 * all the same, with the reason that the table of mechanisms gives.
 *
 *     saved by a mechanism    step without it - step with it, all others alike
 *     interaction             base - system - the sum of what each saves nearest to the base
 *
 * in whole nanoseconds, so that the sum and the interaction add up to what the system saves,
 * exactly. Many papers multiply instead: the speed-up of the system, over the product of those of
 * its mechanisms.
 *
 * The steps are runs of a sweep like any other: stored, and sharing their replays.
 */
#ifndef STUDY_ABLATE_ABLATION_H
#define STUDY_ABLATE_ABLATION_H

#include "study/ablate/difference.h"
#include "study/sweep/sweep.h"

struct ablation_options {
    const char *against; /* base; NULL: the system's baseline, else full attention */
    struct store *store; /* of the runs; NULL: keep nothing */
    uint32_t jobs;       /* 0: one a processor */
    const struct run_context *runs; /* with room for these jobs */
    void (*on_progress)(uint32_t done, uint32_t points, void *context);
    void *context;
};

enum ablation_kind { ABLATION_BASE, ABLATION_ALONE, ABLATION_LEFT_OUT, ABLATION_WHOLE };
extern const char *const ablation_kinds[]; /* "base" ... */

struct ablation_row {
    enum ablation_kind kind;
    uint32_t mechanism;     /* of ALONE and LEFT_OUT */
    const char *refused;    /* why there is no such run; else NULL, and what follows is said */
    uint32_t shown;         /* set whose run is shown */
    uint32_t others;        /* that the mechanism is on top of, or that are left out with it */
    uint32_t without, with; /* sets whose steps differ by what is saved; of the base equal */
};

struct ablation {
    struct system_info system, base;
    struct difference difference;
    struct ablation_row *rows; /* [row_count] base, alone, left out, whole; owned */
    uint32_t row_count;
    struct scenario scenario; /* of the points */
    uint32_t *sets;           /* [scenario.points] of mechanisms, owned */
    struct result *results;   /* [done] owned */
    uint32_t done;
    char name[17]; /* hash of both systems and all else that is said */
};

/* Run the ablation of a scenario of one point, which has no workload. Fails where the systems say
 * the same. The caller releases `out`, on failure too. */
bool ablation_run(const struct scenario *scenario, const struct ablation_options *options,
                  struct ablation *out, bool *interrupted, struct error *why);
void ablation_release(struct ablation *ablation);

/* The run of a set that rows refer to. */
const struct result *ablation_result(const struct ablation *ablation, uint32_t set);

/* Nanoseconds that the row's mechanism saves (of the whole: all of them), negative where it costs;
 * and how many times as fast it makes a step. False where a step has no time. */
bool ablation_saves(const struct ablation *ablation, const struct ablation_row *row, int64_t *ns,
                    double *times);

/* What the mechanisms save nearest to the base, summed, and what that misses of the whole. */
struct ablation_sum {
    int64_t alone_ns, interaction_ns;
    double alone_times, interaction_times; /* the product of their speed-ups, and what it misses */
};

/* False where a step has no time. */
bool ablation_add_up(const struct ablation *ablation, struct ablation_sum *out);

#endif
