/* Of decode steps, sentences about their parts; of a server, its engine's memory and its time. Both end with
 * the effect of the machine's figures. */
#include "cli/runs/runs.h"

#include "cli/frame/message.h"
#include "core/text.h"
#include "predict/answer.h"
#include "predict/scenario/engine_memory.h"
#include "predict/server/serving_load.h"
#include "study/sweep/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETTING = 256, SENTENCES = 640 };

/* ---- figures of the machine ---- */

enum { FIGURES_SHOWN = 3 };
#define LEAST_EFFECT 0.001 /* smaller ones, as shares of a time, are not mentioned */

static void print_percent(double share, FILE *out)
{
    double percent = 100 * fabs(share);
    fprintf(out, "%.*f %%", percent < 9.95 ? 1 : 0, percent);
}

/* " What would help TTFT most: 10 % more gpu.hbm_bandwidth: 7.7 % off it, 28.2 ms; then ..." `of`: "", or
 * the time's name if there are several. */
static void print_helps(const struct explanation *explanation, const struct explain_time *time,
                        const char *of, FILE *out)
{
    uint32_t shown = 0;
    bool step = time->column == COLUMN(step_us);
    double ms = (double)result_cell(explanation->result, time->column)->integer / 1e6;
    for (; shown < time->count && shown < FIGURES_SHOWN; shown++) {
        const struct explain_figure *figure = &time->figures[shown];
        const char *name = curve_kinds[figure->curve].name;
        if (-figure->better < LEAST_EFFECT) {
            break;
        }
        if (shown > 0) {
            fprintf(out, "%s%s ", shown == 1 ? "; then " : ", ", name);
            print_percent(figure->better, out);
            continue;
        }
        fprintf(out, " What would help%s%s most: 10 %% %s %s: ", of[0] != '\0' ? " " : "", of,
                figure->is_more ? "more" : "less", name);
        print_percent(figure->better, out);
        /* Requests have not the regularity of steps: their means deserve fewer digits. */
        double less = ms * (1 + figure->better);
        int digits = less < 100 ? 1 : 0;
        fprintf(out, " off %s, %.*f ms", step ? "the step" : "it", step ? 2 : digits, less);
    }
    if (shown > 0) {
        fputs(".", out);
    } else {
        fprintf(out, " No single figure of the machine changes %s noticeably.",
                of[0] != '\0' ? of : "it");
    }
}

/* " To measure first (effect of a 10 % error on the step): ..." The times are those that `on` names. */
static void print_guesses(const struct explanation *explanation, const char *on, FILE *out)
{
    double effects[CURVE_COUNT];
    enum basis bases[CURVE_COUNT];
    int shown = 0;
    /* The figures that were not measured, each with the largest effect of 10 % on any time; 0: none. */
    memset(effects, 0, CURVE_COUNT * sizeof *effects);
    for (uint32_t t = 0; t < explanation->count; t++) {
        const struct explain_time *time = &explanation->times[t];
        for (uint32_t i = 0; i < time->count; i++) {
            const struct explain_figure *figure = &time->figures[i];
            double effect = fmax(-figure->better, figure->worse);
            if (figure->basis != BASIS_MEASURED) {
                effects[figure->curve] = fmax(effects[figure->curve], effect);
                bases[figure->curve] = figure->basis;
            }
        }
    }
    for (; shown < FIGURES_SHOWN; shown++) {
        int most = 0;
        for (int id = 1; id < CURVE_COUNT; id++) {
            most = effects[id] > effects[most] ? id : most;
        }
        if (effects[most] < LEAST_EFFECT) {
            break;
        }
        if (shown == 0) {
            fprintf(out, " To measure first (effect of a 10 %% error on %s): ", on);
        }
        fprintf(out, "%s%s (%s) ", shown > 0 ? ", " : "", curve_kinds[most].name,
                basis_names[bases[most]]);
        print_percent(effects[most], out);
        effects[most] = 0;
    }
    fputs(shown > 0 ? "." : "", out);
}

/* ---- decode steps ---- */

static void write_step(const struct explanation *explanation, FILE *out)
{
    const struct result *result = explanation->result;
    fprintf(out, "%s, batch %" PRId64 ": ", result_cell(result, COLUMN(system))->text,
            result_cell(result, COLUMN(batch))->integer);
    if (!result_cell(result, COLUMN(step_us))->set) {
        fprintf(out, "%s.", result->message);
        return;
    }
    double ns = (double)result_cell(result, COLUMN(step_us))->integer;
    const struct result_item *part = result_largest(result, COLUMN(parts_us));
    const struct result_item *stall = result_largest(result, COLUMN(stalls_us));
    double waits = result_number(result, COLUMN(stall));
    fprintf(out, "A step takes %.*f ms. The largest part of its critical path is %s, ",
            ns < 1e8 ? 2 : 1, ns / 1e6,
            strcmp(part->name, pipeline_part_names[PART_COMPUTE]) == 0
                ? "the GPU's kernels (products, and reading its memory)"
                : part->name);
    print_percent((double)part->ns / ns, out);
    fputs("; the GPU waits for ", out);
    print_percent(waits, out);
    fputs(" of it", out);
    if (stall != NULL && waits >= LEAST_EFFECT) {
        fprintf(out, ", %s for %s", (double)stall->ns >= 0.9 * waits * ns ? "nearly all" : "most",
                stall->name);
    }
    fputs(".", out);
    print_helps(explanation, &explanation->times[0], "", out);
    print_guesses(explanation, "the step", out);
}

/* ---- a server's time ----
 *
 * The time of all requests is divided at their first tokens. The parts of a request's time
 * (server/record.h) lie on one side, except the API process and waits for other requests: what TTFT
 * leaves open of the two was before, the rest after. */

enum { SHARES_SHOWN = 4 };
#define LEAST_SHARE 0.01

struct time_share {
    const char *name; /* NULL: behind the last */
    double of;
};

/* " A first token takes 12 ms in the mean: its prompt 62 %, ..." The largest shares, taken off the list. */
static void print_shares(const char *what, double ms, struct time_share *shares, FILE *out)
{
    fprintf(out, "%s %.*f ms in the mean: ", what, ms < 100 ? 1 : 0, ms);
    for (int i = 0; i < SHARES_SHOWN; i++) {
        struct time_share *most = shares;
        for (struct time_share *at = shares; at->name != NULL; at++) {
            most = at->of > most->of ? at : most;
        }
        if (i == 0 || most->of >= LEAST_SHARE) {
            fprintf(out, "%s%s %.0f %%", i > 0 ? ", " : "", most->name, 100 * most->of);
        }
        most->of = -1;
    }
    fputc('.', out);
}

/* All requests' time that was charged to `name`. */
static double waited(const struct result *result, const char *name)
{
    double ns = 0;
    for (uint32_t i = 0; i < result->wait_count; i++) {
        ns += strcmp(result->waits[i].name, name) == 0 ? (double)result->waits[i].ns : 0;
    }
    return ns;
}

static void print_times(const struct result *result, double before, double after, FILE *out)
{
    double queue = waited(result, "queue"), load = waited(result, "load");
    double prefill = waited(result, "prefill"), api = waited(result, "api");
    double rest = fmax(0, before - queue - load - prefill), api_before = fmin(rest, api);
    double others = waited(result, "others") + waited(result, "preempted") - (rest - api_before);
    struct time_share first[] = {{"the API process", api_before / before},
                                 {"the queue", queue / before},
                                 {"prefixes from the host", load / before},
                                 {"steps with its prompt", prefill / before},
                                 {"waiting beside others", (rest - api_before) / before},
                                 {NULL, 0}};
    struct time_share later[PART_COUNT + 4] = {{"decoding", waited(result, "decode") / after},
                                               {"prompts of others", fmax(0, others) / after},
                                               {"the API process", (api - api_before) / after}};
    if (serving_grows(result)) {
        fprintf(
            out,
            "The queue grows without bound: of %.3g requests a second, %.3g are answered. First "
            "tokens take the longer, the longer that lasts ('spillway plan --maximise rate' finds "
            "a rate that holds).",
            result_number(result, COLUMN(requests_in_per_s)),
            result_number(result, COLUMN(requests_out_per_s)));
    } else {
        print_shares("A first token takes", result_number(result, COLUMN(ttft_ms)), first, out);
    }
    for (int part = 0; part < PART_COUNT; part++) {
        const char *name = pipeline_part_names[part];
        later[3 + part] = (struct time_share){name, waited(result, name) / after};
    }
    if (result_cell(result, COLUMN(tpot_ms))->set && after > 0) {
        print_shares(" A later one takes", result_number(result, COLUMN(tpot_ms)), later, out);
    }
}

static double level(const struct result *result, int figure)
{
    double sum = 0, ns = 0;
    for (uint32_t i = 0; i < result->bin_count; i++) {
        sum += result->bins[i].figures[figure] * (double)result->bins[i].ns;
        ns += (double)result->bins[i].ns;
    }
    return ns > 0 ? sum / ns : 0;
}

static const char *why_nothing_is_found(double known, double gpu)
{
    return known < 0.02 ? " Nothing comes again, so tiers only cost."
           : gpu > known - 0.02
               ? " It has all that comes again, so tiers only cost; they help where it is too small "
                 "for that."
               : " What comes again was evicted from the tiers, or is still being saved: with more "
                 "host_memory they keep it.";
}

/* What tiers below the GPU bring, and what would change that if it is little. Unknown without hashes. */
static void print_tiers(const struct point *point, const struct result *result, FILE *out)
{
    const struct column *const below[] = {COLUMN(hit_tokens_host), COLUMN(hit_tokens_disk),
                                          COLUMN(hit_tokens_pool)};
    double tokens = result_number(result, COLUMN(prompt_tokens)), found = 0;
    double gpu = result_number(result, COLUMN(hit_tokens_gpu)) / tokens;
    const struct requests_hashed *hashed = &point->requests->hashed; /* of a stream, a sample */
    double known = hashed->all > 0 ? (double)hashed->hits / (double)hashed->all : NAN;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        const struct cell *cell = result_cell(result, below[i]);
        found += cell->set ? (double)cell->integer / tokens : 0;
    }
    if (!result_cell(result, COLUMN(prefix_host_bytes))->set || tokens <= 0 || isnan(known)) {
        return;
    }
    known = fmax(known, gpu + found); /* a sample begins with nothing */
    fprintf(
        out,
        " Of the prompts, %.0f %% came before: the GPU has %.0f %% and the tiers below %.0f %%.",
        100 * known, 100 * gpu, 100 * found);
    fputs(found < 0.02 ? why_nothing_is_found(known, gpu) : "", out);
    double took = waited(result, "load") / (fmax(found, 0.02) * tokens);
    double computed = waited(result, "prefill") / ((1 - gpu - found) * tokens);
    if (found >= 0.02 && took > computed) {
        fprintf(out,
                " Loading a token takes %.2g us, computing it %.2g us: short prefixes cost more "
                "than they save (mechanisms.prefix_cheaper computes them).",
                took / 1e3, computed / 1e3);
    }
}

static void write_served(const struct point *point, const struct explanation *explanation,
                         FILE *out)
{
    const struct result *result = explanation->result;
    double before = 0, after = 0; /* the first tokens, of all requests */
    for (uint32_t i = 0; i < result->request_count; i++) {
        const struct result_request *request = &result->requests[i];
        if (request->end_ns >= 0) {
            before += (double)(request->first_token_ns - request->arrived_ns);
            after += (double)(request->end_ns - request->first_token_ns);
        }
    }
    if (before <= 0) {
        fputs("No request was answered.", out);
        return;
    }
    print_times(result, before, after, out);
    double servers = (double)point_servers(point);
    const struct cell *blocks = result_cell(result, COLUMN(kv_blocks));
    fprintf(out, " %s GPU computes for %.0f %% of the time, %.1f requests at once",
            servers > 1 ? "A server's" : "The",
            100 * result_cell(result, COLUMN(gpu_busy_share))->real,
            level(result, RESULT_SERIES_running) / servers);
    if (blocks->set && blocks->integer > 0) {
        fprintf(out, ", and %s KV pool is %.0f %% full", servers > 1 ? "its" : "the",
                100 * level(result, RESULT_SERIES_blocks) / (double)blocks->integer);
    }
    fputs(".", out);
    print_tiers(point, result, out);
    for (uint32_t i = 0; i < explanation->count; i++) {
        const struct explain_time *time = &explanation->times[i];
        print_helps(explanation, time, time->column == COLUMN(ttft_ms) ? "TTFT" : "TPOT", out);
    }
    print_guesses(explanation,
                  explanation->count > 1  ? "TTFT or TPOT"
                  : serving_grows(result) ? "TPOT"
                                          : "TTFT",
                  out);
}

/* ---- a server's memory ---- */

static const struct frame_column memory_columns[] = {
    {.title = "memory of a GPU"},
    {.title = "GiB", .unit = UNIT_COUNT, .decimals = 2},
    {.title = "share", .unit = UNIT_PERCENT_TENTHS},
    {.title = "basis"},
    {.title = "what it is", .wrap = true},
};

static bool print_lines(const struct point *point, FILE *out, struct error *why)
{
    struct engine_memory memory;
    double all = profile_value(&point->setup.profile, CURVE_GPU_HBM_CAPACITY, 0, TRUST_UNSEEN);
    if (!engine_memory_of(point, &memory, why)) {
        return false;
    }
    struct frame *frame =
        frame_create(memory_columns, sizeof memory_columns / sizeof *memory_columns, why);
    for (uint32_t i = 0; i < memory.count; i++) {
        const struct engine_memory_line *line = &memory.lines[i];
        frame_row(frame);
        frame_text(frame, 0, line->name);
        frame_number(frame, 1, line->bytes / (1 << 30));
        frame_number(frame, 2, line->bytes / all);
        frame_text(frame, 3, basis_names[line->basis]);
        frame_text(frame, 4, line->what);
    }
    bool good = frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    return good;
}

/* The memory without the run's name, which differs between runs of equal memory. */
static bool write_memory(const struct point *point, const struct run_context *runs, FILE *out,
                         struct error *why)
{
    struct serving_memory memory;
    char text[SENTENCES];
    bool computed = point->setup.engine.room > 0 && point->setup.kv_pool_tokens == 0;
    if (!serving_memory_plan(point, runs, &memory, why)) {
        return false;
    }
    if (mechanisms_offload(point->setup.mechanisms)) {
        snprintf(text, sizeof text,
                 "%s: HBM and host memory hold %" PRIu32 " requests of the workload's mean of "
                 "%" PRIu64 " tokens, and a step takes %" PRIu64 ".",
                 point->setup.system.name, memory.sequences, point->setup.context,
                 point->workload.sequences);
    } else {
        const struct prefix_options *prefix = &memory.prefix;
        uint64_t tokens = prefix->gpu_blocks * prefix->block_tokens, mean = point->setup.context;
        uint64_t fit = tokens / mean;
        uint64_t most =
            point->workload.sequences * point->setup.model.parallel.data; /* of all ranks */
        const char *origin = point->setup.kv_pool_tokens > 0 ? "as kv_pool_tokens says"
                             : point->engine.row != NULL     ? "as the engine computes it"
                                                             : "all that weights and a step leave";
        snprintf(text, (sizeof text),
                 "%s: the KV pool has %" PRIu64 " tokens, %s: %" PRIu64
                 " blocks of %u. Requests of the "
                 "workload's mean of %" PRIu64 " tokens: %" PRIu64 " fit, and a step takes %" PRIu64
                 ", so %s how many run together.",
                 point->setup.system.name, tokens, origin, prefix->gpu_blocks, prefix->block_tokens,
                 mean, fit, most, fit < most ? "the pool limits" : "max_sequences limits");
    }
    if (computed && !print_lines(point, out, why)) {
        return false;
    }
    table_line("", text, out);
    return true;
}

/* ---- a point ---- */

/* The paragraph on a run's time, after its name among several; what the caller frees. */
static char *times_text(const struct point *point, const char *name, const struct result *result,
                        const struct run_context *runs, struct error *why)
{
    struct explanation explanation;
    struct text_file file;
    if (!explain_run(point, runs, result, &explanation, why)) {
        return NULL;
    }
    bool good = text_open(&file, why);
    if (good && point_serves(point)) {
        fprintf(file.out, "%s%s", name, name[0] != '\0' ? ": " : "");
        write_served(point, &explanation, file.out);
    } else if (good) {
        write_step(&explanation, file.out);
    }
    explanation_release(&explanation);
    return text_close(&file, good, why);
}

/* Printed when whole, in place of progress. `*shown`: the memory of the run before, not printed twice. */
static bool explain_point(const struct scenario *scenario, uint32_t index,
                          const struct result *result, const struct run_context *runs, char **shown,
                          struct error *why)
{
    struct point point;
    struct text_file file;
    char left[PROGRESS_LEFT], *memory = NULL, *times = NULL;
    char name[2 * SETTING], setting[SETTING]; /* "vllm, rate 2" of a sweep, "" of a single run */
    progress_show(index, scenario->points, "explaining run %u of %u%s", index + 1, scenario->points,
                  progress_left((double)index / scenario->points, left));
    if (!scenario_point(scenario, index, &point, why)) {
        progress_clear();
        return false;
    }
    sweep_point_setting(scenario->sweep, index, setting, sizeof setting);
    snprintf(name, sizeof name, "%s%s%s", scenario->points > 1 ? point.setup.system.name : "",
             setting[0] != '\0' ? ", " : "", setting);
    bool serves = point_serves(&point), timed = !serves || point.workload.timed;
    if (serves) {
        bool good = text_open(&file, why) && write_memory(&point, runs, file.out, why);
        memory = text_close(&file, good, why);
    }
    bool good = (!serves || memory != NULL) &&
                (!timed || (times = times_text(&point, name, result, runs, why)) != NULL);
    bool told = memory == NULL || (*shown != NULL && strcmp(*shown, memory) == 0);
    progress_clear();
    if (good && (!told || timed)) {
        printf("\n%s", told ? "" : memory);
    }
    if (good && timed) {
        table_line("", times, stdout);
    }
    free(times);
    free(*shown);
    *shown = memory;
    point_release(&point);
    return good;
}

bool explain_print(const struct scenario *scenario, const struct result *results,
                   const struct run_context *runs, struct error *why)
{
    bool ok = true;
    char *shown = NULL;
    for (uint32_t i = 0; ok && i < scenario->points; i++) {
        const struct result *result = &results[i];
        if (result_cell(result, COLUMN(status))->set) {
            ok = stop_flag_check(runs->stop, why) &&
                 explain_point(scenario, i, result, runs, &shown, why);
        }
    }
    free(shown);
    return ok;
}

/* ---- JSON ---- */

static void put_ends(const struct point *point, const struct result *result,
                     const struct run_ranges *ranges, struct json_writer *json)
{
    json_begin(json, "ends", '[');
    for (uint32_t i = 0; i < 2 * ranges->count; i++) {
        const struct run_range *range = &ranges->all[i / 2];
        const struct curve *curve = &point->setup.profile.curves[range->curve];
        json_begin(json, NULL, '{');
        json_put_text(json, "figure", curve_kinds[range->curve].name);
        json_put_text(json, "basis", basis_names[curve->basis]);
        json_put(json, "share", "%.9g", i % 2 == 0 ? curve->least : curve->most);
        /* The columns that differ from the run's, without those that a run timed again does not have. */
        char before[CELL_SIZE], after[CELL_SIZE];
        json_begin(json, "changes", '{');
        for (uint32_t c = 0; c < column_count; c++) {
            const struct column *column = column_rows[c];
            const char *old = cell_text(result, column, before),
                       *now = cell_text(&range->ends[i % 2], column, after);
            if (!column_is_text(column) && column->holds != HOLDS_NOTES && old != NULL &&
                now != NULL && strcmp(old, now) != 0) {
                json_put(json, column->name, "%s", now);
            }
        }
        json_end(json, '}');
        json_end(json, '}');
    }
    json_end(json, ']');
}

bool explain_print_json(const struct scenario *scenario, uint32_t index,
                        const struct result *result, const struct run_context *runs, FILE *out,
                        struct error *why)
{
    struct json_writer json = {.out = out};
    struct point point;
    struct run_ranges ranges = {.all = NULL};
    if (!scenario_point(scenario, index, &point, why)) {
        return false;
    }
    bool good = point_serves(&point) || answer_ranges(&point, 0, runs, result, &ranges, why);
    good = good && run_begin_json(result, &json, why);
    if (good) {
        json_begin(&json, "explain", '{');
        /* The kind of the run's server or system, and what else its errors hang on. */
        char class[ERROR_BAND_NAME];
        const struct setup *setup = &point.setup;
        point_error_class(&point, serving_band_load(result), class);
        json_put_text(&json, "class", class);
        json_put_text(&json, "system", error_band_system(setup));
        json_put_text(&json, "profile", setup->profile.name);
        json_put(&json, "layers", "%" PRIu32,
                 result_cell(result, COLUMN(step_us))->set ? setup->model.layer_count : 0);
        put_ends(&point, result, &ranges, &json);
        json_end(&json, '}');
        json_end(&json, '}');
        fputc('\n', out);
    }
    run_ranges_release(&ranges);
    point_release(&point);
    return good;
}
