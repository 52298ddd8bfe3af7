/* Frames in the store, such as plans, and what queries can ask: how quantities are spelled, and which
 * runs tie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/store.h"
#include "store/stored_run.h"
#include "unit/fixture/store_folder.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As `plan` stores it (plan_frame.c). */
#define LIST "tables/plans.def"
#define ID(name) PLAN_##name
#define ARRAY plan_columns
#include "tables/columns.h"

#define LIST "tables/plan_points.def"
#define ID(name) POINT_##name
#define ARRAY point_columns
#include "tables/columns.h"

struct plan_frames {
    struct frame *plans, *points;
};

static bool store_plan(struct plan_frames *frames, struct store *store, struct error *why)
{
    const struct store_frame tables[] = {{.table = "plans", .frame = frames->plans},
                                         {.table = "plan_points", .frame = frames->points}};
    bool good = store_put_frames(store, tables, 2, why);
    frame_destroy(frames->plans);
    frame_destroy(frames->points);
    return good;
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct store *open_store(const char *at, bool writable)
{
    struct error why = {0};
    struct store *store = store_open(at, writable, &why);
    if (store == NULL) {
        fail_msg("%s: %s", why.file, why.found);
    }
    return store;
}

/* Run SQL on the file behind the store's back. */
static void sql(const char *statements)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, statements, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static bool append(uint32_t count, const char *const *names, const char *const *values,
                   void *context, struct error *why)
{
    char *text = context;
    (void)why;
    for (uint32_t i = 0; i < count; i++) {
        sprintf(text + strlen(text), "%s=%s ", names[i], values[i] == NULL ? "null" : values[i]);
    }
    return true;
}

static void assert_rows(struct store *store, const char *ask, const char *expected)
{
    struct error why = {0};
    char text[512] = "";
    assert_true(store_query(store, ask, append, text, &why));
    assert_string_equal(text, expected);
}

static void add_point(struct frame *points, const char *plan, const char *target, int met)
{
    frame_row(points);
    frame_text(points, POINT_plan, plan);
    frame_number(points, POINT_place, 0);
    frame_number(points, POINT_liked, 3);
    frame_text(points, POINT_target, target);
    frame_number(points, POINT_met, met);
}

static void create_frames(struct plan_frames *frames)
{
    struct error why;
    frames->plans = frame_create(plan_columns, PLAN_COUNT, &why);
    frames->points = frame_create(point_columns, POINT_COUNT, &why);
    frame_row(frames->plans);
    frame_text(frames->plans, PLAN_plan, "a");
    frame_number(frames->plans, PLAN_place, 0);
    frame_text(frames->plans, PLAN_goal, "least budget");
}

static void put_plan(struct store *store)
{
    struct error why;
    struct plan_frames frames;
    create_frames(&frames);
    add_point(frames.points, "a", "tpot_ms<=40", 1);
    add_point(frames.points, "a", "hit_ratio>=0.9", 0);
    assert_true(store_plan(&frames, store, &why));
}

static void a_plan_replaces_itself_and_is_merged(void **state)
{
    (void)state;
    static const char ask[] = "SELECT target, liked AS at, met FROM plan_points JOIN plans "
                              "USING (plan, place) WHERE goal = 'least budget'";
    static const char says[] = "target=hit_ratio>=0.9 at=3 met=0 target=tpot_ms<=40 at=3 met=1 ";
    struct error why = {0};
    uint64_t added;
    struct store *store = open_store(path, true);
    put_plan(store);
    put_plan(store);
    assert_rows(store, ask, says);
    store_close(store);

    char other[sizeof path + 8];
    const char *const paths[] = {path, path};
    snprintf(other, sizeof other, "%s.merged", path);
    store = open_store(other, true);
    assert_true(store_merge(store, paths, 2, &added, &why));
    assert_rows(store, ask, says);
    store_close(store);
}

/* Points that cannot be put take their plan with them. */
static void a_plan_is_there_with_its_points_or_not_at_all(void **state)
{
    (void)state;
    struct error why = {0};
    struct plan_frames frames;
    struct store *store = open_store(path, true);
    create_frames(&frames);
    add_point(frames.points, NULL, "tpot_ms<=40", 1);
    assert_false(store_plan(&frames, store, &why));
    assert_rows(store, "SELECT COUNT(*) AS n FROM plans", "n=0 ");
    put_plan(store);
    assert_rows(store, "SELECT COUNT(*) AS n FROM plans", "n=1 ");
    store_close(store);
}

static void a_table_of_other_columns_is_refused(void **state)
{
    (void)state;
    struct error why = {0};
    store_close(open_store(path, true));
    sql("DROP TABLE plans; CREATE TABLE plans (plan TEXT)");
    for (int writable = 0; writable < 2; writable++) {
        assert_null(store_open(path, writable, &why));
        assert_string_equal(why.found,
                            "holds results of another version of spillway (table 'plans')");
    }
}

static void quantities_are_spelled_as_tables_do(void **state)
{
    (void)state;
    struct store *store = open_store(path, true);
    assert_rows(store, "SELECT quantity('2147483648B') AS a, quantity('3x') AS b",
                "a=2.00 GiB b=3.00 x ");
    assert_rows(store, "SELECT quantity('lru') AS a, quantity('0.25') AS b, quantity(4) AS c",
                "a=lru b=0.25 c=4 ");
    assert_rows(store, "SELECT quantity(NULL) AS a, quantity('') AS b", "a=null b= ");
    assert_rows(store,
                "SELECT magnitude('7500ns') AS a, magnitude('15us') AS b, magnitude('x') AS c",
                "a=7500.0 b=15000.0 c=0.0 ");
    store_close(store);
}

static void put_run(struct store *store, const char *run, double rate)
{
    struct error why;
    struct result result;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(run), run, &why));
    assert_true(result_text(&result, COLUMN(status), "ok", &why));
    result_real(&result, COLUMN(decode_tokens_per_s), rate);
    assert_true(store_put(store, &result, &why));
    result_release(&result);
}

static void queries_ask_whether_runs_tie(void **state)
{
    (void)state;
    struct store *store = open_store(path, true);
    put_run(store, "a", 100);
    put_run(store, "b", 101);
    put_run(store, "c", 110);
    assert_rows(store,
                "SELECT tied('a', 'b', 'decode_tokens_per_s') AS near,"
                " tied('a', 'c', 'decode_tokens_per_s') AS far",
                "near=at most 2 % apart far=null ");
    assert_rows(store,
                "SELECT tied('a', 'nobody', 'decode_tokens_per_s') AS a, tied('a', 'b', 'x') AS b,"
                " tied('a', NULL, 'decode_tokens_per_s') AS c, tied('a', 'b', 'system') AS d",
                "a=null b=null c=null d=null ");
    store_close(store);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_plan_replaces_itself_and_is_merged),
        IN_FOLDER(a_plan_is_there_with_its_points_or_not_at_all),
        IN_FOLDER(a_table_of_other_columns_is_refused),
        IN_FOLDER(quantities_are_spelled_as_tables_do),
        IN_FOLDER(queries_ask_whether_runs_tie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
