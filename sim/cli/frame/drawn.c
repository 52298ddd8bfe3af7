#include "cli/frame/drawn.h"

#include "study/sweep/interval.h"
#include "study/sweep/replication.h"

#include <inttypes.h>
#include <math.h>

static const char *const drawn_names[DRAWN_COUNT] = {
#define DRAWN(id, name) name,
#include "result/drawn.def"
#undef DRAWN
};

/* Does every draw have the figure? For a server, the seed can decide whether there is something to
 * count; if one draw has none, the figure is left out. */
static bool drawn_in_all(const struct result *result, enum drawn drawn)
{
    const struct result_draws *draws = &result->draws;
    for (uint32_t i = 0; i < draws->count; i++) {
        if (isnan(draws->values[i][drawn])) {
            return false;
        }
    }
    return draws->count > 1;
}

static const double *values_of(const struct result *result, enum drawn drawn)
{
    return &result->draws.values[0][drawn];
}

static struct interval mean_of(const struct result *result, enum drawn drawn)
{
    return interval_mean(values_of(result, drawn), DRAWN_COUNT, result->draws.count);
}

/* The drawn figure of a column; DRAWN_COUNT if there is none. */
static enum drawn drawn_of(const struct frame_column *column)
{
    int drawn = 0;
    while (drawn < DRAWN_COUNT && drawn_columns[drawn] != figure_kinds[column->figure].column) {
        drawn++;
    }
    return column->unit == UNIT_SHARE ? DRAWN_COUNT : (enum drawn)drawn;
}

void drawn_means(struct frame *frame, const struct result *result)
{
    for (uint32_t i = 0; frame != NULL && i < frame->column_count; i++) {
        enum drawn drawn = drawn_of(&frame->columns[i]);
        if (drawn != DRAWN_COUNT && drawn_in_all(result, drawn)) {
            struct interval mean = mean_of(result, drawn);
            frame_mean(frame, i, mean.mean, mean.half);
        }
    }
}

bool drawn_span(const struct result *result, enum drawn drawn, char text[DRAWN_TEXT],
                const char **out, struct error *why)
{
    struct interval interval;
    *out = NULL;
    if (!drawn_in_all(result, drawn)) {
        return true;
    }
    if (!interval_of(values_of(result, drawn), DRAWN_COUNT, result->draws.count, &interval, why)) {
        return false;
    }
    int most = interval.p5 > 0 ? 2 - (int)floor(log10(interval.p5)) : 0;
    int digits = most > 0 ? most : 0; /* three in all, of the lower end */
    snprintf(text, DRAWN_TEXT, "%.*f - %.*f", digits, interval.p5, digits, interval.p95);
    *out = text;
    return true;
}

const char *drawn_missed(const struct result *result, double wanted, char text[DRAWN_TEXT])
{
    enum drawn main = replication_main(result);
    if (wanted == 0 || main == DRAWN_COUNT || !drawn_in_all(result, main)) {
        return NULL;
    }
    struct interval interval = mean_of(result, main);
    if (interval.half <= wanted * interval.mean) {
        return NULL;
    }
    snprintf(text, DRAWN_TEXT, "%.3g %% wanted, %.3g %% reached after %" PRIu32 " draws",
             100 * wanted, 100 * interval.half / interval.mean, result->draws.count);
    return text;
}

bool drawn_print_json(const struct result *result, FILE *out, struct error *why)
{
    const struct result_draws *draws = &result->draws;
    if (draws->count == 0) {
        return true;
    }
    fprintf(out, ",\"replications\":{\"draws\":%" PRIu32, draws->count);
    for (int i = 0; i < DRAWN_COUNT; i++) {
        struct interval all;
        if (!drawn_in_all(result, (enum drawn)i)) {
            continue;
        }
        if (!interval_of(values_of(result, (enum drawn)i), DRAWN_COUNT, draws->count, &all, why)) {
            return false;
        }
        fprintf(out,
                ",\"%s\":{\"mean\":%.9g,\"low\":%.9g,\"high\":%.9g,\"deviation\":%.9g,"
                "\"p5\":%.9g,\"median\":%.9g,\"p95\":%.9g}",
                drawn_names[i], all.mean, all.mean - all.half, all.mean + all.half, all.deviation,
                all.p5, all.median, all.p95);
    }
    fputc('}', out);
    return true;
}

void drawn_print_csv_head(FILE *out)
{
    fputs(",draws", out);
    for (int i = 0; i < DRAWN_COUNT; i++) {
        const char *name = drawn_names[i];
        fprintf(out, ",%s_mean,%s_low,%s_high", name, name, name);
    }
}

void drawn_print_csv(const struct result *result, FILE *out)
{
    fprintf(out, ",%" PRIu32, result->draws.count);
    for (int i = 0; i < DRAWN_COUNT; i++) {
        if (!drawn_in_all(result, (enum drawn)i)) {
            fputs(",,,", out);
            continue;
        }
        struct interval all = mean_of(result, (enum drawn)i);
        fprintf(out, ",%.9g,%.9g,%.9g", all.mean, all.mean - all.half, all.mean + all.half);
    }
}
