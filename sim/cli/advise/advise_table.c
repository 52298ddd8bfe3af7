#include "cli/advise/advise_report.h"

#include "base/array.h"
#include "base/text.h"
#include "cli/advise/advise_words.h"
#include "cli/frame/figures.h"
#include "cli/frame/left_out.h"
#include "cli/frame/ranges.h"
#include "answer/table.h"
#include "cli/plan/shortfall.h"
#include "cli/runs/runs_notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEM, WHERE, BATCH, HBM, MASS, TPOT, RATE, COST, TIMES, COLUMNS };
enum { NAME = 160, LINE = 2048 };

/* ---- alike systems ---- */

/* Do two quests have the same answer, to the last digit? In decode alone, many servers do. */
static bool are_alike(const struct quest *a, const struct quest *b)
{
    static const enum column columns[] = {COLUMN_BATCH, COLUMN_HBM_BYTES, COLUMN_TPOT,
                                          COLUMN_DECODE_RATE, COLUMN_MASS_RECALL};
    const struct result *x = advice_result(a), *y = advice_result(b);
    if (x == NULL && y == NULL && a->search.count > 0 && b->search.count > 0) {
        return strcmp(a->results[0].message, b->results[0].message) == 0;
    }
    bool alike = x != NULL && y != NULL;
    for (size_t i = 0; alike && i < sizeof columns / sizeof columns[0]; i++) {
        double left = result_number(x, columns[i]), right = result_number(y, columns[i]);
        alike = left == right || (isnan(left) && isnan(right));
    }
    return alike;
}

/* Does the quest stand for those alike? Plain vLLM does, else the first. */
static bool stands(const struct advice *advice, uint32_t index)
{
    const struct planning *systems = &advice->systems;
    const struct quest *own = &systems->quests[index];
    for (uint32_t i = 0; i < systems->count; i++) {
        const struct quest *other = &systems->quests[i];
        bool plain = strcmp(other->candidate->system, ADVICE_PLAIN) == 0;
        bool before = plain || (i < index && strcmp(own->candidate->system, ADVICE_PLAIN) != 0);
        if (i != index && before && are_alike(own, other)) {
            return false;
        }
    }
    return true;
}

static void print_alike(const struct advice *advice, uint32_t index, FILE *out)
{
    const struct planning *systems = &advice->systems;
    char line[LINE] = "";
    for (uint32_t i = 0; i < systems->count; i++) {
        if (i != index && systems->quests[i].candidate->left_out[0] == '\0' &&
            are_alike(&systems->quests[i], &systems->quests[index])) {
            text_append(line, sizeof line, "%s%s", line[0] != '\0' ? ", " : "",
                        systems->quests[i].candidate->system);
        }
    }
    if (line[0] != '\0') {
        char text[LINE + NAME];
        snprintf(text, sizeof text, "the same as %s: %s", systems->quests[index].candidate->system,
                 line);
        table_line("", text, out);
    }
}

/* ---- rows ---- */

struct row {
    const struct quest *quest;
    const struct advice_form *form;
    char name[NAME];
    const char *where;
    double rate; /* NaN: nothing was found */
};

/* Highest rate first; without one last; equal ones in the order of their quests. */
static int by_rate(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (isnan(x->rate) != isnan(y->rate)) {
        return isnan(x->rate) ? 1 : -1;
    }
    int order = (x->rate < y->rate) - (x->rate > y->rate);
    return order != 0 ? order : (x->quest > y->quest) - (x->quest < y->quest);
}

/* An engine has HiSparse for models with an indexer of their own alone. */
static const char *where_of(const struct quest *quest)
{
    const struct system_facts *facts = &quest->candidate->facts;
    bool lacks = facts->native && advice_result(quest) != NULL && !advice_starts(quest);
    return lacks ? "no indexer" : facts->available;
}

static uint32_t add_systems(const struct advice *advice, struct row *rows)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct quest *quest = &advice->systems.quests[i];
        if (quest->candidate->left_out[0] == '\0' && stands(advice, i)) {
            rows[count] = (struct row){.quest = quest,
                                       .form = &advice->form,
                                       .where = where_of(quest),
                                       .rate = advice_rate(advice, quest, &advice->form)};
            snprintf(rows[count].name, NAME, "%s", quest->candidate->system);
            count++;
        }
    }
    qsort(rows, count, sizeof *rows, by_rate);
    return count;
}

static struct row trial_row(const struct advice *advice, const struct advice_trial *trial,
                            const char *what)
{
    const struct quest *quest = advice_trial_quest(trial);
    struct row row = {.quest = quest,
                      .form = &trial->form,
                      .where = where_of(quest),
                      .rate = advice_rate(advice, quest, &trial->form)};
    snprintf(row.name, NAME, "%s, %s", quest->candidate->system, what);
    return row;
}

static uint32_t add_trials(const struct advice *advice, struct row *rows)
{
    char text[ADVISE_PHRASE], number[ADVISE_NUMBER];
    uint32_t count = 0;
    for (uint32_t i = 0; i < advice->form_count; i++) {
        if (i != advice->plain) {
            const struct advice_trial *form = &advice->forms[i];
            rows[count++] = trial_row(advice, form, advise_form(&form->form, text));
        }
    }
    for (int i = 0; i < ADVICE_CHANGES; i++) {
        const struct advice_trial *trial = &advice->changes[i];
        if (!trial->tried) {
            continue;
        }
        snprintf(text, sizeof text, "%s",
                 i == ADVICE_FP8_KV        ? "KV in fp8"
                 : i == ADVICE_FP8_WEIGHTS ? "weights in fp8"
                                           : "");
        if (i == ADVICE_MORE_GPUS) {
            uint32_t more = advice->form.servers * (trial->form.gpus - advice->form.gpus);
            snprintf(text, sizeof text, "%u GPU%s more", more, more > 1 ? "s" : "");
        } else if (i == ADVICE_SHORTER) {
            snprintf(text, sizeof text, "context %s", advise_tokens(trial->context, number));
        }
        rows[count++] = trial_row(advice, trial, text);
    }
    return count;
}

/* ---- the table ---- */

/* In place of figures: why there are none. */
static bool add_missing(const struct advice *advice, struct table *table, const struct row *row,
                        struct error *why)
{
    const struct quest *quest = row->quest;
    const char *texts[COLUMNS] = {row->name, row->where};
    char text[SHORTFALL_TEXT] = "";
    if (quest->search.count > 0) {
        uint32_t value = quest->nearest != PLANNING_NONE ? quest->nearest : 0;
        shortfall_describe(&advice->targets, advice->systems.best, &quest->results[value], text);
    }
    texts[BATCH] = quest->cannot     ? quest->why.found
                   : text[0] != '\0' ? text
                                     : quest->candidate->left_out;
    return table_add(table, texts, BATCH + 1, why);
}

static bool add_row(const struct advice *advice, struct table *table, const struct row *row,
                    struct error *why)
{
    const struct result *result = advice_result(row->quest);
    char batch[FIGURE], hbm[FIGURE], mass[FIGURE], tpot[FIGURE], rate[FIGURE], cost[FIGURE];
    char times[ADVISE_NUMBER];
    if (result == NULL) {
        return add_missing(advice, table, row, why);
    }
    const struct cell *cells = result->cells, all = {.set = true, .real = row->rate};
    const char *texts[COLUMNS] = {row->name, row->where};
    double plain = advice_rate(advice, advice_plain(advice), &advice->form);
    snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
    texts[BATCH] = advice->serves ? figure_rate(&cells[COLUMN_RATE_IN], batch) : batch;
    texts[HBM] = figure_bytes(&cells[COLUMN_HBM_BYTES], hbm);
    bool whole = cells[COLUMN_MASS_RECALL].set && cells[COLUMN_MASS_RECALL].real >= 0.9995;
    texts[MASS] = whole ? NULL : figure_percent(&cells[COLUMN_MASS_RECALL], mass);
    texts[TPOT] = cells[COLUMN_TPOT].set ? figure_ms(cells[COLUMN_TPOT].integer, tpot) : NULL;
    texts[RATE] = figure_rate(&all, rate);
    texts[COST] = figure_dollars(&cells[COLUMN_COST], cost);
    const struct range_cell ranged[] = {
        {MASS, COLUMN_MASS_RECALL, 100},
        {TPOT, COLUMN_TPOT, 1},
        {RATE, COLUMN_DECODE_RATE, advice->serves ? 1 : row->form->servers},
        {COST, COLUMN_COST, 1},
    };
    enum { RANGED = sizeof ranged / sizeof ranged[0] };
    char ranges[RANGED][RANGE_TEXT];
    ranges_put(result, ranged, RANGED, texts, ranges);
    texts[TIMES] = isnan(plain) ? NULL : advise_number(row->rate / plain, times);
    return table_add(table, texts, COLUMNS, why);
}

static struct table *make_table(const struct advice *advice, struct error *why)
{
    const struct table_column columns[COLUMNS] = {
        [SYSTEM] = {.title = "system"},
        [WHERE] = {.title = "runs in"},
        [BATCH] = {.title = advice->serves ? "req/s" : "batch", .right = true},
        [HBM] = {.title = "HBM", .right = true, .optional = true},
        [MASS] = {.title = "mass %", .right = true, .optional = true},
        [TPOT] = {.title = "ms a token", .right = true, .optional = true},
        [RATE] = {.title = "tok/s", .right = true, .optional = true},
        [COST] = {.title = "$/M tok", .right = true, .optional = true},
        [TIMES] = {.title = "x vllm", .right = true, .optional = true},
    };
    return table_create(columns, COLUMNS, why);
}

/* Plain vLLM is searched in its form and among the systems: the same runs. */
static void print_tried(const struct advice *advice, FILE *out)
{
    struct planning_tried tried = {0, 0};
    planning_count_tried(&advice->systems, &tried);
    for (uint32_t i = 0; i < advice->form_count; i++) {
        if (i != advice->plain) {
            planning_count_tried(&advice->forms[i].planning, &tried);
        }
    }
    for (int i = 0; i < ADVICE_CHANGES; i++) {
        planning_count_tried(&advice->changes[i].planning, &tried);
    }
    fprintf(out, "%" PRIu64 " of %" PRIu64 " %s were tried\n", tried.runs, tried.values,
            advice->serves ? "rates" : "batches");
}

bool advise_table_print(const struct advice *advice, bool wide, FILE *out, struct error *why)
{
    uint32_t most = advice->systems.count + ADVICE_FORMS + ADVICE_CHANGES;
    struct row *rows = array_zeroed(most, sizeof *rows, why);
    struct table *table = rows != NULL ? make_table(advice, why) : NULL;
    bool good = table != NULL;
    uint32_t count = good ? add_systems(advice, rows) : 0;
    count += good ? add_trials(advice, rows + count) : 0;
    for (uint32_t i = 0; good && i < count; i++) {
        good = add_row(advice, table, &rows[i], why);
    }
    if (good) {
        table_print(table, out);
        for (uint32_t i = 0; i < advice->systems.count; i++) {
            if (stands(advice, i)) {
                print_alike(advice, i, out);
            }
        }
        (wide ? left_out_print : left_out_print_counts)(advice->systems.candidates,
                                                        advice->systems.count, out);
        print_tried(advice, out);
    }
    table_destroy(table);
    free(rows);
    return good;
}

/* ---- all of it ---- */

/* Systems without an answer count as well for what the figures rest on: their misses are shown. */
static void take_notes(const struct advice *advice, struct runs_notes *notes,
                       struct runs_notes *sources)
{
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct quest *quest = &advice->systems.quests[i];
        const struct result *result = advice_result(quest);
        const struct result *nearest =
            quest->nearest != PLANNING_NONE ? &quest->results[quest->nearest] : result;
        if (result != NULL) {
            runs_notes_add(notes, result);
        }
        if (nearest != NULL) {
            runs_notes_add(sources, nearest);
        }
    }
}

/* "llama-3.1-8b on h100-sxm, 128K tokens of context", and the limits. */
static void print_title(const struct advice *advice, const char *typed, FILE *out)
{
    const struct candidate *plain = advice_plain(advice)->candidate;
    char line[LINE] = "", limits[TARGETS_TEXT], number[ADVISE_NUMBER];
    uint64_t context = advice->forms[advice->plain].context;
    const struct node *model = node_get(plain->scenario.root, "model");
    bool other = strcasestr(typed, model->text) == NULL;
    text_append(line, sizeof line, "%s%s%s on %s", typed, other ? ", of the shape of " : "",
                other ? model->text : "", plain->machine);
    if (context > 0) {
        text_append(line, sizeof line, ", %s tokens of context", advise_tokens(context, number));
    }
    const struct node *workload = node_said(plain->scenario.root, "workload");
    if (advice->serves && workload != NULL) {
        text_append(line, sizeof line, ", requests %s", workload->text);
    }
    if (advice->targets.count > 0) {
        text_append(line, sizeof line, "; limits: %s", targets_text(&advice->targets, limits));
    }
    table_line("", line, out);
    fputc('\n', out);
}

bool advise_report(const struct advice *advice, const struct advise_verdict *verdict, FILE *out,
                   struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    struct runs_notes *sources = notes != NULL ? runs_notes_create(why) : NULL;
    bool good = sources != NULL;
    if (good) {
        take_notes(advice, notes, sources);
        print_title(advice, verdict->model, out);
        advise_verdict_print(verdict, out);
        fputc('\n', out);
        runs_notes_print_sources(sources, out);
        good = advise_table_print(advice, verdict->wide, out, why);
    }
    if (good) {
        runs_notes_print_remarks(notes, out);
    }
    runs_notes_destroy(sources);
    runs_notes_destroy(notes);
    return good;
}
