#include "store/bind.h"
#include "store/store_plan.h"

#include "base/version.h"

static const char insert_plan[] = "INSERT OR REPLACE INTO plans VALUES ("
#define COLUMN(name, type, what) ":" #name ", "
#include "answer/plans.def"
#undef COLUMN
                                  ":version)";

static const char insert_point[] = "INSERT OR REPLACE INTO plan_points VALUES ("
#define COLUMN(name, type, what) ":" #name ", "
#include "answer/plan_points.def"
#undef COLUMN
                                   ":version)";

static void bind_plan(sqlite3_stmt *statement, const void *rows, uint32_t index)
{
    const struct store_plan *row = (const struct store_plan *)rows + index;
    int at = 0;
#define COLUMN(name, type, what) bind_##type(statement, ++at, row->name);
#include "answer/plans.def"
#undef COLUMN
    bind_TEXT(statement, ++at, spillway_program);
}

static void bind_point(sqlite3_stmt *statement, const void *rows, uint32_t index)
{
    const struct store_plan_point *row = (const struct store_plan_point *)rows + index;
    int at = 0;
#define COLUMN(name, type, what) bind_##type(statement, ++at, row->name);
#include "answer/plan_points.def"
#undef COLUMN
    bind_TEXT(statement, ++at, spillway_program);
}

bool store_put_plan(struct store *store, const struct store_plan *rows, uint32_t count,
                    const struct store_plan_point *points, uint32_t point_count, struct error *why)
{
    bool good = database_run(store, "BEGIN IMMEDIATE", why) &&
                database_put_each(store, insert_plan, bind_plan, rows, count, why) &&
                database_put_each(store, insert_point, bind_point, points, point_count, why) &&
                database_run(store, "COMMIT", why);
    if (!good && !sqlite3_get_autocommit(store->database)) {
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    }
    return good;
}
