/* A table of an engine's lines if the KV pool is computed from them, a paragraph on memory, then
 * one on time. */

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/runs/explain_table.h"
#include "core/text.h"
#include "core/units.h"
#include "decode/time/pipeline.h"
#include "predict/scenario/engine_memory.h"
#include "predict/server/serving_memory.h"
#include "predict/server/host_engine.h"
#include "tables/frame.h"

/* The time of all requests is divided at their first tokens. The parts of a request's time
 * (server/record.h) lie on one side, except the API process and waits for other requests: what TTFT
 * leaves open of the two was before, the rest after. */

enum { ITEMS = 32, SHOWN = 4 };

#define LEAST_SHARE 0.01

/* Named shares of something. */
struct shares {
    const char *names[ITEMS];
    double of[ITEMS];
    int count;
};

static_assert(PART_COUNT + 3 <= ITEMS, "room for all names");

static void add_share(struct shares *shares, const char *name, double share)
{
    int place = shares->count++;
    for (; place > 0 && shares->of[place - 1] < share; place--) {
        shares->of[place] = shares->of[place - 1];
        shares->names[place] = shares->names[place - 1];
    }
    shares->of[place] = share;
    shares->names[place] = name;
}

/* " A first token takes 12 ms in the mean: its prompt 62 %, the queue 30 %." The largest shares; small ones
 * are left out. */
static void print_shares(const char *what, double ms, const char *then, const struct shares *shares,
                         FILE *out)
{
    fprintf(out, "%s %.*f ms%s", what, ms < 100 ? 1 : 0, ms, then);
    for (int i = 0; i < shares->count && i < SHOWN; i++) {
        if (i == 0 || shares->of[i] >= LEAST_SHARE) {
            fprintf(out, "%s%s %.0f %%", i > 0 ? ", " : "", shares->names[i], 100 * shares->of[i]);
        }
    }
    fputc('.', out);
}

/* ---- where the time goes ---------------------------------------------------------------- */

/* All requests' time that was charged to `name`. */
static double waited(const struct result *result, const char *name)
{
    double ns = 0;
    for (uint32_t i = 0; i < result->wait_count; i++) {
        ns += strcmp(result->waits[i].name, name) == 0 ? (double)result->waits[i].ns : 0;
    }
    return ns;
}

/* All requests' time before and after their first tokens. */
static void divide(const struct result *result, double *before, double *after)
{
    *before = *after = 0;
    for (uint32_t i = 0; i < result->request_count; i++) {
        const struct result_request *request = &result->requests[i];
        if (request->end_ns >= 0) {
            *before += (double)(request->first_token_ns - request->arrived_ns);
            *after += (double)(request->end_ns - request->first_token_ns);
        }
    }
}

static void print_times(const struct result *result, double before, double after, FILE *out)
{
    double queue = waited(result, "queue"), load = waited(result, "load");
    double prefill = waited(result, "prefill"), api = waited(result, "api");
    double rest = fmax(0, before - queue - load - prefill), api_before = fmin(rest, api);
    double others = waited(result, "others") + waited(result, "preempted") - (rest - api_before);
    struct shares first = {.count = 0}, later = {.count = 0};
    add_share(&first, "the API process", api_before / before);
    add_share(&first, "the queue", queue / before);
    add_share(&first, "prefixes from the host", load / before);
    add_share(&first, "steps with its prompt", prefill / before);
    add_share(&first, "waiting beside others", (rest - api_before) / before);
    print_shares("A first token takes", result_number(result, COLUMN(ttft_ms)),
                 " in the mean: ", &first, out);
    if (!result_cell(result, COLUMN(tpot_ms))->set || after <= 0) {
        return;
    }
    add_share(&later, "decoding", waited(result, "decode") / after);
    add_share(&later, "prompts of others", fmax(0, others) / after);
    add_share(&later, "the API process", (api - api_before) / after);
    for (int part = 0; part < PART_COUNT; part++) {
        const char *name = pipeline_part_names[part];
        add_share(&later, name, waited(result, name) / after);
    }
    print_shares(" A later one takes", result_number(result, COLUMN(tpot_ms)), ": ", &later, out);
}

/* The mean of a level over the bins. */
static double level(const struct result *result, int figure)
{
    double sum = 0, ns = 0;
    for (uint32_t i = 0; i < result->bin_count; i++) {
        sum += result->bins[i].figures[figure] * (double)result->bins[i].ns;
        ns += (double)result->bins[i].ns;
    }
    return ns > 0 ? sum / ns : 0;
}

static void print_load(const struct result *result, FILE *out)
{
    const struct cell *grows = result_cell(result, COLUMN(queue_grows));
    const struct cell *blocks = result_cell(result, COLUMN(kv_blocks));
    fprintf(out, " The GPU computes for %.0f %% of the time, %.1f requests at once",
            100 * result_cell(result, COLUMN(gpu_busy_share))->real,
            level(result, RESULT_SERIES_running));
    if (blocks->set && blocks->integer > 0) {
        fprintf(out, ", and the KV pool is %.0f %% full",
                100 * level(result, RESULT_SERIES_blocks) / (double)blocks->integer);
    }
    fputs(
        grows->set && grows->integer != 0
            ? ". More requests arrive than are answered: the queue decides, and its length is that "
              "of the workload."
            : ".",
        out);
}

/* What tiers below the GPU bring, and if next to nothing, why, and what would change that. Without hashes of
 * prompts nobody knows. */
static void print_tiers(const struct result *result, FILE *out)
{
    const struct column *const below[] = {COLUMN(hit_tokens_host), COLUMN(hit_tokens_disk),
                                          COLUMN(hit_tokens_pool)};
    const struct cell *bytes = result_cell(result, COLUMN(prefix_host_bytes));
    double tokens = result_number(result, COLUMN(prompt_tokens)), found = 0;
    double gpu = result_number(result, COLUMN(hit_tokens_gpu)) / tokens;
    double known = result_number(result, COLUMN(hashed_blocks_hit)) /
                   fmax(1, result_number(result, COLUMN(hashed_blocks)));
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        const struct cell *cell = result_cell(result, below[i]);
        found += cell->set ? (double)cell->integer / tokens : 0;
    }
    if (!bytes->set || tokens <= 0 || isnan(known)) {
        return;
    }
    fprintf(out,
            " Of the prompts, %.0f %% came before: the GPU has %.0f %% and the tiers below %.0f %%",
            100 * known, 100 * gpu, 100 * found);
    fputs(
        found >= 0.02  ? "."
        : known < 0.02 ? ". Nothing comes again, so tiers only cost."
        : gpu > known - 0.02
            ? ". It has all that comes again, so tiers only cost; they help where it is too small for that."
            : ". What comes again has left them, or is not there yet: more host_memory would keep it.",
        out);
}

/* ---- what would help -------------------------------------------------------------------- */

/* Where TTFT and TPOT go, which figures of the machine would help most, and which to
 * measure first. */
static void explain_times_write(const struct explanation *explanation, FILE *out)
{
    const struct result *result = &explanation->result;
    double before, after;
    divide(result, &before, &after);
    if (before <= 0 || explanation->count == 0) {
        fputs("No request was answered.", out);
        return;
    }
    print_times(result, before, after, out);
    print_load(result, out);
    print_tiers(result, out);
    for (uint32_t i = 0; i < explanation->count; i++) {
        const struct explain_time *time = &explanation->times[i];
        explain_helps(explanation, time, time->column == COLUMN(ttft_ms) ? "TTFT" : "TPOT", out);
    }
    explain_measure_first(explanation, explanation->count > 1 ? "TTFT or TPOT" : "TTFT",
                          EXPLAIN_SHOWN, out);
}

enum { SENTENCES = 640 };

static const struct frame_column columns[] = {
    {.title = "memory of a GPU"},
    {.title = "GiB", .unit = UNIT_COUNT, .decimals = 2},
    {.title = "share", .unit = UNIT_PERCENT_TENTHS},
    {.title = "basis"},
    {.title = "what it is", .wrap = true},
};

/* How the engine divides the pool among layers that keep different things. */
static bool print_division(const struct point *point, double pool, FILE *out, struct error *why)
{
    struct kv_limits limits = serving_kv_limits(point);
    const struct model *model = &point->setup.model;
    uint64_t length = engine_longest(point);
    struct kv_groups groups;
    struct kv_pools pools;
    struct error other;
    char text[SENTENCES];
    if (point->engine.pools.slots > 0) {
        if (kv_pools_divide(model, &point->engine.pools, pool, &pools)) {
            kv_pools_say(model, &pools, text, sizeof text);
            table_line("", text, out);
        }
        return true;
    }
    if (point->engine.groups.block == 0) {
        return true;
    }
    if (!kv_groups_plan(model, &limits, &groups, &other)) {
        snprintf(text, sizeof text, "%s: a sequence takes the bytes that it keeps.", other.found);
        table_line("", text, out);
        return true;
    }
    if (groups.groups < 2) {
        return true;
    }
    struct frame *frame = kv_groups_frame(&groups, &limits, length, why);
    bool good = frame != NULL && frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    kv_groups_say(&groups, &limits, pool, length, text, sizeof text);
    table_line("", text, out);
    return good;
}

static bool explain_server_print_lines(const struct point *point, FILE *out, struct error *why)
{
    struct engine_memory memory;
    struct trust trust = {.basis = BASIS_MEASURED};
    double all = profile_value(&point->setup.profile, CURVE_GPU_HBM_CAPACITY, 0, &trust);
    if (!engine_memory_of(point, &memory, why)) {
        return false;
    }
    struct frame *frame = frame_create(columns, sizeof columns / sizeof *columns, why);
    for (uint32_t i = 0; i < memory.count; i++) {
        const struct engine_memory_line *line = &memory.lines[i];
        frame_row(frame);
        frame_text(frame, 0, line->name);
        frame_number(frame, 1, line->bytes / (1 << 30));
        frame_number(frame, 2, line->bytes / all);
        frame_text(frame, 3, basis_name(line->basis));
        frame_text(frame, 4, line->what);
    }
    bool good = frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    return good && print_division(point, memory.pool, out, why);
}

/* Where the pool of a server comes from that keeps all KV in HBM. */
static const char *origin_of(const struct point *point)
{
    return point->setup.kv_pool_tokens > 0 ? "as kv_pool_tokens says"
           : point->engine.row != NULL     ? "as the engine computes it"
                                           : "all that weights and a step leave";
}

static void write_pool(const struct point *point, const struct serving_memory *memory, char *text,
                       size_t size)
{
    const struct prefix_options *prefix = &memory->prefix;
    uint64_t tokens = prefix->gpu_blocks * prefix->block_tokens, mean = point->setup.context;
    uint64_t fit = tokens / mean, most = point->workload.sequences;
    snprintf(text, size,
             "%s: the KV pool has %" PRIu64 " tokens, %s: %" PRIu64
             " blocks of %u. Requests of the "
             "workload's mean of %" PRIu64 " tokens: %" PRIu64 " fit, and a step takes %" PRIu64
             ", so %s how many run together.",
             point->setup.system.name, tokens, origin_of(point), prefix->gpu_blocks,
             prefix->block_tokens, mean, fit, most,
             fit < most ? "the pool limits" : "max_sequences limits");
}

/* The memory without the run's name, which differs between runs of equal memory. */
static bool write_memory(const struct point *point, const struct run_context *runs, FILE *out,
                         struct error *why)
{
    struct serving_memory memory;
    char text[SENTENCES];
    bool engine = point->setup.engine.room > 0, stated = point->setup.kv_pool_tokens > 0;
    if (!serving_memory_plan(point, runs, &memory, why)) {
        return false;
    }
    if (mechanisms_offload(&point->setup.mechanisms)) {
        snprintf(text, sizeof text,
                 "%s: HBM and host memory hold %" PRIu32 " requests of the workload's mean of "
                 "%" PRIu64 " tokens, and a step takes %" PRIu64 ".",
                 point->setup.system.name, memory.sequences, point->setup.context,
                 point->workload.sequences);
    } else {
        write_pool(point, &memory, text, sizeof text);
    }
    if (engine && !(stated ? print_division(point, (double)point->setup.engine.pool, out, why)
                           : explain_server_print_lines(point, out, why))) {
        return false;
    }
    table_line("", text, out);
    return true;
}

bool explain_server_write(const struct point *point, const char *name, struct result *result,
                          const struct run_context *runs, char **shown, FILE *out,
                          struct error *why)
{
    struct text_file memory;
    bool good = text_open(&memory, why) && write_memory(point, runs, memory.out, why);
    char *text = text_close(&memory, good, why);
    if (text != NULL) {
        fputs(*shown != NULL && strcmp(*shown, text) == 0 ? "" : text, out);
    }
    free(*shown);
    *shown = text;
    return text != NULL &&
           (!point->workload.timed ||
            explain_paragraph(point, name, result, runs, explain_times_write, out, why));
}
