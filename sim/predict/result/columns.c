#include "predict/result/result.h"

#include "core/name.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The cache, and what stays in HBM in any case: resident heads, recent tokens. */
static double read_kv(const struct result *result, const struct column *column)
{
    (void)column;
    const struct cell *cache = result_cell(result, COLUMN(cache_bytes));
    const struct cell *stays = result_cell(result, COLUMN(hbm_kv_bytes));
    int64_t bytes = (cache->set ? cache->integer : 0) + (stays->set ? stays->integer : 0);
    return cache->set || stays->set ? (double)bytes : NAN;
}

/* The stalls of one cause, NULL for all, as a share of the step. */
static double stalled_share(const struct result *result, const char *cause)
{
    const struct cell *step = result_cell(result, COLUMN(step_us));
    int64_t ns = 0;
    for (uint32_t i = 0; i < result->stall_count; i++) {
        bool counts = cause == NULL || strcmp(result->stalls[i].name, cause) == 0;
        ns += counts ? result->stalls[i].ns : 0;
    }
    return step->set && step->integer > 0 ? (double)ns / (double)step->integer : NAN;
}

static double read_stalled(const struct result *result, const struct column *column)
{
    (void)column;
    return stalled_share(result, NULL);
}

static double read_link_stall(const struct result *result, const struct column *column)
{
    (void)column;
    return stalled_share(result, "link");
}

/* Without hashes in the workload it is unknown which prompts begin alike. */
static double read_hit(const struct result *result, const struct column *column)
{
    double found = result_number(result, column->from),
           of = result_number(result, COLUMN(prompt_tokens));
    return result_cell(result, COLUMN(hashed_blocks))->set && of > 0 ? found / of : NAN;
}

#undef COLUMN
#define COLUMN(name, ...) extern const struct column column_##name;
#include "predict/result/columns.def"

enum {
#define COLUMN(name, ...) INDEX_##name,
#include "predict/result/columns.def"
    STORED = INDEX_kv /* the first of those put together, which stand last */
};
static_assert((int)STORED <= (int)COLUMNS_MOST, "a result has room for all columns");

enum {
#define COLUMN(name, ...)
#define RANGED(name, ...) RANGE_##name,
#include "predict/result/columns.def"
    RANGES
};
static_assert((int)RANGES <= (int)RANGES_MOST, "a family has room for all figures with ranges");

#define COLUMN(key, values, meaning, ...)                                                          \
    const struct column column_##key = {.name = #key,                                              \
                                        .what = (meaning),                                         \
                                        .unit = UNIT_##values,                                     \
                                        .index = INDEX_##key,                                      \
                                        __VA_ARGS__};
#include "predict/result/columns.def"

const struct column *const column_rows[] = {
#define COLUMN(name, ...) &column_##name,
#include "predict/result/columns.def"
    NULL};
const uint32_t column_count = STORED;

const struct tier_columns tier_columns[RESULT_TIERS] = {
#define HBM(tier, where) {.tokens = &column_hit_tokens_##tier, .share = &column_##tier##_hit},
#define BELOW(tier, where)                                                                         \
    {&column_hit_tokens_##tier, &column_##tier##_hit, &column_prefix_##tier##_bytes,               \
     &column_prefix_##tier##_read_bytes, &column_prefix_##tier##_written_bytes},
#include "predict/result/tiers.def"
};

const struct column *column_find(const char *name)
{
    const struct column *const *at = column_rows;
    while (*at != NULL && strcmp((*at)->name, name) != 0) {
        at++;
    }
    return *at;
}

const struct column *column_labelled(const char *label)
{
    const struct column *const *at = column_rows;
    for (; *at != NULL; at++) {
        const char *own = (*at)->read != NULL ? (*at)->name : (*at)->label;
        if (own != NULL && strcmp(own, label) == 0) {
            break;
        }
    }
    return *at;
}

const char *column_nearest(const char *text)
{
    const char *names[COLUMNS_MOST] = {NULL};
    for (size_t i = 0; column_rows[i] != NULL; i++) {
        names[i] = column_rows[i]->name;
    }
    return name_nearest(text, NAMES(names));
}

const struct column *column_ranged(uint32_t place)
{
    const struct column *const *at = column_rows;
    while (*at != NULL && (*at)->range != place + 1) {
        at++;
    }
    return *at;
}

const struct column *column_drawn(uint32_t place)
{
    const struct column *const *at = column_rows;
    while (*at != NULL && (*at)->drawn != place + 1) {
        at++;
    }
    return *at;
}

bool column_is_number(const struct column *column)
{
    return column->holds == HOLDS_VALUE && column->unit != UNIT_TEXT;
}

bool column_is_text(const struct column *column)
{
    return column->holds == HOLDS_VALUE && column->unit == UNIT_TEXT;
}

bool column_is_integer(const struct column *column)
{
    return column_is_number(column) &&
           (unit_is_whole(column->unit) || unit_kinds[column->unit].ns > 0);
}

bool column_is_pace(const struct column *column)
{
    return unit_kinds[column->unit].ns > 0 || column->unit == UNIT_PER_S ||
           column->unit == UNIT_DOLLARS;
}

const char *column_sql(const struct column *column)
{
    return column->holds == HOLDS_VALUE ? unit_kinds[column->unit].sql : unit_kinds[UNIT_JSON].sql;
}
