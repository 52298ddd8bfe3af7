/* Values and bounds are in the unit of the column. */

#include "study/plan/target.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "predict/result/tie.h"
#include "predict/server/serving_load.h"

#define OPTION "--target"

static bool is_key(const struct column *column)
{
    return column != NULL && column->read == NULL && column_is_number(column);
}

/* The time that is called `key` and its unit: "tpot" is tpot_ms. NULL if there is none. */
static const struct column *time_called(const char *key)
{
    size_t length = strlen(key);
    for (uint32_t i = 0; i < column_count; i++) {
        const struct column *column = column_rows[i];
        const char *end = column->unit == UNIT_MS ? "_ms" : "_us";
        if (is_key(column) && unit_kinds[column->unit].ns > 0 &&
            strncmp(column->name, key, length) == 0 && strcmp(column->name + length, end) == 0) {
            return column;
        }
    }
    return NULL;
}

static const struct column *target_find_column(const char *key, struct error *why)
{
    const struct column *column = column_find(key);
    if (column == NULL) {
        column = time_called(key);
    }
    if (is_key(column)) {
        return column;
    }
    if (column != NULL && column->read == NULL) {
        error_usage(why, OPTION, 0, "'%s' is not a number", key);
        error_expect(why, "a numeric key of 'simulate --json', such as tpot_ms");
        return NULL;
    }
    error_usage(why, OPTION, 0, "results have no key '%s'", key);
    error_expect(why, "a numeric key of 'simulate --json', such as tpot_ms, decode_tokens_per_s, "
                      "hbm_bytes, mass_recall or ttft_p99_ms");
    error_nearest(why, column_nearest(key));
    return NULL;
}

/* A time called without its unit needs one in its bound. */
static bool check_unit(const char *key, const char *bound, const struct column *column,
                       struct error *why)
{
    struct quantity read;
    if (strcmp(column->name, key) == 0 || !quantity_parse(bound, &read) ||
        read.unit != UNIT_COUNT) {
        return true;
    }
    error_usage(why, OPTION, 0, "'%s' is '%s', which has no unit", key, bound);
    return error_expect(why, "a time with its unit, such as 50ms or 2s; or %s", column->name);
}

static bool read_bound(const char *text, struct target *target, struct error *why)
{
    const char *name = target->column->name;
    enum unit unit = unit_kinds[target->column->unit].stated;
    struct quantity bound;
    if (quantity_parse(text, &bound) && bound.value >= 0 &&
        (bound.unit == unit || bound.unit == UNIT_COUNT)) {
        bool time = unit == UNIT_NS && bound.unit == UNIT_NS;
        target->bound = time ? bound.value / unit_kinds[target->column->unit].ns : bound.value;
        return unit != UNIT_SHARE || bound.value <= 1 ||
               (error_usage(why, OPTION, 0, "'%s' is a share; '%s' is more than the whole", name,
                            text),
                error_expect(why, "at most 1, or 100%%"));
    }
    error_usage(why, OPTION, 0, "invalid bound '%s' for '%s'", text, name);
    return unit == UNIT_NS
               ? error_expect(why, "a number of %s, or a time such as 12ms",
                              target->column->unit == UNIT_US ? "microseconds" : "milliseconds")
           : unit == UNIT_COUNT
               ? error_expect(why, "a number of at least 0")
               : error_expect(why, "a number of at least 0, such as %s", unit_kinds[unit].example);
}

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
    out->column = target_find_column(key, why);
    return out->column != NULL && check_unit(key, out->typed, out->column, why) &&
           read_bound(out->typed, out, why);
}

static bool target_check_sense(const struct targets *targets, struct error *why)
{
    for (uint32_t i = 0; i < targets->count * targets->count; i++) {
        const struct target *a = &targets->all[i / targets->count];
        const struct target *b = &targets->all[i % targets->count];
        if (a->column == b->column && !a->at_most && b->at_most && a->bound > b->bound) {
            return error_usage(why, OPTION, 0, "'%s' and '%s' contradict each other", a->text,
                               b->text);
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

/* NaN if the run has no such figure, or did not succeed. */
static double target_value_of(const struct column *column, const struct result *result)
{
    return result_ok(result) ? result_number(result, column) : NAN;
}

static double target_violation_of(const struct target *target, double value)
{
    double over = target->at_most ? value - target->bound : target->bound - value;
    return fmax(over, 0) / (target->bound > 0 ? target->bound : 1);
}

/* Sessions too few to show a rate fall short of it like a queue that grows. */
double target_violation(const struct target *target, const struct result *result)
{
    double value = target_value_of(target->column, result);
    if (target->column == COLUMN(queue_grows) && serving_sessions_lack(result)) {
        value = 1;
    }
    return isnan(value) ? INFINITY : target_violation_of(target, value);
}

double target_margin(const struct target *target, const struct result *result)
{
    bool bounded = target->at_most && unit_kinds[target->column->unit].ns > 0 && target->bound > 0;
    return bounded ? 1 - target_value_of(target->column, result) / target->bound : NAN;
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

struct stream_question targets_question(const struct targets *targets, uint64_t most)
{
    _Static_assert((int)TARGETS_MOST <= (int)STREAM_BOUNDS, "each target is a bound");
    struct stream_question out = {.count = targets->count, .most = most};
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        out.all[i] = (struct stream_bound){target->column, target->at_most, target->bound};
    }
    return out;
}

const char *target_format(const struct target *target, const struct result *result,
                          char text[TARGET_TEXT])
{
    double value = target_value_of(target->column, result);
    return isnan(value) ? "-" : target_format_value(target, value, text);
}

const char *target_format_value(const struct target *target, double value, char text[TARGET_TEXT])
{
    enum unit unit = target->column->unit;
    if (unit == UNIT_SHARE || unit == UNIT_BYTES) {
        return units_format(value, unit, text, TARGET_TEXT);
    }
    bool whole = value == nearbyint(value) && value < 1e9;
    snprintf(text, TARGET_TEXT, whole || fabs(value) >= 9999.5 ? "%.0f" : "%.4g", value);
    return text;
}

bool target_serves(const struct target *target)
{
    return target->column->index >= COLUMN(requests)->index &&
           target->column->index <= COLUMN(preemptions)->index;
}

bool targets_judge(const struct targets *targets, const struct column *column)
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
    text[0] = '\0';
    for (uint32_t i = 0; i < targets->count; i++) {
        text_append(text, TARGETS_TEXT, "%s%s", i > 0 ? ", " : "", targets->all[i].text);
    }
    return text;
}

static bool add_unjudged(const char *text, struct targets *targets, struct error *why)
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

bool targets_add_service(bool timed, struct targets *targets, struct error *why)
{
    return (!timed || add_unjudged("queue_grows<=0", targets, why)) &&
           add_unjudged("requests_left_out<=0", targets, why);
}

bool targets_limit_times(const struct targets *targets)
{
    bool limits = false;
    for (uint32_t i = 0; i < targets->count; i++) {
        limits = limits || targets->all[i].column->unit == UNIT_MS;
    }
    return limits;
}

/* ---- how certain it is ---- */

bool target_is_near(const struct target *target, const struct result *result)
{
    double least, most;
    if (!band_ends(result, target->column, &least, &most)) {
        return false;
    }
    bool met = target_violation(target, result) == 0;
    return (target_violation_of(target, least) == 0) != met ||
           (target_violation_of(target, most) == 0) != met;
}

void targets_open(const struct targets *targets, const struct result *result, struct targets *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < targets->count; i++) {
        if (target_is_near(&targets->all[i], result)) {
            out->all[out->count++] = targets->all[i];
        }
    }
}

/* Columns whose figures can be the best, the most or the least of something. */
const struct column *best_read(const char *key, const char *option, struct error *why)
{
    const struct column *shown = column_labelled(key);
    const char *names[COLUMNS_MOST] = {NULL};
    for (uint32_t i = 0, count = 0; i < column_count; i++) {
        if (column_rows[i]->best != BEST_NONE) {
            names[count++] = column_rows[i]->name;
        }
    }
    return shown != NULL && shown->best != BEST_NONE                     ? shown
           : name_find(key, NAMES(names), "figure", option, 0, why) >= 0 ? column_find(key)
                                                                         : NULL;
}

double best_merit(const struct column *column, const struct result *result)
{
    double number = result_ok(result) ? result_number(result, column) : NAN;
    return column->best == BEST_LEAST ? -number : number;
}
