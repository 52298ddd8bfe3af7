#include "store/schema.h"

#include "base/regular.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

/* The SQLite type of a column. Items, bands and notes are JSON texts. */
#define SQL_TEXT " TEXT"
#define SQL_INTEGER " INTEGER"
#define SQL_WHOLE " INTEGER"
#define SQL_COUNT " REAL"
#define SQL_REAL " REAL"
#define SQL_US " REAL"
#define SQL_MS " REAL"
#define SQL_PARTS " TEXT"
#define SQL_SHARES " TEXT"
#define SQL_BAND " TEXT"
#define SQL_FLAG " INTEGER"
#define SQL_JSON " TEXT"
#define SQL_SHARE " REAL"
#define SQL_PERCENT " REAL"
#define SQL_CHANGE " REAL"
#define SQL_DURATION " REAL"
#define SQL_TIMES " REAL"
#define SQL_NOTES " TEXT"

const char schema_tables[] =
    "CREATE TABLE runs (\n"
#define COLUMN(id, name, type, what) "  " name SQL_##type ",\n"
#include "result/columns.def"
#undef COLUMN
    "  scenario_hash TEXT, trace_hash TEXT, profile_hash TEXT, plan_hash TEXT,\n"
    "  scenario TEXT, message TEXT, version TEXT,\n"
    "  PRIMARY KEY (run));\n"
    "CREATE TABLE parts (run TEXT, name TEXT, us REAL, PRIMARY KEY (run, name)) WITHOUT ROWID;\n"
    "CREATE TABLE stalls (run TEXT, name TEXT, us REAL, PRIMARY KEY (run, name)) WITHOUT ROWID;\n"
    "CREATE TABLE layers (run TEXT, layer INTEGER, us REAL, hit_ratio REAL, h2d_bytes INTEGER,\n"
    "  PRIMARY KEY (run, layer)) WITHOUT ROWID;\n"
    "CREATE TABLE steps (run TEXT, step INTEGER, us REAL, hit_ratio REAL, h2d_bytes INTEGER,\n"
    "  mass_recall REAL, PRIMARY KEY (run, step)) WITHOUT ROWID;\n"
    "CREATE TABLE requests (run TEXT, request INTEGER, replica INTEGER, prompt INTEGER,\n"
    "  output INTEGER, gpu_tokens INTEGER, host_tokens INTEGER, disk_tokens INTEGER,\n"
    "  pool_tokens INTEGER, preemptions INTEGER,\n"
    "  arrived_ms REAL, scheduled_ms REAL, first_token_ms REAL, end_ms REAL,\n"
    "  PRIMARY KEY (run, request)) WITHOUT ROWID;\n"
    "CREATE TABLE waits (run TEXT, request INTEGER, name TEXT, ms REAL,\n"
    "  PRIMARY KEY (run, request, name)) WITHOUT ROWID;\n"
    "CREATE TABLE series (run TEXT, bin INTEGER, start_ms REAL, ms REAL,\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "result/series.def"
#undef COLUMN
    "  PRIMARY KEY (run, bin)) WITHOUT ROWID;\n"
    "CREATE TABLE replications (run TEXT, ranges TEXT, replication INTEGER,\n"
#define DRAWN(id, name) "  " name " REAL,\n"
#include "result/drawn.def"
#undef DRAWN
    "  PRIMARY KEY (run, ranges, replication)) WITHOUT ROWID;\n"
    "CREATE TABLE families (run TEXT, place INTEGER, family TEXT,\n"
#define COLUMN(id, name, type, what)
#define RANGED(id, name, type, what) "  " name " REAL,\n"
#include "result/columns.def"
#undef COLUMN
    "  PRIMARY KEY (run, place)) WITHOUT ROWID;\n"
    "CREATE TABLE masses (run TEXT, place INTEGER, step INTEGER, mass_recall REAL,\n"
    "  PRIMARY KEY (run, place, step)) WITHOUT ROWID;\n"
    "CREATE TABLE curves (\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "answer/curves.def"
#undef COLUMN
    "  PRIMARY KEY (curve)) WITHOUT ROWID;\n"
    "CREATE TABLE curve_points (curve TEXT, size INTEGER, misses INTEGER,\n"
    "  PRIMARY KEY (curve, size)) WITHOUT ROWID;\n"
    "CREATE TABLE shards (scenario TEXT, points INTEGER, number INTEGER, count INTEGER,\n"
    "  PRIMARY KEY (scenario, number, count)) WITHOUT ROWID;\n"
    "CREATE TABLE validations (\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "answer/validations.def"
#undef COLUMN
    "  version TEXT, PRIMARY KEY (validation, mechanism)) WITHOUT ROWID;\n"
    "CREATE TABLE ablations (\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "answer/ablations.def"
#undef COLUMN
    "  version TEXT, PRIMARY KEY (ablation, place)) WITHOUT ROWID;\n"
    "CREATE TABLE plans (\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "answer/plans.def"
#undef COLUMN
    "  version TEXT, PRIMARY KEY (plan, place)) WITHOUT ROWID;\n"
    "CREATE TABLE plan_points (\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "answer/plan_points.def"
#undef COLUMN
    "  version TEXT, PRIMARY KEY (plan, place, liked, target)) WITHOUT ROWID;\n";

#define FIELD(field) #field, offsetof(struct result, field), sizeof((struct result *)0)->field
const struct schema_text schema_texts[SCHEMA_TEXTS] = {
    {FIELD(scenario_hash)}, {FIELD(trace_hash)}, {FIELD(profile_hash)},
    {FIELD(plan_hash)},     {FIELD(scenario)},   {FIELD(message)},
};

int32_t schema_version(void)
{
    uint32_t hash = XXH32(schema_tables, strlen(schema_tables), 0);
    return (int32_t)(hash & INT32_MAX) | 1;
}

/* Offsets in SQLite's header (big-endian): https://www.sqlite.org/fileformat.html */
enum { HEADER_SIZE = 100, USER_VERSION_AT = 60, APPLICATION_AT = 68 };
static const char header_magic[16] = "SQLite format 3";

static uint32_t header_number(const unsigned char *header, int at)
{
    return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 |
           (uint32_t)header[at + 2] << 8 | (uint32_t)header[at + 3];
}

static bool check_header(const char *path, const unsigned char header[HEADER_SIZE],
                         struct error *why)
{
    if (memcmp(header, header_magic, sizeof header_magic) != 0) {
        return error_set(why, path, 0, "is not an SQLite database; it was not changed");
    }
    if (header_number(header, APPLICATION_AT) != SCHEMA_APPLICATION) {
        return error_set(why, path, 0, "is a database of another program; it was not changed");
    }
    uint32_t version = header_number(header, USER_VERSION_AT);
    if (version != (uint32_t)schema_version()) {
        error_set(why, path, 0, "holds results of another version of spillway (schema %08x)",
                  version);
        return error_expect(why, "schema %08x; name another file", (uint32_t)schema_version());
    }
    return true;
}

bool store_is_database(const char *path)
{
    char begin[sizeof header_magic] = "";
    struct error unseen;
    FILE *file = regular_open(path, &unseen); /* or a pipe would lose its beginning */
    bool whole = file != NULL && fread(begin, 1, sizeof begin, file) == sizeof begin;
    if (file != NULL) {
        fclose(file);
    }
    return whole && memcmp(begin, header_magic, sizeof begin) == 0;
}

/* SQLite opens what has these names beside a file before it reads the file, and would wait for a
 * FIFO's other end. */
static bool check_beside(const char *path, struct error *why)
{
    static const char *const ends[] = {"-journal", "-wal", "-shm"};
    char *real = realpath(path, NULL), beside[PATH_MAX];
    bool good = true;
    for (size_t i = 0; good && i < sizeof ends / sizeof ends[0]; i++) {
        struct stat info;
        snprintf(beside, sizeof beside, "%s%s", real != NULL ? real : path, ends[i]);
        good = lstat(beside, &info) != 0 || S_ISREG(info.st_mode) ||
               error_set(why, beside, 0, "is not a regular file");
    }
    free(real);
    return good;
}

bool schema_check_file(const char *path, bool writable, struct error *why)
{
    struct stat info;
    if (!check_beside(path, why)) {
        return false;
    }
    if (stat(path, &info) != 0) {
        return (errno == ENOENT && writable) ||
               error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return error_set(why, path, 0, "is a directory, not a database");
    }
    if (!S_ISREG(info.st_mode)) {
        return error_set(why, path, 0, "is not a regular file");
    }
    if (info.st_size == 0) {
        return writable || error_set(why, path, 0, "is empty: it holds no results");
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    unsigned char header[HEADER_SIZE] = {0};
    bool whole = fread(header, 1, sizeof header, file) == sizeof header;
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed) {
        return error_set(why, path, 0, "cannot be read");
    }
    return whole ? check_header(path, header, why)
                 : error_set(why, path, 0, "is not an SQLite database; it was not changed");
}
