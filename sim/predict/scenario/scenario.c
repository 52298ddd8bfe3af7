#include "predict/scenario/scenario.h"

#include "core/array.h"
#include "predict/scenario/resolve.h"
#include "predict/scenario/scenario_set.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_POINTS 1000000u

static bool scenario_count_points(struct scenario *scenario, struct error *why)
{
    uint64_t points = 1;
    if (scenario->sweep != NULL && scenario->sweep->kind != NODE_MAP) {
        node_error(scenario->sweep, why, "'sweep' must be a map");
        return error_expect(why, "keys with lists, such as context: [32768, 131072]");
    }
    for (size_t i = 0; scenario->sweep != NULL && i < scenario->sweep->count; i++) {
        const struct node *list = scenario->sweep->children[i];
        if (strcmp(list->key, "sweep") == 0 || strncmp(list->key, "sweep.", 6) == 0) {
            return node_error(list, why, "a sweep cannot be swept");
        }
        if (list->kind != NODE_LIST || list->count == 0) {
            node_error(list, why, "'%s' in 'sweep' must be a list", list->key);
            return error_expect(why, "at least one value in [ ]");
        }
        points *= list->count;
        if (points > MOST_POINTS) {
            return node_error(list, why, "the sweep has more than %u points", MOST_POINTS);
        }
    }
    scenario->points = (uint32_t)points;
    return true;
}

bool scenario_load(const char *const *files, uint32_t file_count, const char *const *overrides,
                   uint32_t override_count, struct scenario *out, struct error *why)
{
    *out = (struct scenario){0};
    if (file_count + override_count == 0) {
        error_usage(why, NULL, 0, "no scenario");
        return error_expect(why, "a file, or --set model=... hardware=... system=... context=...");
    }
    out->root = node_map(file_count > 0 ? files[0] : "--set", why);
    out->sources = sources_create(why);
    bool good = out->root != NULL && out->sources != NULL;
    for (uint32_t i = 0; good && i < override_count; i++) {
        good = scenario_check_override(overrides[i], why);
    }
    for (uint32_t i = 0; good && i < file_count; i++) {
        good = scenario_set_file(out->root, files[i], why);
    }
    good = good && scenario_set_overrides(out->root, overrides, override_count, why);
    if (good) {
        const struct node *sweep = node_stated(out->root, "sweep");
        out->sweep = sweep != NULL ? node_copy(sweep, why) : NULL;
        good = (sweep == NULL || out->sweep != NULL) && scenario_count_points(out, why) &&
               scenario_check_names(out->sweep, why) &&
               scenario_values_take(&out->values, out->root, why);
    }
    if (!good) {
        scenario_release(out);
    }
    return good;
}

void scenario_release(struct scenario *scenario)
{
    node_destroy(scenario->root);
    node_destroy(scenario->sweep);
    for (uint32_t i = 0; scenario->cases != NULL && i < scenario->points; i++) {
        node_destroy(scenario->cases[i].root);
    }
    free(scenario->cases);
    sources_release(scenario->sources);
    *scenario = (struct scenario){0};
}

bool scenario_copy(const struct scenario *from, struct scenario *out, struct error *why)
{
    *out = (struct scenario){.root = node_copy(from->root, why),
                             .values = from->values,
                             .points = 1,
                             .sources = sources_hold(from->sources)};
    return out->root != NULL;
}

/* Lay one swept value over `root`, as a file with that value would be: overrides inside a swept map
 * or machine apply at every point. */
static bool scenario_set_value(struct node *root, const char *path, const struct node *value,
                               struct error *why)
{
    struct node *map = node_map(value->file, why);
    bool good = map != NULL && node_put(map, path, value, why) && scenario_set_map(root, map, why);
    node_destroy(map);
    return good;
}

static bool lay_map(struct node *root, const struct node *map, struct error *why)
{
    struct node *copy = node_copy(map, why);
    bool good = copy != NULL && scenario_set_map(root, copy, why);
    node_destroy(copy);
    return good;
}

/* Lay the case, or the values of point `index`, in the order of the keys, the last one fastest. */
static bool lay_point(const struct scenario *scenario, uint32_t index, struct scenario *out,
                      struct error *why)
{
    uint32_t stride = scenario->points;
    bool good = true;
    if (scenario->cases != NULL) {
        scenario_values_lay(&out->values, &scenario->cases[index].values);
        good = lay_map(out->root, scenario->cases[index].root, why);
    }
    for (size_t i = 0; good && scenario->sweep != NULL && i < scenario->sweep->count; i++) {
        const struct node *list = scenario->sweep->children[i];
        stride /= (uint32_t)list->count;
        good = scenario_set_value(out->root, list->key,
                                  list->children[index / stride % list->count], why);
    }
    return good && scenario_values_take(&out->values, out->root, why);
}

bool scenario_init(struct scenario *out, struct error *why)
{
    *out = (struct scenario){.root = node_map("scenario", why), .points = 1};
    return out->root != NULL;
}

bool scenario_set(struct scenario *scenario, const struct node *map, struct error *why)
{
    bool good = lay_map(scenario->root, map, why);
    const struct node *sweep = node_get(scenario->root, "sweep");
    if (good && sweep != NULL) {
        good = node_error(sweep, why, "a single run cannot be swept");
    }
    return good && scenario_values_take(&scenario->values, scenario->root, why);
}

bool scenario_sweep(struct scenario *scenario, const char *key, const char *values,
                    struct error *why)
{
    struct node *root = node_map("--set", why);
    bool good = root != NULL && scenario_set_swept(root, key, values, why) &&
                scenario_spell_names(root, why);
    const struct node *sweep = node_get(root, "sweep");
    if (good && scenario->sweep == NULL) {
        good = (scenario->sweep = node_copy(sweep, why)) != NULL;
    } else if (good) {
        good = node_merge(scenario->sweep, sweep, why);
    }
    node_destroy(root);
    return good && scenario_count_points(scenario, why) &&
           scenario_check_names(scenario->sweep, why);
}

bool scenario_add_case(struct scenario *scenario, const struct node *map,
                       const struct scenario_values *values, struct error *why)
{
    uint32_t count = scenario->cases == NULL ? 0 : scenario->points;
    struct node *copy = node_copy(map, why);
    if (copy == NULL || !array_reserve(&scenario->cases, &scenario->case_capacity, count + 1,
                                       sizeof *scenario->cases, why)) {
        node_destroy(copy);
        return false;
    }
    scenario->cases[count] = (struct scenario_case){.root = copy};
    if (values != NULL) {
        scenario->cases[count].values = *values;
    }
    scenario->points = count + 1;
    return true;
}

bool scenario_states(const struct scenario *scenario, const char *key)
{
    const struct scenario_key *row = scenario_key_find(key, strlen(key));
    return row->place != SCENARIO_ELSEWHERE ? scenario_value(&scenario->values, key)->stated
                                            : node_stated(scenario->root, key) != NULL;
}

char *scenario_canonical(const struct scenario *scenario, struct error *why)
{
    struct node *all = scenario_keys_tree(&scenario->values, scenario->root, why);
    char *text = all != NULL ? node_canonical(all, why) : NULL;
    node_destroy(all);
    return text;
}

bool scenario_error(const struct scenario *scenario, const char *key, struct error *why,
                    const char *format, ...)
{
    char text[sizeof why->found];
    const struct scenario_key *row = scenario_key_find(key, strlen(key));
    bool plain = row->place != SCENARIO_ELSEWHERE;
    const struct scenario_value *value = plain ? scenario_value(&scenario->values, key) : NULL;
    struct node at = {.key = (char *)key};
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (value == NULL || !(value->stated || value->empty)) {
        return node_key_error(scenario->root, key, why, "%s", text);
    }
    at.file = value->file;
    at.line = value->line;
    return node_error(&at, why, "%s", text);
}

bool scenario_serves(const struct scenario *scenario)
{
    static const char *const keys[] = {"workload", "rate", "clients", "arrivals"};
    bool serves = false;
    for (int i = 0; i < 4; i++) {
        serves = serves || scenario_states(scenario, keys[i]) ||
                 node_get(scenario->sweep, keys[i]) != NULL;
    }
    return serves;
}

bool scenario_point(const struct scenario *scenario, uint32_t index, struct point *out,
                    struct error *why)
{
    struct scenario point = {.values = scenario->values, .points = 1};
    point.sources =
        scenario->sources != NULL ? sources_hold(scenario->sources) : sources_create(why);
    point.root = node_copy(scenario->root, why);
    bool good = point.root != NULL && point.sources != NULL &&
                lay_point(scenario, index, &point, why) && requests_set_context(&point, why) &&
                resolve_point(&point, out, why);
    scenario_release(&point);
    return good;
}
