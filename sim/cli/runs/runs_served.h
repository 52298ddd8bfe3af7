/* The columns of runs of a server, after system and swept keys. */
#ifndef CLI_RUNS_RUNS_SERVED_H
#define CLI_RUNS_RUNS_SERVED_H

#include "cli/frame/drawn.h"
#include "answer/table.h"
#include "result/result.h"

enum served_figure {
    SERVED_REQUESTS,
    SERVED_COME,
    SERVED_ANSWERED,
    SERVED_ON_GPU,
    SERVED_ON_HOST,
    SERVED_TTFT,
    SERVED_TTFT_P99,
    SERVED_TPOT,
    SERVED_TPOT_P99,
    SERVED_RATE,
    SERVED_GOOD,
    SERVED_COST,
    SERVED_PUT_BACK,
    SERVED_FIGURES
};
enum { SERVED_TEXT = DRAWN_TEXT };
extern const struct table_column served_columns[SERVED_FIGURES];

/* Write the texts of a run's figures into `room`; NULL for a figure that does not apply. A run with
 * replications shows means over the draws, without intervals, because there is no room for them. */
void served_figures(const struct result *result, const char *texts[SERVED_FIGURES],
                    char room[SERVED_FIGURES][SERVED_TEXT]);

#endif
