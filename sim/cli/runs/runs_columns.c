#include "cli/runs/runs_columns.h"

#include "base/text.h"
#include "cli/frame/drawn.h"

#include <stdlib.h>
#include <string.h>

enum { STALLS = 256 };

static const struct frame_column step_columns[] = {
    {.figure = FIGURE_BATCH},
    {.figure = FIGURE_KV, .drop = 3},
    {.figure = FIGURE_RESIDENT, .optional = true, .extra = true},
    {.figure = FIGURE_CACHE, .extra = true},
    {.figure = FIGURE_HBM, .extra = true},
    {.figure = FIGURE_HOST, .extra = true},
    {.figure = FIGURE_HIT},
    {.figure = FIGURE_MASS, .drop = 1},
    {.figure = FIGURE_PREFILL, .optional = true},
    {.figure = FIGURE_STEP_TOKENS, .optional = true},
    {.figure = FIGURE_STEP},
    {.figure = FIGURE_RATE},
    {.title = "5 - 95 %",
     .unit = UNIT_COUNT,
     .optional = true,
     .name = "spread",
     .what = "tokens a second of nine in ten replications"},
    {.title = "best",
     .unit = UNIT_PERCENT,
     .drop = 2,
     .name = "best",
     .what = "tokens a second as a share of the best run beside it"},
    {.figure = FIGURE_E2E_RATE, .optional = true},
    {.figure = FIGURE_COST, .optional = true},
    {.figure = FIGURE_LINK, .extra = true},
    {.figure = FIGURE_STALLED},
    {.title = "waiting for (% of step)", .name = "waits", .what = "what it waits for"},
};

static const struct frame_column served_columns[] = {
    {.figure = FIGURE_REQUESTS, .drop = 3},
    {.figure = FIGURE_RATE_IN, .optional = true, .drop = 2},
    {.figure = FIGURE_RATE_OUT, .optional = true, .drop = 2},
    {.figure = FIGURE_GPU_HIT, .optional = true},
    {.figure = FIGURE_HOST_HIT, .optional = true},
    {.figure = FIGURE_DISK_HIT, .optional = true},
    {.figure = FIGURE_POOL_HIT, .optional = true},
    {.figure = FIGURE_HOST_SAVES, .optional = true},
    {.figure = FIGURE_TTFT_P50, .optional = true},
    {.figure = FIGURE_TTFT_P99, .optional = true},
    {.figure = FIGURE_TPOT_P50, .optional = true},
    {.figure = FIGURE_TPOT_P99, .optional = true},
    {.figure = FIGURE_RATE, .optional = true, .what = "output tokens a second"},
    {.figure = FIGURE_GOODPUT, .optional = true},
    {.figure = FIGURE_COST, .optional = true},
    {.figure = FIGURE_PREEMPTIONS, .optional = true, .drop = 1},
    {.figure = FIGURE_E2E, .extra = true},
    {.figure = FIGURE_RESIDENT, .optional = true, .extra = true},
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

/* The causes of stalls as shares of the step, largest first, without those that round to 0:
 * "manager 18, sync 2". */
static void write_stalls(const struct result *result, char text[STALLS])
{
    struct result_item items[RESULT_MOST_ITEMS];
    memcpy(items, result->stalls, sizeof items);
    qsort(items, result->stall_count, sizeof items[0], by_time);
    text[0] = '\0';
    for (uint32_t i = 0; i < result->stall_count; i++) {
        double percent = 100 * (double)items[i].ns / (double)result->cells[COLUMN_STEP].integer;
        if (percent >= 0.5) {
            text_append(text, STALLS, "%s%s %.0f", i > 0 ? ", " : "", items[i].name, percent);
        }
    }
}

/* What hits cost in quality is as uncertain as hits, so that mass stays in a table with ranges. */
bool runs_fill(struct frame *frame, const struct result *result, struct error *why)
{
    char stalls[STALLS], span[DRAWN_TEXT];
    const char *spread;
    if (!drawn_span(result, DRAWN_DECODE_RATE, span, &spread, why)) {
        return false;
    }
    if (result->family_count > 0) {
        frame->columns[frame_find(frame, "mass")].drop = 0;
    }
    frame_result(frame, result);
    drawn_means(frame, result);
    write_stalls(result, stalls);
    frame_text(frame, frame_find(frame, "spread"), spread);
    frame_text(frame, frame_find(frame, "waits"), stalls);
    return true;
}

/* Other figures would be those of one draw, beside means, which take much room. */
void runs_fill_served(struct frame *frame, const struct result *result)
{
    if (result->draws.count > 0) {
        frame->columns[frame_find(frame, "rate")].drop = 1;
        frame_number(frame, frame_find(frame, "requests"), figure_value(result, FIGURE_REQUESTS));
        drawn_means(frame, result);
    } else {
        frame_result(frame, result);
    }
    if (result->cells[COLUMN_QUEUE_GROWS].integer > 0) {
        frame_text(frame, frame_find(frame, "marks"), "queue grows");
    }
}
