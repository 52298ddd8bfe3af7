/* The figures of a run that tables show, each described once (figures.def), and behind them every
 * column of a result, under its own name and as data have it. */
#ifndef ANSWER_FIGURES_H
#define ANSWER_FIGURES_H

#include "result/shown.h"
#include "result/result.h"

enum figure {
    FIGURE_NONE,
#define FIGURE(id, source, unit, title, name, what) FIGURE_##id,
#include "answer/figures.def"
#undef FIGURE
    FIGURES /* the first column of a result */
};
enum { FIGURES_AND_COLUMNS = FIGURES + COLUMN_COUNT };

struct figure_kind {
    enum column column; /* COLUMN_COUNT: `read` has the figure */
    double (*read)(const struct result *result);
    enum unit unit;
    const char *title, *name, *what; /* as in a column of a frame */
};
extern const struct figure_kind figure_kinds[FIGURES_AND_COLUMNS];

/* The first of this name, which need not end; FIGURE_NONE if there is none. */
enum figure figure_find(const char *name, size_t length);

/* The figure of a run, in its unit; NaN: it has none. */
double figure_value(const struct result *result, enum figure figure);

/* As it reads, without a range; NULL: there is nothing to show. */
const char *figure_text(const struct result *result, enum figure figure, char text[SHOWN_TEXT]);

/* Its range over families of recordings. Returns false if it has none. */
bool figure_range(const struct result *result, enum figure figure, double *low, double *high);

#endif
