/* An Nsight Systems export (nsys export --type sqlite): what a real program did.
 *
 * A table exists only if it has rows. CUPTI_ACTIVITY_KIND_MEMCPY has a row for each copy,
 * CUPTI_ACTIVITY_KIND_RUNTIME one for each CUDA call, CUPTI_ACTIVITY_KIND_KERNEL one for each
 * kernel. correlationId links a call to the copy or kernel that it started; times are in ns; names
 * are in StringIds ("cudaLaunchKernel_v7000"). The kinds of copies (1: host to device, 2: device to
 * host) and of memory (1: pinned) are those of ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND.
 *
 * The program was not made for measuring: copies may have shared the link, and recording slowed
 * calls down. Medians are taken, and the notes say so.
 */
#include "calibrate/import/import.h"

#include "core/array.h"
#include "calibrate/measure/statistics.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define COPIES "CUPTI_ACTIVITY_KIND_MEMCPY"
#define CALLS "CUPTI_ACTIVITY_KIND_RUNTIME"
#define KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"

/* Samples of a figure, one a row. */
struct nsight_query {
    const char *curve;
    const char *tables[3]; /* the tables that it needs; ends with NULL */
    const char *sql;
    const char *what;
};

/* From 16 MiB a copy's fixed time is under 1 % of it on a link of 50 GB/s. */
static const struct nsight_query nsight_queries[] = {
    {"link.h2d",
     {COPIES, NULL},
     "SELECT bytes * 1e9 / (end - start) FROM " COPIES
     " WHERE copyKind = 1 AND srcKind = 1 AND bytes >= 16777216 AND end > start",
     "copies of 16 MiB or more from pinned memory"},
    {"link.d2h",
     {COPIES, NULL},
     "SELECT bytes * 1e9 / (end - start) FROM " COPIES
     " WHERE copyKind = 2 AND dstKind = 1 AND bytes >= 16777216 AND end > start",
     "copies of 16 MiB or more to pinned memory"},
    {"link.copy_latency",
     {COPIES, NULL},
     "SELECT end - start FROM " COPIES " WHERE bytes <= 4096 AND end > start AND"
     " ((copyKind = 1 AND srcKind = 1) OR (copyKind = 2 AND dstKind = 1))",
     "copies of 4 KiB or less, pinned"},
    {"host.copy_call",
     {COPIES, CALLS, NULL},
     "SELECT call.end - call.start FROM " CALLS " AS call JOIN StringIds AS name"
     " ON name.id = call.nameId JOIN " COPIES " AS copy USING (correlationId)"
     " WHERE (name.value GLOB 'cudaMemcpyAsync*' OR name.value GLOB 'cuMemcpy*Async*')"
     " AND (copy.srcKind = 1 OR copy.dstKind = 1) AND call.end > call.start",
     "calls of asynchronous copies, pinned"},
    {"host.launch",
     {CALLS, NULL},
     "SELECT after - start FROM (SELECT start, value, LEAD(start) OVER thread AS after,"
     " LEAD(value) OVER thread AS follower FROM " CALLS " JOIN StringIds ON id = nameId"
     " WINDOW thread AS (PARTITION BY globalTid ORDER BY start))"
     " WHERE value GLOB 'cu*LaunchKernel*' AND follower GLOB 'cu*LaunchKernel*'"
     " AND after > start",
     "from one launch to the next of a thread"},
    {"host.graph_launch",
     {CALLS, NULL},
     "SELECT end - start FROM " CALLS " JOIN StringIds ON id = nameId"
     " WHERE value GLOB 'cu*GraphLaunch*' AND end > start",
     "calls that launch a graph"},
    /* Two intervals added: from the end of the awaited work to the call's return, and from the next
     * launch to its kernel. The CPU's own work between the two is not part of a synchronisation. */
    {"host.sync",
     {CALLS, KERNELS, NULL},
     "SELECT back - done + kernel.start - launched FROM (SELECT end AS back, value,"
     " (SELECT max(gpu.end) FROM temp.gpu WHERE gpu.end <= call.end AND gpu.end > call.start)"
     " AS done, LEAD(start) OVER thread AS launched, LEAD(correlationId) OVER thread AS caused"
     " FROM " CALLS " AS call JOIN StringIds ON id = nameId"
     " WINDOW thread AS (PARTITION BY globalTid ORDER BY start))"
     " JOIN " KERNELS " AS kernel ON kernel.correlationId = caused"
     " WHERE value GLOB 'cu*Synchronize*' AND done IS NOT NULL AND kernel.start >= launched",
     "from the GPU done to the call's return, and from the next launch to its kernel"},
};
enum { QUESTIONS = sizeof nsight_queries / sizeof nsight_queries[0] };

struct nsight_report {
    sqlite3 *database;
    const char *path;
};

static bool nsight_complain(const struct nsight_report *report, struct error *why)
{
    error_set(why, report->path, 0, "not a supported export: %s", sqlite3_errmsg(report->database));
    return error_expect(why, "what 'nsys export --type sqlite' makes of a report");
}

/* The first column of a statement's rows, all of them positive numbers. */
static bool nsight_read_column(const struct nsight_report *report, const char *sql, double **values,
                               uint32_t *count, struct error *why)
{
    enum { MOST = 1 << 22 };
    sqlite3_stmt *statement = NULL;
    size_t capacity = 0;
    *values = NULL;
    *count = 0;
    if (sqlite3_prepare_v2(report->database, sql, -1, &statement, NULL) != SQLITE_OK) {
        return nsight_complain(report, why);
    }
    int code;
    bool ok = true;
    while (ok && *count < MOST && (code = sqlite3_step(statement)) != SQLITE_DONE) {
        ok = code == SQLITE_ROW
                 ? array_reserve(values, &capacity, *count + 1u, sizeof **values, why)
                 : nsight_complain(report, why);
        if (ok && sqlite3_column_double(statement, 0) > 0) {
            assert(*values != NULL);
            (*values)[(*count)++] = sqlite3_column_double(statement, 0);
        }
    }
    sqlite3_finalize(statement);
    if (!ok) {
        free(*values);
    }
    return ok;
}

static bool has_table(const struct nsight_report *report, const char *name, bool *there,
                      struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(report->database,
                                 "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
                                 -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK;
    int code = ok ? sqlite3_step(statement) : SQLITE_ERROR;
    *there = code == SQLITE_ROW;
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE || nsight_complain(report, why);
}

static bool nsight_ask(const struct nsight_report *report, const struct nsight_query *question,
                       struct findings *findings, bool *found, struct error *why)
{
    double *samples;
    uint32_t count;
    for (size_t i = 0; question->tables[i] != NULL; i++) {
        bool there;
        if (!has_table(report, question->tables[i], &there, why)) {
            return false;
        }
        if (!there) {
            return true;
        }
    }
    if (!nsight_read_column(report, question->sql, &samples, &count, why)) {
        return false;
    }
    bool ok = true;
    if (count > 0) {
        samples_sort(samples, count);
        *found = true;
        ok = import_figure(findings, question->curve, samples, count, report->path, why,
                           "Nsight Systems: %s, as a program made them (%s)", question->what,
                           basename(report->path));
    }
    free(samples);
    return ok;
}

/* The ends of all work on the GPU, in order, to look up what a synchronisation waited for. */
static bool nsight_prepare(const struct nsight_report *report, struct error *why)
{
    static const char create[] = "CREATE TEMP TABLE gpu (end INTEGER);"
                                 "CREATE INDEX temp.gpu_end ON gpu (end)";
    static const struct {
        const char *table, *sql;
    } sources[] = {{COPIES, "INSERT INTO temp.gpu SELECT end FROM " COPIES},
                   {KERNELS, "INSERT INTO temp.gpu SELECT end FROM " KERNELS}};
    if (sqlite3_exec(report->database, create, NULL, NULL, NULL) != SQLITE_OK) {
        return nsight_complain(report, why);
    }
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        bool there;
        if (!has_table(report, sources[i].table, &there, why)) {
            return false;
        }
        if (there &&
            sqlite3_exec(report->database, sources[i].sql, NULL, NULL, NULL) != SQLITE_OK) {
            return nsight_complain(report, why);
        }
    }
    return true;
}

/* The first GPU of the report; the report may lack the table. */
static bool nsight_name_gpu(const struct nsight_report *report, struct provenance *provenance,
                            struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool there;
    if (!has_table(report, "TARGET_INFO_GPU", &there, why) || !there) {
        return !there;
    }
    if (sqlite3_prepare_v2(report->database, "SELECT name FROM TARGET_INFO_GPU ORDER BY id LIMIT 1",
                           -1, &statement, NULL) != SQLITE_OK) {
        return nsight_complain(report, why);
    }
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL) {
        provenance_set(provenance, FACT_GPU, "%s", (const char *)sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    return true;
}

/* An export holds tables; a view in it would be a program that it brings along. */
static void trust_nothing(sqlite3 *database)
{
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
}

static bool import_all(const struct nsight_report *report, struct findings *findings,
                       struct provenance *provenance, struct error *why)
{
    bool found = false;
    trust_nothing(report->database);
    if (!nsight_prepare(report, why)) {
        return false;
    }
    for (size_t i = 0; i < QUESTIONS; i++) {
        if (!nsight_ask(report, &nsight_queries[i], findings, &found, why)) {
            return false;
        }
    }
    if (!found) {
        error_set(why, report->path, 0, "holds no pinned copies and no launches");
        return error_expect(why, "an export of a report that was taken with nsys profile "
                                 "--trace=cuda");
    }
    provenance_add(provenance, FACT_FROM, basename(report->path));
    return nsight_name_gpu(report, provenance, why);
}

bool nsight_import(const char *path, struct findings *findings, struct provenance *provenance,
                   struct error *why)
{
    struct nsight_report report = {.path = path};
    bool ok = sqlite3_open_v2(path, &report.database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
                  ? import_all(&report, findings, provenance, why)
                  : error_set(why, path, 0, "cannot be opened: %s",
                              report.database != NULL ? sqlite3_errmsg(report.database)
                                                      : "out of memory");
    sqlite3_close(report.database);
    return ok;
}
