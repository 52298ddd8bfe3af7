/* Cells of a table that show figures with their range over families of recordings. */
#ifndef CLI_FRAME_RANGES_H
#define CLI_FRAME_RANGES_H

#include "result/range.h"

/* A cell and its figure: the column's, times `scale`. */
struct range_cell {
    int place; /* among the texts of a row */
    enum column column;
    double scale;
};

/* Replace the texts of the cells whose figures have a range. `room` has place for each of the
 * `count` cells. */
void ranges_put(const struct result *result, const struct range_cell *cells, size_t count,
                const char **texts, char (*room)[RANGE_TEXT]);

#endif
