#include "cli/ablate/ablate_trades.h"

#include "base/units.h"
#include "cli/ablate/ablate_text.h"
#include "answer/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AMOUNT = 64, LIST = 512 };

/* ---- what it buys and takes ---- */

static const struct {
    enum unit unit; /* UNIT_COUNT: percentage points */
    const char *better, *worse;
} measures[TRADE_MEASURES] = {
    [TRADE_MASS] = {UNIT_COUNT, "more of the attention mass", "less of the attention mass"},
    [TRADE_HBM] = {UNIT_BYTES, "less GPU memory", "more GPU memory"},
    [TRADE_DRAM] = {UNIT_BYTES, "less host memory", "more host memory"},
    [TRADE_CPU] = {UNIT_NS, "less CPU work", "more CPU work"},
    [TRADE_LINK] = {UNIT_BYTES, "less over the link", "more over the link"},
};

static const char *format_amount(const struct ablation *ablation, double amount, enum unit unit,
                                 char text[AMOUNT])
{
    char ms[ANSWER_SIZE];
    switch (unit) {
    case UNIT_BYTES:
        return units_format(amount, unit, text, AMOUNT);
    case UNIT_NS:
        snprintf(text, AMOUNT, "%s ms", ablate_ms(ablation, llround(amount), ms));
        return text;
    default:
        snprintf(text, AMOUNT, "%.1f points", 100 * amount);
        return text;
    }
}

/* "3.08 GiB less host memory, 179 MiB less over the link"; "" if nothing is better (worse). */
static const char *ablate_trades_list_changes(const struct ablation *ablation,
                                              const struct ablation_trade *trade, bool better,
                                              char text[LIST])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < TRADE_MEASURES; i++) {
        char amount[AMOUNT];
        double gain = trade_gain(trade, (enum trade_measure)i);
        if (better ? gain > 0 : gain < 0) {
            used += (size_t)snprintf(text + used, LIST - used, "%s%s %s", used > 0 ? ", " : "",
                                     format_amount(ablation, fabs(gain), measures[i].unit, amount),
                                     better ? measures[i].better : measures[i].worse);
        }
    }
    return text;
}

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

/* ---- sentences ---- */

#define SOFTWARE "It is a property of the software that the system was written in."

/* Why a mechanism can cost time and buy nothing that is counted, by the key that it begins with. */
static const struct {
    const char *mechanism, *reason;
} reasons[] = {
    {"retrieval", "All retrievals replay the same demands: how well each finds them is not "
                  "modelled, and its index is built in prefill, which is not counted here."},
    {"manager", "A look-up on the GPU is counted as the memory that it touches, and may take "
                "longer."},
    {"merge", "Attention then reads a contiguous buffer; scattered KV is not charged more."},
    {"prefetch", "Speculation is as good as the trace's approximate queries; without these it is "
                 "assumed perfect."},
    {"representation", "It pays where an activation takes fewer bytes than its K and V."},
    {"launch", SOFTWARE},
    {"operators", SOFTWARE},
    {"repeat_kv", SOFTWARE},
    {"step_overhead", SOFTWARE},
    {NULL, NULL},
};

static const char *ablate_trades_reason_of(const char *mechanism)
{
    size_t length = strcspn(mechanism, ",");
    for (size_t i = 0; reasons[i].mechanism != NULL; i++) {
        if (strlen(reasons[i].mechanism) == length &&
            strncmp(reasons[i].mechanism, mechanism, length) == 0) {
            return reasons[i].reason;
        }
    }
    return NULL;
}

/* "merge=no, added last, also without prefetch, costs 1.20 ms (3 %)". */
static void print_cost(const struct ablation *ablation, const struct ablation_row *row, FILE *out)
{
    char others[ABLATE_NAMES], ms[ANSWER_SIZE];
    int64_t ns;
    double times;
    bool last = row->kind == ABLATION_LEFT_OUT;
    ablation_saves(ablation, row, &ns, &times);
    fprintf(out, "%s%s", ablation->difference.mechanisms[row->mechanism].label,
            last               ? ", added last,"
            : row->others == 0 ? " alone"
                               : "");
    if (row->others != 0) {
        fprintf(out, " %s%s", ablate_others(ablation, row, others), last ? "," : "");
    }
    fprintf(out, " costs %s ms (%.*f %%)", ablate_ms(ablation, -ns, ms), times > 0.9 ? 1 : 0,
            100 * (1 / times - 1));
}

/* What it buys and takes. Returns false if it buys nothing that is counted. */
static bool print_trade(const struct ablation *ablation, const struct ablation_row *row, FILE *out)
{
    struct ablation_trade trade;
    char better[LIST], worse[LIST];
    ablation_trade(ablation, row, &trade);
    ablate_trades_list_changes(ablation, &trade, true, better);
    ablate_trades_list_changes(ablation, &trade, false, worse);
    fprintf(out, " and buys %s",
            better[0] != '\0' ? better : "no attention mass, memory, CPU work or link traffic");
    if (worse[0] != '\0') {
        fprintf(out, "; it also means %s", worse);
    }
    return better[0] != '\0';
}

/* Where a mechanism that costs time when it is added last saves some: with those that need it, in
 * another setting, or nearer to the base. */
static void print_payoff(const struct ablation *ablation, const struct ablate_ends *ends, FILE *out)
{
    const struct ablation_row *first = ends->rows[0], *last = ends->rows[1];
    const struct ablation_payoff *payoff = &ablation->payoffs[first->mechanism];
    char ms[ANSWER_SIZE], at[ABLATE_PAYOFF], names[ABLATE_NAMES];
    int64_t together;
    if (ablation_together(ablation, last, &together)) {
        difference_names(&ablation->difference, last->others, false, names, sizeof names);
        fprintf(out, "; with %s, which %s it, it %s %s ms", names,
                __builtin_popcount(last->others) > 1 ? "need" : "needs", ablate_verb(together),
                ablate_ms(ablation, llabs(together), ms));
    }
    if (payoff->kind == PAYOFF_SAVES) {
        fprintf(out, "; at %s it saves %s ms", ablate_payoff(payoff, at),
                ablate_ms(ablation, payoff->saves_ns, ms));
    } else if (payoff->kind == PAYOFF_FITS) {
        fprintf(out, "; it makes room for %s", ablate_payoff(payoff, at));
    } else if (payoff->kind == PAYOFF_NONE) {
        fprintf(out, "; it saves none in the other settings tried");
    }
    if (ends->saves[0] > 0) {
        fprintf(out, "; %s it saves %s ms",
                first->others == 0 ? "alone" : ablate_others(ablation, first, names),
                ablate_ms(ablation, ends->saves[0], ms));
    }
}

static void print_sentence(const struct ablation *ablation, const struct ablate_ends *ends,
                           bool last, FILE *out)
{
    const struct ablation_row *row = ends->rows[last];
    char ms[ANSWER_SIZE];
    print_cost(ablation, row, out);
    bool buys = print_trade(ablation, row, out);
    if (last) {
        print_payoff(ablation, ends, out);
    } else if (ends->saves[1] > 0) {
        fprintf(out, "; added last it saves %s ms", ablate_ms(ablation, ends->saves[1], ms));
    }
    const char *reason =
        ablate_trades_reason_of(ablation->difference.mechanisms[row->mechanism].name);
    fprintf(out, ".%s%s", !buys && reason != NULL ? " " : "",
            !buys && reason != NULL ? reason : "");
}

/* What was tried, if anything was. */
static void ablate_trades_print_tried(const struct ablation *ablation, FILE *out)
{
    bool tried = false;
    char line[ABLATE_SETTINGS + 64], settings[ABLATE_SETTINGS];
    for (uint32_t i = 0; i < ablation->difference.count; i++) {
        tried = tried || ablation->payoffs[i].kind != PAYOFF_UNTRIED;
    }
    if (tried) {
        snprintf(line, sizeof line, "other settings tried: %s",
                 ablate_settings(ablation, settings));
        table_line("", line, out);
    }
}

static bool ablate_trades_print_line(const struct ablation *ablation,
                                     const struct ablate_ends *ends, bool last, FILE *out,
                                     struct error *why)
{
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (line != NULL) {
        print_sentence(ablation, ends, last, line);
    }
    bool good = (line != NULL && fclose(line) == 0) ||
                error_set(why, NULL, 0, "out of memory: no room for a sentence");
    if (good) {
        table_line("", text, out);
    }
    free(text);
    return good;
}

bool ablate_trades(const struct ablation *ablation, FILE *out, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < ablation->difference.count; i++) {
        struct ablate_ends ends;
        bool timed = ablate_ends(ablation, i, &ends);
        bool last = timed && ablation_costs(ablation, ends.rows[1]);
        if (last || (timed && ablation_costs(ablation, ends.rows[0]))) {
            good = ablate_trades_print_line(ablation, &ends, last, out, why);
        }
    }
    ablate_trades_print_tried(ablation, out);
    return good;
}
