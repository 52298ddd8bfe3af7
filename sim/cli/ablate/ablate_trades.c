#include "cli/ablate/ablate_trades.h"

#include "core/units.h"
#include "tables/frame.h"
#include "tables/table.h"
#include "cli/ablate/ablate_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- where it pays off ---- */
static void name_setting(const struct payoff_setting *setting, char text[ABLATE_PAYOFF])
{
    snprintf(text, ABLATE_PAYOFF, "%s %llu", setting->key, (unsigned long long)setting->value);
}

const char *ablate_payoff(const struct ablation_payoff *payoff, char text[ABLATE_PAYOFF])
{
    if (payoff->kind != PAYOFF_SAVES && payoff->kind != PAYOFF_FITS) {
        return NULL;
    }
    name_setting(&payoff->at, text);
    return text;
}

const char *ablate_settings(const struct ablation *ablation, char text[ABLATE_SETTINGS])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < ablation->setting_count; i++) {
        char setting[ABLATE_PAYOFF];
        name_setting(&ablation->settings[i], setting);
        used += (size_t)snprintf(text + used, ABLATE_SETTINGS - used, "%s%s", used > 0 ? ", " : "",
                                 setting);
    }
    return text;
}

/* ---- the table ---- */

enum {
    MECHANISM,
    COSTS,
    SHARE,
    FIRST_MEASURE,
    TOGETHER = FIRST_MEASURE + TRADE_MEASURES,
    AT,
    COLUMNS
};

static const struct frame_column columns[COLUMNS] = {
    [MECHANISM] = {.title = "costs time"},
    [COSTS] = {.title = "ms", .unit = UNIT_US},
    [SHARE] = {.title = "of step", .unit = UNIT_CHANGE},
    [FIRST_MEASURE + TRADE_MASS] = {.title = "mass %", .unit = UNIT_COUNT, .optional = true},
    [FIRST_MEASURE + TRADE_HBM] = {.title = "HBM", .unit = UNIT_COUNT, .optional = true},
    [FIRST_MEASURE + TRADE_DRAM] = {.title = "host", .unit = UNIT_COUNT, .optional = true},
    [FIRST_MEASURE + TRADE_CPU] = {.title = "CPU ms", .unit = UNIT_COUNT, .optional = true},
    [FIRST_MEASURE + TRADE_LINK] = {.title = "link", .unit = UNIT_COUNT, .optional = true},
    [TOGETHER] = {.title = "together", .unit = UNIT_US, .optional = true},
    [AT] = {.title = "saves at", .optional = true},
};

/* "+179 MiB", by how much the run with the mechanism has more; nothing if it has about as much. */
static void put_measure(const struct ablation *ablation, const struct ablation_trade *trade,
                        enum trade_measure measure, struct frame *frame)
{
    char text[SHOWN_TEXT];
    double more = trade->with[measure] - trade->without[measure];
    if (trade_gain(trade, measure) == 0) {
        return;
    }
    if (measure == TRADE_MASS) {
        snprintf(text, sizeof text, "%.1f", 100 * fabs(more));
    } else if (measure == TRADE_CPU) {
        ablate_ms(ablation, llround(fabs(more)), text);
    } else {
        units_format(fabs(more), UNIT_BYTES, text, sizeof text);
    }
    frame_textf(frame, FIRST_MEASURE + (uint32_t)measure, "%s%s", more < 0 ? "-" : "+", text);
}

/* Where a mechanism that costs time when it is added last saves some. */
static void put_places(const struct ablation *ablation, const struct ablation_row *row,
                       struct frame *frame)
{
    const struct ablation_payoff *payoff = &ablation->payoffs[row->mechanism];
    char at[ABLATE_PAYOFF], ms[SHOWN_TEXT];
    int64_t together;
    if (ablation_together(ablation, row, &together)) {
        frame_number(frame, TOGETHER, (double)together / 1e3);
    }
    if (payoff->kind == PAYOFF_SAVES) {
        frame_textf(frame, AT, "%s, %s ms", ablate_payoff(payoff, at),
                    ablate_ms(ablation, payoff->saves_ns, ms));
    } else if (payoff->kind == PAYOFF_FITS) {
        frame_textf(frame, AT, "%s: it fits", ablate_payoff(payoff, at));
    } else if (payoff->kind == PAYOFF_NONE) {
        frame_text(frame, AT, "nowhere tried");
    }
}

static void put_cost(const struct ablation *ablation, const struct ablation_row *row,
                     struct frame *frame)
{
    char name[ABLATE_NAMES];
    struct ablation_trade trade;
    int64_t ns;
    double times;
    ablation_saves(ablation, row, &ns, &times);
    ablation_trade(ablation, row, &trade);
    frame_row(frame);
    frame_text(frame, MECHANISM, ablate_name(ablation, row, name) + 2);
    frame_number(frame, COSTS, -(double)ns / 1e3);
    frame_number(frame, SHARE, 1 / times - 1);
    for (int measure = 0; measure < TRADE_MEASURES; measure++) {
        put_measure(ablation, &trade, (enum trade_measure)measure, frame);
    }
    if (row->kind == ABLATION_LEFT_OUT) {
        put_places(ablation, row, frame);
    }
}

static struct frame *frame_of(const struct ablation *ablation, struct error *why)
{
    struct frame_column own[COLUMNS];
    memcpy(own, columns, sizeof own);
    own[COSTS].decimals = own[TOGETHER].decimals = ablate_decimals(ablation);
    struct frame *frame = frame_create(own, COLUMNS, why);
    for (uint32_t i = 0; i < ablation->difference.count; i++) {
        struct ablate_ends ends;
        bool timed = ablate_ends(ablation, i, &ends);
        for (int last = 1; timed && last >= 0; last--) {
            if (ablation_costs(ablation, ends.rows[last])) {
                put_cost(ablation, ends.rows[last], frame);
                break; /* added last says more than alone */
            }
        }
    }
    return frame;
}

bool ablate_trades(const struct ablation *ablation, FILE *out, struct error *why)
{
    struct frame *frame = frame_of(ablation, why);
    char line[ABLATE_SETTINGS + 64], settings[ABLATE_SETTINGS];
    bool good = frame_ok(frame, why), tried = false;
    if (good && frame->row_count > 0) {
        fputs(
            "\nwhat mechanisms that cost time buy: the run with each against the run without it\n\n",
            out);
        good = frame_print(frame, NULL, out, why);
    }
    for (uint32_t i = 0; i < ablation->difference.count; i++) {
        tried = tried || ablation->payoffs[i].kind != PAYOFF_UNTRIED;
    }
    if (good && tried) {
        snprintf(line, sizeof line, "other settings tried: %s",
                 ablate_settings(ablation, settings));
        table_line("", line, out);
    }
    frame_destroy(frame);
    return good;
}
