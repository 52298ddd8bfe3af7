/* What limits a server's times, for explain_paragraph(). */
#ifndef CLI_RUNS_EXPLAIN_TIMES_H
#define CLI_RUNS_EXPLAIN_TIMES_H

#include "study/sweep/explain.h"

#include <stdio.h>

/* Write where TTFT and TPOT go, what they hang on, which figures of the machine would help most,
 * and which to measure first. */
void explain_times_write(const struct explanation *explanation, FILE *out);

#endif
