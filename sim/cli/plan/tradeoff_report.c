/* One row per run of the front, the fastest first. */
#include "cli/plan/plan_report.h"

#include "base/text.h"
#include "base/units.h"
#include "cli/frame/figure_columns.h"
#include "cli/frame/figures.h"
#include "cli/frame/left_out.h"
#include "cli/frame/ranges.h"
#include "answer/table.h"
#include "cli/runs/runs_notes.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT = 64, LINE = 1536, MANY = 20 /* more rows than this are too many to choose from */ };
enum { SYSTEM, HARDWARE, BUDGET, BATCH, KV, CACHE, HBM, HIT, MASS, TPOT, RATE, COST, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [SYSTEM] = {.title = "system"},
    [HARDWARE] = {.title = "hardware"},
    [BUDGET] = {.title = "budget",
                .right = true,
                .optional = true,
                .name = "budget",
                .what = "share of the context that the cache holds"},
    [BATCH] = {.title = "batch", .right = true, .name = "batch", .what = "sequences"},
    [KV] = {KV_COLUMN, .optional = true, .drop = 1},
    [CACHE] = {CACHE_COLUMN, .optional = true, .extra = true},
    [HBM] = {HBM_COLUMN},
    [HIT] = {HIT_COLUMN, .optional = true, .drop = 2},
    [MASS] = {MASS_COLUMN, .optional = true},
    [TPOT] = {TPOT_COLUMN},
    [RATE] = {RATE_COLUMN},
    [COST] = {COST_COLUMN, .optional = true},
};

/* The budget of a run, if its study varied the budget. */
static const char *label_budget(const struct tradeoff *tradeoff, const struct tradeoff_run *run,
                                char text[TEXT])
{
    const struct whatif *study = &tradeoff->studies[run->study];
    return study->axis_count > 1
               ? axis_label(&study->axes[0], whatif_value(study, 0, run->point), text, TEXT)
               : NULL;
}

static const struct range_cell ranged[] = {
    {HIT, COLUMN_HIT_RATIO, 100},  {MASS, COLUMN_MASS_RECALL, 100}, {TPOT, COLUMN_TPOT, 1},
    {RATE, COLUMN_DECODE_RATE, 1}, {COST, COLUMN_COST, 1},
};
enum { RANGED = sizeof ranged / sizeof ranged[0] };

static bool add_run(const struct tradeoff *tradeoff, const struct tradeoff_run *run,
                    struct table *table, struct error *why)
{
    const struct cell *cells = run->result->cells;
    const char *texts[COLUMNS] = {NULL};
    char budget[TEXT], batch[TEXT], kv[FIGURE], cache[FIGURE], hbm[TEXT], hit[FIGURE], mass[FIGURE];
    char tpot[FIGURE], rate[FIGURE], cost[FIGURE], ranges[RANGED][RANGE_TEXT];
    snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
    texts[SYSTEM] = cells[COLUMN_SYSTEM].text;
    texts[HARDWARE] = cells[COLUMN_HARDWARE].text;
    texts[BUDGET] = label_budget(tradeoff, run, budget);
    texts[BATCH] = batch;
    texts[KV] = figure_kv(run->result, kv);
    texts[CACHE] = figure_bytes(&cells[COLUMN_CACHE_BYTES], cache);
    texts[HBM] = units_format((double)cells[COLUMN_HBM_BYTES].integer, UNIT_BYTES, hbm, sizeof hbm);
    texts[HIT] = figure_percent(&cells[COLUMN_HIT_RATIO], hit);
    texts[MASS] = figure_percent(&cells[COLUMN_MASS_RECALL], mass);
    texts[TPOT] = figure_ms(cells[COLUMN_TPOT].integer, tpot);
    texts[RATE] = figure_rate(&cells[COLUMN_DECODE_RATE], rate);
    texts[COST] = figure_dollars(&cells[COLUMN_COST], cost);
    ranges_put(run->result, ranged, RANGED, texts, ranges);
    return table_add(table, texts, COLUMNS, why);
}

/* ---- servers ---- */

enum {
    AXIS = HARDWARE + 1,
    TTFT = AXIS + WHATIF_MOST_AXES,
    TTFT_P99,
    SERVED_TPOT,
    SERVED_RATE,
    GPU_RATE,
    SERVED_COST,
    SERVED
};

static const struct table_column served[SERVED] = {
    [SYSTEM] = {.title = "system"},
    [HARDWARE] = {.title = "hardware"},
    [TTFT] = {.title = "TTFT ms",
              .right = true,
              .name = "ttft",
              .what = "time to the first token, mean"},
    [TTFT_P99] = {.title = "p99", .right = true, .name = "ttft_p99", .what = "its 99th percentile"},
    [SERVED_TPOT] = {.title = "TPOT ms",
                     .right = true,
                     .name = "tpot",
                     .what = "time per output token, mean"},
    [SERVED_RATE] = {.title = "tok/s",
                     .right = true,
                     .name = "rate",
                     .what = "output tokens a second"},
    [GPU_RATE] = {.title = "a GPU",
                  .right = true,
                  .name = "gpu_rate",
                  .what = "output tokens a second of one GPU"},
    [SERVED_COST] = {COST_COLUMN, .optional = true},
};

const struct table_column *tradeoff_columns(bool serves, uint32_t *count)
{
    *count = serves ? (uint32_t)SERVED : (uint32_t)COLUMNS;
    return serves ? served : columns;
}

static struct table *create_served(const struct whatif *study, struct error *why)
{
    struct table_column own[SERVED];
    memcpy(own, served, sizeof served);
    for (uint32_t i = 0; i < WHATIF_MOST_AXES; i++) {
        bool has = i < study->axis_count;
        own[AXIS + i] = (struct table_column){
            .title = has ? axis_title(&study->axes[i]) : "", .right = true, .optional = true};
    }
    return table_create(own, SERVED, why);
}

static bool add_served(const struct tradeoff *tradeoff, const struct tradeoff_run *run,
                       struct table *table, struct error *why)
{
    const struct cell *cells = run->result->cells;
    const struct whatif *study = &tradeoff->studies[run->study];
    const char *texts[SERVED] = {cells[COLUMN_SYSTEM].text, cells[COLUMN_HARDWARE].text};
    char axes[WHATIF_MOST_AXES][TEXT], ttft[FIGURE], p99[FIGURE], tpot[FIGURE], rate[FIGURE];
    char gpu[FIGURE], cost[FIGURE];
    for (uint32_t i = 0; i < study->axis_count; i++) {
        uint32_t value = whatif_value(study, i, run->point);
        texts[AXIS + i] = axis_label(&study->axes[i], value, axes[i], TEXT);
    }
    texts[TTFT] = figure_ms(cells[COLUMN_TTFT].integer, ttft);
    texts[TTFT_P99] = figure_ms(cells[COLUMN_TTFT_P99].integer, p99);
    texts[SERVED_TPOT] = /* none if all outputs are one token */
        cells[COLUMN_TPOT].set ? figure_ms(cells[COLUMN_TPOT].integer, tpot) : NULL;
    texts[SERVED_RATE] = figure_rate(&cells[COLUMN_DECODE_RATE], rate);
    texts[GPU_RATE] = figure_rate(&cells[COLUMN_GPU_RATE], gpu);
    texts[SERVED_COST] = figure_dollars(&cells[COLUMN_COST], cost);
    return table_add(table, texts, SERVED, why);
}

/* ---- the table ---- */

static bool print_front(const struct tradeoff *tradeoff, const struct table_view *view, FILE *out,
                        struct error *why)
{
    const struct whatif *first = &tradeoff->studies[tradeoff->front[0].study];
    struct table *table =
        tradeoff->serves ? create_served(first, why) : table_create(columns, COLUMNS, why);
    bool good = table != NULL;
    if (good) {
        table_choose(table, view);
    }
    for (uint32_t i = 0; good && i < tradeoff->front_count; i++) {
        good = (tradeoff->serves ? add_served : add_run)(tradeoff, &tradeoff->front[i], table, why);
    }
    if (good) {
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

static void print_title(const struct tradeoff *tradeoff, const struct targets *targets, FILE *out)
{
    char line[LINE], all[TARGETS_TEXT];
    size_t used = (size_t)snprintf(line, sizeof line, "%u of %u run%s", tradeoff->front_count,
                                   tradeoff->run_count, text_plural(tradeoff->run_count));
    if (targets->count > 0) {
        snprintf(line + used, sizeof line - used, " that meet%s %s",
                 tradeoff->run_count == 1 ? "s" : "", targets_text(targets, all));
    }
    table_wrap(line, 0, out);
    fputs(tradeoff->front_count == 1 ? " is" : " are", out);
    fputs(
        tradeoff->serves
            ? " on the Pareto front:\nno other has more tokens/s a GPU, a shorter p99 of TTFT "
              "or a shorter TPOT without being worse\nin another of these; servers whose queue "
              "grows are left out\n\n"
            : " on the Pareto front:\nno other has more tokens/s, a shorter step, less HBM or "
              "more mass without being worse in\nanother of these\n\n",
        out);
}

static void print_hint(const struct tradeoff *tradeoff, FILE *out)
{
    if (tradeoff->front_count > MANY) {
        fputs("\n"
              "to list fewer, set targets, as in --target 'tpot_ms<=60'\n",
              out);
    }
}

/* Is there a candidate without runs? */
static bool any_absent(const struct tradeoff *tradeoff)
{
    bool absent = false;
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        absent = absent || tradeoff->why[i].found[0] != '\0' ||
                 tradeoff->candidates[i].left_out[0] != '\0';
    }
    return absent;
}

static void print_refused(const struct tradeoff *tradeoff, FILE *out)
{
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        if (tradeoff->why[i].found[0] != '\0') {
            fprintf(out, "%s on %s: %s\n", tradeoff->candidates[i].system,
                    tradeoff->candidates[i].machine, tradeoff->why[i].found);
        }
    }
}

bool tradeoff_report(const struct tradeoff *tradeoff, const struct targets *targets,
                     const struct table_view *view, FILE *out, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < tradeoff->front_count; i++) {
        good = runs_notes_add(notes, tradeoff->front[i].result, why);
    }
    if (good && tradeoff->front_count > 0) {
        runs_notes_print_above(notes, tradeoff->candidates[0].scenario.root, out);
        print_title(tradeoff, targets, out);
        good = print_front(tradeoff, view, out, why);
        print_hint(tradeoff, out);
    }
    if (good) {
        fputs(any_absent(tradeoff) ? "\n" : "", out);
        print_refused(tradeoff, out);
        left_out_print(tradeoff->candidates, tradeoff->count, out);
        runs_notes_print_below(notes, out);
    }
    runs_notes_destroy(notes);
    return good;
}
