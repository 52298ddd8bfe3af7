#include "cli/runs/runs_columns.h"

#include "core/text.h"
#include "cli/frame/drawn.h"

#include <stdlib.h>
#include <string.h>

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
     .drop = 2,
     .name = "best",
     .what = "tokens a second as a share of the best run beside it"},
    {.of = "e2e_tokens_per_s", .optional = true},
    {.of = "cost_per_million_tokens", .optional = true},
    {.of = "h2d_bytes_per_step", .extra = true},
    {.of = "stall"},
    {.title = "waiting for (% of step)", .name = "waits", .what = "what it waits for"},
};

static const struct frame_column served_columns[] = {
    {.of = "requests", .drop = 3},
    {.of = "requests_in_per_s", .optional = true, .drop = 2},
    {.of = "requests_out_per_s", .optional = true, .drop = 2},
    {.of = "gpu_hit", .optional = true},
    {.of = "host_hit", .optional = true},
    {.of = "disk_hit", .optional = true},
    {.of = "pool_hit", .optional = true},
    {.of = "host_saves_ms", .optional = true},
    {.of = "ttft_p50_ms", .title = "TTFT ms", .name = "ttft", .optional = true},
    {.of = "ttft_p99_ms", .title = "p99", .optional = true},
    {.of = "tpot_p50_ms", .title = "TPOT ms", .name = "tpot", .optional = true},
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

/* The causes of stalls as shares of the step, largest first, without those that round to 0:
 * "manager 18, sync 2". */
static void write_stalls(const struct result *result, char text[STALLS])
{
    struct result_item items[RESULT_MOST_ITEMS];
    memcpy(items, result->stalls, sizeof items);
    qsort(items, result->stall_count, sizeof items[0], by_time);
    text[0] = '\0';
    for (uint32_t i = 0; i < result->stall_count; i++) {
        double percent =
            100 * (double)items[i].ns / (double)result_cell(result, COLUMN(step_us))->integer;
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
    if (!drawn_span(result, COLUMN(decode_tokens_per_s), span, &spread, why)) {
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
        frame_number(frame, frame_find(frame, "requests"), result_number(result, COLUMN(requests)));
        drawn_means(frame, result);
    } else {
        frame_result(frame, result);
    }
    if (result_cell(result, COLUMN(queue_grows))->integer > 0) {
        frame_text(frame, frame_find(frame, "marks"), "queue grows");
    }
}
