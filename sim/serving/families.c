#include "serving/families.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the middle ---- */

static int64_t time_of(const struct result *result)
{
    const struct cell *step = &result->cells[COLUMN_STEP], *tpot = &result->cells[COLUMN_TPOT];
    return step->set ? step->integer : tpot->set ? tpot->integer : INT64_MAX;
}

/* The place of a family if they are sorted by time. */
static uint32_t place_of(const struct result *results, uint32_t count, uint32_t family)
{
    int64_t own = time_of(&results[family]);
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t other = time_of(&results[i]);
        place += other < own || (other == own && i < family);
    }
    return place;
}

uint32_t families_middle(const struct result *results, uint32_t count)
{
    uint32_t family = 0;
    while (place_of(results, count, family) != count / 2) {
        family++;
    }
    return family;
}

/* ---- ranges ---- */

/* The family with the least (or most) of a column; `count` if none has it. */
static uint32_t find_end(const struct result *results, uint32_t count, enum column column,
                         bool most)
{
    uint32_t end = count;
    for (uint32_t i = 0; i < count; i++) {
        double value = result_number(&results[i], column);
        double best = end < count ? result_number(&results[end], column) : NAN;
        if (!isnan(value) && (end == count || (most ? value > best : value < best))) {
            end = i;
        }
    }
    return end;
}

/* The family in the middle of a column; `count` if one has none, or if two are in the middle. */
static uint32_t find_middle(const struct result *results, uint32_t count, enum column column)
{
    for (uint32_t i = 0; count % 2 == 1 && i < count; i++) {
        double own = result_number(&results[i], column);
        uint32_t below = 0, above = 0;
        for (uint32_t other = 0; other < count; other++) {
            double value = result_number(&results[other], column);
            below += value < own || (value == own && other < i);
            above += value > own || (value == own && other > i);
        }
        if (below == count / 2 && above == count / 2) {
            return i;
        }
    }
    return count;
}

static void write_range(const struct result *results, uint32_t count,
                        const struct column_range *range, struct result *out)
{
    uint32_t low = find_end(results, count, range->column, false);
    uint32_t middle = find_middle(results, count, range->column);
    if (low < count) {
        uint32_t high = find_end(results, count, range->column, true);
        out->cells[range->low] = results[low].cells[range->column];
        out->cells[range->high] = results[high].cells[range->column];
    }
    if (middle < count) {
        out->cells[range->column] = results[middle].cells[range->column];
    }
}

/* ---- what does not fit ---- */

static void note_unfit(const struct result *results, const char *const *names, uint32_t count,
                       struct result *out)
{
    char note[1024] = "with the recording of ";
    size_t used = strlen(note), start = used;
    for (uint32_t i = 0; i < count && used < sizeof note; i++) {
        if (!result_ok(&results[i])) {
            used += (size_t)snprintf(note + used, sizeof note - used, "%s%s",
                                     used > start ? ", " : "", names[i]);
        }
    }
    if (used > start && used < sizeof note && result_ok(out)) {
        snprintf(note + used, sizeof note - used, " it does not fit in memory");
        result_note(out, note);
    }
}

void families_write(const struct result *results, const char *const *names, uint32_t count,
                    struct result *out)
{
    for (uint32_t f = 0; f < count; f++) {
        struct result_family *family = &out->families[f];
        snprintf(family->name, sizeof family->name, "%s", names[f]);
        for (int i = 0; i < RANGE_COUNT; i++) {
            family->values[i] = result_number(&results[f], column_ranges[i].column);
        }
    }
    out->family_count = count;
    for (int i = 0; i < RANGE_COUNT; i++) { /* last: `out` may be one of the results */
        write_range(results, count, &column_ranges[i], out);
    }
    note_unfit(results, names, count, out);
}
