/* A run for programs that judge it, such as the one that holds predictions against published
 * figures: the run's JSON object, with what its error is known for, and the run again with each
 * figure of its machine that has a range, at both ends of that. */
#include "cli/runs/explain.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/runs/runs_text.h"
#include "decode/error_band.h"
#include "model/parallel.h"
#include "predict/result/cell.h"
#include "predict/scenario/resolve_band.h"
#include "predict/answer.h"
#include "predict/server/serving_load.h"

/* The class whose error band the run would have, and what else that hangs on. */
static void print_class(const struct point *point, const struct result *result, FILE *out)
{
    static const char *const machines[BAND_MACHINES_COUNT] = {"", "NVLink", "PCIe"};
    const struct setup *setup = &point->setup;
    char machine[ERROR_BAND_MACHINE];
    error_band_machine(setup, machine, sizeof machine);
    if (point_serves(point)) {
        fprintf(out, "\"class\":\"%s%s server\",\"exchange\":\"%s\"",
                serving_saturated(result) ? "saturated " : "",
                model_is_routed(&setup->model) ? "MoE" : "dense",
                machines[resolve_band_machines(setup)]);
    } else {
        fprintf(out, "\"class\":\"%s\",\"system\":\"%s\"", error_band_names[system_class_of(setup)],
                error_band_system(setup));
    }
    fprintf(out, ",\"profile\":\"%s\",\"machine\":\"%s\",\"layers\":%" PRIu32, setup->profile.name,
            machine, result->layer_count);
}

/* The columns that differ from the run's, without those that a run timed again does not have. */
static void print_changes(const struct result *result, const struct result *end, FILE *out)
{
    char before[CELL_SIZE], after[CELL_SIZE];
    const char *between = "";
    for (uint32_t i = 0; i < column_count; i++) {
        const struct column *column = column_rows[i];
        const char *old = cell_text(result, column, before), *new = cell_text(end, column, after);
        if (!column_is_text(column) && column->holds != HOLDS_NOTES && old != NULL &&
            new != NULL &&strcmp(old, new) != 0) {
            fprintf(out, "%s\"%s\":%s", between, column->name, new);
            between = ",";
        }
    }
}

static void print_ends(const struct point *point, const struct result *result,
                       const struct run_ranges *ranges, FILE *out)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct run_range *range = &ranges->all[i];
        const struct curve *curve = &point->setup.profile.curves[range->curve];
        for (int end = 0; end < 2; end++) {
            fprintf(out, "%s{\"figure\":\"%s\",\"basis\":\"%s\",\"share\":%.9g,\"changes\":{",
                    i + (uint32_t)end > 0 ? "," : "", curve_kinds[range->curve].name,
                    basis_name(curve->basis), end == 0 ? curve->least : curve->most);
            print_changes(result, &range->ends[end], out);
            fputs("}}", out);
        }
    }
}

static bool print_point(const struct scenario *scenario, uint32_t index,
                        const struct run_context *runs, FILE *out, struct error *why)
{
    struct point point;
    struct result result;
    struct run_ranges ranges = {NULL, 0};
    if (!scenario_point(scenario, index, &point, why)) {
        return false;
    }
    bool ran = point_serves(&point) ? answer_run(&point, runs, &result, why)
                                    : answer_ranges(&point, 0, runs, &result, &ranges, why);
    bool good = ran && run_print_json_open(&result, out, why);
    if (good) {
        fputs(",\"explain\":{", out);
        print_class(&point, &result, out);
        fputs(",\"ends\":[", out);
        print_ends(&point, &result, &ranges, out);
        fputs("]}}\n", out);
    }
    if (ran) {
        result_release(&result);
        run_ranges_release(&ranges);
    }
    point_release(&point);
    return good;
}

bool explain_print_json(const struct scenario *scenario, const struct run_context *runs, FILE *out,
                        struct error *why)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < scenario->points; i++) {
        ok = stop_flag_check(runs->stop, why) && print_point(scenario, i, runs, out, why);
    }
    return ok;
}
