#include "store/quantity.h"

#include "base/units.h"
#include "store/database.h"

static void answer(sqlite3_context *context, int count, sqlite3_value **values)
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
static void measure(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct quantity quantity;
    (void)count;
    bool known = sqlite3_value_type(values[0]) == SQLITE_TEXT &&
                 quantity_parse((const char *)sqlite3_value_text(values[0]), &quantity);
    sqlite3_result_double(context, known ? quantity.value : sqlite3_value_double(values[0]));
}

bool quantity_function(struct store *store, struct error *why)
{
    const int how = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int code =
        sqlite3_create_function(store->database, "quantity", 1, how, NULL, answer, NULL, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_create_function(store->database, "magnitude", 1, how, NULL, measure, NULL,
                                       NULL);
    }
    return code == SQLITE_OK || database_error(store, why);
}
