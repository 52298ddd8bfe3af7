/* A table of an engine's lines if the KV pool is computed from them, a paragraph on memory, then
 * one on time. */
#include "cli/runs/explain_words.h"

#include "core/text.h"
#include "core/units.h"
#include "tables/frame.h"
#include "predict/server/engine_memory.h"
#include "server/pools/kv_groups_text.h"
#include "server/pools/kv_pools.h"
#include "predict/server/serving_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCES = 640 };

static const struct frame_column columns[] = {
    {.title = "memory of a GPU"},
    {.title = "GiB", .unit = UNIT_COUNT, .decimals = 2},
    {.title = "share", .unit = UNIT_PERCENT_TENTHS},
    {.title = "basis"},
    {.title = "what it is", .wrap = true},
};

static void explain_server_put_line(const struct engine_memory_line *line, double all,
                                    struct frame *frame)
{
    frame_row(frame);
    frame_text(frame, 0, line->name);
    frame_number(frame, 1, line->bytes / (1 << 30));
    frame_number(frame, 2, line->bytes / all);
    frame_text(frame, 3, basis_name(line->basis));
    frame_text(frame, 4, line->what);
}

/* How the engine divides the pool among layers that keep different things. */
static bool print_division(const struct point *point, double pool, FILE *out, struct error *why)
{
    struct kv_limits limits = serving_kv_limits(point);
    const struct model *model = &point->setup.model;
    uint64_t length = model->trained_context > 0 ? model->trained_context : point->setup.context;
    struct kv_groups groups;
    struct kv_pools pools;
    struct error other;
    char text[SENTENCES];
    if (point->workload.engine.pools.slots > 0) {
        if (kv_pools_divide(model, &point->workload.engine.pools, pool, &pools)) {
            kv_pools_say(model, &pools, text, sizeof text);
            table_line("", text, out);
        }
        return true;
    }
    if (point->workload.engine.groups.block == 0) {
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
        explain_server_put_line(&memory.lines[i], all, frame);
    }
    bool good = frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    return good && print_division(point, memory.pool, out, why);
}

/* Where the pool of a server comes from that keeps all KV in HBM. */
static const char *origin_of(const struct point *point)
{
    return point->setup.kv_pool_tokens > 0      ? "as kv_pool_tokens says"
           : point->workload.engine.row != NULL ? "as the engine computes it"
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
    bool lines = point->workload.engine.row != NULL && point->setup.kv_pool_tokens == 0;
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
    if (lines && !explain_server_print_lines(point, out, why)) {
        return false;
    }
    table_line("", text, out);
    return true;
}

bool explain_server_write(const struct point *point, const char *name,
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
    return text != NULL && (!point->workload.timed ||
                            explain_paragraph(point, name, runs, explain_times_write, out, why));
}
