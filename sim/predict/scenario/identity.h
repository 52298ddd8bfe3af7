/* The identity of a point: hashes of everything that decides its result.
 *
 * Equal identities mean equal results, so a run that is stored under its identity is read back
 * instead of run again. Finding the identity replays nothing.
 */
#pragma once

#include "predict/scenario/point.h"

/* 16 hex digits each. `scenario` is of the resolved text, `model` of the sizes that a GPU computes
 * with, `profile` of the machine's curves. `trace` is "" if no recording is replayed, `requests` if
 * no server is asked about. No file name is hashed, except where the scenario's text names one.
 * `run` covers all of them and the program (core/version.h). */
struct run_hashes {
    char run[17], scenario[17], model[17], profile[17], trace[17], requests[17];
};

/* Hash the curves of a profile. */
void profile_hash(const struct profile *profile, char text[17]);

bool run_hashes(const struct point *point, struct run_hashes *out, struct error *why);

/* Only the hash `run`, which is the run's name in results files. */
bool run_identity(const struct point *point, char run[17], struct error *why);
