/* The store: what goes in comes out, whole runs only, and no file that is not ours is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/result/result.h"
#include "store/schema.h"
#include "store/store.h"
#include "unit/fixture/store_folder.h"

#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- runs ---- */

/* A run with something in every column; `salt` tells two of them apart. */
static void fill(struct result *result, const char *run, int salt)
{
    struct error why;
    result_init(result);
    for (uint32_t c = 0; c < column_count; c++) {
        const struct column *column = column_rows[c];
        if (column->holds != HOLDS_VALUE) {
            result->cells[c].set = column->holds == HOLDS_BAND;
        } else if (column->unit == UNIT_TEXT) {
            assert_true(result_text(result, column, "it's \"text\", → quoted", &why));
        } else if (unit_is_whole(column->unit) || unit_kinds[column->unit].ns > 0) {
            result_integer(result, column, 1000000007LL * c + salt);
        } else {
            result_real(result, column, salt + c / 3.0);
        }
    }
    assert_true(result_text(result, COLUMN(run), run, &why));
    result->part_count = 2;
    result->parts[0] = (struct result_item){.name = "link", .ns = 1490125 + salt};
    result->parts[1] = (struct result_item){.name = "cpu_attention", .ns = 1};
    result->stall_count = 1;
    result->stalls[0] = (struct result_item){.name = "sync", .ns = 999};
    result->basis_count = 2;
    result->basis[0] = (struct result_item){.name = "published", .share = 0.1};
    result->basis[1] = (struct result_item){.name = "assumed", .share = 0.9};
    result->band[0][0] = -0.2;
    result->band[0][1] = 1.0 / 3;
    result->layer_count = 2;
    result->layers = calloc(2, sizeof *result->layers);
    result->layers[0] = (struct result_layer){1490125, NAN, 0};
    result->layers[1] = (struct result_layer){7, 0.93, 1LL << 40};
    result->step_count = 1;
    result->steps = calloc(1, sizeof *result->steps);
    result->steps[0] = (struct result_step){123, 0.5, 17, 0.875};
    result->family_count = 2;
    for (int i = 0; column_ranged((uint32_t)i) != NULL; i++) {
        result->families[0].values[i] = salt + i;
        result->families[1].values[i] = i == 0 ? (double)NAN : i / 3.0;
    }
    strcpy(result->families[0].name, "one");
    strcpy(result->families[1].name, "two");
    strcpy(result->scenario_hash, "0123456789abcdef");
    strcpy(result->plan_hash, "fedcba9876543210");
    strcpy(result->scenario, "{\"batch\":1,\"model\":\"x\"}");
    result_note(result, note_make(NOTE_short_of_hbm, note_bytes(3ULL << 30),
                                  note_bytes((uint64_t)salt), note_flag(true)));
    result_note(result, note_make(NOTE_engine_by_another, note_text("it's \"it\""), note_text("→"),
                                  note_text("latest")));
    result_note(result, note_make(NOTE_sessions_too_few, note_real(1.0 / 3), note_real(salt)));
}

static void put(struct store *store, const char *run, int salt)
{
    struct error why = {0};
    struct result result;
    fill(&result, run, salt);
    bool ok = store_put(store, &result, &why);
    if (!ok) {
        fail_msg("store_put: %s", why.found);
    }
    result_release(&result);
}

static struct store *open_store(bool writable)
{
    struct error why = {0};
    struct store *store = store_open(path, writable, &why);
    if (store == NULL) {
        fail_msg("store_open: %s", why.found);
    }
    return store;
}

static void assert_same_result(const struct result *a, const struct result *b)
{
    char one[CELL_SIZE], other[CELL_SIZE];
    for (uint32_t c = 0; c < column_count; c++) {
        const char *text = cell_text(a, column_rows[c], one);
        const char *back = cell_text(b, column_rows[c], other);
        if (text == NULL || back == NULL) {
            assert_ptr_equal(text, back);
        } else {
            assert_string_equal(text, back);
        }
    }
    for (size_t i = 0; i < schema_tables->ends; i++) {
        const struct schema_field *field = &schema_tables->end[i];
        assert_true(field->as != AS_RESULTS ||
                    strcmp((const char *)a + field->at, (const char *)b + field->at) == 0);
    }
    assert_int_equal(a->family_count, b->family_count);
    for (uint32_t i = 0; i < a->family_count; i++) {
        assert_string_equal(a->families[i].name, b->families[i].name);
        for (int f = 0; f < RANGES_MOST; f++) {
            double x = a->families[i].values[f], y = b->families[i].values[f];
            assert_true(x == y || (isnan(x) && isnan(y)));
        }
    }
}

static void assert_comes_back(struct store *store, const char *run, int salt)
{
    struct error why = {0};
    struct result expected, got;
    fill(&expected, run, salt);
    if (!store_get(store, run, &got, &why)) {
        fail_msg("store_get: %s", why.found);
    }
    assert_same_result(&expected, &got);
    result_release(&expected);
    result_release(&got);
}

/* Run SQL on the file behind the store's back. */
static void sql(const char *statements)
{
    sqlite3 *database;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, statements, NULL, NULL, &message);
    if (message != NULL) {
        fail_msg("%s: %s", statements, message);
    }
    sqlite3_close(database);
}

/* ---- round trips ---- */

static void every_column_and_detail_comes_back(void **state)
{
    (void)state;
    struct store *store = open_store(true);
    put(store, "a000000000000001", 1);
    put(store, "a000000000000002", 2);
    assert_comes_back(store, "a000000000000001", 1);
    store_close(store);
    store = open_store(false);
    assert_comes_back(store, "a000000000000002", 2);
    store_close(store);
}

static void what_was_not_set_is_null(void **state)
{
    (void)state;
    struct error why;
    struct result result, got;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(run), "b", &why));
    result_real(&result, COLUMN(hit_ratio), NAN);
    result.cells[COLUMN(stalls_us)->index].set =
        true; /* nothing stalls, which is not the same as unknown */
    struct store *store = open_store(true);
    assert_true(store_put(store, &result, &why));
    assert_true(store_get(store, "b", &got, &why));
    for (uint32_t i = 0; i < column_count; i++) {
        const struct column *c = column_rows[i];
        assert_int_equal(result_has(&got, c),
                         c == COLUMN(run) || c == COLUMN(stalls_us) || c == COLUMN(notes));
    }
    assert_same_result(&result, &got);
    result_release(&got);
    result_release(&result);
    store_close(store);
}

static void times_are_exact_to_the_nanosecond(void **state)
{
    (void)state;
    static const int64_t times[] = {0, 1, 999, 1000, 1490125, 86400000000000, (1LL << 51) - 1};
    struct error why;
    struct store *store = open_store(true);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char run[8];
        struct result result, got;
        snprintf(run, sizeof run, "t%zu", i);
        fill(&result, run, 0);
        result_integer(&result, COLUMN(step_us), times[i]);
        result_integer(&result, COLUMN(tpot_ms), times[i]);
        result.parts[0].ns = times[i];
        assert_true(store_put(store, &result, &why));
        assert_true(store_get(store, run, &got, &why));
        assert_int_equal(result_cell(&got, COLUMN(step_us))->integer, times[i]);
        assert_int_equal(result_cell(&got, COLUMN(tpot_ms))->integer, times[i]);
        assert_int_equal(got.parts[0].ns, times[i]);
        result_release(&result);
        result_release(&got);
    }
    store_close(store);
}

static void cells_have_one_spelling(void **state)
{
    (void)state;
    const struct {
        const struct column *column;
        const char *text;
    } expected[] = {
        {COLUMN(parts_us), "{\"link\":1490.125,\"cpu_attention\":0.001}"},
        {COLUMN(stalls_us), "{\"sync\":0.999}"},
        {COLUMN(basis_share), "{\"published\":0.1,\"assumed\":0.9}"},
        {COLUMN(error_band), "[-0.2,0.3333333333333333]"},
        {COLUMN(step_us), "1490.125"},
        {COLUMN(tpot_ms), "1.490125"},
        {COLUMN(hit_ratio), "0.931"},
        {COLUMN(batch), "64"},
    };
    struct result result;
    char buffer[CELL_SIZE];
    fill(&result, "c", 0);
    result_integer(&result, COLUMN(step_us), 1490125);
    result_integer(&result, COLUMN(tpot_ms), 1490125);
    result_integer(&result, COLUMN(batch), 64);
    result_real(&result, COLUMN(hit_ratio), 0.931);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_string_equal(cell_text(&result, expected[i].column, buffer), expected[i].text);
    }
    result_release(&result);
}

/* ---- one run, once ---- */

static void a_run_that_is_there_stays_as_it_is(void **state)
{
    (void)state;
    struct store *store = open_store(true);
    put(store, "d", 1);
    put(store, "d", 2);
    assert_comes_back(store, "d", 1);
    store_close(store);
}

static void has_finds_whole_runs_only(void **state)
{
    (void)state;
    struct error why;
    bool found = true;
    struct store *store = open_store(true);
    assert_true(store_has(store, "e", &found, &why));
    assert_false(found);
    put(store, "e", 1);
    assert_true(store_has(store, "e", &found, &why));
    assert_true(found);
    store_close(store);
}

static void a_put_that_fails_leaves_nothing_of_its_run(void **state)
{
    (void)state;
    struct error why;
    bool found;
    struct store *store = open_store(true);
    put(store, "f", 1);
    struct result twice;
    fill(&twice, "g", 1);
    twice.parts[1].name = twice.parts[0].name; /* the key of table `parts` forbids it */
    assert_false(store_put(store, &twice, &why));
    assert_true(store_has(store, "g", &found, &why));
    assert_false(found);
    put(store, "h", 2); /* the store still works */
    assert_comes_back(store, "f", 1);
    result_release(&twice);
    store_close(store);
}

static void a_full_disk_is_an_error_and_loses_nothing(void **state)
{
    (void)state;
    struct error why;
    struct rlimit old, small = {.rlim_cur = 200000};
    struct store *store = open_store(true);
    put(store, "i", 1);
    struct result large;
    fill(&large, "j", 1);
    large.step_count = 20000;
    free(large.steps);
    large.steps = calloc(large.step_count, sizeof *large.steps);
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    bool ok = store_put(store, &large, &why);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(ok);
    assert_string_equal(why.file, path);
    bool found = true;
    assert_true(store_has(store, "j", &found, &why));
    assert_false(found);
    assert_comes_back(store, "i", 1);
    assert_true(store_put(store, &large, &why));
    result_release(&large);
    store_close(store);
}

/* Open a store and put a run, with room for `bytes` in any file. */
static bool put_within(const char *run, rlim_t bytes)
{
    struct error why;
    struct result result;
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    fill(&result, run, 1);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = bytes, .rlim_max = old.rlim_max});
    struct store *store = store_open(path, true, &why);
    bool ok = store != NULL && store_put(store, &result, &why);
    store_close(store);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    result_release(&result);
    return ok;
}

/* From no room at all to enough: what is left of a file takes results later. */
static void a_new_file_without_room_takes_results_later(void **state)
{
    (void)state;
    uint32_t failed = 0;
    for (rlim_t room = 0; !put_within("k", room); room += 4096) {
        failed++;
    }
    assert_true(failed > 15); /* some of them after the tables were made */
    struct store *store = open_store(false);
    assert_comes_back(store, "k", 1);
    store_close(store);
}

static void a_file_deleted_while_in_use_is_an_error(void **state)
{
    (void)state;
    struct error why;
    struct store *store = open_store(true);
    put(store, "p", 1);
    unlink(path);
    struct result result;
    fill(&result, "q", 1);
    assert_false(store_put(store, &result, &why));
    assert_string_equal(why.file, path);
    assert_string_equal(why.found, "was moved or deleted while it was in use");
    result_release(&result);
    store_close(store);
}

static void a_killed_writer_is_rolled_back_by_a_reader(void **state)
{
    (void)state;
    struct store *store = open_store(true);
    put(store, "k", 1);
    store_close(store);
    pid_t child = fork();
    if (child == 0) { /* half a run, spilled into the file before the commit */
        sqlite3 *database;
        sqlite3_open(path, &database);
        sqlite3_exec(database,
                     "PRAGMA cache_size = 1; BEGIN; UPDATE runs SET message = 'torn';"
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
                     "INSERT INTO steps SELECT 'torn', i, 0, 0, 0, 0 FROM n",
                     NULL, NULL, NULL);
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    char journal[128];
    snprintf(journal, sizeof journal, "%s-journal", path);
    assert_int_equal(access(journal, F_OK), 0);
    store = open_store(false);
    assert_comes_back(store, "k", 1);
    store_close(store);
    assert_int_equal(access(journal, F_OK), -1);
}

/* ---- files that are not ours ---- */

static void write_file(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static char *read_file(size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void assert_refused_untouched(const char *message)
{
    size_t before_size, after_size;
    char *before = read_file(&before_size);
    for (int writable = 0; writable <= 1; writable++) {
        struct error why = {0};
        assert_null(store_open(path, writable, &why));
        assert_string_equal(why.found, message);
        assert_string_equal(why.file, path);
    }
    char *after = read_file(&after_size);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, before_size);
    free(before);
    free(after);
}

static void other_files_are_refused_and_left_alone(void **state)
{
    (void)state;
    write_file("model: llama\n", 13);
    assert_refused_untouched("is not an SQLite database; it was not changed");
    char binary[4096] = {0x7f, 'E', 'L', 'F'};
    write_file(binary, sizeof binary);
    assert_refused_untouched("is not an SQLite database; it was not changed");
    write_file("SQLite format 3", 16); /* cut off behind the magic */
    assert_refused_untouched("is not an SQLite database; it was not changed");
    unlink(path);
    sql("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)");
    assert_refused_untouched("is a database of another program; it was not changed");
    sql("PRAGMA journal_mode = WAL; PRAGMA application_id = 252006675");
    assert_refused_untouched("is a database of another program; it was not changed");
}

/* A file with a run as a version without some columns and a table left it. */
#define OLDER                                                                                      \
    "ALTER TABLE runs DROP COLUMN host_saves_ms; ALTER TABLE runs DROP COLUMN step_us_high;"       \
    "ALTER TABLE series DROP COLUMN blocks; ALTER TABLE families DROP COLUMN step_us;"             \
    "DROP TABLE plan_points; ALTER TABLE steps ADD COLUMN heat REAL; PRAGMA user_version = "

static void make_older(const char *version)
{
    char statements[512];
    unlink(path);
    struct store *store = open_store(true);
    put(store, "a", 1);
    store_close(store);
    snprintf(statements, sizeof statements, OLDER "%s", version);
    sql(statements);
}

/* All of a run but what the older file had no column for. */
static void assert_older_run(struct store *store)
{
    struct error why = {0};
    struct result expected, got;
    fill(&expected, "a", 1);
    const struct column *const dropped[] = {COLUMN(host_saves_ms), COLUMN(step_us_high)};
    for (int i = 0; i < 2; i++) {
        expected.cells[dropped[i]->index].set = false;
    }
    for (int f = 0; f < 2; f++) {
        expected.families[f].values[COLUMN(step_us)->range - 1] = NAN;
    }
    if (!store_get(store, "a", &got, &why)) {
        fail_msg("store_get: %s", why.found);
    }
    assert_same_result(&expected, &got);
    result_release(&expected);
    result_release(&got);
}

static void an_older_file_is_read_as_it_is_and_added_to(void **state)
{
    (void)state;
    static const char *const versions[] = {"7", "1534481489", "99999"};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        size_t before_size, after_size;
        make_older(versions[i]);
        char *before = read_file(&before_size);
        struct store *store = open_store(false);
        assert_older_run(store);
        store_close(store);
        char *after = read_file(&after_size);
        assert_int_equal(before_size, after_size);
        assert_memory_equal(before, after, before_size);
        free(before);
        free(after);
        store = open_store(true);
        assert_older_run(store);
        put(store, "b", 2);
        store_close(store);
        store = open_store(false);
        assert_older_run(store);
        assert_comes_back(store, "b", 2);
        store_close(store);
    }
}

/* From no room at all to enough: either nothing was added to the file, or all. */
static void an_older_file_is_completed_whole_or_not_at_all(void **state)
{
    (void)state;
    uint32_t failed = 0;
    bool good = false;
    for (rlim_t room = 0; !good; room += 4096) {
        struct error why;
        struct rlimit old;
        make_older("7");
        getrlimit(RLIMIT_FSIZE, &old);
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = room, .rlim_max = old.rlim_max});
        struct store *store = store_open(path, true, &why);
        setrlimit(RLIMIT_FSIZE, &old);
        signal(SIGXFSZ, SIG_DFL);
        good = store != NULL;
        failed += !good;
        store_close(store);
        store = open_store(false);
        assert_older_run(store);
        store_close(store);
    }
    assert_true(failed > 3);
}

static void a_file_of_this_version_without_a_table_is_damaged(void **state)
{
    (void)state;
    struct error why = {0};
    char version[16];
    snprintf(version, sizeof version, "%d", (int)schema_version());
    make_older(version);
    assert_null(store_open(path, true, &why));
    assert_string_equal(why.found, "is damaged: the table 'plan_points' is missing");
}

static void an_empty_file_can_be_written_but_not_read(void **state)
{
    (void)state;
    struct error why;
    write_file("", 0);
    assert_null(store_open(path, false, &why));
    assert_string_equal(why.found, "is empty: it holds no results");
    struct store *store = open_store(true);
    put(store, "m", 1);
    assert_comes_back(store, "m", 1);
    store_close(store);
}

static void odd_paths_are_one_clear_message(void **state)
{
    (void)state;
    char fifo[96], below[128];
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    snprintf(below, sizeof below, "%s/no/results.db", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const struct {
        const char *path;
        bool writable;
        const char *message;
    } cases[] = {
        {folder, true, "is not a regular file"},
        {folder, false, "is not a regular file"},
        {fifo, true, "is not a regular file"},
        {path, false, "cannot be opened: No such file or directory"},
        {below, true, "unable to open database file: No such file or directory"},
        {"", true, "the name of the results file is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error why = {0};
        assert_null(store_open(cases[i].path, cases[i].writable, &why));
        assert_string_equal(why.found, cases[i].message);
    }
}

static void a_read_only_file_can_be_read_but_not_written(void **state)
{
    (void)state;
    struct error why;
    struct store *store = open_store(true);
    put(store, "n", 1);
    store_close(store);
    chmod(path, 0444);
    chmod(folder, 0555);
    uid_t user = geteuid();
    if (user == 0) { /* root may write anything */
        assert_int_equal(chown(folder, 65534, 65534), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    store = store_open(path, true, &why);
    struct store *reader = store_open(path, false, &why);
    if (user == 0) {
        assert_int_equal(seteuid(0), 0);
    }
    chmod(folder, 0755);
    assert_null(store);
    assert_string_equal(why.found, "cannot be written: it is read-only");
    assert_non_null(reader);
    assert_comes_back(reader, "n", 1);
    store_close(reader);
}

static void a_damaged_run_is_an_error(void **state)
{
    (void)state;
    static const char *const harm[] = {
        "UPDATE runs SET parts_us = '{\"link\":'",
        "UPDATE runs SET parts_us = '[1,2]'",
        "UPDATE runs SET parts_us = '{\"li\\u0000nk\":1}'",
        "UPDATE runs SET parts_us = '{\"../link\":1}'",
        "UPDATE runs SET parts_us = '{\"link\":1e17}'",
        "UPDATE runs SET stalls_us = '{\"link\":\"x\"}'",
        "UPDATE runs SET error_band = '[1]'",
        "UPDATE runs SET notes = '[{\"note\":'",
        "UPDATE runs SET notes = '[{\"text\":\"unheard\"}]'",
        "UPDATE runs SET step_us = 'soon'",
        "UPDATE runs SET step_us = 1e300",
        "UPDATE runs SET batch = 1.5",
        "UPDATE runs SET batch = x'00'",
        "UPDATE runs SET scenario_hash = NULL",
        "UPDATE runs SET scenario_hash = '0123456789abcdef0'",
        "UPDATE families SET family = NULL",
        "UPDATE families SET family = 'abcdefghijklmnopqrstuvwxyz0123456789'",
        "UPDATE families SET step_us = 'soon'",
    };
    for (size_t i = 0; i < sizeof harm / sizeof harm[0]; i++) {
        struct error why;
        struct result result;
        struct store *store = open_store(true);
        put(store, "o", 1);
        sql(harm[i]);
        if (store_get(store, "o", &result, &why)) {
            fail_msg("not noticed: %s", harm[i]);
        }
        assert_non_null(strstr(why.found, "run o is damaged"));
        store_close(store);
        unlink(path);
    }
}

/* ---- queries ---- */

static bool append(uint32_t count, const char *const *names, const char *const *values,
                   void *context, struct error *why)
{
    char *text = context;
    for (uint32_t i = 0; i < count; i++) {
        sprintf(text + strlen(text), "%s=%s ", names[i], values[i] == NULL ? "null" : values[i]);
    }
    return strlen(text) < 65 || error_set(why, NULL, 0, "enough");
}

static void queries_give_rows_and_stop_when_told(void **state)
{
    (void)state;
    struct error why = {0};
    char text[256] = "";
    struct store *store = open_store(true);
    put(store, "p", 0);
    assert_true(store_query(store, "SELECT name, us, NULL AS x FROM parts WHERE run = 'p'", append,
                            text, &why));
    assert_string_equal(text, "name=cpu_attention us=0.001 x=null name=link us=1490.125 x=null ");
    assert_false(store_query(store, "SELECT 1 FROM parts", append, text, &why));
    assert_string_equal(why.found, "enough");
    assert_false(store_query(store, "SELECT absent", append, text, &why));
    assert_string_equal(why.found, "no such column: absent");
    store_close(store);
}

static void a_store_that_spares_detail_gives_runs_back(void **state)
{
    (void)state;
    struct error why = {0};
    char text[256] = "";
    struct store *store = open_store(true);
    store_spare_detail(store);
    put(store, "p", 3);
    assert_comes_back(store, "p", 3);
    assert_true(store_query(store, "SELECT count(*) AS n FROM steps", append, text, &why));
    assert_string_equal(text, "n=0 ");
    store_close(store);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_column_and_detail_comes_back),
        IN_FOLDER(what_was_not_set_is_null),
        IN_FOLDER(a_store_that_spares_detail_gives_runs_back),
        IN_FOLDER(times_are_exact_to_the_nanosecond),
        cmocka_unit_test(cells_have_one_spelling),
        IN_FOLDER(a_run_that_is_there_stays_as_it_is),
        IN_FOLDER(has_finds_whole_runs_only),
        IN_FOLDER(a_put_that_fails_leaves_nothing_of_its_run),
        IN_FOLDER(a_full_disk_is_an_error_and_loses_nothing),
        IN_FOLDER(a_new_file_without_room_takes_results_later),
        IN_FOLDER(a_file_deleted_while_in_use_is_an_error),
        IN_FOLDER(a_killed_writer_is_rolled_back_by_a_reader),
        IN_FOLDER(other_files_are_refused_and_left_alone),
        IN_FOLDER(an_older_file_is_read_as_it_is_and_added_to),
        IN_FOLDER(an_older_file_is_completed_whole_or_not_at_all),
        IN_FOLDER(a_file_of_this_version_without_a_table_is_damaged),
        IN_FOLDER(an_empty_file_can_be_written_but_not_read),
        IN_FOLDER(odd_paths_are_one_clear_message),
        IN_FOLDER(a_read_only_file_can_be_read_but_not_written),
        IN_FOLDER(a_damaged_run_is_an_error),
        IN_FOLDER(queries_give_rows_and_stop_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
