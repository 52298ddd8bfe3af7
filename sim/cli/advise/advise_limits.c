/* How a run stands to its limits. */
#include "cli/advise/advise_answer.h"

#include "core/text.h"
#include "predict/server/serving_load.h"
#include "study/plan/target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAR = 10 /* times the median */, NUMBER = SHOWN_TEXT };

enum { KEY, VALUE, AT_MOST, BOUND, MET, HAVE, MISS, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [KEY] = {.key = "key"},
    [VALUE] = {.key = "value", .unit = UNIT_COUNT},
    [AT_MOST] = {.key = "at_most", .unit = UNIT_FLAG},
    [BOUND] = {.key = "bound", .unit = UNIT_COUNT},
    [MET] = {.key = "met", .unit = UNIT_FLAG},
    [HAVE] = {.name = "have"},
    [MISS] = {.name = "miss"},
};

/* ---- names and numbers ---- */

const char *advise_title(const struct column *column)
{
    return column->title != NULL && column_shown(column) == UNIT_MS ? column->title : column->name;
}

/* The title without its unit, which stands behind a value. */
static int name_length(const char *title)
{
    const char *unit = strstr(title, " ms");
    return (int)(unit != NULL ? (size_t)(unit - title) : strlen(title));
}

static const char *write_figure(const struct target *target, const struct result *result,
                                char text[NUMBER])
{
    double value = result_number(result, target->column);
    if (target->column->unit != UNIT_MS || isnan(value)) {
        return target_format(target, result, text);
    }
    return shown_value(UNIT_DURATION, 0, 1e3 * value, NAN, NAN, text);
}

const char *advise_time(double ms, char text[ADVISE_WORDS])
{
    enum { SECOND = 1000, MINUTE = 60 * SECOND, LONG = 10 };
    char number[NUMBER];
    bool minutes = ms >= LONG * MINUTE, seconds = ms >= LONG * SECOND;
    double unit = minutes ? MINUTE : seconds ? SECOND : 1;
    if (shown_value(UNIT_ROUGH, 0, ms / unit, NAN, NAN, number) == NULL) {
        return NULL;
    }
    snprintf(text, ADVISE_WORDS, "%s %s", number, minutes ? "minutes" : seconds ? "s" : "ms");
    return text;
}

void advise_put_queued(struct frame *verdict, const struct targets *targets,
                       const struct result *result)
{
    bool limited = false;
    for (uint32_t i = 0; i < targets->count; i++) {
        limited = limited || strncmp(targets->all[i].column->name, "ttft", 4) == 0;
    }
    double ttft = result_number(result, COLUMN(ttft_ms)),
           queue = result_number(result, COLUMN(queue_ms));
    if (!limited && serving_saturated(result) && queue > ttft / 2) {
        frame_text(verdict, VERDICT_queued, "in a queue, which --ttft limits");
    }
}

/* ---- sentences ---- */

/* A limit that is met, or missed, by less than a tenth. */
static void say_margin(const struct target *target, const struct result *result,
                       char text[ADVISE_WORDS])
{
    double margin = fabs(target_margin(target, result));
    if (margin < TARGET_AMPLE) {
        text_append(text, ADVISE_WORDS, " (by %.2g %%%s)", 100 * margin,
                    target_band(target, result) == NULL ? ""
                    : target_is_near(target, result)    ? ", within the error"
                                                        : ", more than the error");
    }
}

/* A median that is met says nothing of requests that take ten times as long. */
static void say_tail(const struct column *column, const struct result *result,
                     char text[ADVISE_WORDS])
{
    double median = result_number(result, column), tail = NAN;
    char number[NUMBER];
    if (column == COLUMN(ttft_p50_ms) || column == COLUMN(tpot_p50_ms)) {
        tail = result_number(result, column == COLUMN(ttft_p50_ms) ? COLUMN(ttft_p99_ms)
                                                                   : COLUMN(tpot_p99_ms));
    }
    if (tail >= FAR * median) {
        text_append(text, ADVISE_WORDS, " (but p99 %s)",
                    shown_value(UNIT_DURATION, 0, 1e3 * tail, NAN, NAN, number));
    }
}

/* What every server has to meet has words of its own. */
static bool say_service(const struct target *target, const struct result *result,
                        char miss[ADVISE_WORDS])
{
    if (target->column == COLUMN(requests_left_out)) {
        snprintf(miss, ADVISE_WORDS, "%.0f of %.0f requests are too long for its memory",
                 result_number(result, COLUMN(requests_left_out)),
                 result_number(result, COLUMN(requests)));
    } else if (target->column == COLUMN(queue_grows) && serving_sessions_lack(result)) {
        snprintf(miss, ADVISE_WORDS,
                 "its %.0f requests in sessions do not show it: only %.3g a second came",
                 result_number(result, COLUMN(requests)),
                 result_number(result, COLUMN(requests_in_per_s)));
    } else if (target->column == COLUMN(queue_grows)) {
        double came = result_number(result, COLUMN(requests_in_per_s));
        snprintf(miss, ADVISE_WORDS, "it falls behind: %.*g of %.*g requests a second answered",
                 came < 1000 ? 3 : 7, result_number(result, COLUMN(requests_out_per_s)),
                 came < 1000 ? 3 : 7, came);
    }
    return miss[0] != '\0';
}

static void say_target(struct frame *rows, const struct target *target, const struct result *result)
{
    char words[ADVISE_WORDS] = "", number[NUMBER];
    const char *title = advise_title(target->column);
    bool missed = target_violation(target, result) > 0;
    bool service = say_service(target, result, words);
    if (!service) {
        snprintf(words, sizeof words, "%.*s %s %s %s", name_length(title), title,
                 write_figure(target, result, number), missed ? "instead of" : "of", target->typed);
        say_margin(target, result, words);
        say_tail(target->column, result, words);
    }
    frame_text(rows, HAVE, service ? NULL : words);
    frame_text(rows, MISS, missed ? words : NULL);
}

/* Of several limits on a token, the first. */
void advise_put_longer(struct frame *verdict, const struct error_band *missed,
                       const struct targets *targets, const struct result *result)
{
    bool longer = missed->rows > 0 && missed->below == missed->rows;
    for (uint32_t i = 0; longer && i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        const char *title = advise_title(target->column);
        double us = 1e3 * result_number(result, target->column);
        char median[NUMBER], most[NUMBER];
        if (strncmp(target->column->name, "tpot", 4) == 0 &&
            shown_value(UNIT_DURATION, 0, us * missed->median, NAN, NAN, median) != NULL &&
            shown_value(UNIT_DURATION, 0, us * missed->factor, NAN, NAN, most) != NULL) {
            frame_textf(
                verdict, VERDICT_longer,
                "published times of such models were %.1f times as long in the median, %.1f "
                "times at most: %.*s %s (%s) of %s",
                missed->median, missed->factor, name_length(title), title, median, most,
                target->typed);
            return;
        }
    }
}

void advise_put_limits(struct frame *frame, uint32_t column, const struct targets *targets,
                       const struct result *result)
{
    char reason[ADVISE_WORDS];
    struct error unused; /* memory that ran out shows when the frame is printed */
    struct frame *rows = frame_create(columns, COLUMNS, &unused);
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        frame_row(rows);
        frame_text(rows, KEY, target->column->name);
        frame_number(rows, VALUE, result_number(result, target->column));
        frame_number(rows, AT_MOST, target->at_most);
        frame_number(rows, BOUND, target->bound);
        frame_number(rows, MET, target_violation(target, result) == 0);
        if (result_ok(result)) {
            say_target(rows, target, result);
        } else if (i == 0) {
            frame_text(rows, MISS, result_reason(result, reason, sizeof reason));
        }
    }
    frame_take(frame, column, rows);
}
