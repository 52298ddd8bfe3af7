/* A column is a title and how its figure is written. */
#include "cli/runs_served.h"

#include "cli/figures.h"

#include <inttypes.h>

enum {
    REQUESTS,
    COME,
    ANSWERED,
    ON_GPU,
    ON_HOST,
    TTFT,
    TTFT_P99,
    TPOT,
    TPOT_P99,
    RATE,
    GOOD,
    COST,
    PUT_BACK,
};

const struct table_column served_columns[SERVED_FIGURES] = {
    [REQUESTS] = {.title = "requests", .right = true, .drop = 3},
    [COME] = {.title = "req/s in", .right = true, .optional = true, .drop = 2},
    [ANSWERED] = {.title = "req/s out", .right = true, .optional = true, .drop = 2},
    [ON_GPU] = {.title = "GPU hit %", .right = true, .optional = true},
    [ON_HOST] = {.title = "host hit %", .right = true, .optional = true},
    [TTFT] = {.title = "TTFT ms", .right = true, .optional = true},
    [TTFT_P99] = {.title = "p99", .right = true, .optional = true},
    [TPOT] = {.title = "TPOT ms", .right = true, .optional = true},
    [TPOT_P99] = {.title = "p99", .right = true, .optional = true},
    [RATE] = {.title = "tok/s", .right = true, .optional = true},
    [GOOD] = {.title = "good req/s", .right = true, .optional = true},
    [COST] = {.title = "$/M tok", .right = true, .optional = true},
    [PUT_BACK] = {.title = "put back", .right = true, .optional = true, .drop = 1},
};

static void write_whole(const struct cell *cell, const char **text, char room[SERVED_TEXT])
{
    if (cell->set) {
        snprintf(room, SERVED_TEXT, "%" PRId64, cell->integer);
        *text = room;
    }
}

/* Of the prompts' tokens. */
static void write_share(const struct cell *cell, const struct cell *of, const char **text,
                        char room[SERVED_TEXT])
{
    if (cell->set && of->set && of->integer > 0) {
        snprintf(room, SERVED_TEXT, "%.1f", 100 * (double)cell->integer / (double)of->integer);
        *text = room;
    }
}

static void write_ms(const struct cell *cell, const char **text, char room[SERVED_TEXT])
{
    if (cell->set) {
        double ms = (double)cell->integer / 1e6;
        snprintf(room, SERVED_TEXT, "%.*f", ms < 100 ? 1 : 0, ms);
        *text = room;
    }
}

/* Three digits, of what is not tiny. */
static int decimals(double rate)
{
    return rate > 0 && rate < 0.1 ? 3 : rate < 10 ? 2 : rate < 1000 ? 1 : 0;
}

static void write_rate(const struct cell *cell, const char **text, char room[SERVED_TEXT])
{
    if (cell->set) {
        snprintf(room, SERVED_TEXT, "%.*f", decimals(cell->real), cell->real);
        *text = room;
    }
}

static void write_drawn(const struct result *result, const char *texts[SERVED_FIGURES],
                        char room[SERVED_FIGURES][SERVED_TEXT])
{
    static const struct {
        int figure;
        enum drawn drawn;
    } means[] = {{TTFT, DRAWN_TTFT_P50},     {TTFT_P99, DRAWN_TTFT_P99}, {TPOT, DRAWN_TPOT_P50},
                 {TPOT_P99, DRAWN_TPOT_P99}, {GOOD, DRAWN_GOODPUT},      {COST, DRAWN_COST}};
    for (int figure = REQUESTS + 1; figure < SERVED_FIGURES; figure++) {
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
    const struct cell *prompt = &cells[COLUMN_PROMPT_TOKENS];
    write_whole(&cells[COLUMN_REQUESTS], &texts[REQUESTS], room[REQUESTS]);
    write_rate(&cells[COLUMN_RATE_IN], &texts[COME], room[COME]);
    write_rate(&cells[COLUMN_RATE_OUT], &texts[ANSWERED], room[ANSWERED]);
    write_share(&cells[COLUMN_HIT_TOKENS_GPU], prompt, &texts[ON_GPU], room[ON_GPU]);
    write_share(&cells[COLUMN_HIT_TOKENS_HOST], prompt, &texts[ON_HOST], room[ON_HOST]);
    write_ms(&cells[COLUMN_TTFT_P50], &texts[TTFT], room[TTFT]);
    write_ms(&cells[COLUMN_TTFT_P99], &texts[TTFT_P99], room[TTFT_P99]);
    write_ms(&cells[COLUMN_TPOT_P50], &texts[TPOT], room[TPOT]);
    write_ms(&cells[COLUMN_TPOT_P99], &texts[TPOT_P99], room[TPOT_P99]);
    write_rate(&cells[COLUMN_DECODE_RATE], &texts[RATE], room[RATE]);
    write_rate(&cells[COLUMN_GOODPUT], &texts[GOOD], room[GOOD]);
    texts[COST] = figure_dollars(&cells[COLUMN_COST], room[COST]);
    write_whole(&cells[COLUMN_PREEMPTIONS], &texts[PUT_BACK], room[PUT_BACK]);
    if (result->draws.count > 0) {
        write_drawn(result, texts, room);
    }
}
