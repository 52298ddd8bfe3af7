/* Frames in a results file: rows replace those with their key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/version.h"
#include "store/stored_run.h"
#include "unit/fixture/store_folder.h"

#include <math.h>

static struct error why;

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static bool append(uint32_t count, const char *const *names, const char *const *values,
                   void *context, struct error *unused)
{
    char *text = context;
    (void)names, (void)unused;
    for (uint32_t i = 0; i < count; i++) {
        sprintf(text + strlen(text), "%s ", values[i] == NULL ? "null" : values[i]);
    }
    return true;
}

static void assert_rows(struct store *store, const char *sql, const char *expected)
{
    char text[256] = "";
    assert_true(store_query(store, sql, append, text, &why));
    assert_string_equal(text, expected);
}

static struct store *create(void)
{
    struct store *store = store_open(path, true, &why);
    assert_non_null(store);
    return store;
}

/* ---- points: a curve and a list of sizes, each with ten times as many misses ---- */

static void put_points(struct store *store, const char *curve, const char *sizes)
{
    static const struct frame_column columns[] = {{.key = "curve"},
                                                  {.title = "only for people"},
                                                  {.key = "size", .unit = UNIT_WHOLE},
                                                  {.key = "misses", .unit = UNIT_WHOLE}};
    struct frame *frame = frame_create(columns, 4, &why);
    for (const char *size = sizes; *size != '\0'; size++) {
        frame_row(frame);
        frame_text(frame, 0, curve);
        frame_text(frame, 1, "nobody stores this");
        frame_number(frame, 2, *size - '0');
        frame_number(frame, 3, 10 * (*size - '0'));
    }
    const struct store_frame points = {.table = "curve_points", .frame = frame};
    assert_true(store_put_frames(store, &points, 1, &why));
    frame_destroy(frame);
}

static void points_of_a_curve_add_up(void **state)
{
    (void)state;
    struct store *store = create();
    put_points(store, "a", "123");
    put_points(store, "b", "12");
    put_points(store, "a", "2");
    put_points(store, "c", "33");
    assert_rows(store, "SELECT curve, size, misses FROM curve_points ORDER BY 1, 2",
                "a 1 10 a 2 20 a 3 30 b 1 10 b 2 20 c 3 30 ");
    store_close(store);
}

/* ---- validations: of most columns nothing is known ---- */

#define LIST "tables/validations.def"
#define ID(name) DATA_##name
#define ARRAY validation_columns
#include "tables/columns.h"

static void put_validation(struct store *store, const char *mechanism, double measured_us)
{
    struct frame *frame = frame_create(validation_columns, DATA_COUNT, &why);
    frame_row(frame);
    frame_text(frame, DATA_validation, "v");
    frame_text(frame, DATA_mechanism, mechanism);
    frame_number(frame, DATA_measured_us, measured_us);
    const struct store_frame rows = {.table = "validations", .frame = frame};
    assert_true(store_put_frames(store, &rows, 1, &why));
    frame_destroy(frame);
}

static void a_row_replaces_the_one_with_its_key(void **state)
{
    (void)state;
    struct store *store = create();
    char expected[256];
    put_validation(store, "lru", 4);
    put_validation(store, "qsac", NAN);
    put_validation(store, "lru", 8.5);
    snprintf(expected, sizeof expected, "lru 8.5 null %s qsac null null %s ", spillway_program,
             spillway_program);
    assert_rows(store,
                "SELECT mechanism, measured_us, verdict, version FROM validations ORDER BY 1",
                expected);
    store_close(store);
}

static void nothing_is_put_of_a_frame_that_fails(void **state)
{
    (void)state;
    struct store *store = create();
    static const struct frame_column columns[] = {{.key = "size", .unit = UNIT_WHOLE}};
    struct frame *frame = frame_create(columns, 1, &why);
    frame_row(frame);
    put_points(store, "a", "1");
    const struct store_frame rows = {.table = "curve_points", .frame = frame};
    assert_false(store_put_frames(store, &rows, 1, &why));
    assert_rows(store, "SELECT curve, size FROM curve_points", "a 1 ");
    put_points(store, "a", "2");
    assert_rows(store, "SELECT curve, size FROM curve_points", "a 1 a 2 ");
    frame_destroy(frame);
    store_close(store);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(points_of_a_curve_add_up),
        IN_FOLDER(a_row_replaces_the_one_with_its_key),
        IN_FOLDER(nothing_is_put_of_a_frame_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
