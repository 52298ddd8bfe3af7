/* The rows of an ablation, once for people, programs and the database. */
#include "cli/ablate/ablate_report.h"

#include "cli/ablate/ablate_text.h"
#include "cli/ablate/ablate_trades.h"

#include <math.h>
#include <string.h>

enum { LINE = 4096 };

enum {
    ROW, /* the name of the row */
#define FIELD(name, type, what) DATA_##name,
#define SHOWN(name, type, what, ...) DATA_##name,
#define RANGED(name, type, what, ...) DATA_##name,
#include "tables/ablations.def"
#undef FIELD
    KV,
    HBM,
    LINK,
    COMPANY,
    COLUMNS
};

static const struct frame_column columns[COLUMNS] = {
    [ROW] = {.title = ""},
#define FIELD(id, type, meaning) [DATA_##id] = {.key = #id, .unit = UNIT_##type},
#define SHOWN(id, type, meaning, ...)                                                              \
    [DATA_##id] = {.key = #id, .unit = UNIT_##type, .what = meaning, __VA_ARGS__},
#define RANGED(id, type, meaning, ...)                                                             \
    [DATA_##id] = {.key = #id, .unit = UNIT_##type, .what = meaning, .ranged = true, __VA_ARGS__},
#include "tables/ablations.def"
#undef FIELD
    [KV] = {.of = "kv", .extra = true},
    [HBM] = {.of = "hbm_bytes", .extra = true},
    [LINK] = {.of = "h2d_bytes_per_step", .extra = true},
    [COMPANY] = {.title = "",
                 .wrap = true,
                 .name = "others",
                 .what = "other mechanisms that are switched with it"},
};

const struct frame_column *ablate_columns(uint32_t *count)
{
    *count = COLUMNS;
    return columns;
}

/* ---- a row ---- */

static void put_mechanism(const struct ablation *ablation, const struct ablation_row *row,
                          struct frame *frame)
{
    const struct difference *difference = &ablation->difference;
    char names[ABLATE_NAMES];
    if (row->kind == ABLATION_BASE || row->kind == ABLATION_WHOLE) {
        return;
    }
    frame_text(frame, DATA_mechanism, difference->mechanisms[row->mechanism].name);
    frame_text(frame, DATA_changes, difference->mechanisms[row->mechanism].changes);
    if (row->others != 0) {
        frame_text(frame, DATA_others,
                   difference_names(difference, row->others, false, names, sizeof names));
    }
}

static void put_text(struct frame *frame, uint32_t column, const struct result *result,
                     const struct column *of)
{
    frame_text(frame, column, result_cell(result, of)->set ? result_cell(result, of)->text : NULL);
}

static void put_savings(const struct ablation *ablation, const struct ablation_row *row,
                        struct frame *frame)
{
    struct ablation_sum sum;
    int64_t ns;
    double times, least = NAN, most = NAN;
    if (row->kind != ABLATION_BASE && ablation_saves(ablation, row, &ns, &times)) {
        ablation_range(ablation, row, &least, &most);
        frame_range(frame, DATA_saves_us, (double)ns / 1e3, least / 1e3, most / 1e3);
        frame_number(frame, DATA_gain, times);
    }
    if (row->kind == ABLATION_WHOLE && ablation_add_up(ablation, &sum)) {
        frame_number(frame, DATA_alone_us, (double)sum.alone_ns / 1e3);
        frame_number(frame, DATA_interaction_us, (double)sum.interaction_ns / 1e3);
        frame_number(frame, DATA_interaction_gain, sum.interaction_times);
    }
}

static void put_trade(const struct ablation *ablation, const struct ablation_row *row,
                      struct frame *frame)
{
    static const struct {
        enum trade_measure measure;
        uint32_t column;
        double scale;
    } measures[] = {{TRADE_MASS, DATA_mass_more, 1},
                    {TRADE_HBM, DATA_hbm_more_bytes, 1},
                    {TRADE_DRAM, DATA_dram_more_bytes, 1},
                    {TRADE_CPU, DATA_cpu_more_us, 1e-3},
                    {TRADE_LINK, DATA_link_more_bytes, 1}};
    struct ablation_trade trade;
    if (row->kind == ABLATION_BASE || !ablation_trade(ablation, row, &trade)) {
        return;
    }
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++) {
        enum trade_measure measure = measures[i].measure;
        frame_number(frame, measures[i].column,
                     measures[i].scale * (trade.with[measure] - trade.without[measure]));
    }
}

static void put_payoff(const struct ablation *ablation, const struct ablation_row *row,
                       struct frame *frame)
{
    const struct ablation_payoff *payoff = &ablation->payoffs[row->mechanism];
    char tried[ABLATE_SETTINGS], pays_at[ABLATE_PAYOFF];
    int64_t ns;
    if (ablation_together(ablation, row, &ns)) {
        frame_number(frame, DATA_together_us, (double)ns / 1e3);
    }
    if (row->kind == ABLATION_LEFT_OUT && row->refused == NULL && payoff->kind != PAYOFF_UNTRIED) {
        frame_text(frame, DATA_tried, ablate_settings(ablation, tried));
        frame_text(frame, DATA_pays_at, ablate_payoff(payoff, pays_at));
    }
}

/* Why the row has no figures: in data its status and message, for people in their place. */
static void put_reason(const char *status, const char *message, struct frame *frame)
{
    char reason[LINE];
    snprintf(reason, sizeof reason, "%s: %s", status, message);
    frame_text(frame, DATA_status, status);
    frame_text(frame, DATA_message, message);
    frame_reason(frame, DATA_step_us, reason);
}

static void ablate_frame_put_run(const struct ablation *ablation, const struct ablation_row *row,
                                 struct frame *frame)
{
    const struct result *result = ablation_result(ablation, row->shown);
    char names[ABLATE_NAMES];
    put_text(frame, DATA_run, result, COLUMN(run));
    frame_result(frame, result);
    frame_text(frame, COMPANY, ablate_others(ablation, row, names));
    if (result_cell(result, COLUMN(step_us))->set) {
        put_text(frame, DATA_status, result, COLUMN(status));
    } else {
        put_reason(result_cell(result, COLUMN(status))->text, result->message, frame);
    }
}

static void ablate_frame_put_row(const struct ablation *ablation, uint32_t place,
                                 struct frame *frame)
{
    const struct ablation_row *row = &ablation->rows[place];
    char name[ABLATE_NAMES];
    frame_row(frame);
    frame_text(frame, ROW, ablate_name(ablation, row, name));
    frame_text(frame, DATA_ablation, ablation->name);
    frame_number(frame, DATA_place, place);
    frame_text(frame, DATA_kind, ablation_kinds[row->kind]);
    frame_text(frame, DATA_system, ablation->system.name);
    frame_text(frame, DATA_base, ablation->base.name);
    put_mechanism(ablation, row, frame);
    if (row->refused != NULL) {
        put_reason("refused", row->refused, frame);
    } else {
        ablate_frame_put_run(ablation, row, frame);
    }
    put_savings(ablation, row, frame);
    put_trade(ablation, row, frame);
    put_payoff(ablation, row, frame);
}

struct frame *ablate_frame(const struct ablation *ablation, const struct table_view *view,
                           struct error *why)
{
    struct frame_column own[COLUMNS];
    memcpy(own, columns, sizeof own);
    own[DATA_step_us].decimals = own[DATA_saves_us].decimals = ablate_decimals(ablation);
    struct frame *frame = frame_create_view(own, COLUMNS, view, why);
    for (uint32_t i = 0; frame != NULL && i < ablation->row_count; i++) {
        const struct ablation_row *row = &ablation->rows[i];
        bool mechanism = row->kind == ABLATION_ALONE || row->kind == ABLATION_LEFT_OUT;
        if (view == NULL || !mechanism || !ablate_is_idle(ablation, row->mechanism)) {
            ablate_frame_put_row(ablation, i, frame);
        }
    }
    return frame;
}
