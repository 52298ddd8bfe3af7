/* What a user asks every run to rest on (--require-basis).
 *
 * LEVEL asks it of every figure that the run used and of its trace. LEVEL:SHARE asks it of at least
 * that share of the step's time, and of the trace as a whole: hits have no share.
 */
#ifndef STUDY_SWEEP_REQUIRED_BASIS_H
#define STUDY_SWEEP_REQUIRED_BASIS_H

#include "scenario/point.h"
#include "result/result.h"

struct required_basis {
    bool asked;
    enum basis least;
    double share; /* of the step's time; 1: no figure at all may be worse */
};

/* Read "published" or "published:90%". */
bool required_basis_parse(const char *text, struct required_basis *out, struct error *why);

/* Fail, naming what is worse, where the run rests on less. A run without a time rests on nothing
 * and passes. */
bool required_basis_check(const struct required_basis *required, const struct point *point,
                          const struct result *result, struct error *why);

#endif
