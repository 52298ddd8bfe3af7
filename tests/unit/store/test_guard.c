/* Results files from elsewhere: nothing in them runs, and none of them makes the program wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/stop_flag.h"
#include "store/store.h"
#include "store/stored_run.h"
#include "unit/fixture/store_folder.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct error why;

static void put_run(struct store *store, const char *run)
{
    struct result result;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(run), run, &why));
    assert_true(result_text(&result, COLUMN(system), "none", &why));
    strcpy(result.scenario, "{}");
    assert_true(store_put(store, &result, &why));
    result_release(&result);
}

#define LIST "tables/curves.def"
#define ID(name) DATA_##name
#define ARRAY curve_columns
#include "tables/columns.h"

static void put_curve(struct store *store)
{
    struct frame *frame = frame_create(curve_columns, DATA_COUNT, &why);
    frame_add(frame,
              (const char *[]){"c", "x", "0", NULL, NULL, NULL, "batch", NULL, "lru", "lru", "{}"},
              11);
    const struct store_frame rows = {.table = "curves", .frame = frame};
    assert_true(store_put_frames(store, &rows, 1, &why));
    frame_destroy(frame);
}

/* The bytes of a results file with a run and a curve. */
static char *bytes;
static size_t size;

static int make_bytes(void **state)
{
    assert_int_equal(enter(state), 0);
    struct store *store = store_open(path, true, &why);
    assert_non_null(store);
    put_run(store, "r1");
    put_curve(store);
    store_close(store);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes = malloc(1 << 20);
    size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return leave(state);
}

static int free_bytes(void **state)
{
    (void)state;
    free(bytes);
    return 0;
}

/* A copy of it, changed by `statements` behind the program's back. */
static void make_file(const char *statements)
{
    sqlite3 *database;
    char *message = NULL;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    sqlite3_exec(database, statements, NULL, NULL, &message);
    if (message != NULL) {
        fail_msg("%s: %s", statements, message);
    }
    sqlite3_close(database);
}

static void assert_refused(const char *statements, bool writable, const char *message)
{
    make_file(statements);
    struct store *store = store_open(path, writable, &why);
    if (store != NULL) {
        fail_msg("opened: %s", statements);
    }
    assert_string_equal(why.found, message);
    assert_string_equal(why.file, path);
}

/* ---- what could run ---- */

#define SCHEMA(set)                                                                                \
    "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET " set "; PRAGMA writable_schema = 0"

static void what_spillway_did_not_make_is_refused_by_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *statements, *message;
    } cases[] = {
        {"CREATE TRIGGER stop BEFORE INSERT ON runs BEGIN SELECT RAISE(IGNORE); END",
         "holds the trigger 'stop', which spillway did not make"},
        {"CREATE TABLE mine (a); CREATE TRIGGER t AFTER INSERT ON mine BEGIN SELECT 1; END",
         "holds the trigger 't', which spillway did not make"},
        {"CREATE VIEW mine AS SELECT 1", "holds the view 'mine', which spillway did not make"},
        {"DROP TABLE stalls; CREATE VIEW stalls(run, name, us) AS WITH RECURSIVE n(i) AS (SELECT 1"
         " UNION ALL SELECT i + 1 FROM n) SELECT i, i, i FROM n",
         "holds the view 'stalls', which spillway did not make"},
        {"CREATE VIRTUAL TABLE words USING fts5(word)",
         "holds the virtual table 'words', which spillway did not make"},
        {"CREATE INDEX quick ON runs(abs(batch))",
         "holds the index 'quick', which spillway did not make"},
        {"CREATE UNIQUE INDEX one ON runs(system)",
         "holds the index 'one', which spillway did not make"},
        {"ALTER TABLE runs ADD COLUMN big AS (zeroblob(1000000000))",
         "holds results of another version of spillway (table 'runs')"},
        {"DROP TABLE parts; CREATE TABLE parts (run TEXT, name TEXT, us REAL)",
         "holds results of another version of spillway (table 'parts')"},
        {SCHEMA("sql = replace(sql, 'us REAL,', 'us REAL CHECK(1),') WHERE name = 'parts'"),
         "holds results of another version of spillway (table 'parts')"},
        {"DROP TABLE plans; CREATE TABLE Plans (a)",
         "holds results of another version of spillway (table 'Plans')"},
        {"DROP TABLE turns", "is damaged: the table 'turns' is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_refused(cases[i].statements, false, cases[i].message);
        assert_refused(cases[i].statements, true, cases[i].message);
    }
}

static void plain_tables_of_a_user_may_stay(void **state)
{
    (void)state;
    make_file("CREATE TABLE notes (run TEXT UNIQUE, note TEXT); CREATE INDEX n ON notes(note);"
              "INSERT INTO notes VALUES ('r1', x'00'); ANALYZE");
    for (int writable = 0; writable <= 1; writable++) {
        struct store *store = store_open(path, writable, &why);
        assert_non_null(store);
        store_close(store);
    }
}

/* ---- journals ---- */

/* A file in WAL mode needs a log beside it even to be read. */
static void a_log_that_cannot_be_made_is_told(void **state)
{
    (void)state;
    make_file("PRAGMA journal_mode = WAL");
    chmod(path, 0444);
    chmod(folder, 0555);
    uid_t user = geteuid();
    if (user == 0) { /* root may write anything */
        assert_int_equal(seteuid(65534), 0);
    }
    struct store *store = store_open(path, false, &why);
    if (user == 0) {
        assert_int_equal(seteuid(0), 0);
    }
    chmod(folder, 0755);
    assert_null(store);
    assert_string_equal(why.found, "needs a journal beside it, but its folder is read-only");
}

static void what_a_log_left_behind_holds_is_looked_at(void **state)
{
    (void)state;
    sqlite3 *database;
    make_file("PRAGMA journal_mode = WAL");
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "CREATE VIEW late AS SELECT 1", NULL, NULL, NULL);
    assert_null(store_open(path, false, &why)); /* the view is in the log, not yet in the file */
    assert_string_equal(why.found, "holds the view 'late', which spillway did not make");
    sqlite3_close(database);
}

static void a_journal_that_is_no_file_is_refused(void **state)
{
    (void)state;
    static const char *const ends[] = {"-journal", "-wal", "-shm"};
    make_file("");
    for (size_t i = 0; i < 2 * (sizeof ends / sizeof ends[0]); i++) {
        char beside[128];
        snprintf(beside, sizeof beside, "%s%s", path, ends[i / 2]);
        assert_int_equal(mkfifo(beside, 0600), 0);
        assert_null(store_open(path, i % 2 == 0, &why));
        assert_string_equal(why.file, beside);
        assert_string_equal(why.found, "is not a regular file");
        unlink(beside);
    }
}

/* ---- waiting ---- */

static bool take(uint32_t count, const char *const *names, const char *const *values, void *context,
                 struct error *unused)
{
    (void)count, (void)names, (void)values, (void)context, (void)unused;
    return true;
}

static const char long_one[] =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000000)"
    " SELECT MAX(i) FROM n";

static void a_statement_ends_once_the_flag_is_raised(void **state)
{
    (void)state;
    struct stop_flag stop = {.raised = true};
    make_file("");
    struct store *store = store_open(path, false, &why);
    assert_non_null(store);
    store_watch(store, &stop);
    assert_false(store_query(store, long_one, take, NULL, &why));
    assert_string_equal(why.found, "interrupted");
    store_close(store);
}

static void a_run_is_stored_whole_once_the_flag_is_raised(void **state)
{
    (void)state;
    struct stop_flag stop = {.raised = true};
    bool found;
    make_file("");
    struct store *store = store_open(path, true, &why);
    assert_non_null(store);
    store_watch(store, &stop);
    put_run(store, "r2");
    assert_true(store_has(store, "r2", &found, &why) && found);
    store_close(store);
}

static int slept_us;

/* Stands in for the system's sleep, so that a wait costs nothing and is counted. */
static int count_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    slept_us += us;
    return us;
}

static void a_file_in_use_is_not_awaited_once_the_flag_is_raised(void **state)
{
    (void)state;
    struct stop_flag stop = {.raised = true};
    struct result result;
    sqlite3 *other;
    sqlite3_vfs counting = *sqlite3_vfs_find(NULL);
    counting.zName = "counting";
    counting.xSleep = count_sleep;
    make_file("");
    sqlite3_vfs_register(&counting, true);
    struct store *store = store_open(path, true, &why);
    assert_non_null(store);
    store_watch(store, &stop);
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    result_init(&result);
    assert_true(result_text(&result, COLUMN(run), "r2", &why));
    assert_false(store_put(store, &result, &why));
    assert_string_equal(why.found, "interrupted");
    assert_in_range(slept_us, 1, 1000000);
    result_release(&result);
    sqlite3_close(other);
    store_close(store);
    sqlite3_vfs_unregister(&counting);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_spillway_did_not_make_is_refused_by_its_name),
        IN_FOLDER(plain_tables_of_a_user_may_stay),
        IN_FOLDER(a_journal_that_is_no_file_is_refused),
        IN_FOLDER(a_log_that_cannot_be_made_is_told),
        IN_FOLDER(what_a_log_left_behind_holds_is_looked_at),
        IN_FOLDER(a_statement_ends_once_the_flag_is_raised),
        IN_FOLDER(a_run_is_stored_whole_once_the_flag_is_raised),
        IN_FOLDER(a_file_in_use_is_not_awaited_once_the_flag_is_raised),
    };
    return cmocka_run_group_tests(tests, make_bytes, free_bytes);
}
