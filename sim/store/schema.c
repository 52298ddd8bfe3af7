#include "store/schema.h"

#include "core/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- tables ---- */

#define OF_RESULT(member)                                                                          \
    UNIT_TEXT, AS_RESULTS, offsetof(struct result, member), sizeof((struct result *)0)->member
#define VERSION "version", UNIT_TEXT, .as = AS_PROGRAM
static const struct schema_field run_end[] = {
    {"scenario_hash", OF_RESULT(scenario_hash)},
    {"trace_hash", OF_RESULT(trace_hash)},
    {"profile_hash", OF_RESULT(profile_hash)},
    {"plan_hash", OF_RESULT(plan_hash)},
    {"scenario", OF_RESULT(scenario)},
    {"message", OF_RESULT(message)},
    {VERSION},
};

#define RUN "run", UNIT_TEXT, .as = AS_RUN
#define AT(row, member) .at = offsetof(struct result_##row, member)
static const struct schema_field items[] = {
    {RUN},
    {"name", UNIT_TEXT, AS_TEXT, AT(item, name)},
    {"us", UNIT_US, AS_NS, AT(item, ns)},
};
static const struct schema_field layers[] = {
    {RUN},
    {"layer", UNIT_WHOLE, .as = AS_ROW},
    {"us", UNIT_US, AS_NS, AT(layer, ns)},
    {"hit_ratio", UNIT_SHARE, AS_REAL, AT(layer, hit_ratio)},
    {"h2d_bytes", UNIT_BYTES, AS_64, AT(layer, in_bytes)},
};
static const struct schema_field steps[] = {
    {RUN},
    {"step", UNIT_WHOLE, .as = AS_ROW},
    {"us", UNIT_US, AS_NS, AT(step, ns)},
    {"hit_ratio", UNIT_SHARE, AS_REAL, AT(step, hit_ratio)},
    {"h2d_bytes", UNIT_BYTES, AS_64, AT(step, in_bytes)},
    {"mass_recall", UNIT_SHARE, AS_REAL, AT(step, mass_recall)},
};
static const struct schema_field requests[] = {
    {RUN},
    {"request", UNIT_WHOLE, .as = AS_ROW},
    {"replica", UNIT_WHOLE, AS_U32, AT(request, replica)},
    {"prompt", UNIT_WHOLE, AS_U32, AT(request, prompt)},
    {"output", UNIT_WHOLE, AS_U32, AT(request, output)},
#define BELOW(tier, where)                                                                         \
    {#tier "_tokens", UNIT_TOKENS, AS_64,                                                          \
     AT(request, found) + RESULT_TIER_##tier * sizeof(uint64_t)},
#include "predict/result/tiers.def"
    {"preemptions", UNIT_WHOLE, AS_U32, AT(request, preemptions)},
    {"arrived_ms", UNIT_MS, AS_NS, AT(request, arrived_ns)},
    {"scheduled_ms", UNIT_MS, AS_NS, AT(request, scheduled_ns)},
    {"first_token_ms", UNIT_MS, AS_NS, AT(request, first_token_ns)},
    {"end_ms", UNIT_MS, AS_NS, AT(request, end_ns)},
};
static const struct schema_field waits[] = {
    {RUN},
    {"request", UNIT_WHOLE, AS_U32, AT(wait, request)},
    {"name", UNIT_TEXT, AS_TEXT, AT(wait, name)},
    {"ms", UNIT_MS, AS_NS, AT(wait, ns)},
};
static const struct schema_field series[] = {
    {RUN},
    {"bin", UNIT_WHOLE, .as = AS_ROW},
    {"start_ms", UNIT_MS, AS_NS, AT(bin, start_ns)},
    {"ms", UNIT_MS, AS_NS, AT(bin, ns)},
#define FIELD(name, type, what)                                                                    \
    {#name, UNIT_##type, AS_REAL, AT(bin, figures) + RESULT_SERIES_##name * sizeof(double)},
#include "predict/result/series.def"
};
static const struct schema_field families[] = {
    {RUN},
    {"place", UNIT_WHOLE, .as = AS_ROW},
    {"family", UNIT_TEXT, AS_NAME, AT(family, name)},
};
static const struct schema_field masses[] = {
    {RUN},
    {"place", UNIT_WHOLE, AS_U32, AT(mass, family)},
    {"step", UNIT_WHOLE, AS_U32, AT(mass, step)},
    {"mass_recall", UNIT_SHARE, AS_REAL, AT(mass, mass_recall)},
};
static const struct schema_field replications[] = {
    {RUN},
    {"ranges", OF_RESULT(draws.ranges)},
    {"replication", UNIT_WHOLE, .as = AS_ROW},
};
static const struct schema_field curve_points[] = {
    {"curve", UNIT_TEXT, .as = AS_KEY},
    {"size", UNIT_WHOLE, .as = AS_KEY},
    {"misses", UNIT_WHOLE, .as = AS_KEY},
};
static const struct schema_field turns[] = {
    {"number", UNIT_WHOLE, .as = AS_KEY},
    {"count", UNIT_WHOLE, .as = AS_KEY},
};

/* Those of studies. */
#define FIELD(name, type, what) {#name, UNIT_##type, .as = AS_KEY},
#define SHOWN(name, type, what, ...) FIELD(name, type, what)
#define RANGED(name, type, what, ...)                                                              \
    FIELD(name, type, what)                                                                        \
    FIELD(name##_low, type, what)                                                                  \
    FIELD(name##_high, type, what)
#define PEOPLE(name, ...)
static const struct schema_field curves[] = {
#include "tables/curves.def"
};
static const struct schema_field validations[] = {
#include "tables/validations.def"
};
static const struct schema_field ablations[] = {
#include "tables/ablations.def"
};
static const struct schema_field plans[] = {
#include "tables/plans.def"
};
static const struct schema_field plan_points[] = {
#include "tables/plan_points.def"
};
#undef FIELD
#undef SHOWN
#undef RANGED
#undef PEOPLE
static const struct schema_field version[] = {{VERSION}};

static const struct column *stored_column(uint32_t place)
{
    return place < column_count ? column_rows[place] : NULL;
}

#define OF(fields) .begin = (fields), .begins = sizeof(fields) / sizeof *(fields)
#define STUDY(fields) OF(fields), .end = version, .ends = 1
#define DETAIL(row, of)                                                                            \
    .rows = offsetof(struct result, of), .count = offsetof(struct result, row##_count),            \
    .size = sizeof *((struct result *)0)->of
const struct schema_table schema_tables[] = {
    {"runs", "run", .walk = stored_column, .end = run_end,
     .ends = sizeof run_end / sizeof *run_end},
    {"parts", "run, name", OF(items), DETAIL(part, parts), .inside = true},
    {"stalls", "run, name", OF(items), DETAIL(stall, stalls), .inside = true},
    {"layers", "run, layer", OF(layers), DETAIL(layer, layers)},
    {"steps", "run, step", OF(steps), DETAIL(step, steps)},
    {"requests", "run, request", OF(requests), DETAIL(request, requests)},
    {"waits", "run, request, name", OF(waits), DETAIL(wait, waits)},
    {"series", "run, bin", OF(series), DETAIL(bin, bins)},
    {"replications", "run, ranges, replication", OF(replications), .walk = column_drawn,
     .rows = offsetof(struct result, draws.values), .count = offsetof(struct result, draws.count),
     .size = DRAWN_MOST * sizeof(double)},
    {"families", "run, place", OF(families), DETAIL(family, families), .walk = column_ranged,
     .inside = true, .reals = offsetof(struct result_family, values)},
    {"masses", "run, place, step", OF(masses), DETAIL(mass, masses)},
    {"curves", "curve", OF(curves)},
    {"curve_points", "curve, size", OF(curve_points)},
    {"turns", "number, count", OF(turns)},
    {"validations", "validation, mechanism", STUDY(validations)},
    {"ablations", "ablation, place", STUDY(ablations)},
    {"plans", "plan, place", STUDY(plans)},
    {"plan_points", "plan, place, liked, target", STUDY(plan_points)},
    {.name = NULL},
};

const struct schema_table *schema_find(const char *name)
{
    const struct schema_table *table = schema_tables;
    while (table->name != NULL && strcasecmp(table->name, name) != 0) {
        table++;
    }
    return table->name != NULL ? table : NULL;
}

const char *schema_column(const struct schema_table *table, size_t index, const char **type)
{
    const struct column *column = NULL;
    const struct schema_field *field = index < table->begins ? &table->begin[index] : NULL;
    if (field == NULL && table->walk != NULL) {
        column = table->walk((uint32_t)(index - table->begins));
    }
    if (field == NULL && column == NULL) {
        size_t place = index - table->begins;
        for (uint32_t i = 0; table->walk != NULL && table->walk(i) != NULL; i++) {
            place--;
        }
        field = place < table->ends ? &table->end[place] : NULL;
    }
    *type = field != NULL                  ? unit_kinds[field->unit].sql
            : column == NULL               ? NULL
            : table->walk == stored_column ? column_sql(column)
                                           : unit_kinds[UNIT_COUNT].sql; /* means and draws */
    return column != NULL ? column->name : field != NULL ? field->name : NULL;
}

char *schema_sql(const struct schema_table *table, const char *format, struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    for (const char *at = format; good && *at != '\0'; at++) {
        if (*at != '%') {
            fputc(*at, file.out);
        } else if (*++at == 't' || *at == 'k') {
            fputs(*at == 't' ? table->name : table->key, file.out);
        } else {
            const char *name, *type; /* of all columns */
            for (size_t i = 0; (name = schema_column(table, i, &type)) != NULL; i++) {
                fputs(i == 0 ? "" : *at == 'w' ? " AND " : ", ", file.out);
                fprintf(file.out, *at == 'v' ? "?" : *at == 'w' ? "%s IS ?%zu" : "%s", name, i + 1);
                fprintf(file.out, *at == 'd' ? " %s" : "", type);
            }
        }
    }
    return text_close(&file, good, why);
}

/* ---- the file ---- */

int32_t schema_version(void)
{
    const char *type;
    int32_t columns = 0;
    for (const struct schema_table *table = schema_tables; table->name != NULL; table++) {
        for (size_t i = 0; schema_column(table, i, &type) != NULL; i++) {
            columns++;
        }
    }
    return columns;
}

bool schema_check_file(const char *path, bool writable, struct error *why)
{
    /* SQLite opens what has these names beside a file before it reads that, and would wait for a FIFO's end. */
    static const char *const ends[] = {"-journal", "-wal", "-shm"};
    char *real = realpath(path, NULL), beside[PATH_MAX], header[100] = "";
    struct stat info;
    bool good = true;
    for (size_t i = 0; good && i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(beside, sizeof beside, "%s%s", real != NULL ? real : path, ends[i]);
        good = lstat(beside, &info) != 0 || S_ISREG(info.st_mode) ||
               error_set(why, beside, 0, "is not a regular file");
    }
    free(real);
    if (!good) {
        return false;
    }
    if (stat(path, &info) != 0) {
        return (errno == ENOENT && writable) ||
               error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
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
    /* 16 characters, and at byte 68 the application's number (https://www.sqlite.org/fileformat.html). */
    bool whole = fread(header, 1, sizeof header, file) == sizeof header;
    fclose(file);
    if (!whole || memcmp(header, "SQLite format 3", 16) != 0) {
        return error_set(why, path, 0, "is not an SQLite database; it was not changed");
    }
    return memcmp(header + 68, SCHEMA_APPLICATION, 4) == 0 ||
           error_set(why, path, 0, "is a database of another program; it was not changed");
}
