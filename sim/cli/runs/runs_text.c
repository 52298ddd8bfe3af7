#include "cli/runs/runs.h"

#include "core/text.h"
#include "core/version.h"
#include "study/sweep/replication.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double *values_of(const struct result *result, const struct column *column)
{
    return &result->draws.values[0][column->drawn - 1];
}

/* Does every draw have the figure? A server's seed may leave nothing to count: then it is left out. */
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

bool drawn_span(const struct result *result, const struct column *column, char text[SHOWN_TEXT],
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
    snprintf(text, SHOWN_TEXT, "%.*f - %.*f", digits, interval.p5, digits, interval.p95);
    *out = text;
    return true;
}

/* "replications":{"draws":100,"step_us":{"mean":...},...}; nothing without them. */
static bool put_replications(const struct result *result, struct json_writer *json,
                             struct error *why)
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

/* "families":{"smollm2-135m":{"hit_ratio":0.94,...},...}, with the figures that each has; or nothing. */
static void put_families(const struct result *result, struct json_writer *json)
{
    if (result->family_count == 0) {
        return;
    }
    json_begin(json, "families", '{');
    for (uint32_t f = 0; f < result->family_count; f++) {
        const struct result_family *family = &result->families[f];
        json_begin(json, family->name, '{');
        for (uint32_t i = 0; column_ranged(i) != NULL; i++) {
            if (!isnan(family->values[i])) {
                json_put(json, column_ranged(i)->name, "%.9g", family->values[i]);
            }
        }
        json_end(json, '}');
    }
    json_end(json, '}');
}

/* "seal":{"version":"0.1.0+...","scenario":"0123456789abcdef",...}: what it follows from; null: it failed. */
static void put_seal(const struct result *result, struct json_writer *json)
{
    const char *const hashes[][2] = {{"scenario", result->scenario_hash},
                                     {"model", result->model_hash},
                                     {"machine", result->profile_hash},
                                     {"trace", result->trace_hash},
                                     {"requests", result->requests_hash}};
    if (result->scenario_hash[0] == '\0') {
        json_put_text(json, "seal", NULL);
        return;
    }
    json_begin(json, "seal", '{');
    json_put_text(json, "version", spillway_program);
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        json_put_text(json, hashes[i][0], hashes[i][1][0] != '\0' ? hashes[i][1] : NULL);
    }
    json_end(json, '}');
}

/* Ends of ranges that are null are left out. */
bool run_begin_json(const struct result *result, struct json_writer *json, struct error *why)
{
    char buffer[CELL_SIZE];
    json_begin(json, NULL, '{');
    for (uint32_t i = 0; i < column_count; i++) {
        const struct column *column = column_rows[i];
        const char *text = cell_text(result, column, buffer);
        if (text != NULL && !column_is_text(column)) {
            json_put(json, column->name, "%s", text);
        } else if (text != NULL || !column->is_end) {
            json_put_text(json, column->name, text);
        }
        if (json->bad) {
            return error_set(why, NULL, 0, "%s '%s' is not UTF-8, so it cannot be written as JSON",
                             column->name, text);
        }
    }
    put_families(result, json);
    put_seal(result, json);
    return put_replications(result, json, why);
}

bool run_print_json(const struct result *result, json_t *swept, FILE *out, struct error *why)
{
    struct json_writer json = {.out = out};
    bool good = run_begin_json(result, &json, why);
    if (swept != NULL) {
        json_put_value(&json, "swept", swept);
    }
    json_end(&json, '}');
    fputc('\n', out);
    return good;
}

bool run_put_json(const struct result *result, struct frame *frame, uint32_t column,
                  struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why) && run_print_json(result, NULL, file.out, why);
    char *text = text_close(&file, good, why);
    good = text != NULL;
    if (good) {
        text[strlen(text) - 1] = '\0'; /* the end of its line */
    }
    frame_text(frame, column, text);
    free(text);
    return good;
}
