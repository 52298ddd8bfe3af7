#include "cli/frame/figures.h"

#include "base/units.h"
#include "result/range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *figure_bytes(const struct cell *bytes, char text[FIGURE])
{
    return bytes->set && bytes->integer > 0
               ? units_format((double)bytes->integer, UNIT_BYTES, text, FIGURE)
               : NULL;
}

const char *figure_kv(const struct result *result, char text[FIGURE])
{
    const struct cell *cache = &result->cells[COLUMN_CACHE_BYTES];
    const struct cell *stays = &result->cells[COLUMN_HBM_KV];
    struct cell both = {.set = cache->set || stays->set};
    both.integer = (cache->set ? cache->integer : 0) + (stays->set ? stays->integer : 0);
    return figure_bytes(&both, text);
}

const char *figure_percent(const struct cell *share, char text[FIGURE])
{
    if (!share->set) {
        return NULL;
    }
    snprintf(text, FIGURE, "%.1f", 100 * share->real);
    return text;
}

/* Cents; three digits for a few cents or less. */
const char *figure_dollars(const struct cell *dollars, char text[FIGURE])
{
    if (!dollars->set) {
        return NULL;
    }
    double most = dollars->real;
    snprintf(text, FIGURE, most < 0.1 ? "%.3g" : most < 1 ? "%.3f" : "%.2f", most);
    return text;
}

const char *figure_rate(const struct cell *rate, char text[FIGURE])
{
    return rate->set ? range_single(rate->real, text, FIGURE) : NULL;
}

const char *figure_ms(int64_t ns, char text[FIGURE])
{
    return range_single((double)ns / 1e6, text, FIGURE);
}

const char *figure_seconds(int64_t ns, char text[FIGURE])
{
    return range_single((double)ns / 1e9, text, FIGURE);
}

const char *figure_stalled(const struct result *result, char text[FIGURE])
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < result->stall_count; i++) {
        sum += result->stalls[i].ns;
    }
    double step = (double)result->cells[COLUMN_STEP].integer;
    snprintf(text, FIGURE, "%.0f %%", 100 * (double)sum / step);
    return text;
}

static int by_time(const void *a, const void *b)
{
    const struct result_item *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

const char *figure_stalls(const struct result *result, char text[FIGURE_STALLS])
{
    struct result_item items[RESULT_MOST_ITEMS];
    size_t used = 0;
    memcpy(items, result->stalls, sizeof items);
    qsort(items, result->stall_count, sizeof items[0], by_time);
    text[0] = '\0';
    for (uint32_t i = 0; i < result->stall_count && used < FIGURE_STALLS; i++) {
        double percent = 100 * (double)items[i].ns / (double)result->cells[COLUMN_STEP].integer;
        if (percent >= 0.5) {
            used += (size_t)snprintf(text + used, FIGURE_STALLS - used, "%s%s %.0f",
                                     used > 0 ? ", " : "", items[i].name, percent);
        }
    }
    return text;
}
