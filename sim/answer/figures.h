/* The figures of a run that tables show, each described once (figures.def). */
#ifndef ANSWER_FIGURES_H
#define ANSWER_FIGURES_H

#include "answer/units.h"
#include "result/result.h"

enum figure {
    FIGURE_NONE,
#define FIGURE(id, source, unit, title, name, what) FIGURE_##id,
#include "answer/figures.def"
#undef FIGURE
    FIGURES
};

struct figure_kind {
    enum column column; /* COLUMN_COUNT: `read` has the figure */
    double (*read)(const struct result *result);
    enum answer_unit unit;
    const char *title, *name, *what; /* as in a column of a frame */
};
extern const struct figure_kind figure_kinds[FIGURES];

/* The figure of a run, in its unit; NaN: it has none. */
double figure_value(const struct result *result, enum figure figure);

/* As it reads, without a range; NULL: there is nothing to show. */
const char *figure_text(const struct result *result, enum figure figure, char text[ANSWER_SIZE]);

/* The same of a column that is no figure of tables. */
const char *answer_column(const struct result *result, enum column column, enum answer_unit unit,
                          char text[ANSWER_SIZE]);

/* Its range over families of recordings. Returns false if it has none. */
bool figure_range(const struct result *result, enum figure figure, double *low, double *high);

#endif
