#include "cli/plan/plan_report.h"

#include "cli/frame/figures.h"
#include "cli/frame/left_out.h"
#include "cli/frame/ranges.h"
#include "cli/frame/table.h"
#include "cli/plan/plan_answer.h"
#include "cli/plan/plan_notes.h"
#include "cli/plan/shortfall.h"
#include "cli/runs/runs_notes.h"

#include <inttypes.h>
#include <stdlib.h>
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

enum { SYSTEM, HARDWARE, VALUE, BATCH, CACHE, HBM, HIT, MASS, TPOT, RATE, COST, FIXED_COLUMNS };

/* Keys that have a column of their own already. */
static const enum column shown[] = {COLUMN_BATCH,       COLUMN_CACHE_BYTES, COLUMN_HBM_BYTES,
                                    COLUMN_HIT_RATIO,   COLUMN_MASS_RECALL, COLUMN_TPOT,
                                    COLUMN_DECODE_RATE, COLUMN_COST};

static bool is_shown(const struct targets *targets, uint32_t index)
{
    enum column column = targets->all[index].column;
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        if (shown[i] == column) {
            return true;
        }
    }
    for (uint32_t i = 0; i < index; i++) {
        if (targets->all[i].column == column) {
            return true;
        }
    }
    return false;
}

struct report {
    const struct planning *planning;
    const struct targets *targets;
    const struct target *judged[TARGETS_MOST]; /* shown in extra columns */
    uint32_t judged_count;
    struct table *table;
};

/* Is there a batch to show that is not the axis? A shortfall takes its place. */
static bool has_batch(const struct planning *planning)
{
    return planning->winner != PLANNING_NONE && strcmp(plan_axis(planning), "batch") != 0;
}

static bool make_table(struct report *report, struct error *why)
{
    struct table_column columns[FIXED_COLUMNS + TARGETS_MOST + 1] = {
        [SYSTEM] = {.title = "system"},
        [HARDWARE] = {.title = "hardware", .optional = true},
        [VALUE] = {.title = plan_axis(report->planning), .right = true},
        [BATCH] = {.title = has_batch(report->planning) ? "batch" : "",
                   .right = true,
                   .optional = true},
        [CACHE] = {.title = "cache", .right = true, .optional = true},
        [HBM] = {.title = "HBM", .right = true, .optional = true},
        [HIT] = {.title = "hit %", .right = true, .optional = true, .drop = 1},
        [MASS] = {.title = "mass %", .right = true, .optional = true},
        [TPOT] = {.title = "tpot ms", .right = true, .optional = true},
        [RATE] = {.title = "tok/s", .right = true, .optional = true},
        [COST] = {.title = "$/M tok", .right = true, .optional = true},
    };
    uint32_t count = FIXED_COLUMNS;
    for (uint32_t i = 0; i < report->targets->count; i++) {
        if (!is_shown(report->targets, i)) {
            report->judged[report->judged_count++] = &report->targets->all[i];
            columns[count++] = (struct table_column){
                .title = column_kinds[report->targets->all[i].column].name, .right = true};
        }
    }
    columns[count++] = (struct table_column){.title = ""};
    report->table = table_create(columns, count, why);
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
    char value[TEXT], batch[TEXT], cache[FIGURE], hbm[FIGURE], hit[FIGURE], mass[FIGURE],
        tpot[FIGURE];
    char rate[FIGURE], cost[FIGURE], judged[TARGETS_MOST][TARGET_TEXT];
    char ranges[RANGED][RANGE_TEXT];
    uint32_t count = FIXED_COLUMNS;
    texts[VALUE] = quest_label(quest, planning->maximise, quest->found, value, sizeof value);
    snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
    texts[BATCH] = !has_batch(planning) ? "" : cells[COLUMN_BATCH].set ? batch : NULL;
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
    texts[count++] = quest == &planning->quests[planning->winner] ? "wins" : "";
    return table_add(report->table, texts, count, why);
}

/* In place of figures: how near the candidate comes, and what limits it. */
static bool add_missed(const struct report *report, const struct quest *quest, const char **texts,
                       struct error *why)
{
    char text[2 * LINE], shortfall[LINE], block[BLOCK], label[TEXT];
    const char *value = NULL;
    if (quest->nearest == SEARCH_NONE) {
        shortfall_describe(report->targets, &quest->results[0], text);
    } else {
        const struct result *result = &quest->results[quest->nearest];
        shortfall_describe(report->targets, result, shortfall);
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
    const char *texts[FIXED_COLUMNS + TARGETS_MOST + 1] = {NULL};
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

static bool print_table(struct report *report, FILE *out, struct error *why)
{
    bool good = make_table(report, why);
    for (uint32_t i = 0; good && i < report->planning->count; i++) {
        good = add_quest(report, &report->planning->quests[i], why);
    }
    if (good) {
        table_print(report->table, out);
    }
    table_destroy(report->table);
    return good;
}

/* ---- what follows ---- */

/* Does the candidate hold the highest load of the axis? Then the axis limits it, not the machine,
 * and its tokens may be cheaper at a higher load. */
static bool is_unsaturated(const struct planning *planning, const struct quest *quest)
{
    return planning->maximise && quest->search.load && quest->found == 0;
}

/* The cost of a candidate's answer; NULL without an answer or a price. */
static const struct cell *cost_of_answer(const struct quest *quest)
{
    const struct cell *cost =
        quest->found == PLANNING_NONE ? NULL : &quest->results[quest->found].cells[COLUMN_COST];
    return cost != NULL && cost->set ? cost : NULL;
}

/* The candidate with the cheapest tokens, if several have a price: it need not be the winner. */
static void print_cheapest(const struct planning *planning, FILE *out)
{
    const struct quest *cheapest = NULL;
    uint32_t priced = 0, unsaturated = 0;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct quest *quest = &planning->quests[i];
        const struct cell *cost = cost_of_answer(quest);
        if (cost != NULL) {
            priced++;
            unsaturated += is_unsaturated(planning, quest);
            cheapest =
                cheapest == NULL || cost->real < cost_of_answer(cheapest)->real ? quest : cheapest;
        }
    }
    if (priced < 2) {
        return;
    }
    char line[2 * LINE], name[LINE], dollars[FIGURE];
    plan_name_quest(planning, cheapest, name);
    figure_dollars(cost_of_answer(cheapest), dollars);
    if (unsaturated > 0) {
        snprintf(line, sizeof line,
                 "no candidate is called the cheapest: %u of %u hold the highest load of the axis, "
                 "and at a higher one their tokens may cost less",
                 unsaturated, priced);
    } else {
        snprintf(line, sizeof line, "the cheapest of these is %s: $%s per million tokens", name,
                 dollars);
    }
    table_line("", line, out);
}

/* Is the nearest value the lowest one tried, while the axis may have lower ones? */
static bool is_least_tried(const struct planning *planning, const struct quest *quest)
{
    return planning->maximise && quest->fixed == NULL && quest->axis.numeric &&
           quest->axis.ranges && quest->nearest + 1 == quest->search.count &&
           strcmp(quest->axis.key, "batch") != 0;
}

static void print_answer(const struct planning *planning, const struct targets *targets, FILE *out)
{
    char text[PLAN_ANSWER];
    plan_answer(planning, targets, text);
    table_line("", text, out);
    if (planning->winner != PLANNING_NONE || planning->nearest == PLANNING_NONE) {
        return;
    }
    const struct quest *quest = &planning->quests[planning->nearest];
    if (is_least_tried(planning, quest)) {
        snprintf(text, sizeof text,
                 "the axis begins there; for lower values: --maximise %s=FROM:TO", quest->axis.key);
        table_line("", text, out);
    }
}

/* For rate and clients: how many values up to the answer were tried and meet the targets. */
static bool say_held(const struct planning *planning, const struct quest *quest, char line[LINE])
{
    uint32_t held = 0, count = quest->search.count, above = 0;
    char least[TEXT], found[TEXT];
    if (!quest->search.load || quest->found == SEARCH_NONE ||
        quest->search.shortfall[count - 1] != 0) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool met = quest->search.shortfall[i] == 0;
        held += met && i >= quest->found ? 1 : 0;
        above += met && i < quest->found ? 1 : 0;
    }
    snprintf(line, LINE,
             "of the %u values from %s to %s, %u were tried, and all of these meet the targets%s",
             count - quest->found,
             quest_label(quest, planning->maximise, count - 1, least, sizeof least),
             quest_label(quest, planning->maximise, quest->found, found, sizeof found), held,
             above == 0 ? "" : "; a higher value meets them too, but one between does not");
    return true;
}

/* What is unknown about the values that were not tried; false if nothing is. */
static bool say_untried(const struct planning *planning, const struct quest *quest, char line[LINE])
{
    const struct search *search = &quest->search;
    if (search->count == 0 || search->tried == search->count) {
        return false;
    }
    if (say_held(planning, quest, line)) {
        return true;
    }
    bool flat = quest->found == SEARCH_NONE && search_is_flat(search);
    if (quest->nearest == SEARCH_NONE) {
        snprintf(line, LINE,
                 "no tried value has the figures that the targets need; others may "
                 "have them");
    } else if (flat) {
        snprintf(line, LINE,
                 "all tried values, from one end of the axis to the other, miss the targets by "
                 "the same amount");
    } else if (search->uneven) {
        snprintf(line, LINE,
                 "the shortfall does not shrink steadily along the axis, so an untried value may "
                 "%s",
                 quest->found != SEARCH_NONE ? "do better" : "meet the targets");
    }
    return quest->nearest == SEARCH_NONE || flat || search->uneven;
}

static void print_search(const struct planning *planning, FILE *out)
{
    uint32_t tried = 0, values = 0;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct quest *quest = &planning->quests[i];
        tried += quest->search.tried;
        values += quest->search.count;
    }
    fprintf(out, "%u of %u values were tried\n", tried, values);
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct quest *quest = &planning->quests[i];
        char said[LINE], line[3 * LINE], name[LINE];
        if (say_untried(planning, quest, said)) {
            plan_name_quest(planning, quest, name);
            snprintf(line, sizeof line, "%s: %s", name, said);
            table_line("", line, out);
        }
    }
}

static void print_title(const struct report *report, FILE *out)
{
    char goal[PLAN_GOAL], targets[TARGETS_TEXT];
    plan_goal(report->planning, goal);
    fprintf(out, "%s for %s\n\n", goal, targets_text(report->targets, targets));
}

static bool take_notes(const struct planning *planning, struct runs_notes *notes, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        const struct quest *quest = &planning->quests[i];
        uint32_t value = quest->found != PLANNING_NONE ? quest->found : quest->nearest;
        good = value == PLANNING_NONE || runs_notes_add(notes, &quest->results[value], why);
    }
    return good;
}

bool plan_report(const struct planning *planning, const struct targets *targets, FILE *out,
                 struct error *why)
{
    struct report report = {.planning = planning, .targets = targets};
    struct runs_notes *notes = runs_notes_create(why);
    bool good = notes != NULL && take_notes(planning, notes, why);
    if (good) {
        runs_notes_print_above(notes, out);
        print_title(&report, out);
        good = print_table(&report, out, why);
    }
    if (good) {
        fputc('\n', out);
        print_answer(planning, targets, out);
        print_cheapest(planning, out);
        print_search(planning, out);
        plan_notes_print(planning, targets, out);
        good = plan_draws_print(planning, targets, out, why);
        left_out_print(planning->candidates, planning->count, out);
        runs_notes_print_below(notes, out);
    }
    runs_notes_destroy(notes);
    return good;
}
