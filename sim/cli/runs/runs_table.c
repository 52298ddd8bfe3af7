#include "cli/runs/runs.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "predict/result/tie.h"
#include "study/sweep/replication.h"

enum { STALLS = 256 };

static const struct frame_column step_columns[] = {
    {.of = "batch"},
    {.of = "kv", .drop = 3},
    {.of = "resident_share", .optional = true, .extra = true},
    {.of = "cache_bytes", .extra = true},
    {.of = "hbm_bytes", .extra = true},
    {.of = "dram_bytes", .extra = true},
    {.of = "hit_ratio"},
    {.of = "mass_recall", .drop = 1},
    {.of = "prefill_ms", .optional = true},
    {.of = "step_tokens", .optional = true},
    {.of = "step_us"},
    {.of = "decode_tokens_per_s"},
    {.title = "5 - 95 %",
     .unit = UNIT_COUNT,
     .optional = true,
     .name = "spread",
     .what = "tokens a second of nine in ten replications"},
    {.title = "best",
     .unit = UNIT_PERCENT,
     .optional = true,
     .drop = 2,
     .name = "best",
     .what = "tokens a second as a share of the best run beside it"},
    {.of = "e2e_tokens_per_s", .optional = true},
    {.of = "cost_per_million_tokens", .optional = true},
    {.of = "h2d_bytes_per_step", .extra = true},
    {.of = "stall"},
    {.title = "waiting for (%)",
     .drop = 1,
     .name = "waits",
     .what = "what it waits for, in % of the step"},
};

static const struct frame_column served_columns[] = {
    {.of = "requests", .drop = 3},
    {.of = "requests_in_per_s", .optional = true, .drop = 2},
    {.of = "requests_out_per_s", .optional = true, .drop = 2},
#define BELOW(tier, where) {.of = #tier "_hit", .optional = true},
#include "predict/result/tiers.def"
    {.of = "host_saves_ms", .optional = true},
    {.of = "ttft_p50_ms", .title = "TTFT p50", .name = "ttft", .optional = true},
    {.of = "ttft_p99_ms", .title = "p99", .optional = true},
    {.of = "tpot_p50_ms", .title = "TPOT p50", .name = "tpot", .optional = true},
    {.of = "tpot_p99_ms", .title = "p99", .optional = true},
    {.of = "decode_tokens_per_s", .optional = true, .what = "output tokens a second"},
    {.of = "goodput", .optional = true},
    {.of = "cost_per_million_tokens", .optional = true},
    {.of = "preemptions", .optional = true, .drop = 1},
    {.of = "e2e_ms", .extra = true},
    {.of = "resident_share", .optional = true, .extra = true},
    {.title = "",
     .optional = true,
     .name = "marks",
     .what = "queue grows: more requests arrive than are answered"},
};

const struct frame_column *runs_columns(bool serves, uint32_t *count)
{
    *count = serves ? sizeof served_columns / sizeof *served_columns
                    : sizeof step_columns / sizeof *step_columns;
    return serves ? served_columns : step_columns;
}

static int by_time(const void *a, const void *b)
{
    const struct result_item *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

/* What hits cost in quality is as uncertain as hits, so that mass stays in a table with ranges. */
static bool fill_steps(struct frame *frame, const struct result *result, struct error *why)
{
    char stalls[STALLS], span[SHOWN_TEXT];
    const char *spread;
    if (!drawn_span(result, COLUMN(decode_tokens_per_s), span, &spread, why)) {
        return false;
    }
    if (result->family_count > 0) {
        frame->columns[frame_find(frame, "mass")].drop = 0;
    }
    frame_result(frame, result);
    drawn_means(frame, result);
    /* Causes of stalls as shares of the step, largest first, but those that round to 0: "manager 18, sync 2". */
    struct result_item items[RESULT_MOST_ITEMS];
    memcpy(items, result->stalls, sizeof items);
    qsort(items, result->stall_count, sizeof items[0], by_time);
    stalls[0] = '\0';
    for (uint32_t i = 0; i < result->stall_count; i++) {
        double percent =
            100 * (double)items[i].ns / (double)result_cell(result, COLUMN(step_us))->integer;
        if (percent >= 0.5) {
            text_append(stalls, STALLS, "%s%s %.0f", i > 0 ? ", " : "", items[i].name, percent);
        }
    }
    frame_text(frame, frame_find(frame, "spread"), spread);
    frame_text(frame, frame_find(frame, "waits"), stalls);
    return true;
}

enum { TEXT = 64, MOST_KEYS = 20 };

/* Rates are compared within a group: the points that differ only in system, if systems are swept. */
enum { GROUP, SYSTEM, FIRST_KEY };

struct runs_table {
    const struct scenario *scenario;
    bool serves; /* runs are of a server */
    struct table_view view;
    struct frame *frame;
    uint32_t keys[MOST_KEYS]; /* children of `sweep` that have a column */
    uint32_t key_count;
    struct runs_notes *notes;
    struct draws {
        uint32_t count;      /* of a run */
        bool serves, ranged; /* servers; runs of several families of recordings */
    } draws;
    struct tie_figure *rates; /* [rate_count] tokens a second of each row; owned */
    size_t rate_count, rate_capacity;
};

struct runs_table *runs_table_create(const struct scenario *scenario, const struct table_view *view,
                                     struct error *why)
{
    struct frame_column columns[TABLE_MOST_COLUMNS + MOST_KEYS] = {
        [GROUP] = {.unit = UNIT_WHOLE}, [SYSTEM] = {.title = "system"}};
    struct runs_table *runs = array_zeroed(1, sizeof *runs, why);
    if (runs == NULL) {
        return NULL;
    }
    runs->scenario = scenario;
    runs->serves = scenario_serves(scenario);
    runs->view = *view;
    /* Each key with several values has a column. A million points have fewer than MOST_KEYS such keys. */
    const struct node *sweep = scenario->sweep;
    for (uint32_t i = 0; sweep != NULL && i < sweep->count; i++) {
        const struct node *list = sweep->children[i];
        if (list->count > 1 && strcmp(list->key, "system") != 0 &&
            strcmp(list->key, "batch") != 0) {
            assert(runs->key_count < MOST_KEYS);
            columns[FIRST_KEY + runs->key_count] =
                (struct frame_column){.title = sweep_key_title(sweep, i), .unit = UNIT_COUNT};
            runs->keys[runs->key_count++] = i;
        }
    }
    uint32_t count;
    const struct frame_column *figures = runs_columns(runs->serves, &count);
    memcpy(&columns[FIRST_KEY + runs->key_count], figures, count * sizeof *columns);
    runs->notes = runs_notes_create(why);
    runs->frame = frame_create_view(columns, FIRST_KEY + runs->key_count + count, view, why);
    if (runs->notes == NULL || runs->frame == NULL) {
        runs_table_destroy(runs);
        return NULL;
    }
    return runs;
}

void runs_table_destroy(struct runs_table *runs)
{
    if (runs != NULL) {
        frame_destroy(runs->frame);
        runs_notes_destroy(runs->notes);
        free(runs->rates);
        free(runs);
    }
}

/* A run without figures has its reason in their place. */
static bool put_figures(struct runs_table *runs, const struct result *result, struct error *why)
{
    const struct column *figure = runs->serves ? COLUMN(requests) : COLUMN(step_us);
    struct frame *frame = runs->frame;
    if (result_failed(result) || !result_cell(result, figure)->set) {
        frame_result(frame, result);
        frame_failed(frame, FIRST_KEY + runs->key_count + 1, result);
    } else if (runs->serves) {
        /* Other figures would be those of one draw, beside means, which take much room. */
        if (result->draws.count > 0) {
            frame->columns[frame_find(frame, "rate")].drop = 1;
            frame_number(frame, frame_find(frame, "requests"),
                         result_number(result, COLUMN(requests)));
            drawn_means(frame, result);
        } else {
            frame_result(frame, result);
        }
        if (result_cell(result, COLUMN(queue_grows))->integer > 0) {
            frame_text(frame, frame_find(frame, "marks"), "queue grows");
        }
    } else {
        return fill_steps(frame, result, why);
    }
    return true;
}

bool runs_table_add(struct runs_table *runs, uint32_t index, const struct result *result,
                    struct error *why)
{
    frame_row(runs->frame);
    frame_number(runs->frame, GROUP, (double)sweep_point_group(runs->scenario->sweep, index));
    frame_text(runs->frame, SYSTEM, result_cell(result, COLUMN(system))->text);
    for (uint32_t i = 0; i < runs->key_count; i++) {
        char value[TEXT];
        sweep_point_value(runs->scenario->sweep, runs->keys[i], index, value, TEXT);
        frame_text(runs->frame, FIRST_KEY + i, value);
    }
    runs_notes_add(runs->notes, result);
    if (result->draws.count > 0) {
        runs->draws.count = result->draws.count;
        runs->draws.ranged = runs->draws.ranged || result->family_count > 0;
        runs->draws.serves = replication_main(result) == COLUMN(ttft_ms);
    }
    bool good = put_figures(runs, result, why) && frame_ok(runs->frame, why) &&
                array_reserve(&runs->rates, &runs->rate_capacity, runs->rate_count + 1,
                              sizeof *runs->rates, why);
    if (good) {
        tie_figure(result, COLUMN(decode_tokens_per_s), &runs->rates[runs->rate_count++]);
    }
    return good;
}

/* Rank a row by its tokens a second within its group. Returns why it ties with the best, if systems are compared. At a
 * stated rate all that hold it make as many tokens, and none is best. */
static enum tie rank_row(struct runs_table *runs, uint32_t best, uint32_t row)
{
    struct frame *frame = runs->frame;
    const struct node *sweep = runs->scenario->sweep;
    uint32_t rate = frame_find(frame, "rate");
    bool systems = sweep != NULL && node_get(sweep, "system") != NULL &&
                   node_get(sweep, "rate") == NULL && !scenario_states(runs->scenario, "rate");
    bool both = !isnan(runs->rates[best].value) && !isnan(runs->rates[row].value);
    enum tie tie = systems && both && best != row
                       ? figures_tie(&runs->rates[best], &runs->rates[row])
                       : TIE_NONE;
    frame_row_again(frame, row);
    if (!runs->serves && frame->row_count > 1) {
        frame_number(frame, frame_find(frame, "best"),
                     frame_value(frame, row, rate) / frame_value(frame, best, rate));
    }
    if (tie != TIE_NONE) {
        frame_mark(frame, rate, '=');
        frame_row_again(frame, best);
        frame_mark(frame, rate, '*');
    }
    return tie;
}

/* Rank each row within its group. `ties`: out, the reasons for ties, a bit each. */
static bool rank_rows(struct runs_table *runs, unsigned *ties, struct error *why)
{
    const struct frame *frame = runs->frame;
    uint32_t rate = frame_find(frame, "rate");
    uint32_t *best = array_zeroed(runs->scenario->points, sizeof *best, why); /* row + 1 */
    for (uint32_t i = 0; best != NULL && i < frame->row_count; i++) {
        uint32_t *leader = &best[(size_t)frame_value(frame, i, GROUP)];
        double own = frame_value(frame, i, rate);
        bool leads = *leader == 0 || own > frame_value(frame, *leader - 1, rate);
        *leader = !isnan(own) && leads ? i + 1 : *leader;
    }
    *ties = 0;
    for (uint32_t i = 0; best != NULL && i < frame->row_count; i++) {
        uint32_t leader = best[(size_t)frame_value(frame, i, GROUP)];
        *ties |= leader > 0 ? 1U << rank_row(runs, leader - 1, i) : 0;
    }
    free(best);
    return best != NULL;
}

/* "tok/s: * best, = ties with it (at most 2 % apart; their error bands overlap)", within each group. */
static void print_ties(unsigned ties, FILE *out)
{
    char text[256] = "* best, = ties with it (";
    size_t begun = strlen(text);
    for (enum tie tie = TIE_NEAR; ties >> tie != 0; tie++) {
        if ((ties >> tie & 1) != 0) {
            text_append(text, sizeof text, "%s%s", strlen(text) > begun ? "; " : "",
                        tie_reason(tie));
        }
    }
    if (strlen(text) > begun) {
        text_append(text, sizeof text, ")");
        table_line("tok/s: ", text, out);
    }
}

static void print_draws(const struct draws *draws, FILE *out)
{
    char text[512];
    if (draws->count == 0) {
        return;
    }
    snprintf(text, sizeof text,
             "%" PRIu32 " draws of the machine's figures within their ranges; %s. ± is the 95 %% "
             "interval of the mean%s; other columns use the machine's profile as it is",
             draws->count,
             draws->ranged ? "each takes the recording or the heads of one family"
                           : "recordings stay the same",
             draws->serves ? "" : ", 5 - 95 % the range of nine in ten draws");
    fputc('\n', out);
    table_line("replications: ", text, out);
}

bool runs_table_print(struct runs_table *runs, FILE *out, struct error *why)
{
    if (runs->frame->row_count == 0) {
        return true;
    }
    unsigned ties;
    if (!rank_rows(runs, &ties, why)) {
        return false;
    }
    runs_notes_print_above(runs->notes, runs->scenario, out);
    if (!frame_print(runs->frame, &runs->view, out, why)) {
        return false;
    }
    runs_notes_print_below(runs->notes, runs->view.why, out);
    print_ties(ties, out);
    print_draws(&runs->draws, out);
    return true;
}
