/* One row per candidate: the figures of the value found, or how near the nearest comes. */
#include "cli/plan/plan_report.h"

#include "cli/frame/figure_columns.h"
#include "cli/frame/figures.h"
#include "cli/frame/ranges.h"
#include "cli/plan/plan_answer.h"
#include "cli/plan/plan_notes.h"
#include "cli/plan/shortfall.h"
#include "study/plan/winner.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT = 64, LINE = SHORTFALL_TEXT, BLOCK = 640 };

/* ---- what is the matter ---- */

/* What limits a run, in its step or its memory: "link, 56 % of the step". */
static const char *name_block(const struct result *result, char text[BLOCK])
{
    const struct result_item *part = result_largest(result, COLUMN_PARTS);
    const struct result_item *stall = result_largest(result, COLUMN_STALLS);
    double ns = (double)result->cells[COLUMN_STEP].integer;
    text[0] = '\0';
    if (part == NULL || part->ns == 0) {
        snprintf(text, BLOCK, "%s", result->message);
        return text;
    }
    size_t used = (size_t)snprintf(text, BLOCK, "%s, %.0f %% of the step", part->name,
                                   100 * (double)part->ns / ns);
    if (stall != NULL && (double)stall->ns >= 0.01 * ns && strcmp(stall->name, part->name) != 0) {
        snprintf(text + used, BLOCK - used, "; it waits for %s for %.0f %%", stall->name,
                 100 * (double)stall->ns / ns);
    }
    return text;
}

/* ---- the table ---- */

enum { SYSTEM, HARDWARE, VALUE, BATCH, KV, CACHE, HBM, HIT, MASS, TPOT, RATE, COST, FIXED_COLUMNS };

/* Keys that have a column of their own already. */
static const enum column shown[] = {COLUMN_BATCH,       COLUMN_CACHE_BYTES, COLUMN_HBM_BYTES,
                                    COLUMN_HIT_RATIO,   COLUMN_MASS_RECALL, COLUMN_TPOT,
                                    COLUMN_DECODE_RATE, COLUMN_COST};

static bool has_column(enum column column)
{
    bool has = false;
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        has = has || shown[i] == column;
    }
    return has;
}

enum { JUDGED = TARGETS_MOST + 1 };

struct report {
    const struct planning *planning;
    const struct targets *targets;
    struct target compared;              /* the figure of --best; COLUMN_COUNT: none */
    const struct target *judged[JUDGED]; /* shown in extra columns */
    uint32_t judged_count;
    struct table *table;
};

/* Has this column a place in the table, or an earlier target it? */
static bool is_shown(const struct report *report, enum column column)
{
    bool shows = has_column(column);
    for (uint32_t i = 0; i < report->judged_count; i++) {
        shows = shows || report->judged[i]->column == column;
    }
    return shows;
}

/* Is there a batch to show that is not the axis? A shortfall takes its place. */
static bool has_batch(const struct planning *planning)
{
    return planning->winner != PLANNING_NONE && strcmp(plan_axis(planning), "batch") != 0;
}

static const struct table_column fixed_columns[FIXED_COLUMNS] = {
    [SYSTEM] = {.title = "system"},
    [HARDWARE] = {.title = "hardware", .optional = true},
    [VALUE] = {.right = true}, /* the axis is its title */
    [BATCH] = {.title = "batch",
               .right = true,
               .optional = true,
               .name = "batch",
               .what = "sequences, if they are not the axis"},
    [KV] = {KV_COLUMN, .optional = true},
    [CACHE] = {CACHE_COLUMN, .optional = true, .extra = true},
    [HBM] = {HBM_COLUMN, .optional = true},
    [HIT] = {HIT_COLUMN, .optional = true, .drop = 1},
    [MASS] = {MASS_COLUMN, .optional = true},
    [TPOT] = {TPOT_COLUMN, .optional = true},
    [RATE] = {RATE_COLUMN, .optional = true},
    [COST] = {COST_COLUMN, .optional = true},
};

const struct table_column *plan_columns(uint32_t *count)
{
    *count = FIXED_COLUMNS;
    return fixed_columns;
}

/* The columns and, behind them, those of targets without a column of their own, by their keys; notes
 * these targets. Returns the number of columns. */
static uint32_t list_columns(struct report *report,
                             struct table_column columns[FIXED_COLUMNS + JUDGED + 1])
{
    uint32_t count = FIXED_COLUMNS;
    memcpy(columns, fixed_columns, sizeof fixed_columns);
    report->judged_count = 0;
    for (uint32_t i = 0; i < report->targets->count + 1; i++) {
        bool last = i == report->targets->count;
        const struct target *target = last ? &report->compared : &report->targets->all[i];
        if (target->column != COLUMN_COUNT && !is_shown(report, target->column)) {
            const char *name = column_kinds[target->column].name;
            report->judged[report->judged_count++] = target;
            columns[count++] = (struct table_column){.title = name, .right = true, .name = name};
        }
    }
    columns[count++] = (struct table_column){.title = "", .name = "verdict"};
    return count;
}

bool plan_check_columns(const struct targets *targets, enum column best,
                        const struct table_view *view, struct error *why)
{
    struct report report = {.targets = targets, .compared = {.column = best}};
    struct table_column columns[FIXED_COLUMNS + JUDGED + 1];
    uint32_t count = list_columns(&report, columns);
    return table_view_check(view, columns, count, why);
}

static bool make_table(struct report *report, const struct table_view *view, struct error *why)
{
    struct table_column columns[FIXED_COLUMNS + JUDGED + 1];
    uint32_t count = list_columns(report, columns);
    columns[VALUE].title = plan_axis(report->planning);
    columns[BATCH].title = has_batch(report->planning) ? "batch" : "";
    columns[CACHE].extra = !targets_judge(report->targets, COLUMN_CACHE_BYTES);
    report->table = table_create(columns, count, why);
    if (report->table != NULL) {
        table_choose(report->table, view);
    }
    return report->table != NULL;
}

static const struct range_cell ranged[] = {
    {HIT, COLUMN_HIT_RATIO, 100},  {MASS, COLUMN_MASS_RECALL, 100}, {TPOT, COLUMN_TPOT, 1},
    {RATE, COLUMN_DECODE_RATE, 1}, {COST, COLUMN_COST, 1},
};
enum { RANGED = sizeof ranged / sizeof ranged[0] };

static bool add_met(const struct report *report, const struct quest *quest, const char **texts,
                    struct error *why)
{
    const struct planning *planning = report->planning;
    const struct result *result = &quest->results[quest->found];
    const struct cell *cells = result->cells;
    char value[TEXT], batch[TEXT], kv[FIGURE], cache[FIGURE], hbm[FIGURE], hit[FIGURE];
    char mass[FIGURE], tpot[FIGURE];
    char rate[FIGURE], cost[FIGURE], judged[JUDGED][TARGET_TEXT];
    char ranges[RANGED][RANGE_TEXT];
    uint32_t count = FIXED_COLUMNS;
    texts[VALUE] = quest_label(quest, planning->maximise, quest->found, value, sizeof value);
    snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
    texts[BATCH] = !has_batch(planning) ? "" : cells[COLUMN_BATCH].set ? batch : NULL;
    texts[KV] = figure_kv(result, kv);
    texts[CACHE] = figure_bytes(&cells[COLUMN_CACHE_BYTES], cache);
    texts[HBM] = figure_bytes(&cells[COLUMN_HBM_BYTES], hbm);
    texts[HIT] = figure_percent(&cells[COLUMN_HIT_RATIO], hit);
    texts[MASS] = figure_percent(&cells[COLUMN_MASS_RECALL], mass);
    texts[TPOT] = cells[COLUMN_TPOT].set ? figure_ms(cells[COLUMN_TPOT].integer, tpot) : NULL;
    texts[RATE] = figure_rate(&cells[COLUMN_DECODE_RATE], rate);
    texts[COST] = figure_dollars(&cells[COLUMN_COST], cost);
    ranges_put(result, ranged, RANGED, texts, ranges);
    for (uint32_t i = 0; i < report->judged_count; i++) {
        texts[count++] = target_format(report->judged[i], result, judged[i]);
    }
    bool wins = quest == &planning->quests[planning->winner];
    texts[count++] = wins                                                  ? "wins"
                     : planning->by_figure && winner_ties(planning, quest) ? "ties"
                                                                           : "";
    return table_add(report->table, texts, count, why);
}

/* In place of figures: how near the candidate comes, and what limits it. */
static bool add_missed(const struct report *report, const struct quest *quest, const char **texts,
                       struct error *why)
{
    char text[2 * LINE], shortfall[LINE], block[BLOCK], label[TEXT];
    const char *value = NULL;
    if (quest->nearest == SEARCH_NONE) {
        shortfall_describe(report->targets, report->compared.column, &quest->results[0], text);
    } else {
        const struct result *result = &quest->results[quest->nearest];
        shortfall_describe(report->targets, report->compared.column, result, shortfall);
        value = quest_label(quest, report->planning->maximise, quest->nearest, label, sizeof label);
        name_block(result, block);
        snprintf(text, sizeof text, "%s%s%s", shortfall, block[0] != '\0' ? ": " : "", block);
    }
    texts[VALUE] = value;
    texts[BATCH] = text;
    return table_add(report->table, texts, BATCH + 1, why);
}

static bool add_quest(const struct report *report, const struct quest *quest, struct error *why)
{
    const char *texts[FIXED_COLUMNS + JUDGED + 1] = {NULL};
    texts[SYSTEM] = quest->candidate->system;
    texts[HARDWARE] = plan_machines_differ(report->planning) ? quest->candidate->machine : NULL;
    if (quest->candidate->left_out[0] != '\0') {
        return true;
    }
    if (quest->cannot) {
        texts[VALUE] = quest->why.found;
        return table_add(report->table, texts, VALUE + 1, why);
    }
    return quest->found != SEARCH_NONE ? add_met(report, quest, texts, why)
                                       : add_missed(report, quest, texts, why);
}

bool plan_table_print(const struct planning *planning, const struct targets *targets,
                      const struct table_view *view, FILE *out, struct error *why)
{
    struct report report = {
        .planning = planning, .targets = targets, .compared = {.column = planning->best}};
    bool good = make_table(&report, view, why);
    for (uint32_t i = 0; good && i < planning->count; i++) {
        good = add_quest(&report, &planning->quests[i], why);
    }
    if (good) {
        table_print(report.table, out);
    }
    table_destroy(report.table);
    return good;
}
