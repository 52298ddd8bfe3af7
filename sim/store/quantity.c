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

bool quantity_function(struct store *store, struct error *why)
{
    int code =
        sqlite3_create_function(store->database, "quantity", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                NULL, answer, NULL, NULL);
    return code == SQLITE_OK || database_error(store, why);
}
