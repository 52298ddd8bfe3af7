#include "store/ranged.h"

#include "result/range.h"
#include "store/database.h"

#include <math.h>

static double number(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(value);
}

static void answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    char room[RANGE_TEXT];
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

bool ranged_function(struct store *store, struct error *why)
{
    int code = sqlite3_create_function(
        store->database, "ranged", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, answer, NULL, NULL);
    return code == SQLITE_OK || database_error(store, why);
}
