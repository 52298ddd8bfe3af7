#include "cli/frame/drawn.h"

#include "study/sweep/replication.h"

#include <inttypes.h>
#include <math.h>

/* The values of a figure, a row of figures apart. */
static const double *values_of(const struct result *result, const struct column *column)
{
    return &result->draws.values[0][column->drawn - 1];
}

/* Does every draw have the figure? For a server, the seed can decide whether there is something to
 * count; if one draw has none, the figure is left out. */
static bool drawn_in_all(const struct result *result, const struct column *column)
{
    for (uint32_t i = 0; i < result->draws.count; i++) {
        if (isnan(values_of(result, column)[i * DRAWN_MOST])) {
            return false;
        }
    }
    return result->draws.count > 1;
}

void drawn_means(struct frame *frame, const struct result *result)
{
    for (uint32_t i = 0; frame != NULL && i < frame->column_count; i++) {
        const struct column *column = frame->columns[i].column;
        bool drawn = column != NULL && column->drawn > 0 && frame->columns[i].unit != UNIT_SHARE;
        if (drawn && drawn_in_all(result, column)) {
            struct interval mean =
                interval_mean(values_of(result, column), DRAWN_MOST, result->draws.count);
            frame_mean(frame, i, mean.mean, mean.half);
        }
    }
}

bool drawn_span(const struct result *result, const struct column *column, char text[DRAWN_TEXT],
                const char **out, struct error *why)
{
    struct interval interval;
    *out = NULL;
    if (!drawn_in_all(result, column)) {
        return true;
    }
    if (!interval_of(values_of(result, column), DRAWN_MOST, result->draws.count, &interval, why)) {
        return false;
    }
    int most = interval.p5 > 0 ? 2 - (int)floor(log10(interval.p5)) : 0;
    int digits = most > 0 ? most : 0; /* three in all, of the lower end */
    snprintf(text, DRAWN_TEXT, "%.*f - %.*f", digits, interval.p5, digits, interval.p95);
    *out = text;
    return true;
}

bool drawn_put_json(const struct result *result, struct json_writer *json, struct error *why)
{
    const struct result_draws *draws = &result->draws;
    const struct column *column;
    if (draws->count == 0) {
        return true;
    }
    json_begin(json, "replications", '{');
    json_put(json, "draws", "%" PRIu32, draws->count);
    for (uint32_t i = 0; (column = column_drawn(i)) != NULL; i++) {
        struct interval all;
        if (!drawn_in_all(result, column)) {
            continue;
        }
        if (!interval_of(values_of(result, column), DRAWN_MOST, draws->count, &all, why)) {
            return false;
        }
        json_put(json, column->name,
                 "{\"mean\":%.9g,\"low\":%.9g,\"high\":%.9g,\"deviation\":%.9g,"
                 "\"p5\":%.9g,\"median\":%.9g,\"p95\":%.9g}",
                 all.mean, all.mean - all.half, all.mean + all.half, all.deviation, all.p5,
                 all.median, all.p95);
    }
    json_end(json, '}');
    return true;
}
