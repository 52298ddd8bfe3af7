/* Results of several programs in one file: all are kept, one program's are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/version.h"
#include "predict/result/result.h"
#include "store/store.h"
#include "unit/fixture/store_folder.h"

#include <sqlite3.h>

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void sql(const char *statements)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, statements, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

/* Store runs with these names, then say that `program` computed them, unless it is NULL. */
static void put(const char *names, const char *program)
{
    struct error why = {0};
    struct store *store = store_open(path, true, &why);
    assert_non_null(store);
    for (const char *name = names; *name != '\0'; name++) {
        struct result result;
        const char run[2] = {*name, '\0'};
        result_init(&result);
        assert_true(result_text(&result, COLUMN(run), run, &why));
        assert_true(store_put(store, &result, &why));
        result_release(&result);
    }
    store_close(store);
    for (const char *name = names; program != NULL && *name != '\0'; name++) {
        char text[128];
        snprintf(text, sizeof text, "UPDATE runs SET version = '%s' WHERE run = '%c'", program,
                 *name);
        sql(text);
    }
}

static bool add_run(uint32_t count, const char *const *names, const char *const *values,
                    void *context, struct error *why)
{
    (void)names, (void)count, (void)why;
    strcat(context, values[0]);
    return true;
}

static void assert_shown(const char *runs, const char *program, unsigned hidden)
{
    struct error why = {0};
    char found[16] = "", note[STORE_NOTE], expected[64] = "";
    struct store *store = store_open_shown(path, note, &why);
    assert_non_null(store);
    if (program[0] != '\0' && strcmp(program, spillway_program) != 0) {
        snprintf(expected, sizeof expected, "computed by another program, spillway %s;", program);
    }
    assert_int_equal(strncmp(note, expected, strlen(expected)), 0);
    snprintf(expected, sizeof expected, "%u result", hidden);
    assert_int_equal(strstr(note, expected) != NULL, hidden > 0);
    assert_int_equal(note[0] == '\0',
                     hidden == 0 && (program[0] == '\0' || strcmp(program, spillway_program) == 0));
    assert_true(store_query(store, "SELECT run FROM runs ORDER BY rowid", add_run, found, &why));
    assert_string_equal(found, runs);
    store_close(store);
}

static void own_results_are_all_shown(void **state)
{
    (void)state;
    put("ab", NULL);
    assert_shown("ab", spillway_program, 0);
}

static void own_results_hide_those_of_others(void **state)
{
    (void)state;
    put("ab", "0.0.9+ff");
    put("c", NULL);
    put("d", "0.2.0+aa");
    assert_shown("c", spillway_program, 3);
}

static void without_own_results_the_last_stored_are_shown(void **state)
{
    (void)state;
    put("a", "0.0.9+ff");
    put("bc", "0.0.8+it''s");
    assert_shown("bc", "0.0.8+it's", 1);
}

static void an_empty_file_shows_nothing(void **state)
{
    (void)state;
    put("", NULL);
    assert_shown("", "", 0);
}

/* Ablations and validations also name their program. */
static void a_file_without_runs_has_a_program(void **state)
{
    (void)state;
    put("", NULL);
    sql("INSERT INTO validations(validation, mechanism, version) VALUES ('v', 'lru', '0.0.9+ff')");
    assert_shown("", "0.0.9+ff", 0);
    put("a", NULL);
    assert_shown("a", spillway_program, 1);
}

static void a_row_without_a_program_is_hidden(void **state)
{
    (void)state;
    put("ab", NULL);
    sql("UPDATE runs SET version = NULL WHERE run = 'a'");
    assert_shown("b", spillway_program, 1);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(own_results_are_all_shown),
        IN_FOLDER(own_results_hide_those_of_others),
        IN_FOLDER(without_own_results_the_last_stored_are_shown),
        IN_FOLDER(an_empty_file_shows_nothing),
        IN_FOLDER(a_file_without_runs_has_a_program),
        IN_FOLDER(a_row_without_a_program_is_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
