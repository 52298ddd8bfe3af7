/* The values of an axis, and parsing those that were given. */
#include "core/array.h"
#include "core/quote.h"
#include "core/text.h"
#include "decode/mechanisms.h"
#include "policy/policy.h"
#include "predict/scenario/scenario_keys.h"
#include "predict/scenario/scenario_set.h"
#include "study/whatif/axis_build.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

bool axis_add(struct axis *axis, double number, const char *text, struct axis_value **added,
              struct error *why)
{
    if (axis->count == AXIS_MOST_VALUES) {
        return error_usage(why, axis->option, 0, "'%s' has more than %d values", axis->key,
                           AXIS_MOST_VALUES);
    }
    char *copy = strdup(text);
    if (copy == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for a value");
    }
    struct axis_value *value = &axis->values[axis->count++];
    *value = (struct axis_value){.number = number, .text = copy};
    if (added != NULL) {
        *added = value;
    }
    return true;
}

/* In base units, which a scenario accepts for any quantity; shares in percent. */
static void axis_write_number(double number, enum unit unit, char *text, size_t size)
{
    static const char *const suffixes[] = {
        [UNIT_COUNT] = "",          [UNIT_SHARE] = "%",           [UNIT_TIMES] = "x",
        [UNIT_TOKENS] = "tok",      [UNIT_BYTES] = "B",           [UNIT_NS] = "ns",
        [UNIT_BYTES_PER_S] = "B/s", [UNIT_FLOP_PER_S] = "FLOP/s",
    };
    double shown = unit == UNIT_SHARE ? 100 * number : number;
    snprintf(text, size, shown == nearbyint(shown) ? "%.0f%s" : "%.6g%s", shown, suffixes[unit]);
}

bool axis_add_number(struct axis *axis, double number, struct axis_value **added, struct error *why)
{
    char text[64];
    axis_write_number(number, axis->unit, text, sizeof text);
    return axis_add(axis, number, text, added, why);
}

static double three_digits(double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.2e", number);
    return strtod(text, NULL);
}

bool axis_is_counted(const struct axis *axis, enum unit unit, double number)
{
    return number == nearbyint(number) && !axis_key_is_real(axis->key) &&
           (unit == UNIT_COUNT || unit == UNIT_TOKENS || unit == UNIT_BYTES || unit == UNIT_NS);
}

/* The ends stay as they are. For whole numbers, `points` is limited to the number of them. */
bool axis_walk(struct axis *axis, double from, double to, uint32_t points, bool whole,
               struct error *why)
{
    bool good = true, each = whole && to - from < points;
    axis->ranges = true;
    points = each ? (uint32_t)(to - from) + 1 : points;
    for (uint32_t i = 0; good && i < points; i++) {
        double at = points > 1 ? (double)i / (points - 1) : 0;
        double number = from > 0 && !each ? from * pow(to / from, at) : from + (to - from) * at;
        bool end = i == 0 || i + 1 == points;
        number = whole ? nearbyint(number) : end ? number : three_digits(number);
        good = axis_add_number(axis, i + 1 == points && !whole ? to : number, NULL, why);
    }
    return good;
}

static int by_number(const void *a, const void *b)
{
    const struct axis_value *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : y->own - x->own;
}

/* Sort ascending; of equal numbers keep the scenario's own. */
static void sort_values(struct axis *axis)
{
    uint32_t kept = 0;
    qsort(axis->values, axis->count, sizeof *axis->values, by_number);
    for (uint32_t i = 0; i < axis->count; i++) {
        struct axis_value *value = &axis->values[i];
        struct axis_value *last = kept > 0 ? &axis->values[kept - 1] : NULL;
        if (last != NULL && fabs(value->number - last->number) <= 1e-9 * fabs(value->number)) {
            if (value->own) {
                struct axis_value other = *last;
                *last = *value;
                *value = other;
            }
            free(value->text);
        } else {
            axis->values[kept++] = *value;
        }
    }
    axis->count = kept;
}

void axis_release(struct axis *axis)
{
    for (uint32_t i = 0; i < axis->count; i++) {
        free(axis->values[i].text);
    }
    free(axis->values);
    *axis = (struct axis){.values = NULL};
}

/* ---- values that were given ---- */

static bool one_point(const struct axis *axis, const char *value, struct error *why)
{
    error_usage(why, axis->option, 0, "an axis needs two values or more: '%s' is '%s'", axis->key,
                value);
    return error_expect(why, "values such as %s=[A, B], or a range such as %s=FROM:TO", axis->key,
                        axis->key);
}

static bool read_end(const struct axis *axis, const char *text, struct quantity *out,
                     struct error *why)
{
    if (quantity_parse(text, out)) {
        out->unit = axis_key_unit(axis->key, out->unit);
        return true;
    }
    error_usage(why, axis->option, 0, "'%s' of '%s' is not a number", text, axis->key);
    return error_expect(why, "a range of numbers FROM:TO, or values [A, B]");
}

static bool walk_between(const struct axis_base *base, struct axis *axis, char *text,
                         struct error *why)
{
    struct quantity from, to;
    char *colon = strchr(text, ':');
    assert(colon != NULL); /* that makes it a range */
    *colon = '\0';
    if (!read_end(axis, text, &from, why) || !read_end(axis, colon + 1, &to, why)) {
        return false;
    }
    if (from.value == 0 && from.unit == UNIT_COUNT) {
        from.unit = to.unit;
    }
    if (from.unit != to.unit) {
        return error_usage(why, axis->option, 0, "'%s:%s' mixes two units", text, colon + 1);
    }
    bool whole =
        axis_is_counted(axis, from.unit, from.value) && axis_is_counted(axis, to.unit, to.value);
    axis->unit = from.unit;
    return axis_walk(axis, fmin(from.value, to.value), fmax(from.value, to.value),
                     axis_points(base, 9), whole, why);
}

/* Are all of them numbers of one unit? */
static bool are_numbers(const struct node *list, const struct axis *axis, enum unit *unit)
{
    struct quantity quantity;
    for (size_t i = 0; i < list->count; i++) {
        const struct node *node = list->children[i];
        if (node->kind != NODE_SCALAR || !quantity_parse(node->text, &quantity) ||
            (i > 0 && axis_key_unit(axis->key, quantity.unit) != *unit)) {
            return false;
        }
        *unit = axis_key_unit(axis->key, quantity.unit);
    }
    return true;
}

static bool take_value(struct axis *axis, const struct node *node, struct error *why)
{
    struct quantity quantity = {.value = axis->count};
    struct axis_value *value;
    if (axis->numeric) {
        quantity_parse(node->text, &quantity);
    }
    if (node->kind == NODE_SCALAR) {
        return axis_add(axis, quantity.value, node->text, NULL, why);
    }
    char *text = node_canonical(node, why);
    bool good = text != NULL && axis_add(axis, quantity.value, text, &value, why);
    if (good) {
        value->is_map = true;
    }
    free(text);
    return good;
}

/* A single value is a list of one. */
static bool axis_take_values(struct axis *axis, const char *text, struct error *why)
{
    struct node *list = node_parse(text, strlen(text), axis->option, why);
    bool good = list != NULL;
    if (good && list->kind != NODE_LIST) {
        good = one_point(axis, text, why);
    }
    good = good && scenario_spell_value(list, axis->key, why);
    axis->numeric = good && are_numbers(list, axis, &axis->unit);
    for (size_t i = 0; good && i < list->count; i++) {
        good = take_value(axis, list->children[i], why);
    }
    node_destroy(list);
    return good;
}

/* Mark the values that are the scenario's own. */
static void axis_find_own(const struct axis_base *base, struct axis *axis)
{
    struct error unseen;
    struct quantity own;
    const char *text;
    struct node *tree = axis_key_tree(base, &unseen);
    const struct node *node = node_find(tree, axis->key);
    bool number = tree != NULL && axis->numeric &&
                  axis_key_own(base, axis, tree, &own, &text, &unseen) && own.unit == axis->unit;
    for (uint32_t i = 0; i < axis->count; i++) {
        struct axis_value *value = &axis->values[i];
        value->own = number ? value->number == own.value
                            : node != NULL && node->kind == NODE_SCALAR &&
                                  strcmp(node->text, value->text) == 0;
    }
    node_destroy(tree);
}

/* ---- an axis ---- */

static bool axis_read_values(const struct axis_base *base, struct axis *axis, char *values,
                             struct error *why)
{
    axis->numeric = true;
    if (values == NULL) {
        return axis_walk_usual(base, axis, why);
    }
    if (!(values[0] != '[' && strchr(values, ':') != NULL ? walk_between(base, axis, values, why)
                                                          : axis_take_values(axis, values, why))) {
        return false;
    }
    axis_find_own(base, axis);
    return true;
}

bool axis_read(const char *text, size_t length, const struct axis_base *base, struct axis *axis,
               struct error *why)
{
    *axis = (struct axis){.option = base->option};
    char *copy = strndup(text, length);
    if (copy == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for an axis");
    }
    axis->values = array_zeroed(AXIS_MOST_VALUES, sizeof *axis->values, why);
    if (axis->values == NULL) {
        free(copy);
        return false;
    }
    char *values = strchr(copy, '=');
    if (values != NULL) {
        *values++ = '\0';
    }
    bool good = axis_key_resolve(copy, axis, why) && axis_read_values(base, axis, values, why);
    free(copy);
    if (good && axis->numeric) {
        sort_values(axis);
    }
    if (good && axis->count < 2) {
        good = one_point(axis, axis->count > 0 ? axis->values[0].text : "", why);
    }
    return good;
}

const char *axis_title(const struct axis *axis)
{
    if (strcmp(axis->key, AXIS_DRAFTS) == 0) {
        return "drafts";
    }
    const char *dot = strrchr(axis->key, '.');
    return dot != NULL ? dot + 1 : axis->key;
}

/* Write a policy as tables name it; anything else stays. */
static void name_policy(const char *value, char *text, size_t size)
{
    struct error unseen;
    struct node *node = node_parse(value, strlen(value), "", &unseen);
    if (node != NULL) {
        policy_words(node, text, size);
    }
    node_destroy(node);
}

const char *axis_label(const struct axis *axis, uint32_t value, char *text, size_t size)
{
    if (axis->ranges) {
        return units_format(axis->values[value].number, axis->unit, text, size);
    }
    snprintf(text, size, "%s", axis->values[value].text);
    if (strcmp(axis->key, "mechanisms.policy") == 0) {
        name_policy(axis->values[value].text, text, size);
    }
    return text;
}

static void axis_write_value(const struct axis_value *value, FILE *out)
{
    if (value->is_map) {
        fputs(value->text, out);
        return;
    }
    fputc('"', out);
    quote_write(QUOTE_YAML_DOUBLE, value->text, out);
    fputc('"', out);
}

bool axis_sweep(const struct axis *axis, struct scenario *scenario, struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    for (uint32_t i = 0; good && i < axis->count; i++) {
        fputs(i > 0 ? ", " : "[", file.out);
        axis_write_value(&axis->values[i], file.out);
        fputs(i + 1 == axis->count ? "]" : "", file.out);
    }
    char *list = text_close(&file, good, why);
    good = list != NULL && scenario_sweep(scenario, axis->key, list, why);
    free(list);
    return good;
}

/* Resolves the name of an axis to a path in a scenario, and finds the value that the scenario or
 * the machine has there. */

/* ---- keys ---- */

/* The figure of the machine that a path names; CURVE_COUNT if it names none. */
static enum curve_id axis_key_find_figure(const char *path)
{
    for (size_t i = 0; strncmp(path, "hardware.", 9) == 0 && i < CURVE_COUNT; i++) {
        if (strcmp(path + 9, curve_kinds[i].name) == 0) {
            return (enum curve_id)i;
        }
    }
    return CURVE_COUNT;
}

static bool refuse_key(const struct axis *axis, const char *key, struct error *why)
{
    char path[SCENARIO_PATH];
    const char *name = strncmp(key, "mechanisms.", 11) == 0 ? key + 11
                       : strncmp(key, "hardware.", 9) == 0  ? key + 9
                                                            : key;
    error_usage(why, axis->option, 0, "'%s' cannot be an axis", key);
    error_expect(why, "a key of the scenario, a mechanism, or a figure of the machine such as "
                      "hardware.link.h2d");
    return error_nearest(why, scenario_suggest(name, path));
}

static bool is_first_word(const char *path, const char *word)
{
    size_t length = strlen(word);
    return strncmp(path, word, length) == 0 && (path[length] == '\0' || path[length] == '.');
}

static bool is_scenario_key(const char *path)
{
    const struct scenario_key *key = scenario_key_find(path, strcspn(path, "."));
    return key != NULL && key->shape != SCENARIO_SWEEP;
}

static bool is_mechanism(const char *path)
{
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        if (is_first_word(path, key->name)) {
            return true;
        }
    }
    return false;
}

bool axis_key_resolve(const char *name, struct axis *axis, struct error *why)
{
    bool bare = !is_scenario_key(name) && is_mechanism(name);
    const char *prefix = bare ? "mechanisms." : strcmp(name, "link") == 0 ? "hardware." : "";
    const char *suffix = strcmp(name, "drafts") == 0 ? ".count" : "";
    int length = snprintf(axis->key, sizeof axis->key, "%s%s%s", prefix, name, suffix);
    const char *part = strchr(axis->key, '.');
    bool known = is_scenario_key(axis->key) && (size_t)length < sizeof axis->key;
    if (strncmp(axis->key, "mechanisms.", 11) == 0) {
        known = is_mechanism(axis->key + 11);
    } else if (strncmp(axis->key, "hardware.", 9) == 0 && strchr(part + 1, '.') != NULL) {
        known = axis_key_find_figure(axis->key) != CURVE_COUNT;
    }
    return known || refuse_key(axis, name, why);
}

bool axis_key_is_real(const char *path)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    return key != NULL && key->shape == SCENARIO_NUMBER;
}

/* ---- the scenario's own value ---- */

/* A number without a unit has the key's unit, if the key has one. */
enum unit axis_key_unit(const char *path, enum unit unit)
{
    const struct scenario_key *own = scenario_key_find(path, strlen(path));
    if (unit != UNIT_COUNT) {
        return unit;
    }
    if (own != NULL && unit_is_bare(own->unit)) {
        return own->unit;
    }
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        if (strncmp(path, "mechanisms.", 11) == 0 && strcmp(path + 11, key->name) == 0) {
            return key->unit;
        }
    }
    return unit;
}

static bool own_figure(const struct axis_base *base, enum curve_id id, struct quantity *out,
                       struct error *why)
{
    const struct curve *curve = &base->point->setup.profile.curves[id];
    if (curve->count == 1) {
        *out = (struct quantity){curve->value[0], curve_kinds[id].unit};
        return true;
    }
    error_usage(why, base->option, 0,
                curve->count == 0 ? "hardware '%s' does not state '%s'"
                                  : "hardware '%s': '%s' is a curve, not a single figure",
                base->point->setup.profile.name, curve_kinds[id].name);
    return error_expect(why, "a range such as hardware.%s=FROM:TO", curve_kinds[id].name);
}

/* The scenario's own number at the axis' key, and how the scenario writes it: a text of `tree`. */
bool axis_key_own(const struct axis_base *base, const struct axis *axis, const struct node *tree,
                  struct quantity *out, const char **text, struct error *why)
{
    enum curve_id figure = axis_key_find_figure(axis->key);
    const struct node *node = node_find(tree, axis->key);
    *text = NULL;
    if (node != NULL && node->kind == NODE_SCALAR && strcmp(node->text, "none") == 0) {
        enum tier_id tier = tier_of_room(axis->key); /* whose room is the machine's then */
        figure = tier != TIER_COUNT ? tier_kinds[tier].capacity : figure;
    }
    if (figure != CURVE_COUNT) {
        return own_figure(base, figure, out, why);
    }
    if (node != NULL && node->kind == NODE_SCALAR && quantity_parse(node->text, out)) {
        *text = node->text;
        out->unit = axis_key_unit(axis->key, out->unit);
        return true;
    }
    const char *said = node != NULL && node->kind == NODE_SCALAR ? node->text : "not set";
    error_usage(why, axis->option, 0, "'%s' is %s here; a usual range needs a number", axis->key,
                said);
    return error_expect(why, "values such as %s=[A, B], or a range such as %s=FROM:TO", axis->key,
                        axis->key);
}

/* The resolved scenario, which sets every key. */
struct node *axis_key_tree(const struct axis_base *base, struct error *why)
{
    const char *text = base->point->scenario;
    return node_parse(text, strlen(text), "scenario", why);
}
