/* A measured run as a row of a file of measured servers (scenarios/measured/README.md). */
#pragma once

#include "predict/result/result.h"
#include "study/papers/measured.h"

/* Add a row to the file at `path`, or begin that file: the shortest scenario that is this run's, and
 * what was measured of its TTFT, TPOT and tokens a second. The file is replaced as a whole; one that
 * has an equal row stays as it is. Fails if it has no list of rows at its end, or if the measurement has
 * none of these figures. */
bool compare_row_add(const char *path, const struct result *result, const struct measured *measured,
                     struct error *why);
