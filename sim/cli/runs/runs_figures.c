/* A column is a title and how its figure is written. */
#include "cli/runs/runs_figures.h"

#include "cli/frame/figure_columns.h"
#include "cli/frame/drawn.h"
#include "cli/frame/figures.h"
#include "cli/frame/ranges.h"

#include <assert.h>
#include <inttypes.h>

const struct table_column run_columns[RUN_FIGURES] = {
    [RUN_BATCH] = {.title = "batch", .right = true, .name = "batch", .what = "sequences"},
    [RUN_KV] = {KV_COLUMN, .drop = 3},
    [RUN_CACHE] = {CACHE_COLUMN, .extra = true},
    [RUN_HBM] = {HBM_COLUMN, .extra = true},
    [RUN_HOST] = {.title = "host",
                  .right = true,
                  .extra = true,
                  .name = "host",
                  .what = "host memory in all"},
    [RUN_HIT] = {HIT_COLUMN},
    [RUN_MASS] = {MASS_COLUMN, .drop = 1},
    [RUN_PREFILL] = {.title = "prefill s",
                     .right = true,
                     .optional = true,
                     .name = "prefill",
                     .what = "prefill of a batch of prompts"},
    [RUN_STEP] = {STEP_COLUMN},
    [RUN_RATE] = {RATE_COLUMN},
    [RUN_SPREAD] = {.title = "5 - 95 %",
                    .right = true,
                    .optional = true,
                    .name = "spread",
                    .what = "tokens a second of nine in ten replications"},
    [RUN_BEST] = {.title = "best",
                  .right = true,
                  .drop = 2,
                  .name = "best",
                  .what = "tokens a second as a share of the best run beside it"},
    [RUN_E2E] = {.title = "e2e tok/s",
                 .right = true,
                 .optional = true,
                 .name = "e2e",
                 .what = "output tokens a second, prefill included"},
    [RUN_COST] = {COST_COLUMN, .optional = true},
    [RUN_LINK] = {LINK_COLUMN, .extra = true},
    [RUN_STALLED] = {STALLED_COLUMN},
    [RUN_WAITS] = {.title = "waiting for (% of step)",
                   .name = "waits",
                   .what = "what it waits for"},
};

static_assert((int)RUN_TEXT >= (int)DRAWN_TEXT && (int)RUN_TEXT >= (int)RANGE_TEXT &&
                  (int)RUN_TEXT >= (int)FIGURE_STALLS,
              "a cell has room for any figure");

/* The figures of a run with replications are means over them. */
static bool put_drawn(const struct result *result, const char *texts[RUN_FIGURES],
                      char room[RUN_FIGURES][RUN_TEXT], struct error *why)
{
    static const struct {
        enum run_figure figure;
        enum drawn drawn;
        double scale;
    } means[] = {{RUN_PREFILL, DRAWN_PREFILL, 1e3},
                 {RUN_STEP, DRAWN_STEP, 1e3},
                 {RUN_RATE, DRAWN_DECODE_RATE, 1},
                 {RUN_E2E, DRAWN_E2E_RATE, 1},
                 {RUN_COST, DRAWN_COST, 1}};
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        char mean[DRAWN_TEXT];
        enum run_figure figure = means[i].figure;
        const char *text = drawn_mean(result, means[i].drawn, means[i].scale, mean);
        if (text != NULL) {
            snprintf(room[figure], RUN_TEXT, "%s", text);
            texts[figure] = room[figure];
        }
    }
    return drawn_span(result, DRAWN_DECODE_RATE, 1, room[RUN_SPREAD], &texts[RUN_SPREAD], why);
}

static void put_ranges(const struct result *result, const char *texts[RUN_FIGURES],
                       char room[RUN_FIGURES][RUN_TEXT])
{
    static const struct {
        enum run_figure figure;
        enum column column;
        double scale;
    } ranged[] = {
        {RUN_HIT, COLUMN_HIT_RATIO, 100}, {RUN_MASS, COLUMN_MASS_RECALL, 100},
        {RUN_STEP, COLUMN_STEP, 1e-3},    {RUN_RATE, COLUMN_DECODE_RATE, 1},
        {RUN_E2E, COLUMN_E2E_RATE, 1},    {RUN_COST, COLUMN_COST, 1},
    };
    for (size_t i = 0; i < sizeof ranged / sizeof ranged[0]; i++) {
        enum run_figure figure = ranged[i].figure;
        const char *text = range_text(result, ranged[i].column, ranged[i].scale, room[figure]);
        texts[figure] = text != NULL ? text : texts[figure];
    }
}

static void put_memory(const struct result *result, const char *texts[RUN_FIGURES],
                       char room[RUN_FIGURES][RUN_TEXT])
{
    const struct cell *cells = result->cells;
    texts[RUN_KV] = figure_kv(result, room[RUN_KV]);
    texts[RUN_CACHE] = figure_bytes(&cells[COLUMN_CACHE_BYTES], room[RUN_CACHE]);
    texts[RUN_HBM] = figure_bytes(&cells[COLUMN_HBM_BYTES], room[RUN_HBM]);
    texts[RUN_HOST] = figure_bytes(&cells[COLUMN_DRAM_BYTES], room[RUN_HOST]);
    texts[RUN_LINK] = figure_bytes(&cells[COLUMN_H2D_BYTES], room[RUN_LINK]);
}

bool run_figures(const struct result *result, const char *texts[RUN_FIGURES],
                 char room[RUN_FIGURES][RUN_TEXT], struct error *why)
{
    const struct cell *cells = result->cells;
    int64_t step_ns = cells[COLUMN_STEP].integer;
    put_memory(result, texts, room);
    texts[RUN_HIT] = figure_percent(&cells[COLUMN_HIT_RATIO], room[RUN_HIT]);
    texts[RUN_MASS] = figure_percent(&cells[COLUMN_MASS_RECALL], room[RUN_MASS]);
    if (cells[COLUMN_PREFILL].set) {
        texts[RUN_PREFILL] = figure_seconds(cells[COLUMN_PREFILL].integer, room[RUN_PREFILL]);
    }
    texts[RUN_STEP] = figure_ms(step_ns, room[RUN_STEP]);
    texts[RUN_RATE] = figure_rate(&cells[COLUMN_DECODE_RATE], room[RUN_RATE]);
    texts[RUN_E2E] = figure_rate(&cells[COLUMN_E2E_RATE], room[RUN_E2E]);
    texts[RUN_COST] = figure_dollars(&cells[COLUMN_COST], room[RUN_COST]);
    texts[RUN_STALLED] = step_ns > 0 ? figure_stalled(result, room[RUN_STALLED]) : NULL;
    texts[RUN_WAITS] = step_ns > 0 ? figure_stalls(result, room[RUN_WAITS]) : "";
    put_ranges(result, texts, room);
    return put_drawn(result, texts, room, why);
}
