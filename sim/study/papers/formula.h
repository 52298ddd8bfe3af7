/* A published figure as a formula over results: a sum of columns of one run, possibly divided by
 * that of another.
 *
 *     value = (take of run − take of minus) / over of against
 *
 * A term is a numeric column (columns.def), `parts.NAME` or `stalls.NAME` of the step, or `layers`,
 * the number of layers. Times are in nanoseconds, so bytes divided by a time are bytes per
 * nanosecond; formula_scale() converts them to bytes per second.
 */
#ifndef STUDY_PAPERS_FORMULA_H
#define STUDY_PAPERS_FORMULA_H

#include "base/error.h"
#include "base/node.h"
#include "result/result.h"

#include <stdbool.h>
#include <stdint.h>

enum { FORMULA_MOST_TERMS = 8 };

struct formula_term {
    enum column column; /* COLUMN_PARTS and COLUMN_STALLS with `item`; COLUMN_COUNT: layers */
    char item[RESULT_NAME];
};

struct formula {
    struct formula_term terms[FORMULA_MOST_TERMS];
    uint32_t count; /* 0: empty; its value is 1 */
};

/* Read "layer_us" or a list of terms. `node` NULL gives an empty formula. */
bool formula_read(const struct node *node, struct formula *out, struct error *why);

/* The figure of one column. */
struct formula formula_of_column(enum column column);

/* The sum of the terms. NaN if a term is null in this result. */
double formula_value(const struct formula *formula, const struct result *result);

/* Does a formula of one term describe the speed of a whole step? 1 a time, -1 a rate, 0 neither. */
int formula_speed(const struct formula *formula);

#endif
