#include "cli/advise/advise_words.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_DIGITS = 3, MOST_DIGITS = 9, FAR = 10 /* times the median */ };

/* Columns that people have a name for; others are called as they are in a result. */
static const struct {
    enum column column;
    const char *name;
} names[] = {
    {COLUMN_TTFT, "mean TTFT"},    {COLUMN_TTFT_P50, "TTFT p50"}, {COLUMN_TTFT_P90, "TTFT p90"},
    {COLUMN_TTFT_P99, "TTFT p99"}, {COLUMN_TPOT, "mean TPOT"},    {COLUMN_TPOT_P50, "TPOT p50"},
    {COLUMN_TPOT_P90, "TPOT p90"}, {COLUMN_TPOT_P99, "TPOT p99"},
};

/* Steps of one batch have one time per token. */
static const char *advise_miss_name_of(enum column column, const struct result *result)
{
    if (column == COLUMN_TPOT && !result->cells[COLUMN_REQUESTS].set) {
        return "TPOT";
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].column == column) {
            return names[i].name;
        }
    }
    return column_kinds[column].name;
}

/* A time in milliseconds: "4.2 s", "38 ms". */
static void advise_miss_write_time(double ms, int digits, char text[ADVISE_NUMBER])
{
    bool seconds = ms >= 999.5; /* "1e+03 ms" */
    if (ms >= 1e5 && digits == USUAL_DIGITS) {
        snprintf(text, ADVISE_NUMBER, "%.0f s", ms / 1000);
    } else {
        snprintf(text, ADVISE_NUMBER, seconds ? "%.*g s" : "%.*g ms", digits,
                 seconds ? ms / 1000 : ms);
    }
}

/* A time as it was written, in milliseconds. */
static double written_ms(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    return strcmp(end, " s") == 0 ? 1000 * number : number;
}

/* Three digits, or as many as tell a miss from its bound. */
static void write_beside(double ms, double bound_ms, char text[ADVISE_NUMBER])
{
    for (int digits = USUAL_DIGITS; digits <= MOST_DIGITS; digits++) {
        advise_miss_write_time(ms, digits, text);
        if (fabs(written_ms(text) - bound_ms) > 1e-9 * bound_ms || ms == bound_ms) {
            return;
        }
    }
}

static void advise_miss_write_value(const struct target *target, const struct result *result,
                                    char text[ADVISE_NUMBER])
{
    double value = result_number(result, target->column);
    if (column_kinds[target->column].type != COLUMN_TYPE_MS) {
        char written[TARGET_TEXT];
        snprintf(text, ADVISE_NUMBER, "%.31s", target_format(target, result, written));
    } else if (isnan(value)) {
        snprintf(text, ADVISE_NUMBER, "unknown");
    } else {
        write_beside(value, target->bound / 1e6, text);
    }
}

static void advise_miss_add(const char *what, char text[ADVISE_PHRASE])
{
    text_append(text, ADVISE_PHRASE, "%s%s", text[0] != '\0' ? ", " : "", what);
}

static void add_backlog(const struct result *result, char text[ADVISE_PHRASE])
{
    const struct cell *cells = result->cells;
    char phrase[ADVISE_PHRASE];
    double came = result_number(result, COLUMN_RATE_IN);
    if (cells[COLUMN_QUEUE_GROWS].set && cells[COLUMN_QUEUE_GROWS].integer > 0) {
        snprintf(phrase, sizeof phrase,
                 came < 1000 ? "it falls behind: %.3g of %.3g requests a second answered"
                             : "it falls behind: %.0f of %.0f requests a second answered",
                 result_number(result, COLUMN_RATE_OUT), came);
        advise_miss_add(phrase, text);
    }
}

static void advise_miss_add_left_out(const struct result *result, char text[ADVISE_PHRASE])
{
    char phrase[ADVISE_PHRASE];
    snprintf(phrase, sizeof phrase, "%.0f of %.0f requests are too long for its memory",
             result_number(result, COLUMN_LEFT_OUT), result_number(result, COLUMN_REQUESTS));
    advise_miss_add(phrase, text);
}

/* Does a sentence of its own say the target? */
static bool is_service(const struct target *target)
{
    return target->column == COLUMN_QUEUE_GROWS || target->column == COLUMN_LEFT_OUT;
}

const char *advise_misses(const struct targets *targets, const struct result *result,
                          char text[ADVISE_PHRASE])
{
    text[0] = '\0';
    if (!result_ok(result)) {
        return result_reason(result, text, ADVISE_PHRASE);
    }
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        char value[ADVISE_NUMBER], phrase[ADVISE_PHRASE];
        if (target_violation(target, result) > 0 && target->column == COLUMN_LEFT_OUT) {
            advise_miss_add_left_out(result, text);
        } else if (target_violation(target, result) > 0 && !is_service(target)) {
            advise_miss_write_value(target, result, value);
            snprintf(phrase, sizeof phrase, "%s %s instead of %s",
                     advise_miss_name_of(target->column, result), value, target->typed);
            advise_miss_add(phrase, text);
        }
    }
    add_backlog(result, text);
    return text;
}

/* A median that is met says nothing of requests that take ten times as long. */
static void add_tail(enum column column, const struct result *result, char text[ADVISE_PHRASE])
{
    static const struct {
        enum column median, tail;
    } tails[] = {{COLUMN_TTFT_P50, COLUMN_TTFT_P99}, {COLUMN_TPOT_P50, COLUMN_TPOT_P99}};
    char value[ADVISE_NUMBER];
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        double tail = result_number(result, tails[i].tail);
        if (column == tails[i].median && tail >= FAR * result_number(result, column)) {
            advise_miss_write_time(tail, USUAL_DIGITS, value);
            text_append(text, ADVISE_PHRASE, " (but p99 %s)", value);
        }
    }
}

const char *advise_meets(const struct targets *targets, const struct result *result,
                         char text[ADVISE_PHRASE])
{
    text[0] = '\0';
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        char value[ADVISE_NUMBER], phrase[ADVISE_PHRASE];
        if (!is_service(target)) {
            advise_miss_write_value(target, result, value);
            snprintf(phrase, sizeof phrase, "%s %s of %s",
                     advise_miss_name_of(target->column, result), value, target->typed);
            advise_miss_add(phrase, text);
            add_tail(target->column, result, text);
        }
    }
    return text;
}

const char *advise_narrow(const struct targets *targets, const struct result *result,
                          char text[ADVISE_PHRASE])
{
    text[0] = '\0';
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        double margin = target_margin(target, result);
        char phrase[ADVISE_PHRASE];
        if (margin < TARGET_AMPLE) {
            snprintf(phrase, sizeof phrase, "%s by %.2g %%%s",
                     advise_miss_name_of(target->column, result), 100 * margin,
                     target_band(target, result) == NULL ? ""
                     : target_is_near(target, result)    ? " (within the error)"
                                                         : " (more than the error)");
            advise_miss_add(phrase, text);
        }
    }
    return text;
}

/* A bound in the unit of its column's name. */
static double bound_of(const struct target *target)
{
    enum column_type type = column_kinds[target->column].type;
    return target->bound / (type == COLUMN_TYPE_MS ? 1e6 : type == COLUMN_TYPE_US ? 1e3 : 1);
}

void advise_put_limits(const struct targets *targets, const struct result *result,
                       struct frame *frame, uint32_t column)
{
    static const struct frame_column columns[] = {{.key = "key"},
                                                  {.key = "value", .unit = ANSWER_REAL},
                                                  {.key = "at_most", .unit = ANSWER_FLAG},
                                                  {.key = "bound", .unit = ANSWER_REAL},
                                                  {.key = "met", .unit = ANSWER_FLAG}};
    struct error unused; /* memory that ran out shows when the frame is printed */
    struct frame *rows = frame_create(columns, 5, &unused);
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        frame_row(rows);
        frame_text(rows, 0, column_kinds[target->column].name);
        frame_number(rows, 1, result_number(result, target->column));
        frame_number(rows, 2, target->at_most);
        frame_number(rows, 3, bound_of(target));
        frame_number(rows, 4, target_violation(target, result) == 0);
    }
    frame_take(frame, column, rows);
}

uint32_t advise_next_miss(const struct search *search)
{
    uint32_t value = search->found;
    while (value != PLANNING_NONE && value-- > 0) {
        if (search->grid.violation[value] > 0) {
            return value;
        }
    }
    return PLANNING_NONE;
}
