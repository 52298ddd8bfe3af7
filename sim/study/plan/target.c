/* The unit follows from the column's type; for plain numbers, from the end of its name. */
#include "study/plan/target.h"

#include "base/name.h"
#include "base/text.h"
#include "base/units.h"
#include "serving/serving_load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OPTION "--target"

/* ---- keys ---- */

static bool target_is_number(enum column_type type)
{
    return type == COLUMN_TYPE_INTEGER || type == COLUMN_TYPE_REAL || type == COLUMN_TYPE_US ||
           type == COLUMN_TYPE_MS;
}

/* Nanoseconds per unit of the column; 0 if it is not a time. */
static double time_scale(enum column column)
{
    enum column_type type = column_kinds[column].type;
    return type == COLUMN_TYPE_US ? 1e3 : type == COLUMN_TYPE_MS ? 1e6 : 0;
}

/* The unit of a plain number, by the end of its name. */
static enum unit unit_of(enum column column)
{
    static const struct {
        const char *end;
        enum unit unit;
    } ends[] = {
        {"cost_per_million_tokens", UNIT_COUNT},
        {"_bytes", UNIT_BYTES},
        {"_bytes_per_step", UNIT_BYTES},
        {"_ratio", UNIT_SHARE},
        {"_share", UNIT_SHARE},
        {"_recall", UNIT_SHARE},
        {"context", UNIT_TOKENS},
        {"_tokens", UNIT_TOKENS},
    };
    for (size_t i = 0; i < RANGE_COUNT; i++) { /* an end of a range has the range's unit */
        const struct column_range *range = &column_ranges[i];
        column = column == range->low || column == range->high ? range->column : column;
    }
    const char *name = column_kinds[column].name;
    if (time_scale(column) > 0) {
        return UNIT_NS;
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t length = strlen(name), end = strlen(ends[i].end);
        if (length >= end && strcmp(name + length - end, ends[i].end) == 0) {
            return ends[i].unit;
        }
    }
    return UNIT_COUNT;
}

static const char *number_key(size_t index)
{
    for (int column = 0; column < COLUMN_COUNT; column++) {
        if (target_is_number(column_kinds[column].type) && index-- == 0) {
            return column_kinds[column].name;
        }
    }
    return NULL;
}

/* The time that is called `key` and its unit: "tpot" is tpot_ms. COLUMN_COUNT if there is none. */
static enum column time_called(const char *key)
{
    size_t length = strlen(key);
    int column = 0;
    for (; column < COLUMN_COUNT; column++) {
        const char *name = column_kinds[column].name;
        if (time_scale((enum column)column) > 0 && strncmp(name, key, length) == 0 &&
            (strcmp(name + length, "_ms") == 0 || strcmp(name + length, "_us") == 0)) {
            break;
        }
    }
    return (enum column)column;
}

static bool target_find_column(const char *key, enum column *out, struct error *why)
{
    for (int column = 0; column < COLUMN_COUNT; column++) {
        if (strcmp(column_kinds[column].name, key) == 0) {
            *out = (enum column)column;
            if (target_is_number(column_kinds[column].type)) {
                return true;
            }
            error_usage(why, OPTION, 0, "'%s' is not a number", key);
            return error_expect(why, "a numeric key of 'simulate --json', such as tpot_ms");
        }
    }
    *out = time_called(key);
    if (*out != COLUMN_COUNT) {
        return true;
    }
    error_usage(why, OPTION, 0, "results have no key '%s'", key);
    error_expect(why, "a numeric key of 'simulate --json', such as tpot_ms, decode_tokens_per_s, "
                      "hbm_bytes, mass_recall or ttft_p99_ms");
    return error_nearest(why, name_nearest(key, number_key));
}

/* ---- bounds ---- */

/* A time called without its unit needs one in its bound. */
static bool check_unit(const char *key, const char *bound, enum column column, struct error *why)
{
    struct quantity read;
    if (strcmp(column_kinds[column].name, key) == 0 || !quantity_parse(bound, &read) ||
        read.unit != UNIT_COUNT) {
        return true;
    }
    error_usage(why, OPTION, 0, "'%s' is '%s', which has no unit", key, bound);
    return error_expect(why, "a time with its unit, such as 50ms or 2s; or %s",
                        column_kinds[column].name);
}

static bool read_bound(const char *text, struct target *target, struct error *why)
{
    const char *name = column_kinds[target->column].name;
    enum unit unit = unit_of(target->column);
    double scale = time_scale(target->column);
    struct quantity bound;
    if (quantity_parse(text, &bound) && bound.value >= 0 &&
        (bound.unit == unit || bound.unit == UNIT_COUNT)) {
        bool bare_time = unit == UNIT_NS && bound.unit == UNIT_COUNT;
        target->bound = bare_time ? bound.value * scale : bound.value;
        return unit != UNIT_SHARE || bound.value <= 1 ||
               (error_usage(why, OPTION, 0, "'%s' is a share; '%s' is more than the whole", name,
                            text),
                error_expect(why, "at most 1, or 100%%"));
    }
    error_usage(why, OPTION, 0, "invalid bound '%s' for '%s'", text, name);
    return unit == UNIT_NS ? error_expect(why, "a number of %s, or a time such as 12ms",
                                          scale == 1e3 ? "microseconds" : "milliseconds")
           : unit == UNIT_COUNT
               ? error_expect(why, "a number of at least 0")
               : error_expect(why, "a number of at least 0, such as %s", unit_example(unit));
}

/* Copy without the blanks at both ends. */
static void copy_trimmed(const char *text, size_t length, char out[TARGET_TEXT])
{
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    snprintf(out, TARGET_TEXT, "%.*s", (int)length, text);
}

static bool read_target(const char *text, size_t length, struct target *out, struct error *why)
{
    char key[TARGET_TEXT];
    if (length >= TARGET_TEXT) {
        return error_usage(why, OPTION, 0, "target '%.40s...' is too long", text);
    }
    copy_trimmed(text, length, out->text);
    size_t sign = strcspn(out->text, "<>=");
    bool compares =
        (out->text[sign] == '<' || out->text[sign] == '>') && out->text[sign + 1] == '=';
    if (!compares || sign == 0) {
        error_usage(why, OPTION, 0, "invalid target '%s'", out->text);
        return error_expect(why, "KEY<=NUMBER or KEY>=NUMBER, such as tpot_ms<=40");
    }
    out->at_most = out->text[sign] == '<';
    copy_trimmed(out->text, sign, key);
    copy_trimmed(out->text + sign + 2, strlen(out->text + sign + 2), out->typed);
    return target_find_column(key, &out->column, why) &&
           check_unit(key, out->typed, out->column, why) && read_bound(out->typed, out, why);
}

static bool contradict(const struct target *a, const struct target *b)
{
    return a->column == b->column && !a->at_most && b->at_most && a->bound > b->bound;
}

static bool target_check_sense(const struct targets *targets, struct error *why)
{
    for (uint32_t i = 0; i < targets->count; i++) {
        for (uint32_t j = 0; j < targets->count; j++) {
            if (contradict(&targets->all[i], &targets->all[j])) {
                return error_usage(why, OPTION, 0, "'%s' and '%s' contradict each other",
                                   targets->all[i].text, targets->all[j].text);
            }
        }
    }
    return true;
}

bool targets_parse(const char *text, struct targets *out, struct error *why)
{
    const char *item;
    size_t length;
    out->count = 0;
    while (text_item(&text, &item, &length)) {
        if (out->count == TARGETS_MOST) {
            return error_usage(why, OPTION, 0, "more than %d targets", TARGETS_MOST);
        }
        if (!read_target(item, length, &out->all[out->count], why)) {
            return false;
        }
        out->count++;
    }
    return target_check_sense(out, why);
}

/* ---- judging ---- */

static bool target_value_of(enum column column, const struct result *result, double *out)
{
    const struct cell *cell = &result->cells[column];
    bool real = column_kinds[column].type == COLUMN_TYPE_REAL;
    *out = !cell->set ? NAN : real ? cell->real : (double)cell->integer;
    return cell->set && result_ok(result);
}

static double target_violation_of(const struct target *target, double value)
{
    double over = target->at_most ? value - target->bound : target->bound - value;
    return fmax(over, 0) / (target->bound > 0 ? target->bound : 1);
}

/* Sessions too few to show a rate fall short of it like a queue that grows. */
double target_violation(const struct target *target, const struct result *result)
{
    double value;
    if (target->column == COLUMN_QUEUE_GROWS && serving_sessions_lack(result)) {
        return target_violation_of(target, 1);
    }
    return target_value_of(target->column, result, &value) ? target_violation_of(target, value)
                                                           : INFINITY;
}

double target_margin(const struct target *target, const struct result *result)
{
    double value;
    bool bounded = target->at_most && time_scale(target->column) > 0 && target->bound > 0;
    return bounded && target_value_of(target->column, result, &value) ? 1 - value / target->bound
                                                                      : NAN;
}

bool targets_ample(const struct targets *targets, const struct result *result)
{
    bool ample = true;
    for (uint32_t i = 0; i < targets->count; i++) {
        ample = ample && !(target_margin(&targets->all[i], result) < TARGET_AMPLE);
    }
    return ample;
}

double targets_violation(const struct targets *targets, const struct result *result)
{
    double most = 0;
    for (uint32_t i = 0; i < targets->count; i++) {
        most = fmax(most, target_violation(&targets->all[i], result));
    }
    return most;
}

/* Families' values are in the units of the columns' names. */
static bool is_met_by(const struct target *target, const struct result *result, uint32_t family)
{
    const struct column_range *range = column_range_of(target->column);
    if (range == NULL) {
        return target_violation(target, result) == 0;
    }
    double scale = time_scale(target->column);
    double value = result->families[family].values[range - column_ranges] * (scale > 0 ? scale : 1);
    return !isnan(value) && target_violation_of(target, value) == 0;
}

uint32_t targets_count_families(const struct targets *targets, const struct result *result)
{
    uint32_t count = 0;
    for (uint32_t family = 0; family < result->family_count; family++) {
        bool met = true;
        for (uint32_t i = 0; i < targets->count; i++) {
            met = met && is_met_by(&targets->all[i], result, family);
        }
        count += met ? 1 : 0;
    }
    return count;
}

const char *target_format(const struct target *target, const struct result *result,
                          char text[TARGET_TEXT])
{
    double value;
    return target_value_of(target->column, result, &value)
               ? target_format_value(target, value, text)
               : "-";
}

const char *target_format_value(const struct target *target, double value, char text[TARGET_TEXT])
{
    enum unit unit = unit_of(target->column);
    double scale = time_scale(target->column);
    if (unit == UNIT_SHARE || unit == UNIT_BYTES) {
        return units_format(value, unit, text, TARGET_TEXT);
    }
    value = scale > 0 ? value / scale : value;
    bool whole = value == nearbyint(value) && value < 1e9;
    snprintf(text, TARGET_TEXT, whole || fabs(value) >= 9999.5 ? "%.0f" : "%.4g", value);
    return text;
}

bool target_serves(const struct target *target)
{
    return target->column >= COLUMN_REQUESTS && target->column <= COLUMN_PREEMPTIONS;
}

bool targets_judge(const struct targets *targets, enum column column)
{
    for (uint32_t i = 0; i < targets->count; i++) {
        if (targets->all[i].column == column) {
            return true;
        }
    }
    return false;
}

const char *targets_text(const struct targets *targets, char text[TARGETS_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < targets->count; i++) {
        used += (size_t)snprintf(text + used, TARGETS_TEXT - used, "%s%s", i > 0 ? ", " : "",
                                 targets->all[i].text);
    }
    return text;
}

bool targets_add_unjudged(const char *text, struct targets *targets, struct error *why)
{
    struct targets more;
    if (!targets_parse(text, &more, why)) {
        return false;
    }
    if (targets_judge(targets, more.all[0].column)) {
        return true;
    }
    if (targets->count == TARGETS_MOST) {
        return error_usage(why, OPTION, 0, "too many targets: a server adds '%s'", text);
    }
    targets->all[targets->count++] = more.all[0];
    return true;
}

void targets_without_queue(const struct targets *targets, struct targets *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < targets->count; i++) {
        if (targets->all[i].column != COLUMN_QUEUE_GROWS) {
            out->all[out->count++] = targets->all[i];
        }
    }
}
