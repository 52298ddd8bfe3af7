#include "store/tied.h"

#include "result/tie.h"
#include "store/database.h"

#include <string.h>

static enum column find_column(const char *name)
{
    int column = 0;
    while (column < COLUMN_COUNT && strcmp(column_kinds[column].name, name) != 0) {
        column++;
    }
    return (enum column)column;
}

/* The figure of a run; false if there is no such run. */
static bool read_figure(struct store *store, sqlite3_value *run, enum column column,
                        struct tie_figure *out)
{
    struct result result;
    struct error unseen;
    const char *name = (const char *)sqlite3_value_text(run);
    result_init(&result);
    if (name == NULL || !store_get(store, name, &result, &unseen)) {
        return false;
    }
    bool there = result.cells[COLUMN_STATUS].set;
    tie_figure(&result, column, out);
    result_release(&result);
    return there;
}

static void answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct store *store = sqlite3_user_data(context);
    const char *name = (const char *)sqlite3_value_text(values[2]);
    enum column column = name != NULL ? find_column(name) : COLUMN_COUNT;
    struct tie_figure a, b;
    (void)count;
    if (column == COLUMN_COUNT || column_kinds[column].type == COLUMN_TYPE_TEXT ||
        !read_figure(store, values[0], column, &a) || !read_figure(store, values[1], column, &b)) {
        return;
    }
    enum tie tie = figures_tie(&a, &b);
    if (tie != TIE_NONE) {
        sqlite3_result_text(context, tie_reason(tie), -1, SQLITE_STATIC);
    }
}

bool tied_function(struct store *store, struct error *why)
{
    int code =
        sqlite3_create_function(store->database, "tied", 3, SQLITE_UTF8, store, answer, NULL, NULL);
    return code == SQLITE_OK || database_error(store, why);
}
