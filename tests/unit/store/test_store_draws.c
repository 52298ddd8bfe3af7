/* Replications in the store: what goes in comes out, more are added, and files join. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/stored_run.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_store_draws.XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s.db", folder, name);
    return path;
}

static struct store *open_file(const char *name)
{
    struct error why = {0};
    struct store *store = store_open(path_of(name), true, &why);
    if (store == NULL) {
        fail_msg("%s", why.found);
    }
    return store;
}

/* Row `i` of what is drawn under `salt`; every third figure is null. */
static double value_of(uint32_t i, int figure, double salt)
{
    return figure % 3 == 2 ? (double)NAN : salt + i + figure / 7.0;
}

static void put(struct store *store, const char *run, const char *ranges, uint32_t count,
                double salt)
{
    struct error why = {0};
    struct result result;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(run), run, &why));
    strcpy(result.draws.ranges, ranges);
    result.draws.count = count;
    result.draws.values = calloc(count, sizeof *result.draws.values);
    for (uint32_t i = 0; i < count; i++) {
        for (int f = 0; f < DRAWN_MOST; f++) {
            result.draws.values[i][f] = value_of(i, f, salt);
        }
    }
    if (!store_put(store, &result, &why)) {
        fail_msg("%s", why.found);
    }
    result_release(&result);
}

static void assert_draws(struct store *store, const char *run, const char *ranges, uint32_t count,
                         double salt)
{
    struct error why = {0};
    struct result_draws draws = {.count = 0};
    strcpy(draws.ranges, ranges);
    if (!store_get_draws(store, run, &draws, &why)) {
        fail_msg("%s", why.found);
    }
    assert_int_equal(draws.count, count);
    for (uint32_t i = 0; i < count; i++) {
        for (int f = 0; column_drawn((uint32_t)f) != NULL; f++) {
            double got = draws.values[i][f], expected = value_of(i, f, salt);
            assert_true(got == expected || (isnan(got) && isnan(expected)));
        }
    }
    free(draws.values);
}

/* SQL on a file that nobody has open. */
static void edit(const char *name, const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path_of(name), &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void draws_come_back(void **state)
{
    (void)state;
    struct store *store = open_file("a");
    put(store, "run", "aaaa", 5, 1);
    assert_draws(store, "run", "aaaa", 5, 1);
    assert_draws(store, "run", "bbbb", 0, 1);
    assert_draws(store, "none", "aaaa", 0, 1);
    store_close(store);
}

/* The first ones stay; other ranges are other draws. */
static void more_draws_are_added(void **state)
{
    (void)state;
    struct store *store = open_file("a");
    put(store, "run", "aaaa", 2, 1);
    put(store, "run", "aaaa", 6, 1);
    put(store, "run", "aaaa", 3, 1);
    put(store, "run", "bbbb", 4, 9);
    assert_draws(store, "run", "aaaa", 6, 1);
    assert_draws(store, "run", "bbbb", 4, 9);
    store_close(store);
}

static void draws_are_read_up_to_a_gap(void **state)
{
    (void)state;
    struct store *store = open_file("a");
    put(store, "run", "aaaa", 5, 1);
    store_close(store);
    edit("a", "DELETE FROM replications WHERE replication = 3");
    store = open_file("a");
    assert_draws(store, "run", "aaaa", 3, 1);
    store_close(store);
}

static void damage_is_an_error(void **state)
{
    (void)state;
    struct error why = {0};
    struct result_draws draws = {.ranges = "aaaa"};
    struct store *store = open_file("a");
    put(store, "run", "aaaa", 5, 1);
    store_close(store);
    edit("a", "UPDATE replications SET step_us = 'x' WHERE replication = 2");
    store = open_file("a");
    assert_false(store_get_draws(store, "run", &draws, &why));
    assert_non_null(strstr(why.found, "damaged"));
    assert_null(draws.values);
    store_close(store);
}

/* What two files have of a run is one after the other the same; the longer one is kept. */
static void merging_keeps_the_most_draws(void **state)
{
    (void)state;
    struct error why = {0};
    char few[128], many[128];
    uint64_t added;
    struct store *store = open_file("few");
    put(store, "run", "aaaa", 2, 1);
    put(store, "only here", "aaaa", 3, 5);
    store_close(store);
    store = open_file("many");
    put(store, "run", "aaaa", 7, 1);
    put(store, "run", "bbbb", 4, 9);
    store_close(store);
    strcpy(few, path_of("few"));
    strcpy(many, path_of("many"));
    for (int way = 0; way < 2; way++) {
        const char *const paths[] = {way == 0 ? few : many, way == 0 ? many : few};
        struct store *into = open_file(way == 0 ? "ab" : "ba");
        for (int again = 0; again < 2; again++) {
            if (!store_merge(into, paths, 2, &added, &why)) {
                fail_msg("%s", why.found);
            }
            assert_int_equal(added, again == 0 ? 2 : 0);
            assert_draws(into, "run", "aaaa", 7, 1);
            assert_draws(into, "run", "bbbb", 4, 9);
            assert_draws(into, "only here", "aaaa", 3, 5);
        }
        store_close(into);
    }
}

static void merging_refuses_draws_that_differ(void **state)
{
    (void)state;
    struct error why = {0};
    char one[128], other[128];
    uint64_t added;
    struct store *store = open_file("one");
    put(store, "run", "aaaa", 2, 1);
    store_close(store);
    store = open_file("other");
    put(store, "run", "aaaa", 3, 2);
    store_close(store);
    strcpy(one, path_of("one"));
    strcpy(other, path_of("other"));
    struct store *into = open_file("into");
    assert_false(store_merge(into, (const char *const[]){one, other}, 2, &added, &why));
    assert_non_null(strstr(why.found, "run run differs"));
    assert_draws(into, "run", "aaaa", 0, 1);
    store_close(into);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(draws_come_back, enter, leave),
        cmocka_unit_test_setup_teardown(more_draws_are_added, enter, leave),
        cmocka_unit_test_setup_teardown(draws_are_read_up_to_a_gap, enter, leave),
        cmocka_unit_test_setup_teardown(damage_is_an_error, enter, leave),
        cmocka_unit_test_setup_teardown(merging_keeps_the_most_draws, enter, leave),
        cmocka_unit_test_setup_teardown(merging_refuses_draws_that_differ, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
