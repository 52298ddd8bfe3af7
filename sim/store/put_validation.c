#include "store/bind.h"
#include "store/store_validation.h"

#include "base/version.h"

static const char insert[] = "INSERT OR REPLACE INTO validations VALUES ("
#define COLUMN(name, type, what) ":" #name ", "
#include "answer/validations.def"
#undef COLUMN
                             ":version)";

static void bind_row(sqlite3_stmt *statement, const void *rows, uint32_t index)
{
    const struct store_validation *row = (const struct store_validation *)rows + index;
    int at = 0;
#define COLUMN(name, type, what) bind_##type(statement, ++at, row->name);
#include "answer/validations.def"
#undef COLUMN
    bind_TEXT(statement, ++at, spillway_program);
}

bool store_put_validations(struct store *store, const struct store_validation *rows, uint32_t count,
                           struct error *why)
{
    return database_put(store, insert, bind_row, rows, count, why);
}
