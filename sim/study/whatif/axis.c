/* The values of an axis: those that were given, or its usual range. */
#include "study/whatif/axis.h"

#include "core/text.h"
#include "decode/mechanism_values.h"
#include "decode/plan/memory.h"
#include "predict/server/serving_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct axis_reading {
    const struct axis_base *base;
    struct axis *axis;
    const struct node *tree; /* the resolved scenario, which sets every key */
    struct error *why;
};

static bool expect_values(const struct axis_reading *reading)
{
    return error_expect(reading->why, "values such as %s=[A, B], or a range such as %s=FROM:TO",
                        reading->axis->key, reading->axis->key);
}

static bool axis_add(const struct axis_reading *reading, const struct axis_value *value,
                     const char *text)
{
    struct axis *axis = reading->axis;
    if (axis->count == AXIS_MOST_VALUES) {
        return error_usage(reading->why, axis->option, 0, "'%s' has more than %d values", axis->key,
                           AXIS_MOST_VALUES);
    }
    axis->values[axis->count] = *value;
    return (axis->values[axis->count++].text = text_duplicate(text, reading->why)) != NULL;
}

/* In base units, which a scenario accepts for any quantity; shares in percent. */
static bool add_number(const struct axis_reading *reading, double number, bool own)
{
    static const char *const suffixes[] = {
        [UNIT_COUNT] = "",          [UNIT_SHARE] = "%",           [UNIT_TIMES] = "x",
        [UNIT_TOKENS] = "tok",      [UNIT_BYTES] = "B",           [UNIT_NS] = "ns",
        [UNIT_BYTES_PER_S] = "B/s", [UNIT_FLOP_PER_S] = "FLOP/s",
    };
    char text[64];
    enum unit unit = reading->axis->unit;
    double shown = unit == UNIT_SHARE ? 100 * number : number;
    snprintf(text, sizeof text, shown == nearbyint(shown) ? "%.0f%s" : "%.6g%s", shown,
             suffixes[unit]);
    return axis_add(reading, &(struct axis_value){.number = number, .own = own}, text);
}

static double three_digits(double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.2e", number);
    return strtod(text, NULL);
}

/* From one end to the other in equal ratios; in equal steps if `from` is 0. The ends stay as they are.
 * Numbers between them are rounded to three digits, or if `whole` to whole numbers, as many as there are. */
static bool axis_walk(const struct axis_reading *reading, double from, double to, uint32_t points,
                      bool whole)
{
    bool good = true, each = whole && to - from < points;
    reading->axis->ranges = true;
    points = each ? (uint32_t)(to - from) + 1 : points;
    for (uint32_t i = 0; good && i < points; i++) {
        double at = points > 1 ? (double)i / (points - 1) : 0;
        double number = from > 0 && !each ? from * pow(to / from, at) : from + (to - from) * at;
        bool end = i == 0 || i + 1 == points;
        number = whole ? nearbyint(number) : end ? number : three_digits(number);
        good = add_number(reading, i + 1 == points && !whole ? to : number, false);
    }
    return good;
}

static int by_number(const void *a, const void *b)
{
    const struct axis_value *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : y->own - x->own;
}

void axis_release(struct axis *axis)
{
    for (uint32_t i = 0; i < axis->count; i++) {
        free(axis->values[i].text);
    }
    free(axis->values);
    *axis = (struct axis){.values = NULL};
}

/* The figure of the machine that a path names; CURVE_COUNT if it names none. */
static enum curve_id axis_figure(const char *path)
{
    int id = strncmp(path, "hardware.", 9) == 0 ? name_index(path + 9, NAMES(curve_kinds)) : -1;
    return id >= 0 ? (enum curve_id)id : CURVE_COUNT;
}

static bool is_scenario_key(const char *path)
{
    const struct scenario_key *key = scenario_key_find(path, strcspn(path, "."));
    return key != NULL && key->shape != SCENARIO_SWEEP;
}

static bool is_mechanism(const char *path)
{
    return name_index_of(path, strcspn(path, "."), NAMES(mechanism_keys)) >= 0;
}

/* Write the path that a name stands for into the axis' key. */
static bool resolve_key(const struct axis_reading *reading, const char *name)
{
    struct axis *axis = reading->axis;
    bool bare = !is_scenario_key(name) && is_mechanism(name);
    const char *prefix = bare ? "mechanisms." : strcmp(name, "link") == 0 ? "hardware." : "";
    const char *suffix = strcmp(name, "drafts") == 0 ? ".count" : "";
    int length = snprintf(axis->key, sizeof axis->key, "%s%s%s", prefix, name, suffix);
    const char *part = strchr(axis->key, '.');
    bool known = is_scenario_key(axis->key) && (size_t)length < sizeof axis->key;
    if (strncmp(axis->key, "mechanisms.", 11) == 0) {
        known = is_mechanism(axis->key + 11);
    } else if (strncmp(axis->key, "hardware.", 9) == 0 && strchr(part + 1, '.') != NULL) {
        known = axis_figure(axis->key) != CURVE_COUNT;
    }
    if (known) {
        return true;
    }
    char path[SCENARIO_PATH];
    bool inside = strncmp(name, "mechanisms.", 11) == 0 || strncmp(name, "hardware.", 9) == 0;
    error_usage(reading->why, axis->option, 0, "'%s' cannot be an axis", name);
    error_expect(reading->why,
                 "a key of the scenario, a mechanism, or a figure of the machine such as "
                 "hardware.link.h2d");
    return error_nearest(reading->why,
                         scenario_suggest(inside ? strchr(name, '.') + 1 : name, path));
}

/* Must values be whole numbers? Counts must, unless `number` is not whole or the key takes any: rates. */
static bool is_counted(const struct axis *axis, enum unit unit, double number)
{
    const struct scenario_key *key = scenario_key_find(axis->key, strlen(axis->key));
    bool real = key != NULL && key->shape == SCENARIO_NUMBER;
    return number == nearbyint(number) && !real &&
           (unit == UNIT_COUNT || unit == UNIT_TOKENS || unit == UNIT_BYTES || unit == UNIT_NS);
}

/* ---- the scenario's own value ---- */

/* A number without a unit has the key's unit, if the key has one. */
static enum unit unit_of(const char *path, enum unit unit)
{
    const struct scenario_key *own = scenario_key_find(path, strlen(path));
    if (unit == UNIT_COUNT && own != NULL && unit_kinds[own->unit].bare) {
        return own->unit;
    }
    bool inside = unit == UNIT_COUNT && strncmp(path, "mechanisms.", 11) == 0;
    int key = inside ? name_index(path + 11, NAMES(mechanism_keys)) : -1;
    return key >= 0 ? mechanism_keys[key].unit : unit;
}

static bool own_figure(const struct axis_reading *reading, enum curve_id id, struct quantity *out)
{
    const struct profile *profile = &reading->base->point->setup.profile;
    const struct curve *curve = &profile->curves[id];
    if (curve->count == 1) {
        *out = (struct quantity){curve->value[0], curve_kinds[id].unit};
        return true;
    }
    error_usage(reading->why, reading->axis->option, 0,
                curve->count == 0 ? "hardware '%s' does not state '%s'"
                                  : "hardware '%s': '%s' is a curve, not a single figure",
                profile->name, curve_kinds[id].name);
    return expect_values(reading);
}

/* How the scenario writes the value at the axis' key; NULL: it is no plain value. */
static const char *own_text(const struct axis_reading *reading)
{
    const struct node *node = node_find(reading->tree, reading->axis->key);
    return node != NULL && node->kind == NODE_SCALAR ? node->text : NULL;
}

/* The scenario's own number, and how the scenario writes it; NULL: it is the machine's. */
static bool own_number(const struct axis_reading *reading, struct quantity *out, const char **text)
{
    const char *key = reading->axis->key;
    enum curve_id figure = axis_figure(key);
    *text = own_text(reading);
    if (*text != NULL && strcmp(*text, "none") == 0) {
        enum tier_id tier = tier_of_room(key); /* whose room is the machine's then */
        figure = tier != TIER_COUNT ? tier_kinds[tier].capacity : figure;
    }
    if (figure != CURVE_COUNT) {
        *text = NULL;
        return own_figure(reading, figure, out);
    }
    if (*text != NULL && quantity_parse(*text, out)) {
        out->unit = unit_of(key, out->unit);
        return true;
    }
    error_usage(reading->why, reading->axis->option, 0,
                "'%s' is %s here; a usual range needs a number", key,
                *text != NULL ? *text : "not set");
    return expect_values(reading);
}

/* ---- usual ranges ---- */

/* In axis_walk()'s words. */
struct usual {
    double from, to;
    uint32_t points;
    bool whole, zero; /* `zero`: 0 comes before it */
    double own;       /* the scenario's own value; NaN: none */
    const char *text; /* as the scenario writes it; NULL: as any number */
};

/* The number of points of a range: as asked for, or the usual number. */
static uint32_t points_of(const struct axis_reading *reading, uint32_t usual)
{
    return reading->base->points > 0 ? reading->base->points : usual;
}

/* The share of the context that the scenario's own budget holds, as KV or as activations. */
static double own_share(const struct axis_base *base)
{
    const struct setup *setup = &base->point->setup;
    const struct amount *budget = &setup->mechanisms->budget;
    if (budget->rest || budget->unit == UNIT_BYTES) {
        double held = 0, all = memory_mean_context(base->plan) * base->plan->batch;
        for (uint32_t i = 0; i < base->plan->cohort_count; i++) {
            const struct cohort *cohort = &base->plan->cohorts[i];
            held += (double)cohort->sequences *
                    (double)(cohort->sizes.cache_tokens + cohort->sizes.split.act_hbm);
        }
        return fmin(held / all, 1);
    }
    double times = setup_share(setup, &setup->mechanisms->selection);
    double share = budget->unit == UNIT_SHARE   ? budget->value
                   : budget->unit == UNIT_TIMES ? budget->value * times
                                                : budget->value / (double)setup->context;
    return fmin(share, 1);
}

/* Why the system cannot have this share as its budget; NULL if it can. */
static const char *contradiction(const struct setup *setup, double share)
{
    const char *key;
    struct mechanisms mechanisms = *setup->mechanisms;
    mechanisms.budget = (struct amount){.unit = UNIT_SHARE, .value = share};
    return mechanisms_contradiction(&mechanisms, &key);
}

const char *axis_no_budget(const struct setup *setup)
{
    return mechanisms_offload(setup->mechanisms) ? contradiction(setup, 1)
                                                 : "it keeps all KV in HBM";
}

/* From nothing, or the least that the policy must hold, to everything. Nobody needs less than a hundredth. */
static bool usual_budget(const struct axis_reading *reading, struct usual *out)
{
    const struct setup *setup = &reading->base->point->setup;
    const struct mechanisms *m = setup->mechanisms;
    const char *reason = axis_no_budget(setup);
    double block = (double)m->granularity / (double)setup->context;
    if (reason != NULL) {
        error_usage(reading->why, reading->axis->option, 0, "system '%s' has no cache to size: %s",
                    setup->system.name, reason);
        return error_expect(reading->why, "a system that caches KV, see 'list systems'");
    }
    reading->axis->unit = UNIT_SHARE;
    out->zero = !m->policy->needs_queries && contradiction(setup, 0) == NULL;
    out->from =
        m->policy->needs_queries ? setup_share(setup, &m->selection) : fmin(fmax(0.01, block), 1);
    out->to = 1;
    out->points = points_of(reading, 13) - out->zero;
    out->own = own_share(reading->base);
    out->text = own_text(reading);
    return true;
}

static bool usual_batch(const struct axis_reading *reading, struct usual *out)
{
    uint32_t most = reading->base->most_batch > 1 ? reading->base->most_batch : 2;
    *out = (struct usual){.from = 1,
                          .to = most,
                          .points = points_of(reading, (uint32_t)ceil(log2(most)) + 1),
                          .whole = true,
                          .own = reading->base->plan->batch};
    return true;
}

/* A context that nobody stated is the first value, which planned_own() filled in. */
static bool usual_context(const struct axis_reading *reading, struct usual *out)
{
    const struct setup *setup = &reading->base->point->setup;
    double own = (double)setup->context;
    double most = setup->model.trained_context > own ? setup->model.trained_context : 128 * own;
    bool stated = scenario_states(reading->base->scenario, "context") || setup->prompt > 0;
    uint32_t doublings = (uint32_t)ceil(log2(most / own));
    reading->axis->unit = UNIT_TOKENS;
    *out = (struct usual){.from = stated ? fmax(own / 8, 1) : own,
                          .to = stated ? own * 2 : most,
                          .points = points_of(reading, stated ? 5 : doublings + 1),
                          .whole = true,
                          .own = stated ? own : (double)NAN};
    return true;
}

/* From a quarter to four times the own value. The range of a share ends at 100 %. */
static bool usual_others(const struct axis_reading *reading, struct usual *out)
{
    struct quantity own;
    if (!own_number(reading, &own, &out->text)) {
        return false;
    }
    if (!(own.value > 0)) {
        error_usage(reading->why, reading->axis->option, 0,
                    "'%s' is 0 here, so it has no usual range", reading->axis->key);
        return expect_values(reading);
    }
    reading->axis->unit = own.unit;
    out->own = own.value;
    out->whole = is_counted(reading->axis, own.unit, own.value);
    out->from = out->whole ? fmax(own.value / 4, 1) : own.value / 4;
    out->to = own.unit == UNIT_SHARE ? fmin(4 * own.value, 1) : 4 * own.value;
    out->points = points_of(reading, 9);
    return true;
}

/* Requests per second that arrive in the scenario: its rate, or that of the workload. */
static double own_rate(const struct point *point)
{
    const struct workload *workload = &point->workload;
    const struct requests *requests = point->requests;
    if (workload->rate > 0) {
        return workload->rate;
    }
    double seconds = (double)requests->all[requests->count - 1].arrival_ns / 1e9;
    double gaps = (double)(requests->count - 1);
    return seconds > 0 && gaps > 0 ? gaps / seconds / workload->time_scale : 1;
}

/* A search must not end where the range that people look at does: it goes on in the same ratios, 13
 * octaves down, where each request is alone, and 4 up. No rate is so low that the times of the
 * requests leave the range of a clock of nanoseconds (1e18 of them is 30 years). */
enum { OCTAVES_SHOWN = 9, OCTAVES_BELOW = 13, OCTAVES_ABOVE = 4 };

static bool usual_rate(const struct axis_reading *reading, struct usual *out)
{
    const struct point *point = reading->base->point;
    if (!point_serves(point)) {
        return usual_others(reading, out);
    }
    double own = own_rate(point), below = 0, above = 0;
    const double steps = (double)(AXIS_FINE - 1) / OCTAVES_SHOWN; /* of an octave */
    if (reading->base->points == AXIS_FINE) {
        double least = fmax((double)point->requests->count / 1e9, 1e-6);
        below = ceil(OCTAVES_BELOW * steps);
        above = ceil(OCTAVES_ABOVE * steps);
        while (below > 0 && own / 8 * exp2(-below / steps) < least) {
            below--;
        }
    }
    *out = (struct usual){.from = own / 8 * exp2(-below / steps),
                          .to = own * 64 * exp2(above / steps),
                          .points = points_of(reading, 9) + (uint32_t)(below + above),
                          .own = point->workload.rate == 0 ? (double)NAN : own};
    return true;
}

/* If neither the scenario nor the machine sets it: from a 64th to all of the prefixes, or of the tier. */
static bool usual_room(const struct axis_reading *reading, struct usual *out)
{
    const struct point *point = reading->base->point;
    const struct setup *setup = &point->setup;
    enum tier_id tier = tier_of_room(reading->axis->key);
    if (tier == TIER_COUNT || setup->room[tier] > 0 ||
        !profile_states(&setup->profile, tier_kinds[tier].capacity)) {
        return usual_others(reading, out);
    }
    double own = (double)reading->base->plan->limit[tier];
    /* Bytes of the workload's distinct prompt tokens, if the tier keeps prefixes and they are known; or 0. */
    const struct serving_tiers tiers = serving_tiers(setup->mechanisms);
    bool keeps = false;
    for (uint32_t k = 1; point_serves(point) && k < tiers.count; k++) {
        keeps = keeps || tiers.of[k] == tier;
    }
    double bytes =
        keeps ? (double)point->requests->hashed.distinct_tokens * (double)serving_token_bytes(setup)
              : 0;
    out->to = bytes > 0 ? fmin(bytes, own) : own;
    out->from = ceil(out->to / 64);
    out->points = points_of(reading, 9);
    out->whole = true;
    out->own = own;
    out->text = "none";
    reading->axis->unit = UNIT_BYTES;
    return true;
}

/* If the scenario sets none: from a quarter to all of the tokens that the server has room for. */
static bool usual_pool(const struct axis_reading *reading, struct usual *out)
{
    const struct point *point = reading->base->point;
    struct serving_memory memory;
    if (point->setup.kv_pool_tokens > 0 || !point_serves(point) ||
        mechanisms_offload(point->setup.mechanisms)) {
        return usual_others(reading, out);
    }
    if (!serving_memory_plan(point, reading->base->runs, &memory, reading->why)) {
        return false;
    }
    double own = (double)memory.prefix.gpu_blocks * memory.prefix.block_tokens;
    uint32_t points = points_of(reading, 9);
    *out = (struct usual){ceil(own / 4), own, points, .whole = true, .own = own, .text = "none"};
    reading->axis->unit = UNIT_TOKENS;
    return true;
}

static bool check_links(const struct axis_reading *reading)
{
    const struct node *hardware = node_get(reading->base->scenario->root, "hardware");
    const struct node *link = node_get(hardware, "link");
    for (size_t i = 0; link != NULL && i < link->count; i++) {
        if (strcmp(link->children[i]->key, "extends") != 0) {
            node_error(link->children[i], reading->why,
                       "'hardware.link.%s' would apply to every link", link->children[i]->key);
            return error_expect(reading->why,
                                "links without overrides, or hardware.link.%s as the axis",
                                link->children[i]->key);
        }
    }
    return true;
}

static bool walk_usual(const struct axis_reading *reading)
{
    static const struct {
        const char *key;
        bool (*find)(const struct axis_reading *reading, struct usual *out);
    } rows[] = {
        {"mechanisms.budget", usual_budget}, {"batch", usual_batch},
        {"context", usual_context},          {"rate", usual_rate},
        {"kv_pool_tokens", usual_pool},      {NULL},
    };
    struct usual usual = {.own = NAN};
    int row = name_index(reading->axis->key, NAMES(rows));
    reading->axis->unit = UNIT_COUNT;
    return (row >= 0 ? rows[row].find : usual_room)(reading, &usual) &&
           (!usual.zero || add_number(reading, 0, false)) &&
           axis_walk(reading, usual.from, usual.to, usual.points, usual.whole) &&
           (isnan(usual.own) ||
            (usual.text != NULL
                 ? axis_add(reading, &(struct axis_value){.number = usual.own, .own = true},
                            usual.text)
                 : add_number(reading, usual.own, true)));
}

/* ---- values that were given ---- */

static bool one_point(const struct axis_reading *reading, const char *value)
{
    error_usage(reading->why, reading->axis->option, 0,
                "an axis needs two values or more: '%s' is '%s'", reading->axis->key, value);
    return expect_values(reading);
}

static bool read_end(const struct axis_reading *reading, const char *text, struct quantity *out)
{
    if (quantity_parse(text, out)) {
        out->unit = unit_of(reading->axis->key, out->unit);
        return true;
    }
    error_usage(reading->why, reading->axis->option, 0, "'%s' of '%s' is not a number", text,
                reading->axis->key);
    return error_expect(reading->why, "a range of numbers FROM:TO, or values [A, B]");
}

/* FROM:TO */
static bool walk_between(const struct axis_reading *reading, char *text)
{
    struct axis *axis = reading->axis;
    struct quantity from, to;
    char *colon = strchr(text, ':');
    *colon = '\0';
    if (!read_end(reading, text, &from) || !read_end(reading, colon + 1, &to)) {
        return false;
    }
    if (from.value == 0 && from.unit == UNIT_COUNT) {
        from.unit = to.unit;
    }
    if (from.unit != to.unit) {
        return error_usage(reading->why, axis->option, 0, "'%s:%s' mixes two units", text,
                           colon + 1);
    }
    bool whole = is_counted(axis, from.unit, from.value) && is_counted(axis, to.unit, to.value);
    axis->unit = from.unit;
    return axis_walk(reading, fmin(from.value, to.value), fmax(from.value, to.value),
                     points_of(reading, 9), whole);
}

static bool are_numbers(const struct node *list, const struct axis *axis, enum unit *unit)
{
    struct quantity quantity;
    for (size_t i = 0; i < list->count; i++) {
        const struct node *node = list->children[i];
        if (node->kind != NODE_SCALAR || !quantity_parse(node->text, &quantity) ||
            (i > 0 && unit_of(axis->key, quantity.unit) != *unit)) {
            return false;
        }
        *unit = unit_of(axis->key, quantity.unit);
    }
    return true;
}

/* A single value is a list of one. */
static bool take_values(const struct axis_reading *reading, const char *text)
{
    struct axis *axis = reading->axis;
    struct node *list = node_parse(text, strlen(text), axis->option, reading->why);
    bool good = list != NULL && (list->kind == NODE_LIST || one_point(reading, text)) &&
                scenario_spell_value(list, axis->key, reading->why);
    axis->numeric = good && are_numbers(list, axis, &axis->unit);
    for (size_t i = 0; good && i < list->count; i++) {
        const struct node *node = list->children[i];
        struct quantity quantity = {.value = axis->count};
        bool is_map = node->kind != NODE_SCALAR;
        char *map = is_map ? node_canonical(node, reading->why) : NULL;
        if (axis->numeric) {
            quantity_parse(node->text, &quantity);
        }
        const struct axis_value value = {.number = quantity.value, .is_map = is_map};
        good = (!is_map || map != NULL) && axis_add(reading, &value, is_map ? map : node->text);
        free(map);
    }
    node_destroy(list);
    return good;
}

/* Which of the values is the scenario's own. */
static void mark_own(const struct axis_reading *reading)
{
    struct axis *axis = reading->axis;
    const struct axis_reading quiet = {reading->base, axis, reading->tree, ERROR_UNSEEN};
    struct quantity own;
    const char *text, *said = own_text(reading);
    bool number = axis->numeric && own_number(&quiet, &own, &text) && own.unit == axis->unit;
    for (uint32_t i = 0; i < axis->count; i++) {
        struct axis_value *value = &axis->values[i];
        value->own =
            number ? value->number == own.value : said != NULL && strcmp(said, value->text) == 0;
    }
}

/* Usual values that hang on nothing: as many GPUs as one server holds and divide the heads of most models,
 * and drafts, of which more win nothing by published lengths. */
static bool read_values(const struct axis_reading *reading, char *values)
{
    enum { LONGEST = 64 };
    static const struct {
        const char *key, *values;
    } fixed[] = {{"tensor_parallel", "[1, 2, 4, 8]"},
                 {AXIS_DRAFTS, "0:8"},
                 {"hardware.link", "[pcie3-x16, pcie4-x16, pcie5-x16, pcie6-x16, nvlink-c2c]"}};
    char usual[LONGEST];
    if (values == NULL && strcmp(reading->axis->key, AXIS_DRAFTS) == 0 &&
        reading->base->point->setup.drafts.count == 0) {
        error_usage(reading->why, reading->axis->option, 0, "nothing here says who drafts");
        return error_expect(reading->why,
                            "--set 'drafts={count: 3, method: eagle3, acceptance: 70%%}'");
    }
    for (size_t i = 0; values == NULL && i < sizeof fixed / sizeof *fixed; i++) {
        if (strcmp(fixed[i].key, reading->axis->key) == 0) {
            values = strcpy(usual, fixed[i].values);
        }
    }
    if (strcmp(reading->axis->key, "hardware.link") == 0 && !check_links(reading)) {
        return false;
    }
    reading->axis->numeric = true;
    if (values == NULL) {
        return walk_usual(reading);
    }
    bool range = values[0] != '[' && strchr(values, ':') != NULL;
    bool good = range ? walk_between(reading, values) : take_values(reading, values);
    if (good) {
        mark_own(reading);
    }
    return good;
}

/* Of equal numbers the scenario's own is kept. */
static void sort_numbers(struct axis *axis)
{
    uint32_t kept = 0;
    qsort(axis->values, axis->count, sizeof *axis->values, by_number);
    for (uint32_t i = 0; i < axis->count; i++) {
        struct axis_value *value = &axis->values[i];
        struct axis_value *last = kept > 0 ? &axis->values[kept - 1] : NULL;
        if (last != NULL && fabs(value->number - last->number) <= 1e-9 * fabs(value->number)) {
            free(value->own ? last->text : value->text);
            *last = value->own ? *value : *last;
        } else {
            axis->values[kept++] = *value;
        }
    }
    axis->count = kept;
}

bool axis_read(const char *text, size_t length, const struct axis_base *base, struct axis *axis,
               struct error *why)
{
    const char *scenario = base->point->scenario;
    *axis = (struct axis){.option = base->option};
    struct node *tree = node_parse(scenario, strlen(scenario), "scenario", why);
    const struct axis_reading reading = {base, axis, tree, why};
    char *copy = strndup(text, length);
    axis->values = tree != NULL ? array_zeroed(AXIS_MOST_VALUES, sizeof *axis->values, why) : NULL;
    bool good = axis->values != NULL &&
                (copy != NULL || error_set(why, NULL, 0, "out of memory: no room for an axis"));
    if (good) {
        char *values = strchr(copy, '=');
        if (values != NULL) {
            *values++ = '\0';
        }
        good = resolve_key(&reading, copy) && read_values(&reading, values);
    }
    if (good && axis->numeric) {
        sort_numbers(axis);
    }
    if (good && axis->count < 2) {
        good = one_point(&reading, axis->count > 0 ? axis->values[0].text : "");
    }
    free(copy);
    node_destroy(tree);
    return good;
}
