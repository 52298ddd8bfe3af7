/* `spillway timeline`: writes one step as a Chrome trace, or prints one layer as text. */

#include "cli/runs/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "cli/frame/question.h"
#include "core/array.h"
#include "core/units.h"
#include "predict/answer.h"
#include "predict/families.h"
#include "predict/decode/run.h"
#include "tables/frame.h"

enum { SET, OUTPUT, LAYER };

static const struct command_option options[] = {
    [SET] = SCENARIO_SET_OPTION,
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .summary = "the JSON file to write, for ui.perfetto.dev or chrome://tracing"},
    [LAYER] = {.name = "--layer",
               .argument = "N",
               .summary = "instead of a file: print layer N (from 0) as a picture with a lane for "
                          "each resource, and its stages in order"},
    {.name = NULL},
};

static bool write_timeline(const struct setup *setup, const char *path, struct error *why)
{
    struct output output;
    if (!output_open(path, &output, why)) {
        return false;
    }
    if (!run_timeline(setup, output.file, why)) {
        output_discard(&output);
        return false;
    }
    return output_commit(&output, why);
}

static bool print_layer(const struct setup *setup, uint32_t layer, struct error *why)
{
    struct layer_schedule schedule;
    if (!run_layer(setup, layer, &schedule, why)) {
        return false;
    }
    bool ok = layer_print(&schedule, layer, stdout, why);
    layer_schedule_release(&schedule);
    return ok;
}

/* One of the two options says what is wanted. `layer` is UINT64_MAX if it is a file. */
static bool read_layer(const struct arguments *arguments, uint64_t *layer, struct error *why)
{
    const char *text = arguments_text(arguments, LAYER);
    *layer = UINT64_MAX;
    if (arguments_given(arguments, OUTPUT) == (text != NULL)) {
        return error_usage(why, NULL, 0, "give either --output or --layer");
    }
    return text == NULL ||
           units_parse_whole(text, UNIT_COUNT, UINT32_MAX, NULL, 0, "--layer", layer, why);
}

/* Of an ensemble, the step of the family whose result is the answer's: the one in the middle by its
 * step, which is known once all of them are timed. So each family is run, as `simulate` runs it; with
 * replays kept from there, that takes no reading of a recording. */
static bool timeline_command_show(const struct point *point, const char *path, uint64_t layer,
                                  struct error *why)
{
    struct run_context context;
    struct result result;
    struct point view;
    result_init(&result);
    if (!run_context_init(&context, 1, NULL, why)) {
        return false;
    }
    bool good = (point->family_count == 0 || answer_run(point, &context, &result, why)) &&
                point_view(point, families_chosen(&result), &view, why);
    run_context_release(&context);
    result_release(&result);
    if (good) {
        good = layer <= UINT32_MAX ? print_layer(&view.setup, (uint32_t)layer, why)
                                   : write_timeline(&view.setup, path, why);
        point_view_release(point, &view);
    }
    return good;
}

static bool timeline_command_run(const struct arguments *arguments, struct error *why)
{
    struct scenario scenario;
    struct point point;
    uint64_t layer;
    if (!read_layer(arguments, &layer, why) ||
        !scenario_from_arguments(arguments, &scenario, why)) {
        return false;
    }
    point_init(&point);
    bool ok =
        scenario.points == 1 ||
        error_usage(why, NULL, 0, "a timeline shows one run, not a sweep of %u", scenario.points);
    ok = ok && scenario_point(&scenario, 0, &point, why) &&
         timeline_command_show(&point, arguments_text(arguments, OUTPUT), layer, why);
    point_release(&point);
    scenario_release(&scenario);
    return ok;
}

const struct command command_timeline = {
    .name = "timeline",
    .operands = "[FILE...]",
    .most_operands = COMMAND_MANY,
    .summary = "write one decode step as a timeline: what ran where, and what waited",
    .example =
        "spillway timeline --set model=llama-3-8b --set hardware=a40 --set context=32768 \\\n"
        "    --set trace=smollm2-135m --set system=retroinfer -o step.json",
    .options = options,
    .more = scenario_print_keys,
    .run = timeline_command_run,
};

enum { LANE_NAME = 14, COLUMNS = TABLE_WIDTH - LANE_NAME - 1, NAME = 64 };

static const char *resource_name(const struct layer_bar *bar)
{
    return bar->resource != NULL ? bar->resource : "signals";
}

/* "transfer"; "transfer+1" in the pass of the next layer; "transfer.1" of a second micro-batch. */
static const char *bar_name(const struct layer_schedule *schedule, const struct layer_bar *bar,
                            uint32_t layer, char name[NAME])
{
    int length = snprintf(name, NAME, "%s", bar->stage);
    if (bar->layer != layer && bar->layer < schedule->layers) {
        int64_t distance = (int64_t)bar->layer - layer;
        length += snprintf(name + length, (size_t)(NAME - length), "%+" PRId64, distance);
    }
    if (bar->micro_batch > 0) {
        snprintf(name + length, (size_t)(NAME - length), ".%u", bar->micro_batch);
    }
    return name;
}

/* ---- the picture ---- */

static int column_of(const struct layer_schedule *schedule, int64_t ns)
{
    return (int)((double)ns / (double)schedule->ns * COLUMNS);
}

/* Draw a bar into a lane of COLUMNS + 1 characters. */
static void draw_bar(const struct layer_schedule *schedule, const struct layer_bar *bar,
                     uint32_t layer, char *lane)
{
    char name[NAME];
    int first = column_of(schedule, bar->begin_ns), last = column_of(schedule, bar->end_ns);
    int length = (int)strlen(bar_name(schedule, bar, layer, name));
    lane[first] = '|';
    lane[last] = '|';
    for (int i = first + 1; i < last; i++) {
        lane[i] = i - first - 1 < length ? name[i - first - 1] : '=';
    }
}

/* Draw those bars of a resource that were not drawn yet and that do not overlap. False if there are
 * none. */
static bool draw_lane(const struct layer_schedule *schedule, uint32_t resource, uint32_t layer,
                      bool *drawn, char *lane)
{
    int64_t free_ns = 0;
    bool any = false;
    for (uint32_t i = 0; i < schedule->count; i++) {
        const struct layer_bar *bar = &schedule->bars[i];
        if (bar->resource_id == resource && !drawn[i] && bar->begin_ns >= free_ns) {
            draw_bar(schedule, bar, layer, lane);
            free_ns = bar->end_ns;
            drawn[i] = any = true;
        }
    }
    return any;
}

static void print_lane(const char *name, char *lane, FILE *out)
{
    size_t length = strlen(lane);
    while (length > 0 && lane[length - 1] == ' ') {
        lane[--length] = '\0';
    }
    fprintf(out, "%-*s%s\n", LANE_NAME, name, lane);
}

/* Only work that occupies no resource needs a second lane. */
static bool print_lanes(const struct layer_schedule *schedule, uint32_t layer, FILE *out,
                        struct error *why)
{
    bool *drawn = array_zeroed(schedule->count, sizeof *drawn, why);
    for (uint32_t i = 0; drawn != NULL && i < LAYER_RESOURCES; i++) {
        char lane[COLUMNS + 2] = "";
        const char *name = NULL;
        for (uint32_t k = 0; k < schedule->count; k++) {
            name = schedule->bars[k].resource_id == i ? resource_name(&schedule->bars[k]) : name;
        }
        memset(lane, ' ', COLUMNS + 1);
        while (draw_lane(schedule, i, layer, drawn, lane)) {
            print_lane(name, lane, out);
            memset(lane, ' ', COLUMNS + 1);
        }
    }
    bool good = drawn != NULL;
    free(drawn);
    return good;
}

/* ---- the table ---- */

enum { STAGE, ON, FROM, LENGTH, PATH, PART, BASIS, CELLS };

static const struct frame_column columns[CELLS] = {
    [STAGE] = {.title = "stage"},
    [ON] = {.title = "on"},
    [FROM] = {.title = "from us", .unit = UNIT_COUNT, .decimals = 1},
    [LENGTH] = {.title = "for us", .unit = UNIT_COUNT, .decimals = 1},
    [PATH] = {.title = "path us", .unit = UNIT_COUNT, .decimals = 1},
    [PART] = {.title = "part"},
    [BASIS] = {.title = "rests most on"},
};

static double microseconds(int64_t ns)
{
    return (double)ns / 1000;
}

/* Bars of one stage, resource and part, between which no other stage begins. */
struct layer_text_row {
    const struct layer_bar *first;
    uint32_t times;
    int64_t ns, path_ns, basis_ns[BASIS_COUNT];
};

static void add_bar(const struct layer_bar *bar, struct layer_text_row *row)
{
    row->times++;
    row->ns += bar->end_ns - bar->begin_ns;
    row->path_ns += bar->path_ns;
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        row->basis_ns[basis] += bar->basis_ns[basis];
    }
}

/* Put all bars into `rows`, which has room for one a bar, but launches that nothing waits for into
 * `others`. Returns the number of rows. */
static uint32_t layer_text_make_rows(const struct layer_schedule *schedule,
                                     struct layer_text_row *rows, struct layer_text_row *others)
{
    uint32_t count = 0, stage = 0; /* the first row of the stage that began last */
    for (uint32_t i = 0; i < schedule->count; i++) {
        const struct layer_bar *bar = &schedule->bars[i];
        if (bar->part == PART_LAUNCH && bar->path_ns == 0) {
            add_bar(bar, others);
            continue;
        }
        const struct layer_bar *first = count > 0 ? rows[stage].first : bar;
        if (first->stage != bar->stage || first->layer != bar->layer ||
            first->micro_batch != bar->micro_batch) {
            stage = count;
        }
        uint32_t at = stage;
        while (at < count && (rows[at].first->resource_id != bar->resource_id ||
                              rows[at].first->part != bar->part)) {
            at++;
        }
        if (at == count) {
            rows[count++].first = bar;
        }
        add_bar(bar, &rows[at]);
    }
    return count;
}

/* The basis of most of a row's time. */
static enum basis main_basis(const struct layer_text_row *row)
{
    enum basis most = 0;
    for (int basis = 1; basis < BASIS_COUNT; basis++) {
        most = row->basis_ns[basis] > row->basis_ns[most] ? (enum basis)basis : most;
    }
    return most;
}

static void layer_text_put_row(const struct layer_schedule *schedule,
                               const struct layer_text_row *row, uint32_t layer,
                               struct frame *frame)
{
    char name[NAME], stage[NAME + 16];
    bar_name(schedule, row->first, layer, name);
    snprintf(stage, sizeof stage, row->times > 1 ? "%s (%u)" : "%s", name, row->times);
    frame_row(frame);
    frame_text(frame, STAGE, stage);
    frame_text(frame, ON, resource_name(row->first));
    frame_number(frame, FROM, microseconds(row->first->begin_ns));
    frame_number(frame, LENGTH, microseconds(row->ns));
    frame_number(frame, PATH, row->path_ns > 0 ? microseconds(row->path_ns) : NAN);
    frame_text(frame, PART, pipeline_part_names[row->first->part]);
    frame_text(frame, BASIS, basis_name(main_basis(row)));
}

/* Work shorter than a thousandth of the layer has no row of its own. */
static void layer_text_put_rows(const struct layer_schedule *schedule, uint32_t layer,
                                struct layer_text_row *rows, struct frame *frame)
{
    struct layer_text_row others = {.first = NULL};
    uint32_t count = layer_text_make_rows(schedule, rows, &others);
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].ns < schedule->ns / 1000) {
            others.ns += rows[i].ns;
            others.path_ns += rows[i].path_ns;
        } else {
            layer_text_put_row(schedule, &rows[i], layer, frame);
        }
    }
    if (others.ns > 0) {
        frame_row(frame);
        frame_text(frame, STAGE, "others");
        frame_number(frame, LENGTH, microseconds(others.ns));
        frame_number(frame, PATH, microseconds(others.path_ns));
    }
}

static bool layer_text_print_table(const struct layer_schedule *schedule, uint32_t layer, FILE *out,
                                   struct error *why)
{
    struct layer_text_row *rows = array_zeroed(schedule->count, sizeof *rows, why);
    struct frame *frame = frame_create(columns, CELLS, why);
    if (rows != NULL) {
        layer_text_put_rows(schedule, layer, rows, frame);
    }
    bool good = rows != NULL && frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    free(rows);
    return good;
}

static void print_bases(const struct layer_schedule *schedule, FILE *out)
{
    const char *between = "layer time by basis: ";
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        long percent = lround(100 * (double)schedule->basis_ns[basis] / (double)schedule->ns);
        if (percent > 0) {
            fprintf(out, "%s%s %ld %%", between, basis_name((enum basis)basis), percent);
            between = ", ";
        }
    }
    fputc('\n', out);
}

bool layer_print(const struct layer_schedule *schedule, uint32_t layer, FILE *out,
                 struct error *why)
{
    fprintf(out, "layer %u: %.1f us; a column is %.1f us\n\n", layer, microseconds(schedule->ns),
            microseconds(schedule->ns / COLUMNS));
    if (!print_lanes(schedule, layer, out, why)) {
        return false;
    }
    fputc('\n', out);
    if (!layer_text_print_table(schedule, layer, out, why)) {
        return false;
    }
    fputc('\n', out);
    print_bases(schedule, out);
    return true;
}
