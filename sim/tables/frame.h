/* What a study found, as data: columns, and rows of typed cells. A study's command fills a frame
 * once; a renderer for each form writes it (text: frame_print(), or frame_print_fields() of one
 * row; JSON: frame_print_json(); a database: store/stored_run.h).
 *
 *   static const struct frame_column columns[] = {
 *       {.key = "place", .unit = UNIT_WHOLE, .what = "position of the row"},
 *       {.of = "step_us", .drop = 2},
 *   };
 *   struct frame *frame = frame_create(columns, 2, why);
 *   for (...) {
 *       frame_row(frame);
 *       frame_number(frame, 0, place);
 *       frame_result(frame, result);
 *   }
 *   bool good = frame_ok(frame, why) && frame_print(frame, &view, stdout, why);
 *
 * Filling cannot fail: where memory runs out, frame_ok() and every renderer say so. Functions that
 * fill take NULL for a frame that could not be made. */
#pragma once

#include "tables/table.h"
#include "predict/result/shown.h"
#include "predict/result/result.h"

/* A column of data has a key, one for people a title; one with neither is for who fills the frame. */
struct frame_column {
    /* A column of results, which gives title, name, what and unit where these are not set, and the cells that
     * frame_result() fills; NULL: none. */
    const char *of;
    const struct column *column; /* that one; filled when the frame is made */
    enum unit unit;
    const char *key;   /* in JSON, CSV and databases; NULL: only for people */
    bool ranged;       /* in data, KEY_low and KEY_high follow */
    const char *title; /* for people; NULL, without a figure: only data */
    const char *name;  /* by which a reader chooses it; NULL: always shown */
    const char *what;  /* its meaning */
    int drop;          /* left out of a table that is too wide, highest first; 0: never */
    bool optional;     /* left out of a table if no row has it */
    bool sparse;       /* left out of the JSON of a row that does not have it, in place of null */
    bool extra;        /* shown only if it is chosen, or with all columns */
    bool wrap;         /* a long text continues below itself; only of the last column */
    bool single;       /* without the figure's range */
    int decimals;      /* of times, see shown_value(); 0: three digits */
};

struct frame_cell {
    bool set;
    bool is_mean;            /* of draws; low and high are the interval of the mean */
    char mark;               /* for people, stands before the number; 0: none */
    double value, low, high; /* low and high NaN: without a range */
    char *text;              /* in place of the value; owned */
};

struct frame {
    struct frame_column *columns; /* [column_count] owned; as asked for, with what figures give */
    uint32_t column_count;
    struct frame_cell *cells; /* [row_count × column_count] owned */
    struct frame_row {
        char *reason;         /* for people, in place of cells; NULL: none; owned */
        uint32_t reason_from; /* the column where it begins */
    } * rows;                 /* [row_count] owned */
    uint32_t row_count;
    uint32_t row; /* being filled */
    size_t cell_capacity, row_capacity;
    bool is_short; /* of memory */
};

/* Columns are copied, their texts are not. NULL when memory is out. */
struct frame *frame_create(const struct frame_column *columns, uint32_t count, struct error *why);

/* The same for a table of which a reader chose columns (NULL: the usual), also of other tables and of
 * results, which frame_result() fills. NULL, too, if there is no column of a chosen name. */
struct frame *frame_create_view(const struct frame_column *columns, uint32_t count,
                                const struct table_view *view, struct error *why);
void frame_destroy(struct frame *frame); /* NULL is fine */

/* The place of the column of this name, which there is. */
uint32_t frame_find(const struct frame *frame, const char *name);

/* The number in a cell; NaN: none. */
double frame_value(const struct frame *frame, uint32_t row, uint32_t column);

/* Was there memory for everything? False, too, of NULL. */
bool frame_ok(const struct frame *frame, struct error *why);

/* ---- filling: cells are those of the last row, or of the row that was gone back to ---- */

void frame_row(struct frame *frame);
void frame_row_again(struct frame *frame, uint32_t row); /* for what is known once all rows are */
void frame_text(struct frame *frame, uint32_t column, const char *text); /* copied; NULL: none */
void frame_textf(struct frame *frame, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void frame_number(struct frame *frame, uint32_t column, double value); /* NaN: none */
void frame_range(struct frame *frame, uint32_t column, double value, double low, double high);

/* A mean over draws and half its interval, which reads "45.1 ± 0.6". */
void frame_mean(struct frame *frame, uint32_t column, double mean, double half);

/* Put a mark before a number that is set, which people see. */
void frame_mark(struct frame *frame, uint32_t column, char mark);

/* A whole row of texts, from the first column; NULL: none. */
void frame_add(struct frame *frame, const char *const *texts, uint32_t count);

/* Fill a column of UNIT_JSON with the rows of another frame, which is destroyed. NULL: memory ran out. */
void frame_take(struct frame *frame, uint32_t column, struct frame *rows);

/* Fill every column that is a figure of runs. */
void frame_result(struct frame *frame, const struct result *result);

/* For people, `text` fills the line from a column on: why there are no figures. Copied. */
void frame_reason(struct frame *frame, uint32_t column, const char *text);

/* The same of a run that has no figures: its status and message. */
void frame_failed(struct frame *frame, uint32_t column, const struct result *result);

/* ---- for people ---- */

/* Would frame_create_view() know every name of the view? */
bool frame_view_check(const struct table_view *view, const struct frame_column *columns,
                      uint32_t count, struct error *why);

/* Print a line for each column that a reader can choose, for help: its name, and what it means. */
void frame_columns_print(const char *title, const struct frame_column *columns, uint32_t count,
                         FILE *out);

/* What a cell says, in `text` or its own; NULL: nothing. */
enum { FRAME_WORDS = SHOWN_TEXT + 1 }; /* with a mark */
const char *frame_cell_words(const struct frame_column *column, const struct frame_cell *cell,
                             char text[FRAME_WORDS]);

/* Print the rows as an aligned table. `view`: what the reader asked for, checked; NULL: the usual. */
bool frame_print(const struct frame *frame, const struct table_view *view, FILE *out,
                 struct error *why);

/* Print the first row as lines of title, value and what it is, for each column with a title, or JSON key. */
bool frame_print_fields(const struct frame *frame, FILE *out, struct error *why);

/* ---- for programs ---- */

/* Print one JSON object a row, on its own line: columns with a key, null where a cell is not set. Numbers
 * have twelve digits: picoseconds in a second. Fails on text that is not UTF-8. */
bool frame_print_json(const struct frame *frame, FILE *out, struct error *why);

/* Print the first row as the only member of an object, {"KEY":{...}}, on a line. */
bool frame_print_json_member(const struct frame *frame, const char *key, FILE *out,
                             struct error *why);
