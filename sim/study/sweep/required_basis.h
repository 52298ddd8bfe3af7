/* The basis that a user requires of every run (--require-basis).
 *
 * LEVEL applies to every figure that the run used and to its trace. LEVEL:SHARE requires that at
 * least SHARE of the step's time rests on LEVEL or better. The trace must meet LEVEL as a whole,
 * because hits have no share.
 */
#pragma once

#include "predict/scenario/point.h"
#include "predict/result/result.h"

struct required_basis {
    bool asked;
    enum basis least;
    double share; /* of the step's time; 1: no figure may be worse */
};

/* Read "published" or "published:90%". */
bool required_basis_parse(const char *text, struct required_basis *out, struct error *why);

/* Fail if the run rests on a worse basis; the error names what is worse. A run without a time
 * passes, because it rests on nothing. */
bool required_basis_check(const struct required_basis *required, const struct point *point,
                          const struct result *result, struct error *why);
