/* The journal is a rollback journal, not a write-ahead log: between two runs the results are one plain file
 * that can be copied, even after kill -9. A process killed within a transaction leaves a journal beside the
 * file; whoever opens the file next, reader or writer, restores the last whole run from it. */

#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/stop_flag.h"
#include "core/text.h"
#include "policy/policy.h"
#include "predict/result/shown.h"
#include "predict/result/tie.h"
#include "core/version.h"
#include "store/database.h"
#include "store/schema.h"

/* How long a file in use is awaited, also after Ctrl-C; how often it, and the stop flag, is looked at. */
enum { BUSY_MS = 10000, STOPPED_MS = 500, LOOK_MS = 20, LOOK_STEPS = 10000 };

/* What SQLite's result codes mean for the user, extended ones before their class. Others are as they are. */
static const struct {
    int code;
    const char *text;
} complaints[] = {
    {SQLITE_READONLY_DBMOVED, "was moved or deleted while it was in use"},
    {SQLITE_READONLY_DIRECTORY, "needs a journal beside it, but its folder is read-only"},
    {SQLITE_BUSY, "is in use by another program"},
    {SQLITE_FULL, "cannot be written: the disk is full"},
    {SQLITE_READONLY, "cannot be written: it or its folder is read-only"},
    {SQLITE_NOTADB, "is not an SQLite database"},
    {SQLITE_CORRUPT, "is damaged"},
};

/* Fill `why` with SQLite's last error, or with the interruption that caused it. Returns false. */
static bool database_error(struct store *store, struct error *why)
{
    int extended = sqlite3_extended_errcode(store->database), code = extended & 0xff;
    if (store->stop != NULL && !stop_flag_check(store->stop, why)) {
        return false;
    }
    for (size_t i = 0; i < sizeof complaints / sizeof complaints[0]; i++) {
        if (complaints[i].code == extended || complaints[i].code == code) {
            return error_set(why, store->path, 0, "%s", complaints[i].text);
        }
    }
    int number = sqlite3_system_errno(store->database);
    bool system = number != 0 && (code == SQLITE_IOERR || code == SQLITE_CANTOPEN);
    return error_set(why, store->path, 0, "%s%s%s", sqlite3_errmsg(store->database),
                     system ? ": " : "", system ? strerror(number) : "");
}

bool database_run(struct store *store, const char *sql, struct error *why)
{
    return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK ||
           database_error(store, why);
}

static bool database_prepare(struct store *store, const char *sql, sqlite3_stmt **statement,
                             struct error *why)
{
    return sqlite3_prepare_v2(store->database, sql, -1, statement, NULL) == SQLITE_OK ||
           database_error(store, why);
}

bool database_prepare_own(struct store *store, char *sql, sqlite3_stmt **statement,
                          struct error *why)
{
    bool good = sql != NULL && database_prepare(store, sql, statement, why);
    free(sql);
    return good;
}

bool database_step(struct store *store, sqlite3_stmt *statement, bool *row, struct error *why)
{
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE || database_error(store, why);
}

bool database_number(struct store *store, const char *sql, const char *text, int64_t *number,
                     struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = false, good = database_prepare(store, sql, &statement, why);
    if (good && text != NULL) {
        sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    }
    good = good && database_step(store, statement, &row, why);
    *number = good && row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return good;
}

bool database_put_each(struct store *store, const char *sql,
                       void (*bind)(sqlite3_stmt *statement, const void *rows, uint32_t index),
                       const void *rows, uint32_t count, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool more, good = database_prepare(store, sql, &statement, why);
    for (uint32_t i = 0; good && i < count; i++) {
        bind(statement, rows, i);
        good = database_step(store, statement, &more, why);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return good;
}

bool database_end(struct store *store, bool good, struct error *why)
{
    good = good && database_run(store, "COMMIT", why);
    if (!good && !sqlite3_get_autocommit(store->database)) {
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    }
    return good;
}

/* Does the file have this table, with this column (NULL: any)? */
static bool database_has(struct store *store, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(store->database, "main", table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

static bool is_complete(struct store *store)
{
    const char *name, *type;
    bool good = true;
    for (const struct schema_table *table = schema_tables; good && table->name != NULL; table++) {
        for (size_t i = 0; good && (name = schema_column(table, i, &type)) != NULL; i++) {
            good = database_has(store, table->name, name);
        }
    }
    return good;
}

/* Tables, the columns that this version has more, and marks in one transaction; another process may have made
 * them meanwhile. `runs` keep their order. */
static bool complete_file(struct store *store, struct error *why)
{
    static const unsigned char id[] = SCHEMA_APPLICATION;
    static const char make[] = "CREATE TABLE IF NOT EXISTS %t (%d, PRIMARY KEY (%k))",
                      make_by_key[] =
                          "CREATE TABLE IF NOT EXISTS %t (%d, PRIMARY KEY (%k)) WITHOUT ROWID";
    char marks[96];
    snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             id[0] << 24 | id[1] << 16 | id[2] << 8 | id[3], (int)schema_version());
    bool good = database_run(store, "BEGIN IMMEDIATE", why);
    if (good && !is_complete(store)) {
        for (const struct schema_table *table = schema_tables; good && table->name != NULL;
             table++) {
            const char *name, *type;
            char *create = schema_sql(table, table == schema_tables ? make : make_by_key, why);
            good = create != NULL && database_run(store, create, why);
            free(create);
            for (size_t i = 0; good && (name = schema_column(table, i, &type)) != NULL; i++) {
                char add[192];
                snprintf(add, sizeof add, "ALTER TABLE %s ADD COLUMN %s %s", table->name, name,
                         type);
                good = database_has(store, table->name, name) || database_run(store, add, why);
            }
        }
        good = good && database_run(store, marks, why);
    }
    return database_end(store, good, why);
}

/* ---- functions ---- */

/* The functions that SQL has here besides SQLite's own.
 *
 *   quantity(TEXT)                   a scenario's size, share, multiple, time or rate as tables
 *                                    print it, "2.00 GiB" for 2147483648B; any other text as it is
 *   magnitude(TEXT)                  the same as a number in its base unit (bytes, nanoseconds,
 *                                    bytes a second), so that 7500ns is less than 15us; other
 *                                    values as SQLite casts them
 *   alike(TEXT, TEXT)                are the two one text, or one number in whatever spelling, if
 *                                    one of them only has a unit or both the same?
 *   ranged(VALUE, LOW, HIGH, BESIDE) a figure with its range as tables print it, "94 (85–96)"
 *                                    (predict/result/shown.h). Without a range, or with one that has no
 *                                    width: VALUE as it is, or with three digits if BESIDE is not
 *                                    0, because its column has ranges in other rows
 *   policy_words(POLICY)             the policy of a stored scenario as tables name it; null if this
 *                                    program has none of that name
 *   tied(RUN, RUN, COLUMN)           why two runs of the database tie in a column (predict/result/tie.h),
 *                                    "at most 2 % apart"; null if they differ, or if one is not
 *                                    there */

static void quantity_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct quantity quantity;
    char text[32];
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_TEXT &&
        quantity_parse((const char *)sqlite3_value_text(values[0]), &quantity) &&
        quantity.unit != UNIT_COUNT) {
        units_format(quantity.value, quantity.unit, text, sizeof text);
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_value(context, values[0]);
    }
}

/* A quantity in its base unit, so that "7500ns" is less than "15us"; other values as SQLite casts them. */
static void magnitude_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct quantity quantity;
    (void)count;
    bool known = sqlite3_value_type(values[0]) == SQLITE_TEXT &&
                 quantity_parse((const char *)sqlite3_value_text(values[0]), &quantity);
    sqlite3_result_double(context, known ? quantity.value : sqlite3_value_double(values[0]));
}

static void alike_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct quantity a, b;
    const char *one = (const char *)sqlite3_value_text(values[0]);
    const char *other = (const char *)sqlite3_value_text(values[1]);
    (void)count;
    bool is = one != NULL && other != NULL &&
              (strcmp(one, other) == 0 ||
               (quantity_parse(one, &a) && quantity_parse(other, &b) && a.value == b.value &&
                (a.unit == b.unit || a.unit == UNIT_COUNT || b.unit == UNIT_COUNT)));
    sqlite3_result_int(context, is);
}

static double number(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(value);
}

static void ranged_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    char room[SHOWN_TEXT];
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

/* The figure of a run; false if there is no such run. */
static bool sql_read_figure(struct store *store, sqlite3_value *run, const struct column *column,
                            struct tie_figure *out)
{
    struct result result;
    const char *name = (const char *)sqlite3_value_text(run);
    result_init(&result);
    if (name == NULL || !store_get(store, name, &result, ERROR_UNSEEN)) {
        return false;
    }
    bool there = result_cell(&result, COLUMN(status))->set;
    tie_figure(&result, column, out);
    result_release(&result);
    return there;
}

static void tied_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct store *store = sqlite3_user_data(context);
    const char *name = (const char *)sqlite3_value_text(values[2]);
    const struct column *column = name != NULL ? column_find(name) : NULL;
    struct tie_figure a, b;
    (void)count;
    if (column == NULL || !column_is_number(column) ||
        !sql_read_figure(store, values[0], column, &a) ||
        !sql_read_figure(store, values[1], column, &b)) {
        return;
    }
    enum tie tie = figures_tie(&a, &b);
    if (tie != TIE_NONE) {
        sqlite3_result_text(context, tie_reason(tie), -1, SQLITE_STATIC);
    }
}

/* A database loads no plug-in: it may come from anyone. */
static void policy_words_answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    char text[256] = "";
    const char *value = (const char *)sqlite3_value_text(values[0]);
    struct node *node = value != NULL ? node_parse(value, strlen(value), "", ERROR_UNSEEN) : NULL;
    const struct node *named =
        node != NULL && node->kind == NODE_MAP ? node_get(node, "name") : node;
    (void)count;
    if (named != NULL && named->kind == NODE_SCALAR && !plugin_is_named(named->text) &&
        policy_words(node, text, sizeof text)) {
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    }
    node_destroy(node);
}

static const struct {
    const char *name;
    int arguments, how;
    void (*answer)(sqlite3_context *context, int count, sqlite3_value **values);
} functions[] = {
    {"quantity", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, quantity_answer},
    {"magnitude", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, magnitude_answer},
    {"alike", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, alike_answer},
    {"ranged", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, ranged_answer},
    {"policy_words", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, policy_words_answer},
    {"tied", 3, SQLITE_UTF8, tied_answer}, /* it reads runs */
};

static bool functions_create(struct store *store, struct error *why)
{
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof functions / sizeof *functions; i++) {
        code = sqlite3_create_function(store->database, functions[i].name, functions[i].arguments,
                                       functions[i].how, store, functions[i].answer, NULL, NULL);
    }
    return code == SQLITE_OK || database_error(store, why);
}

/* ---- what a file may hold ----
 *
 * A results file from elsewhere is data: nothing in it may run. A trigger or a view is a program that the file
 * brings along; an index, a virtual table or a changed column of one of spillway's tables can make a stored row
 * vanish. SQLite is told to run none of them (https://www.sqlite.org/security.html), and a file that holds one is
 * refused by its name, so that nobody takes an empty answer for a stored one. Plain tables that the user made
 * beside spillway's may stay: no statement of this program names them.
 *
 * SQLite keeps the statement that made an object as it was written, from its name on. A table's statement is
 * "CREATE TABLE NAME ...", a virtual table's begins otherwise; the index of a PRIMARY KEY has no statement. */

#define LONGEST (1 << 26) /* bytes of a text: far more than the largest table of a report */

/* Does the statement make plain columns and the table's key, whatever version's? A constraint, an
 * expression or a generated column has a parenthesis, or is UNIQUE. */
static bool is_own_table(const struct schema_table *table, const char *sql)
{
    char head[64], tail[96];
    int begin = snprintf(head, sizeof head, "CREATE TABLE %s (", table->name);
    snprintf(tail, sizeof tail, "PRIMARY KEY (%s))%s", table->key,
             table == schema_tables ? "" : " WITHOUT ROWID");
    const char *end = strstr(sql, tail);
    return strncmp(sql, head, (size_t)begin) == 0 && end != NULL && end[strlen(tail)] == '\0' &&
           memchr(sql + begin, '(', (size_t)(end - sql - begin)) == NULL &&
           strcasestr(sql, " unique,") == NULL && strcasestr(sql, " unique ") == NULL;
}

/* `row` is one of sqlite_schema: type, name, table, statement. */
static bool check_object(const struct store *store, sqlite3_stmt *row, struct error *why)
{
    const char *at[4];
    for (int i = 0; i < 4; i++) {
        const char *text = (const char *)sqlite3_column_text(row, i);
        at[i] = text != NULL ? text : "";
    }
    const struct schema_table *own = schema_find(at[2]);
    if (strcmp(at[0], "table") == 0 && strncmp(at[3], "CREATE TABLE ", 13) == 0) {
        return own == NULL || is_own_table(own, at[3]) ||
               error_set(why, store->path, 0,
                         "holds results of another version of spillway (table '%.60s')", at[1]);
    }
    if (strcmp(at[0], "index") == 0 && (at[3][0] == '\0' || own == NULL)) {
        return true;
    }
    error_set(why, store->path, 0, "holds the %s '%.60s', which spillway did not make",
              strcmp(at[0], "table") == 0 ? "virtual table" : at[0], at[1]);
    return error_expect(why, "spillway's tables as it makes them, and plain tables beside them");
}

/* Compare what the file holds with what spillway makes: fails, naming the object, at the first one that is not
 * spillway's, and if it should be `whole` at a table that is missing. Columns may be missing or be those of another
 * version. */
static bool guard_check(struct store *store, bool whole, struct error *why)
{
    sqlite3_stmt *row = NULL;
    bool more = true;
    bool good = database_prepare(store, "SELECT type, name, tbl_name, sql FROM main.sqlite_schema",
                                 &row, why);
    while (good && (good = database_step(store, row, &more, why)) && more) {
        good = check_object(store, row, why);
    }
    sqlite3_finalize(row);
    for (const struct schema_table *table = schema_tables; good && whole && table->name != NULL;
         table++) {
        good = database_has(store, table->name, NULL) ||
               error_set(why, store->path, 0, "is damaged: the table '%s' is missing", table->name);
    }
    return good;
}

/* ---- opening ---- */

static bool stopped(const struct store *store)
{
    return store->stop != NULL && atomic_load(&store->stop->raised);
}

/* SQLite asks whether to abandon a statement that runs long. A run that is being stored is put whole. */
static int abandons(void *opaque)
{
    const struct store *store = opaque;
    return stopped(store) && sqlite3_get_autocommit(store->database);
}

/* SQLite asks whether to try again after it found the file in use for the `tries`th time. */
static int waits(void *opaque, int tries)
{
    if (tries >= (stopped(opaque) ? STOPPED_MS : BUSY_MS) / LOOK_MS) {
        return 0;
    }
    sqlite3_sleep(LOOK_MS);
    return 1;
}

static void set_up(struct store *store)
{
    sqlite3_busy_handler(store->database, waits, store);
    sqlite3_progress_handler(store->database, LOOK_STEPS, abandons, store);
    static const struct {
        int option, value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 0},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        sqlite3_db_config(store->database, settings[i].option, settings[i].value, NULL);
    }
    sqlite3_limit(store->database, SQLITE_LIMIT_LENGTH, LONGEST);
    sqlite3_limit(store->database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_exec(store->database, "PRAGMA cell_size_check = 1", NULL, NULL, NULL);
}

/* A reader changes no file: an older one, or one of several programs, is read from a copy of SQLite's. */
static bool read_copy(struct store *store, struct error *why)
{
    sqlite3 *copy = NULL;
    sqlite3_backup *backup = NULL;
    bool good = sqlite3_open("", &copy) == SQLITE_OK &&
                (backup = sqlite3_backup_init(copy, "main", store->database, "main")) != NULL &&
                sqlite3_backup_step(backup, -1) == SQLITE_DONE;
    sqlite3_backup_finish(backup);
    if (!good) {
        sqlite3_close(copy);
        return error_set(why, store->path, 0, "cannot be copied to be read");
    }
    sqlite3_close(store->database);
    store->database = copy;
    set_up(store);
    return functions_create(store, why) && complete_file(store, why);
}

static bool prepare_file(struct store *store, bool writable, struct error *why)
{
    int64_t version;
    set_up(store);
    if (!database_number(store, "PRAGMA user_version", NULL, &version, why) ||
        (version != 0 && !guard_check(store, version == schema_version(), why))) {
        return false;
    }
    if (!writable) {
        return (version != 0 || error_set(why, store->path, 0, "holds no results")) &&
               (is_complete(store) || read_copy(store, why)) &&
               database_run(store, "PRAGMA query_only = 1", why);
    }
    if (sqlite3_db_readonly(store->database, "main") == 1) {
        return error_set(why, store->path, 0, "cannot be written: it is read-only");
    }
    return is_complete(store) || complete_file(store, why);
}

/* A reader also opens for writing if it may: otherwise it could not roll a killed writer back. */
static bool store_open_file(struct store *store, bool writable, struct error *why)
{
    int flags = SQLITE_OPEN_READWRITE | (writable ? SQLITE_OPEN_CREATE : 0);
    const char *before = strchr("/", store->path[0]) != NULL ? "" : "./";
    char *path; /* "./x" keeps SQLite from treating a file ":memory:" specially; "" is no file */
    if (asprintf(&path, "%s%s", before, store->path) < 0) {
        return error_set(why, store->path, 0, "out of memory");
    }
    int code = sqlite3_open_v2(path, &store->database, flags, NULL);
    free(path);
    if (store->database == NULL) {
        return error_set(why, store->path, 0, "out of memory");
    }
    return (code == SQLITE_OK || database_error(store, why)) && functions_create(store, why) &&
           prepare_file(store, writable, why);
}

struct store *store_open(const char *path, bool writable, struct error *why)
{
    if (path != NULL && path[0] == '\0') {
        error_usage(why, NULL, 0, "the name of the results file is empty");
        return NULL;
    }
    if (path != NULL && !schema_check_file(path, writable, why)) {
        return NULL;
    }
    struct store *store = array_zeroed(1, sizeof *store, why);
    if (store != NULL && ((store->path = text_duplicate(path != NULL ? path : "", why)) == NULL ||
                          !store_open_file(store, writable, why))) {
        store_close(store);
        return NULL;
    }
    return store;
}

void store_spare_detail(struct store *store)
{
    store->spares_detail = true;
}

void store_close(struct store *store)
{
    if (store != NULL) {
        sqlite3_close(store->database);
        free(store->path);
        free(store);
    }
}

void store_watch(struct store *store, const struct stop_flag *stop)
{
    store->stop = stop;
}

bool store_has(struct store *store, const char *run, bool *found, struct error *why)
{
    int64_t one;
    bool good = database_number(store, "SELECT 1 FROM runs WHERE run = ?", run, &one, why);
    *found = one != 0;
    return good;
}

/* SQLite's callback cannot return an error, so it is carried here. */
struct query {
    store_row row;
    void *context;
    struct error *why;
    bool refused;
};

static int query_row(void *opaque, int count, char **values, char **names)
{
    struct query *query = opaque;
    query->refused = !query->row((uint32_t)count, (const char *const *)names,
                                 (const char *const *)values, query->context, query->why);
    return query->refused;
}

bool store_query(struct store *store, const char *sql, store_row row, void *context,
                 struct error *why)
{
    struct query query = {.row = row, .context = context, .why = why};
    int code = sqlite3_exec(store->database, sql, query_row, &query, NULL);
    return code == SQLITE_OK || (!query.refused && database_error(store, why));
}

/* ---- whose results are shown ---- */

static const char select_program[] =
    "WITH stored(version, has_runs, last) AS ("
    "  SELECT version, 1, MAX(rowid) FROM main.runs GROUP BY version"
    "  UNION ALL SELECT version, 0, 0 FROM main.ablations"
    "  UNION ALL SELECT version, 0, 0 FROM main.validations)"
    " SELECT version FROM stored WHERE version IS NOT NULL"
    " ORDER BY version = ?1 DESC, has_runs DESC, last DESC, version DESC LIMIT 1";

/* Take the rows of other programs out of a copy of the file, so that queries need not know. */
static bool hide_others(struct store *store, const char *program, uint64_t *hidden,
                        struct error *why)
{
    static const char *const tables[] = {"runs", "validations", "plans", "plan_points",
                                         "ablations"};
    bool good = true, copied = false;
    for (size_t i = 0; good && i < sizeof tables / sizeof *tables; i++) {
        char *where = sqlite3_mprintf("FROM %s WHERE version IS NOT %Q", tables[i], program);
        char *count = sqlite3_mprintf("SELECT COUNT(*) %s", where);
        char *take = sqlite3_mprintf("DELETE %s", where);
        int64_t others = 0;
        good = take != NULL && count != NULL && database_number(store, count, NULL, &others, why) &&
               (others == 0 ||
                ((copied || (copied = read_copy(store, why))) && database_run(store, take, why)));
        *hidden += i < 2 ? (uint64_t)others : 0; /* runs and validations */
        sqlite3_free(where);
        sqlite3_free(count);
        sqlite3_free(take);
    }
    return good && database_run(store, "PRAGMA query_only = 1", why);
}

struct store *store_open_shown(const char *path, char note[STORE_NOTE], struct error *why)
{
    char name[STORE_PROGRAM];
    uint64_t hidden = 0;
    struct store *store = store_open(path, false, why);
    sqlite3_stmt *statement = NULL;
    bool row = false,
         ok = store != NULL && database_prepare(store, select_program, &statement, why);
    note[0] = '\0';
    if (ok) {
        sqlite3_bind_text(statement, 1, spillway_program, -1, SQLITE_STATIC);
        ok = database_step(store, statement, &row, why);
    }
    const char *text = ok && row ? (const char *)sqlite3_column_text(statement, 0) : "";
    text_copy(name, sizeof name, text);
    sqlite3_finalize(statement);
    if (!ok || (name[0] != '\0' && !hide_others(store, name, &hidden, why))) {
        store_close(store);
        return NULL;
    }
    if (name[0] != '\0' && strcmp(name, spillway_program) != 0) {
        text_append(note, STORE_NOTE,
                    "computed by another program, spillway %s; this one, %s, may compute other "
                    "figures",
                    name, spillway_program);
    }
    if (hidden > 0) {
        text_append(note, STORE_NOTE, "%s%" PRIu64 " result%s of other programs %s left out",
                    note[0] != '\0' ? "; " : "", hidden, text_plural(hidden),
                    hidden == 1 ? "is" : "are");
    }
    return store;
}
