#include "answer/figures.h"

#include <math.h>
#include <string.h>

/* ---- figures of several columns ---- */

/* The cache, and what stays in HBM in any case: resident heads, recent tokens. */
static double read_kv(const struct result *result)
{
    const struct cell *cache = &result->cells[COLUMN_CACHE_BYTES];
    const struct cell *stays = &result->cells[COLUMN_HBM_KV];
    int64_t bytes = (cache->set ? cache->integer : 0) + (stays->set ? stays->integer : 0);
    return cache->set || stays->set ? (double)bytes : NAN;
}

/* The stalls of one cause, NULL for all, as a share of the step. */
static double stalled_share(const struct result *result, const char *cause)
{
    const struct cell *step = &result->cells[COLUMN_STEP];
    int64_t ns = 0;
    for (uint32_t i = 0; i < result->stall_count; i++) {
        bool counts = cause == NULL || strcmp(result->stalls[i].name, cause) == 0;
        ns += counts ? result->stalls[i].ns : 0;
    }
    return step->set && step->integer > 0 ? (double)ns / (double)step->integer : NAN;
}

static double read_stalled(const struct result *result)
{
    return stalled_share(result, NULL);
}

static double read_link_stall(const struct result *result)
{
    return stalled_share(result, "link");
}

/* Without hashes in the workload it is unknown which prompts begin alike. */
static double found_share(const struct result *result, enum column column)
{
    const struct cell *found = &result->cells[column], *of = &result->cells[COLUMN_PROMPT_TOKENS];
    bool known = found->set && result->cells[COLUMN_HASHED].set && of->set && of->integer > 0;
    return known ? (double)found->integer / (double)of->integer : NAN;
}

static double read_gpu_hit(const struct result *result)
{
    return found_share(result, COLUMN_HIT_TOKENS_GPU);
}

static double read_host_hit(const struct result *result)
{
    return found_share(result, COLUMN_HIT_TOKENS_HOST);
}

static double read_disk_hit(const struct result *result)
{
    return found_share(result, COLUMN_HIT_TOKENS_DISK);
}

static double read_pool_hit(const struct result *result)
{
    return found_share(result, COLUMN_HIT_TOKENS_POOL);
}

/* ---- all ---- */

#define READ(function) COLUMN_COUNT, .read = (function)
enum {
    UNIT_OF_TEXT = UNIT_TEXT,
    UNIT_OF_INTEGER = UNIT_WHOLE,
    UNIT_OF_REAL = UNIT_COUNT,
    UNIT_OF_US = UNIT_COUNT,
    UNIT_OF_MS = UNIT_COUNT,
    UNIT_OF_PARTS = UNIT_TEXT,
    UNIT_OF_SHARES = UNIT_TEXT,
    UNIT_OF_BAND = UNIT_TEXT,
    UNIT_OF_NOTES = UNIT_TEXT,
};
const struct figure_kind figure_kinds[FIGURES_AND_COLUMNS] = {
    [FIGURE_NONE] = {.column = COLUMN_COUNT},
#define FIGURE(id, source, kind, heading, key, meaning)                                            \
    [FIGURE_##id] = {.title = (heading),                                                           \
                     .name = (key),                                                                \
                     .what = (meaning),                                                            \
                     .unit = UNIT_##kind,                                                          \
                     .column = source},
#include "answer/figures.def"
#undef FIGURE
#define COLUMN(id, key, type, meaning)                                                             \
    [FIGURES + COLUMN_##id] = {.title = (key),                                                     \
                               .name = (key),                                                      \
                               .what = (meaning),                                                  \
                               .unit = (enum unit)UNIT_OF_##type,                                  \
                               .column = COLUMN_##id},
#include "result/columns.def"
#undef COLUMN
};

enum figure figure_find(const char *name, size_t length)
{
    for (int i = FIGURE_NONE + 1; i < FIGURES_AND_COLUMNS; i++) {
        if (strncmp(figure_kinds[i].name, name, length) == 0 &&
            figure_kinds[i].name[length] == '\0') {
            return (enum figure)i;
        }
    }
    return FIGURE_NONE;
}

double figure_value(const struct result *result, enum figure figure)
{
    const struct figure_kind *kind = &figure_kinds[figure];
    return kind->read != NULL ? kind->read(result) : result_number(result, kind->column);
}

const char *figure_text(const struct result *result, enum figure figure, char text[SHOWN_TEXT])
{
    return shown_value(figure_kinds[figure].unit, 0, figure_value(result, figure), NAN, NAN, text);
}

bool figure_range(const struct result *result, enum figure figure, double *low, double *high)
{
    const struct figure_kind *kind = &figure_kinds[figure];
    const struct column_range *range = kind->read == NULL ? column_range_of(kind->column) : NULL;
    if (range == NULL) {
        return false;
    }
    *low = result_number(result, range->low);
    *high = result_number(result, range->high);
    return *low < *high; /* false of NaN */
}
