#include "cli/runs/runs_text.h"

#include "core/text.h"
#include "core/version.h"
#include "cli/frame/drawn.h"
#include "predict/result/cell.h"

#include <csv.h>
#include <math.h>
#include <string.h>

/* "families":{"smollm2-135m":{"hit_ratio":0.94,...},...}; nothing without families. Figures that a
 * family lacks are left out. */
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

/* "seal":{"version":"0.1.0+...","scenario":"0123456789abcdef",...}: what the result follows from; null
 * for a point that failed. */
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
    return drawn_put_json(result, json, why);
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
    bool good = text_open(&file, why);
    struct json_writer json = {.out = file.out};
    good = good && run_begin_json(result, &json, why);
    if (good) {
        json_end(&json, '}');
    }
    char *text = text_close(&file, good, why);
    good = text != NULL;
    frame_text(frame, column, text);
    free(text);
    return good;
}

void run_print_csv_head(FILE *out)
{
    for (uint32_t i = 0; i < column_count; i++) {
        fprintf(out, "%s%s", i == 0 ? "" : ",", column_rows[i]->name);
    }
    fputc('\n', out);
}

void run_print_csv(const struct result *result, FILE *out)
{
    char buffer[CELL_SIZE];
    for (uint32_t i = 0; i < column_count; i++) {
        const char *text = cell_text(result, column_rows[i], buffer);
        if (i > 0) {
            fputc(',', out);
        }
        if (text != NULL && column_is_number(column_rows[i])) {
            fputs(text, out);
        } else if (text != NULL) {
            csv_fwrite(out, text, strlen(text));
        }
    }
    fputc('\n', out);
}
