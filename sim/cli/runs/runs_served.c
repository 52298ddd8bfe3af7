/* A column is a title and how its figure is written. */
#include "cli/runs/runs_served.h"

#include "cli/frame/figure_columns.h"
#include "cli/frame/figures.h"

#include <inttypes.h>

const struct table_column served_columns[SERVED_FIGURES] = {
    [SERVED_REQUESTS] = {.title = "requests",
                         .right = true,
                         .drop = 3,
                         .name = "requests",
                         .what = "requests of the workload"},
    [SERVED_COME] = {.title = "req/s in",
                     .right = true,
                     .optional = true,
                     .drop = 2,
                     .name = "in",
                     .what = "requests a second that arrive"},
    [SERVED_ANSWERED] = {.title = "req/s out",
                         .right = true,
                         .optional = true,
                         .drop = 2,
                         .name = "out",
                         .what = "requests a second that end"},
    [SERVED_ON_GPU] = {.title = "GPU hit %",
                       .right = true,
                       .optional = true,
                       .name = "gpu_hit",
                       .what = "share of the prompts' tokens found on the GPU"},
    [SERVED_ON_HOST] = {.title = "host hit %",
                        .right = true,
                        .optional = true,
                        .name = "host_hit",
                        .what = "share of them found in host memory"},
    [SERVED_TTFT] = {.title = "TTFT ms",
                     .right = true,
                     .optional = true,
                     .name = "ttft",
                     .what = "time to the first token, median"},
    [SERVED_TTFT_P99] = {.title = "p99",
                         .right = true,
                         .optional = true,
                         .name = "ttft_p99",
                         .what = "its 99th percentile"},
    [SERVED_TPOT] = {.title = "TPOT ms",
                     .right = true,
                     .optional = true,
                     .name = "tpot",
                     .what = "time per output token, median"},
    [SERVED_TPOT_P99] = {.title = "p99",
                         .right = true,
                         .optional = true,
                         .name = "tpot_p99",
                         .what = "its 99th percentile"},
    [SERVED_RATE] = {.title = "tok/s",
                     .right = true,
                     .optional = true,
                     .name = "rate",
                     .what = "output tokens a second"},
    [SERVED_GOOD] = {.title = "good req/s",
                     .right = true,
                     .optional = true,
                     .name = "good",
                     .what = "requests a second that meet the objectives"},
    [SERVED_COST] = {COST_COLUMN, .optional = true},
    [SERVED_PUT_BACK] = {.title = "put back",
                         .right = true,
                         .optional = true,
                         .drop = 1,
                         .name = "put_back",
                         .what = "times that a running request was put back into the queue"},
};

static void write_whole(const struct cell *cell, const char **text, char room[SERVED_TEXT])
{
    if (cell->set) {
        snprintf(room, SERVED_TEXT, "%" PRId64, cell->integer);
        *text = room;
    }
}

/* As a share of the prompts' tokens. Without hashes in the workload it is unknown which prompts
 * begin alike. */
static void write_share(const struct cell *cells, enum column column, const char **text,
                        char room[SERVED_TEXT])
{
    const struct cell *cell = &cells[column], *of = &cells[COLUMN_PROMPT_TOKENS];
    if (cell->set && cells[COLUMN_HASHED].set && of->set && of->integer > 0) {
        snprintf(room, SERVED_TEXT, "%.1f", 100 * (double)cell->integer / (double)of->integer);
        *text = room;
    }
}

static void write_ms(const struct cell *cell, const char **text, char room[SERVED_TEXT])
{
    if (cell->set) {
        *text = figure_ms(cell->integer, room);
    }
}

static void write_rate(const struct cell *cell, const char **text, char room[SERVED_TEXT])
{
    if (cell->set) {
        *text = figure_rate(cell, room);
    }
}

static void write_drawn(const struct result *result, const char *texts[SERVED_FIGURES],
                        char room[SERVED_FIGURES][SERVED_TEXT])
{
    static const struct {
        int figure;
        enum drawn drawn;
    } means[] = {{SERVED_TTFT, DRAWN_TTFT_P50}, {SERVED_TTFT_P99, DRAWN_TTFT_P99},
                 {SERVED_TPOT, DRAWN_TPOT_P50}, {SERVED_TPOT_P99, DRAWN_TPOT_P99},
                 {SERVED_GOOD, DRAWN_GOODPUT},  {SERVED_COST, DRAWN_COST}};
    for (int figure = SERVED_REQUESTS + 1; figure < SERVED_FIGURES; figure++) {
        texts[figure] = NULL;
    }
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        int figure = means[i].figure;
        texts[figure] = drawn_mean(result, means[i].drawn, 1, room[figure]);
    }
}

void served_figures(const struct result *result, const char *texts[SERVED_FIGURES],
                    char room[SERVED_FIGURES][SERVED_TEXT])
{
    const struct cell *cells = result->cells;
    write_whole(&cells[COLUMN_REQUESTS], &texts[SERVED_REQUESTS], room[SERVED_REQUESTS]);
    write_rate(&cells[COLUMN_RATE_IN], &texts[SERVED_COME], room[SERVED_COME]);
    write_rate(&cells[COLUMN_RATE_OUT], &texts[SERVED_ANSWERED], room[SERVED_ANSWERED]);
    write_share(cells, COLUMN_HIT_TOKENS_GPU, &texts[SERVED_ON_GPU], room[SERVED_ON_GPU]);
    write_share(cells, COLUMN_HIT_TOKENS_HOST, &texts[SERVED_ON_HOST], room[SERVED_ON_HOST]);
    write_ms(&cells[COLUMN_TTFT_P50], &texts[SERVED_TTFT], room[SERVED_TTFT]);
    write_ms(&cells[COLUMN_TTFT_P99], &texts[SERVED_TTFT_P99], room[SERVED_TTFT_P99]);
    write_ms(&cells[COLUMN_TPOT_P50], &texts[SERVED_TPOT], room[SERVED_TPOT]);
    write_ms(&cells[COLUMN_TPOT_P99], &texts[SERVED_TPOT_P99], room[SERVED_TPOT_P99]);
    write_rate(&cells[COLUMN_DECODE_RATE], &texts[SERVED_RATE], room[SERVED_RATE]);
    write_rate(&cells[COLUMN_GOODPUT], &texts[SERVED_GOOD], room[SERVED_GOOD]);
    texts[SERVED_COST] = figure_dollars(&cells[COLUMN_COST], room[SERVED_COST]);
    write_whole(&cells[COLUMN_PREEMPTIONS], &texts[SERVED_PUT_BACK], room[SERVED_PUT_BACK]);
    if (result->draws.count > 0) {
        write_drawn(result, texts, room);
    }
}
