/* The columns of runs of decode steps, after system and swept keys. */
#ifndef CLI_RUNS_RUNS_FIGURES_H
#define CLI_RUNS_RUNS_FIGURES_H

#include "answer/table.h"
#include "result/result.h"

enum run_figure {
    RUN_BATCH,
    RUN_KV,
    RUN_CACHE,
    RUN_HBM,
    RUN_HOST,
    RUN_HIT,
    RUN_MASS,
    RUN_PREFILL,
    RUN_STEP,
    RUN_RATE,
    RUN_SPREAD,
    RUN_BEST, /* set by who knows the other runs */
    RUN_E2E,
    RUN_COST,
    RUN_LINK,
    RUN_STALLED,
    RUN_WAITS,
    RUN_FIGURES
};
enum { RUN_TEXT = 256 };
extern const struct table_column run_columns[RUN_FIGURES];

/* Write the texts of a run that has a time into `room`; NULL for a figure that does not apply. A run
 * with replications shows means over the draws. */
bool run_figures(const struct result *result, const char *texts[RUN_FIGURES],
                 char room[RUN_FIGURES][RUN_TEXT], struct error *why);

#endif
