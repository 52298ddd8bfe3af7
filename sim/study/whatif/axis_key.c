/* Resolves the name of an axis to a path in a scenario, and finds the value that the scenario or
 * the machine has there. */
#include "study/whatif/axis_build.h"

#include "decode/mechanisms.h"
#include "predict/scenario/scenario_alias.h"
#include "predict/scenario/scenario_keys.h"

#include <stdio.h>
#include <string.h>

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
