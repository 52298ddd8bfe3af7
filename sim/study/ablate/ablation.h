/* Ablation: how much each mechanism in which a system differs from a base saves, alone and among the others.
 *
 * The mechanisms are those of difference.h. Each is switched on twice. Nearest to the base: alone,
 * or if that is invalid, on top of the fewest others that it needs. Nearest to the system: as the
 * last of all, or if that is invalid, on top of as many others as possible. An invalid combination
 * is still a row, with the reason that the table of mechanisms gives.
 *
 *     saved by a mechanism    step without it - step with it, all others alike
 *     interaction             base - system - the sum of what each saves nearest to the base
 *
 * Times are whole nanoseconds, so that the sum and the interaction add up exactly to what the
 * system saves. Many papers multiply instead: the interaction is then the speed-up of the system
 * divided by the product of the speed-ups of its mechanisms.
 *
 * The steps are the runs of a sweep: they are stored and share their replays. A mechanism that costs
 * time may buy something else (ablation_more()). */
#pragma once

#include "study/ablate/difference.h"
#include "study/sweep/sweep.h"

struct ablation_options {
    const char *against; /* the base; NULL: the system's baseline, or else full attention */
    struct study study;
};

enum ablation_kind { ABLATION_BASE, ABLATION_ALONE, ABLATION_LEFT_OUT, ABLATION_WHOLE };
extern const char *const ablation_kinds[]; /* "base" ... */

struct ablation_row {
    enum ablation_kind kind;
    uint32_t mechanism;     /* of ALONE and LEFT_OUT */
    const char *refused;    /* why this run is invalid; NULL: the fields below are set */
    uint32_t shown;         /* the set whose run is shown */
    uint32_t others;        /* the set that the mechanism is on top of, or is left out with */
    uint32_t without, with; /* sets whose steps differ by what is saved; equal for the base */
};

struct ablation {
    struct system_info system, base;
    struct difference difference;
    struct ablation_row *rows; /* [row_count]: base, alone, left out, whole; owned */
    uint32_t row_count;
    struct scenario scenario; /* its points are the sets */
    uint32_t *sets;           /* [scenario.points] the mechanisms of each point; owned */
    struct result *results;   /* [done]; owned */
    uint32_t done;
    char name[17]; /* hash of both systems and of the rest of the scenario */
};

/* Run the ablation of a scenario of one point without a workload. Fails if the systems do not
 * differ. The caller releases `out`, also after a failure. */
bool ablation_run(const struct scenario *scenario, const struct ablation_options *options,
                  struct ablation *out, struct error *why);
void ablation_release(struct ablation *ablation);

/* The result of a set that rows refer to, which must have been run. */
const struct result *ablation_result(const struct ablation *ablation, uint32_t set);

/* Nanoseconds that the row's mechanism saves (the whole: all), and the factor. False: a step has no time. */
bool ablation_saves(const struct ablation *ablation, const struct ablation_row *row, int64_t *ns,
                    double *times);

/* The least and the most, in ns, that it saves with any family of recordings. False: there are none. */
bool ablation_range(const struct ablation *ablation, const struct ablation_row *row, double *least,
                    double *most);

/* The sum of what the mechanisms save nearest to the base, and its difference from the whole. */
struct ablation_sum {
    int64_t alone_ns, interaction_ns;
    double alone_times, interaction_times; /* product of the speed-ups; system divided by it */
};

/* Returns false if a step has no time. */
bool ablation_add_up(const struct ablation *ablation, struct ablation_sum *out);

/* By how much a figure of the run with the row's mechanism is larger than that of the run without it: what
 * a mechanism buys, or costs, besides time. NaN: one of the two has none. The row has both runs. */
double ablation_more(const struct ablation *ablation, const struct ablation_row *row,
                     const struct column *column);

/* What the mechanism saves together with those that are left out with it, because they need it: the
 * system against the row's run. Returns false if there are none, or a step has no time. */
bool ablation_together(const struct ablation *ablation, const struct ablation_row *row,
                       int64_t *ns);
