/* Fuzzes databases: whatever a results file holds, report, plot, compare and merge either read it or
 * refuse it with a reason, and so does a sweep that looks for stored runs.
 *
 * An input changes a copy of a database that the program wrote. Its first byte says who reads the
 * copy. If its second is 'B', changes of bytes follow: three bytes of place, one of value. After
 * anything else come changes of cells: table, row, column, kind, length, and that many bytes of the
 * value.
 */
#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/report/report_query.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLES = 20, MOST_SIZE = 1 << 23 };

static char folder[] = "/tmp/fuzz_database.XXXXXX";
static char path[64], merged[64], requests[64], ids[64];
static char *database; /* the bytes of the one that the program wrote */
static size_t database_size;
static int output; /* the program's own standard output */

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* ---- the database that the program writes ---- */

/* Run a command: true if it succeeds, or else with a reason. */
static bool run(const struct command *command, char *const *words)
{
    struct error why = {.found = ""};
    struct arguments arguments;
    int count = 0;
    while (words[count] != NULL) {
        count++;
    }
    require(arguments_parse(command, count, words, &arguments, &why));
    bool ok = command->run(&arguments, &why);
    require(ok || why.found[0] != '\0');
    arguments_release(&arguments);
    return ok;
}

#define RUN(command, ...) run(&command, (char *[]){__VA_ARGS__, NULL})
#define SMALL                                                                                      \
    "--set", "model=smollm2-135m", "--set", "hardware=a40", "--set", "trace=assumed:hit=90%",      \
        "--set", "steps=2", "--jobs", "1", "--db", path

static void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    require(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void write_inputs(void)
{
    static const uint32_t blocks[] = {1, 2, 1, 3, 2, 1, 4, 1};
    static const char lines[] =
        "{\"queued_ts\": 0, \"first_token_ts\": 1, \"last_token_ts\": 3, \"input_toks\": 9,"
        " \"output_toks\": 5}\n";
    write_file(ids, blocks, sizeof blocks);
    write_file(requests, lines, sizeof lines - 1);
}

static void read_database(void)
{
    FILE *file = fopen(path, "rb");
    database = malloc(MOST_SIZE);
    require(file != NULL && database != NULL);
    database_size = fread(database, 1, MOST_SIZE, file);
    require(feof(file) && fclose(file) == 0);
}

static void leave_folder(void)
{
    char command[64];
    free(database);
    snprintf(command, sizeof command, "rm -r %s", folder);
    require(system(command) == 0);
}

static void make_database(void)
{
    require(mkdtemp(folder) != NULL);
    atexit(leave_folder);
    snprintf(path, sizeof path, "%s/results.db", folder);
    snprintf(merged, sizeof merged, "%s/merged.db", folder);
    snprintf(requests, sizeof requests, "%s/requests.jsonl", folder);
    snprintf(ids, sizeof ids, "%s/ids.u32", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
    write_inputs();
    require(RUN(command_simulate, "--set", "sweep.system=[retroinfer, vllm]", "--set",
                "context=1000", "--replications", "2", SMALL));
    require(RUN(command_simulate, "--set", "system=vllm", "--set", "rate=1", "--set", "limit=2",
                "--set", "prompt=100", "--set", "output=3", SMALL));
    require(RUN(command_ablate, "--set", "system=retroinfer", "--against", "retroinfer-fifo",
                "--set", "context=1000", SMALL));
    require(RUN(command_plan, "--system", "vllm", "--target", "tpot_ms<=60", "--maximise",
                "batch=[1, 2]", "--set", "context=1000", SMALL));
    require(RUN(command_curve, ids, "--policy", "lru", "--sizes", "1,2", "--db", path));
    read_database();
}

/* ---- what an input changes ---- */

/* The name of table or column number `which`, of those that `sql` lists. */
static bool pick(sqlite3 *opened, const char *sql, uint32_t which, char name[64])
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(opened, sql, -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_int(statement, 1, (int)which);
        found = sqlite3_step(statement) == SQLITE_ROW;
        if (found) {
            snprintf(name, 64, "%s", (const char *)sqlite3_column_text(statement, 0));
        }
    }
    sqlite3_finalize(statement);
    return found;
}

static void bind(sqlite3_stmt *statement, uint8_t kind, const uint8_t *bytes, size_t size)
{
    char text[256] = "";
    memcpy(text, bytes, size < sizeof text ? size : sizeof text - 1);
    switch (kind % 5) {
    case 0:
        sqlite3_bind_null(statement, 1);
        break;
    case 1:
        sqlite3_bind_int64(statement, 1, strtoll(text, NULL, 10));
        break;
    case 2:
        sqlite3_bind_double(statement, 1, strtod(text, NULL));
        break;
    case 3:
        sqlite3_bind_blob(statement, 1, bytes, (int)size, SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_bind_text(statement, 1, (const char *)bytes, (int)size, SQLITE_TRANSIENT);
    }
}

/* A change that a key forbids is left out. */
static void change_cell(sqlite3 *opened, const uint8_t head[5], const uint8_t *value)
{
    char table[64], column[64], key[64], columns[128], sql[512];
    sqlite3_stmt *statement = NULL;
    if (!pick(opened, "SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1 OFFSET ?",
              head[0] % TABLES, table)) {
        return;
    }
    snprintf(columns, sizeof columns, "SELECT name FROM pragma_table_info('%s') WHERE cid = ?",
             table);
    if (!pick(opened, columns, head[2], column) || !pick(opened, columns, 0, key)) {
        return;
    }
    snprintf(sql, sizeof sql,
             "UPDATE OR IGNORE %s SET %s = ?1 WHERE %s = (SELECT %s FROM %s LIMIT 1 OFFSET %d)",
             table, column, key, key, table, head[1] % 8);
    if (sqlite3_prepare_v2(opened, sql, -1, &statement, NULL) == SQLITE_OK) {
        bind(statement, head[3], value, head[4]);
        sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
}

static void change_cells(const uint8_t *data, size_t size)
{
    sqlite3 *opened;
    require(sqlite3_open(path, &opened) == SQLITE_OK);
    sqlite3_exec(opened, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
    while (size >= 5 && size - 5 >= data[4]) {
        change_cell(opened, data, data + 5);
        size -= 5 + (size_t)data[4];
        data += 5 + data[4];
    }
    require(sqlite3_close(opened) == SQLITE_OK);
}

static void make_copy(const uint8_t *data, size_t size)
{
    char journal[80];
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(journal);
    unlink(merged);
    if (size > 0 && data[0] == 'B') {
        char *copy = malloc(database_size);
        require(copy != NULL);
        memcpy(copy, database, database_size);
        for (size_t i = 1; i + 4 <= size; i += 4) {
            size_t place = data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16;
            copy[place % database_size] = (char)data[i + 3];
        }
        write_file(path, copy, database_size);
        free(copy);
    } else {
        write_file(path, database, database_size);
        change_cells(data, size);
    }
}

/* ---- who reads it ---- */

static void read_pictures(void)
{
    struct error why = {.found = ""};
    struct store *store = store_open(path, false, &why);
    require(store != NULL || why.found[0] != '\0');
    for (const struct picture_kind *kind = picture_kinds; store != NULL && kind->name; kind++) {
        struct picture picture;
        why.found[0] = '\0';
        if (picture_read(store, kind, NULL, 0, &picture, &why)) {
            picture_release(&picture);
        } else {
            require(why.found[0] != '\0');
        }
    }
    store_close(store);
}

static void read_copy(uint8_t reader)
{
    switch (reader % 5) {
    case 0:
        RUN(command_report, path, "-o", "/dev/null");
        break;
    case 1:
        RUN(command_compare, path, "--measured", requests);
        break;
    case 2:
        read_pictures();
        break;
    case 3:
        RUN(command_merge, path, "-o", merged);
        break;
    default:
        RUN(command_simulate, "--set", "sweep.system=[retroinfer, vllm]", "--set", "context=1000",
            "--replications", "2", SMALL);
    }
}

/* What commands print is not what this program prints. */
static void be_silent(bool silent)
{
    fflush(stdout);
    if (silent) {
        int nothing = open("/dev/null", O_WRONLY);
        output = dup(STDOUT_FILENO);
        require(nothing >= 0 && output >= 0 && dup2(nothing, STDOUT_FILENO) >= 0);
        close(nothing);
    } else {
        require(dup2(output, STDOUT_FILENO) >= 0);
        close(output);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    be_silent(true);
    if (database == NULL) {
        make_database();
    }
    if (size > 2) {
        make_copy(data + 1, size - 1);
        read_copy(data[0]);
    }
    be_silent(false);
    return 0;
}
