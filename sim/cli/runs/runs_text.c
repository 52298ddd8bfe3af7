#include "cli/runs/runs_text.h"

#include "core/text.h"
#include "core/version.h"
#include "cli/frame/drawn.h"
#include "predict/result/cell.h"

#include <csv.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static bool print_json_text(const char *name, const char *text, FILE *out, struct error *why)
{
    json_t *json = json_string(text);
    if (json == NULL) {
        return error_set(why, NULL, 0, "%s '%s' is not UTF-8, so it cannot be written as JSON",
                         name, text);
    }
    json_dumpf(json, out, JSON_ENCODE_ANY);
    json_decref(json);
    return true;
}

/* ,"families":{"smollm2-135m":{"hit_ratio":0.94,...},...}; nothing without families. Figures that a
 * family lacks are left out. */
static void print_json_families(const struct result *result, FILE *out)
{
    for (uint32_t f = 0; f < result->family_count; f++) {
        const struct result_family *family = &result->families[f];
        fprintf(out, "%s\"%s\":{", f == 0 ? ",\"families\":{" : ",", family->name);
        const char *between = "";
        for (uint32_t i = 0; column_ranged(i) != NULL; i++) {
            if (!isnan(family->values[i])) {
                fprintf(out, "%s\"%s\":%.9g", between, column_ranged(i)->name, family->values[i]);
                between = ",";
            }
        }
        fputc('}', out);
    }
    if (result->family_count > 0) {
        fputc('}', out);
    }
}

static void print_json_hash(const char *name, const char *hash, FILE *out)
{
    bool none = hash[0] == '\0';
    fprintf(out, ",\"%s\":%s%s%s", name, none ? "" : "\"", none ? "null" : hash, none ? "" : "\"");
}

/* ,"seal":{"version":"0.2.0+...","scenario":"0123456789abcdef",...}: what the result follows from; null
 * for a point that failed. */
static void print_json_seal(const struct result *result, FILE *out)
{
    if (result->scenario_hash[0] == '\0') {
        fputs(",\"seal\":null", out);
        return;
    }
    fprintf(out, ",\"seal\":{\"version\":\"%s\"", spillway_program);
    print_json_hash("scenario", result->scenario_hash, out);
    print_json_hash("model", result->model_hash, out);
    print_json_hash("machine", result->profile_hash, out);
    print_json_hash("trace", result->trace_hash, out);
    print_json_hash("requests", result->requests_hash, out);
    fputc('}', out);
}

/* Ends of ranges that are null are left out. */
bool run_print_json_open(const struct result *result, FILE *out, struct error *why)
{
    char buffer[CELL_SIZE];
    for (uint32_t i = 0; i < column_count; i++) {
        const struct column *column = column_rows[i];
        const char *text = cell_text(result, column, buffer);
        if (text == NULL && column->is_end) {
            continue;
        }
        fprintf(out, "%s\"%s\":", i == 0 ? "{" : ",", column->name);
        if (text == NULL) {
            fputs("null", out);
        } else if (!column_is_text(column)) {
            fputs(text, out);
        } else if (!print_json_text(column->name, text, out, why)) {
            return false;
        }
    }
    print_json_families(result, out);
    print_json_seal(result, out);
    return drawn_print_json(result, out, why);
}

bool run_print_json(const struct result *result, json_t *swept, FILE *out, struct error *why)
{
    bool good = run_print_json_open(result, out, why);
    if (swept != NULL) {
        fputs(",\"swept\":", out);
        json_dumpf(swept, out, JSON_COMPACT);
        json_decref(swept);
    }
    fputs("}\n", out);
    return good;
}

bool run_put_json(const struct result *result, struct frame *frame, uint32_t column,
                  struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why) && run_print_json_open(result, file.out, why) &&
                fputc('}', file.out) == '}';
    char *text = text_close(&file, good, why);
    good = text != NULL;
    frame_text(frame, column, text);
    free(text);
    return good;
}

void run_print_csv_head(bool drawn, FILE *out)
{
    for (uint32_t i = 0; i < column_count; i++) {
        fprintf(out, "%s%s", i == 0 ? "" : ",", column_rows[i]->name);
    }
    if (drawn) {
        drawn_print_csv_head(out);
    }
    fputc('\n', out);
}

void run_print_csv(const struct result *result, bool drawn, FILE *out)
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
    if (drawn) {
        drawn_print_csv(result, out);
    }
    fputc('\n', out);
}
