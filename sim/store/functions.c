#include "store/functions.h"

#include "core/array.h"
#include "core/quote.h"
#include "core/units.h"
#include "predict/result/shown.h"
#include "predict/result/tie.h"
#include "store/database.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- quantity, magnitude ---- */

static void quantity_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct quantity quantity;
    char text[32];
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_TEXT &&
        quantity_parse((const char *)sqlite3_value_text(values[0]), &quantity) &&
        quantity.unit != UNIT_COUNT) {
        units_format(quantity.value, quantity.unit, text, sizeof text);
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_value(context, values[0]);
    }
}

/* A quantity in its base unit, so that "7500ns" is less than "15us"; other values as SQLite casts
 * them. */
static void magnitude_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct quantity quantity;
    (void)count;
    bool known = sqlite3_value_type(values[0]) == SQLITE_TEXT &&
                 quantity_parse((const char *)sqlite3_value_text(values[0]), &quantity);
    sqlite3_result_double(context, known ? quantity.value : sqlite3_value_double(values[0]));
}

/* ---- shell_word ---- */

static void shell_word_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct error unseen;
    const char *text = (const char *)sqlite3_value_text(values[0]);
    char *word = text != NULL ? quote_text(QUOTE_SHELL, text, &unseen) : NULL;
    (void)count;
    if (word != NULL) {
        sqlite3_result_text(context, word, -1, free);
    } else if (text != NULL) {
        sqlite3_result_error_nomem(context);
    }
}

/* ---- ranged ---- */

static double number(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(value);
}

static void ranged_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    char room[SHOWN_TEXT];
    (void)count;
    const char *text = range_format(number(values[0]), number(values[1]), number(values[2]), room);
    if (text == NULL && sqlite3_value_int(values[3]) != 0 && !isnan(number(values[0]))) {
        text = range_single(number(values[0]), room, sizeof room);
    }
    if (text != NULL) {
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_value(context, values[0]);
    }
}

/* ---- tied ---- */

/* The figure of a run; false if there is no such run. */
static bool sql_read_figure(struct store *store, sqlite3_value *run, const struct column *column,
                            struct tie_figure *out)
{
    struct result result;
    struct error unseen;
    const char *name = (const char *)sqlite3_value_text(run);
    result_init(&result);
    if (name == NULL || !store_get(store, name, &result, &unseen)) {
        return false;
    }
    bool there = result_cell(&result, COLUMN(status))->set;
    tie_figure(&result, column, out);
    result_release(&result);
    return there;
}

static void tied_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct store *store = sqlite3_user_data(context);
    const char *name = (const char *)sqlite3_value_text(values[2]);
    const struct column *column = name != NULL ? column_find(name) : NULL;
    struct tie_figure a, b;
    (void)count;
    if (column == NULL || !column_is_number(column) ||
        !sql_read_figure(store, values[0], column, &a) ||
        !sql_read_figure(store, values[1], column, &b)) {
        return;
    }
    enum tie tie = figures_tie(&a, &b);
    if (tie != TIE_NONE) {
        sqlite3_result_text(context, tie_reason(tie), -1, SQLITE_STATIC);
    }
}

/* ---- those of a caller ---- */

struct text_function {
    store_text answer;
};

static void text_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct text_function *function = sqlite3_user_data(context);
    const char *value = (const char *)sqlite3_value_text(values[0]);
    char text[256] = "";
    (void)count;
    if (value != NULL && function->answer(value, text, sizeof text)) {
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    }
}

bool store_add_function(struct store *store, const char *name, store_text answer, struct error *why)
{
    struct text_function *function = array_zeroed(1, sizeof *function, why);
    if (function == NULL) {
        return false;
    }
    function->answer = answer;
    /* SQLite frees the function, even if it refuses it. */
    int code =
        sqlite3_create_function_v2(store->database, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                   function, text_answer, NULL, NULL, free);
    return code == SQLITE_OK || database_error(store, why);
}

/* ---- all ---- */

static const struct {
    const char *name;
    int arguments, how;
    void (*answer)(sqlite3_context *context, int count, sqlite3_value **values);
} functions[] = {
    {"quantity", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, quantity_answer},
    {"magnitude", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, magnitude_answer},
    {"shell_word", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, shell_word_answer},
    {"ranged", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, ranged_answer},
    {"tied", 3, SQLITE_UTF8, tied_answer}, /* it reads runs */
};

bool functions_create(struct store *store, struct error *why)
{
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof functions / sizeof *functions; i++) {
        code = sqlite3_create_function(store->database, functions[i].name, functions[i].arguments,
                                       functions[i].how, store, functions[i].answer, NULL, NULL);
    }
    return code == SQLITE_OK || database_error(store, why);
}
