/* A column of results: all that decides how its values are stored, read, judged and shown. The rows
 * are in columns.def, which only columns.c reads, so that a new row compiles no other file.
 *
 *     result_number(result, COLUMN(step_us))
 *     for (const struct column *const *at = column_rows; *at != NULL; at++) { ... (*at)->name ... } */
#pragma once

#include "core/units.h"

struct result;

/* What a cell holds. All but a single value are JSON texts in the database. */
enum column_holds { HOLDS_VALUE, HOLDS_ITEMS, HOLDS_BAND, HOLDS_NOTES };

/* The error band of a figure: all have one of decode steps; of a server those after BANDED_STEPS. */
enum column_band { BANDED_NOT, BANDED_STEPS, BANDED_RATE, BANDED_TTFT, BANDED_TPOT };
enum { COLUMN_BANDS = BANDED_TPOT - BANDED_RATE + 1 };

/* What is better; of others no run is the best. */
enum column_best { BEST_NONE, BEST_MOST, BEST_LEAST };

struct column {
    const char *name, *what; /* what: its meaning, in a sentence */
    enum unit unit;          /* of its values, or items, in data */
    enum column_holds holds;
    enum column_band band;
    enum column_best best;
    uint16_t index; /* its place in `column_rows`; of the last ones (`read`) no result has a cell */
    uint8_t range;  /* its place, from 1, among those with a range over families; 0: none */
    uint8_t drawn;  /* the same among the figures that are kept of each replication */
    bool is_end;    /* of a range */
    const struct column *low, *high; /* ends of its range; NULL: it has none */
    /* Put together from others, such as `from`; NULL: a cell. */
    double (*read)(const struct result *result, const struct column *column);
    const struct column *from;
    /* in tables for people */
    const char *title; /* NULL: shown if it is asked for by its name, as in data */
    const char *label; /* another name by which readers ask for it as tables show it; NULL: none */
    enum unit shown;   /* UNIT_TEXT: `unit` */
};

/* The row of a name. A name without a row is an error of the linker. */
#define COLUMN(name)                                                                               \
    (__extension__({                                                                               \
        extern const struct column column_##name;                                                  \
        &column_##name;                                                                            \
    }))

/* All columns in order: `column_count` that results store, those that are put together, and NULL. */
extern const struct column *const column_rows[];
extern const uint32_t column_count;

/* No more columns, columns with ranges, and figures of replications than these: raise it. */
enum { COLUMNS_MOST = 256, RANGES_MOST = 16, DRAWN_MOST = 32 };

/* The column of this name, or of this label; NULL: none. And the name nearest to a text, or NULL. */
const struct column *column_find(const char *name);
const struct column *column_labelled(const char *label);
const char *column_nearest(const char *text);

/* The column at a place, from 0, among those with a range, or of replications; NULL after the last. */
const struct column *column_ranged(uint32_t place);
const struct column *column_drawn(uint32_t place);

static inline enum unit column_shown(const struct column *column)
{
    return column->shown != UNIT_TEXT ? column->shown : column->unit;
}

/* Does a cell of it hold a single number, or a text? */
bool column_is_number(const struct column *column);
bool column_is_text(const struct column *column);

/* Is that number kept as an integer: a whole number, or a time in nanoseconds? */
bool column_is_integer(const struct column *column);

/* Is it a figure whose runs are close if they are some percent apart: a time, a rate or a cost? */
bool column_is_pace(const struct column *column);

/* The type that a database declares for it. */
const char *column_sql(const struct column *column);
