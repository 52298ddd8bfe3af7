/* A measured run as a row of a file of measured servers, such as scenarios/measured has. */
#pragma once

#include "predict/result/result.h"
#include "study/papers/measured_server.h"

/* Print the row, on one line: the shortest scenario that is the run's, and the figures measured. Fails if
 * none of them is a mean TTFT, TPOT or rate. */
bool compare_row_print(const struct result *result, const struct measured *measured,
                       struct error *why);
