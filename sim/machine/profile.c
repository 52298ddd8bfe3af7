/* A profile is a table of curves, one for each row of curves.def, read from a composed machine. */

#include "machine/profile.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"
#include "machine/compose.h"

/* Reading a figure, and reading a value off a curve. A figure that no machine can have is refused. It is
 * usually a slip of the unit: GB for GB/s is caught by the unit itself, but B/s for GB/s only here. The check
 * also keeps every duration that is computed from a profile within 63 bits. */

const struct curve_kind curve_kinds[CURVE_COUNT + 1] = {
#define CURVE(id, name, unit, axis, what) [CURVE_##id] = {name, unit, axis, what, 0, false},
#define CURVE_OR(id, name, unit, axis, standard, what)                                             \
    [CURVE_##id] = {name, unit, axis, what, standard, false},
#define CURVE_IF(id, name, unit, axis, what) [CURVE_##id] = {name, unit, axis, what, 0, true},
#include "machine/curves.def"
};

struct bounds {
    double least, most;
};

static const struct bounds bounds_of_unit[] = {
    [UNIT_COUNT] = {1, 1e6},    [UNIT_SHARE] = {0.001, 1},        [UNIT_BYTES] = {1, 1e15},
    [UNIT_NS] = {0, 1e12},      [UNIT_BYTES_PER_S] = {1e6, 1e15}, [UNIT_FLOP_PER_S] = {1e9, 1e19},
    [UNIT_TIMES] = {0.01, 100},
};

static bool curve_check_value(const struct node *node, enum curve_id id, double value,
                              struct error *why)
{
    const struct curve_kind *kind = &curve_kinds[id];
    struct bounds bounds =
        id == CURVE_LINK_COHERENT ? (struct bounds){0, 1} : bounds_of_unit[curve_kinds[id].unit];
    if (kind->unit == UNIT_COUNT && value != floor(value)) {
        node_error(node, why, "'%s' is '%.80s'", kind->name, node->text);
        return error_expect(why, "a whole number");
    }
    if (value < bounds.least || value > bounds.most) {
        char least[32], most[32];
        units_format(bounds.least, kind->unit, least, sizeof least);
        units_format(bounds.most, kind->unit, most, sizeof most);
        node_error(node, why, "'%s' is '%.80s', which is out of range", kind->name, node->text);
        return error_expect(why, "from %s to %s", least, most);
    }
    return true;
}

static bool curve_read_value(const struct node *node, enum curve_id id, double *out,
                             struct error *why)
{
    const struct curve_kind *kind = &curve_kinds[id];
    if (node->kind != NODE_SCALAR) {
        node_error(node, why, "'%s' has no value", kind->name);
        return error_expect(why, "a value such as %s", unit_kinds[kind->unit].example);
    }
    return units_parse(node->text, kind->unit, node->file, node->line, kind->name, out, why) &&
           curve_check_value(node, id, *out, why);
}

static bool reserve_points(struct curve *curve, size_t count, struct error *why)
{
    curve->size = array_zeroed(count, sizeof *curve->size, why);
    curve->value = curve->size == NULL ? NULL : array_zeroed(count, sizeof *curve->value, why);
    curve->count = (uint32_t)count;
    return curve->value != NULL;
}

static bool read_single(const struct node *node, enum curve_id id, struct curve *curve,
                        struct error *why)
{
    return reserve_points(curve, 1, why) && curve_read_value(node, id, &curve->value[0], why);
}

static bool curve_read_size(const struct node *node, enum curve_id id, double *out,
                            struct error *why)
{
    const struct curve_kind *kind = &curve_kinds[id];
    enum unit unit = strcmp(kind->axis, "bytes") == 0 ? UNIT_BYTES : UNIT_COUNT;
    char key[80];
    snprintf(key, sizeof key, "%s (%s)", kind->name, kind->axis);
    return units_parse(node->text, unit, node->file, node->line, key, out, why);
}

static bool curve_read_point(const struct node *point, enum curve_id id, uint32_t index,
                             struct curve *curve, struct error *why)
{
    const struct curve_kind *kind = &curve_kinds[id];
    if (point->kind != NODE_LIST || point->count != 2 || point->children[0]->kind != NODE_SCALAR) {
        node_error(point, why, "a point of '%s' is not a pair", kind->name);
        return error_expect(why, "[%s, value]", kind->axis);
    }
    if (!curve_read_size(point->children[0], id, &curve->size[index], why) ||
        !curve_read_value(point->children[1], id, &curve->value[index], why)) {
        return false;
    }
    if (index > 0 && curve->size[index] <= curve->size[index - 1]) {
        node_error(point, why, "the points of '%s' are out of order at '%.40s'", kind->name,
                   point->children[0]->text);
        return error_expect(why, "ascending %s", kind->axis);
    }
    return true;
}

static bool curve_read_points(const struct node *points, enum curve_id id, struct curve *curve,
                              struct error *why)
{
    const struct curve_kind *kind = &curve_kinds[id];
    if (kind->axis[0] == '\0') {
        node_error(points, why, "'%s' is a single figure and has no points", kind->name);
        return error_expect(why, "value: %s", unit_kinds[kind->unit].example);
    }
    if (points->kind != NODE_LIST || points->count < 2) {
        node_error(points, why, "'%s' has fewer than two points", kind->name);
        return error_expect(why, "points: [[%s, value], ...], or value: %s for every size",
                            kind->axis, unit_kinds[kind->unit].example);
    }
    if (!reserve_points(curve, points->count, why)) {
        return false;
    }
    for (uint32_t i = 0; i < curve->count; i++) {
        if (!curve_read_point(points->children[i], id, i, curve, why)) {
            return false;
        }
    }
    return true;
}

static bool curve_read_figure(const struct node *figure, enum curve_id id, struct curve *curve,
                              struct error *why)
{
    const struct node *value = node_get(figure, "value"), *points = node_get(figure, "points");
    if ((value == NULL) == (points == NULL)) {
        node_error(figure, why, "'%s' has %s", curve_kinds[id].name,
                   value == NULL ? "neither value nor points" : "both value and points");
        return error_expect(why, "one of value, points");
    }
    return value != NULL ? read_single(value, id, curve, why)
                         : curve_read_points(points, id, curve, why);
}

static bool curve_read_basis(const struct node *figure, enum curve_id id, struct curve *curve,
                             struct error *why)
{
    const char *basis = NULL, *source = NULL;
    if (!node_text(figure, "basis", &basis, why) || !node_text(figure, "source", &source, why)) {
        return false;
    }
    if (basis == NULL || source == NULL || source[0] == '\0') {
        node_error(figure, why, "'%s' has no %s", curve_kinds[id].name,
                   basis == NULL ? "basis" : "source");
        return error_expect(why, basis == NULL ? "basis: measured, published, datasheet or assumed"
                                               : "source: where the figure comes from");
    }
    const struct node *place = node_get(figure, "basis");
    if (!basis_find(basis, place->file, place->line, &curve->basis, why)) {
        return false;
    }
    curve->source = text_duplicate(source, why);
    return curve->source != NULL;
}

static bool read_range(const struct node *figure, enum curve_id id, struct curve *curve,
                       struct error *why)
{
    static const char example[] = "range: [50%, 200%], shares of the figure around 100%";
    const struct node *range = node_get(figure, "range");
    if (range == NULL && curve->basis != BASIS_ASSUMED) {
        return true;
    }
    if (range == NULL) {
        node_error(figure, why, "'%s' is assumed, so it needs a range", curve_kinds[id].name);
        return error_expect(why, "%s", example);
    }
    double *const ends[2] = {&curve->least, &curve->most};
    bool pair = range->kind == NODE_LIST && range->count == 2;
    for (size_t i = 0; pair && i < 2; i++) {
        const struct node *end = range->children[i];
        pair = end->kind == NODE_SCALAR;
        if (pair &&
            !units_parse(end->text, UNIT_SHARE, end->file, end->line, "range", ends[i], why)) {
            return false;
        }
    }
    if (!pair || curve->least <= 0 || curve->least > 1 || curve->most < 1 || curve->most > 100) {
        node_error(range, why, "the range of '%s' is invalid", curve_kinds[id].name);
        return error_expect(why, "%s", example);
    }
    return true;
}

/* A bare value is what a user types to try something: its basis is assumed and it has no range. */
static bool read_bare(const struct node *figure, enum curve_id id, struct curve *curve,
                      struct error *why)
{
    curve->basis = BASIS_ASSUMED;
    curve->source = text_duplicate("stated as a bare value", why);
    return curve->source != NULL && read_single(figure, id, curve, why);
}

static bool read_stated(const struct node *figure, enum curve_id id, struct curve *curve,
                        struct error *why)
{
    static const char *const keys[] = {"value", "points", "basis", "source", "range", NULL};
    return node_check_keys(figure, NAMES(keys), curve_kinds[id].name, why) &&
           curve_read_figure(figure, id, curve, why) && curve_read_basis(figure, id, curve, why) &&
           read_range(figure, id, curve, why);
}

static void curve_release(struct curve *curve)
{
    free(curve->size);
    free(curve->value);
    free(curve->source);
    *curve = (struct curve){0};
}

/* Read the `figure` of a curve into `out`, which then owns its memory; zeroed on failure. */
static bool curve_read(const struct node *figure, enum curve_id id, struct curve *out,
                       struct error *why)
{
    *out = (struct curve){.least = 1, .most = 1};
    bool bare = figure->kind == NODE_SCALAR;
    if (!(bare ? read_bare : read_stated)(figure, id, out, why)) {
        curve_release(out);
        return false;
    }
    return true;
}

/* The value at `size`: linear between points, and past an end the value there, with `*extrapolated` set. A
 * curve of one point has that value at every size. */
static double curve_value(const struct curve *curve, double size, bool *extrapolated)
{
    const double *sizes = curve->size, *values = curve->value;
    uint32_t last = curve->count - 1;
    if (last == 0) {
        return values[0];
    }
    if (size <= sizes[0] || size >= sizes[last]) {
        *extrapolated = *extrapolated || size < sizes[0] || size > sizes[last];
        return size <= sizes[0] ? values[0] : values[last];
    }
    uint32_t right = 1;
    while (sizes[right] < size) {
        right++;
    }
    double share = (size - sizes[right - 1]) / (sizes[right] - sizes[right - 1]);
    return values[right - 1] + share * (values[right] - values[right - 1]);
}

/* The figure of a curve in a composed machine, NULL when none is stated. */
static const struct node *profile_find_figure(const struct node *machine, const char *name)
{
    char part[16] = "";
    size_t length = strcspn(name, ".");
    memcpy(part, name, length);
    return node_get(node_get(machine, part), name + length + 1);
}

static bool read_curves(struct profile *profile, struct error *why)
{
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct node *figure = profile_find_figure(profile->node, curve_kinds[id].name);
        if (figure != NULL && !curve_read(figure, id, &profile->curves[id], why)) {
            return false;
        }
    }
    return true;
}

const char profile_price_key[] = "price_per_hour";
const char profile_gpus_key[] = "gpus";

enum { MOST_GPUS = 1024 };

static bool profile_read_gpus(struct profile *profile, struct error *why)
{
    const struct node *said = node_get(profile->node, profile_gpus_key);
    if (said == NULL) {
        return true;
    }
    if (!node_whole(profile->node, profile_gpus_key, UNIT_COUNT, MOST_GPUS, &profile->gpus, why)) {
        return false;
    }
    return profile->gpus > 0 || (node_error(said, why, "a machine of 0 '%s'", profile_gpus_key),
                                 error_expect(why, "a whole number from 1 to %d", MOST_GPUS));
}

/* Limits of what a GPU may cost; a price outside them is a slip of the unit (cents, or per year). */
static bool profile_read_price(struct profile *profile, struct error *why)
{
    static const double least = 0.001, most = 10000;
    const struct node *said = node_get(profile->node, profile_price_key);
    double *price = &profile->price_per_hour;
    bool read = node_quantity(profile->node, profile_price_key, UNIT_COUNT, price, why);
    if (said == NULL || (read && *price >= least && *price <= most)) {
        return true;
    }
    if (said->kind == NODE_NULL) {
        node_error(said, why, "'%s' is empty", profile_price_key);
    } else if (read) {
        node_error(said, why, "'%s' is '%.80s', which is out of range", profile_price_key,
                   said->text);
    }
    return error_expect(why, "dollars an hour for one GPU, from %g to %g", least, most);
}

bool profile_load(struct files *files, const struct node *hardware, struct profile *out,
                  struct error *why)
{
    *out = (struct profile){0};
    out->node = machine_compose(files, hardware, out->name, sizeof out->name, why);
    if (out->node == NULL || !read_curves(out, why) || !profile_read_price(out, why) ||
        !profile_read_gpus(out, why)) {
        profile_release(out);
        return false;
    }
    return true;
}

bool profile_load_named(const char *name, struct profile *out, struct error *why)
{
    char text[4096];
    if (strlen(name) >= sizeof text) {
        return error_usage(why, NULL, 0, "the name of the machine is too long");
    }
    strcpy(text, name);
    struct node machine = {.kind = NODE_SCALAR, .text = text};
    size_t part = 0;
    bool whole = profile_named(&machine, NULL, ERROR_UNSEEN);
    while (!whole && part < PART_COUNT &&
           !profile_named(&machine, part_names[part], ERROR_UNSEEN)) {
        part++;
    }
    if (whole || part == PART_COUNT) {
        return profile_load(NULL, &machine, out, why);
    }
    struct node *node = node_map("hardware", why);
    bool ok = node != NULL && node_set(node, part_names[part], name, why) &&
              profile_load(NULL, node, out, why);
    node_destroy(node);
    return ok;
}

static enum profile_part profile_part_of(const char *name)
{
    enum profile_part part = MACHINE;
    for (int i = 0; name != NULL && i < PART_COUNT; i++) {
        part = strcmp(part_names[i], name) == 0 ? (enum profile_part)i : part;
    }
    return part;
}

bool profile_named(const struct node *name, const char *part, struct error *why)
{
    char path[4096];
    return locate_profile(name, profile_part_of(part), path, sizeof path, why);
}

bool profile_canonical(const char *name, const char *part, char out[NAMED_SIZE])
{
    return locate_canonical(name, profile_part_of(part), out);
}

void profile_release(struct profile *profile)
{
    for (size_t id = 0; id < CURVE_COUNT; id++) {
        curve_release(&profile->curves[id]);
    }
    node_destroy(profile->node);
    *profile = (struct profile){0};
}

bool profile_states(const struct profile *profile, enum curve_id id)
{
    return profile->curves[id].count > 0;
}

void profile_stated_in(const struct profile *profile, enum curve_id id, char *name, size_t size)
{
    const struct node *figure = profile_find_figure(profile->node, curve_kinds[id].name);
    name[0] = '\0';
    if (figure != NULL) {
        append_profile_name(figure->file, name, size);
    }
}

double profile_value(const struct profile *profile, enum curve_id id, double size,
                     struct trust *trust)
{
    const struct curve *curve = &profile->curves[id];
    if (profile->reads != NULL) {
        profile->reads->of[id] = true;
        return 1;
    }
    if (curve->count == 0 && curve_kinds[id].standard > 0) {
        return curve_kinds[id].standard;
    }
    assert(curve->count > 0);
    struct trust read = {curve->basis, false,
                         curve->basis == BASIS_ASSUMED ? curve_kinds[id].name : NULL};
    double value = curve_value(curve, size, &read.extrapolated);
    trust_add(trust, read);
    return value;
}

size_t profile_reads_list(const struct profile_reads *reads, enum curve_id ids[CURVE_COUNT])
{
    size_t count = 0;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        if (reads->of[id]) {
            ids[count++] = id;
        }
    }
    return count;
}

double profile_time(const struct profile *profile, enum curve_id id, double size,
                    struct trust *trust)
{
    const struct curve *curve = &profile->curves[id];
    double time = profile_value(profile, id, size, trust);
    if (profile->reads != NULL || curve->count < 2 || size <= curve->size[curve->count - 1]) {
        return time;
    }
    const double *sizes = &curve->size[curve->count - 2], *times = &curve->value[curve->count - 2];
    double slope = (times[1] - times[0]) / (sizes[1] - sizes[0]);
    return time + (slope > 0 ? slope * (size - sizes[1]) : 0);
}

/* Complain about these figures: the first with their number, and how to state each. */
static bool refuse_without(const struct profile *profile, const bool *missing,
                           const char *needed_by, struct error *why)
{
    char list[sizeof why->expected - 64] = "", one[64], more[48] = "";
    const char *first = NULL;
    size_t count = 0;
    bool fits = true;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct curve_kind *kind = &curve_kinds[id];
        if (missing[id]) {
            snprintf(one, sizeof one, "%s: %s", kind->name, unit_kinds[kind->unit].example);
            fits = fits && name_list_append(list, sizeof list, one);
            first = count++ == 0 ? kind->name : first;
        }
    }
    if (count > 1) {
        snprintf(more, sizeof more, " and %zu more figure%s", count - 1, count == 2 ? "" : "s");
    }
    error_set(why, NULL, 0, "hardware '%s' does not state '%s'%s, which %s needs", profile->name,
              first, more, needed_by);
    return error_expect(why, "in its file, or in a profile that its parts extend: %s", list);
}

bool profile_require(const struct profile *profile, const enum curve_id *ids, size_t count,
                     const char *needed_by, struct error *why)
{
    bool missing[CURVE_COUNT] = {false}, any = false;
    for (size_t i = 0; i < count; i++) {
        bool absent = !profile_states(profile, ids[i]) && curve_kinds[ids[i]].standard == 0;
        missing[ids[i]] = absent;
        any = any || absent;
    }
    return !any || refuse_without(profile, missing, needed_by, why);
}

/* The basis of a result: a result is as good as the worst figure in it. */

const char *const basis_names[BASIS_COUNT + 1] = {
    [BASIS_MEASURED] = "measured",
    [BASIS_PUBLISHED] = "published",
    [BASIS_DATASHEET] = "datasheet",
    [BASIS_ASSUMED] = "assumed",
    [BASIS_COUNT] = NULL,
};

bool basis_find(const char *name, const char *file, int line, enum basis *out, struct error *why)
{
    int row = name_find(name, NAMES(basis_names), "basis", file, line, why);
    if (row < 0) {
        return false;
    }
    *out = (enum basis)row;
    return true;
}

void trust_add(struct trust *trust, struct trust other)
{
    if (other.basis > trust->basis || (other.basis == trust->basis && trust->assumed == NULL)) {
        trust->assumed = other.assumed;
    }
    trust->basis = other.basis > trust->basis ? other.basis : trust->basis;
    trust->extrapolated = trust->extrapolated || other.extrapolated;
}

double spread_share(const struct curve *curve, enum curve_id id, double quantile)
{
    if (curve->count == 0 || (curve->least == 1 && curve->most == 1)) {
        return 1;
    }
    double way = (quantile - 0.5) / (curve->basis == BASIS_MEASURED ? 0.4 : 0.5);
    double share = pow(way < 0 ? curve->least : curve->most, fabs(way));
    if (curve_kinds[id].unit != UNIT_COUNT) {
        return share;
    }
    double count = curve->value[0]; /* the share nearest to it gives a whole count */
    return count > 0 ? fmax(1, round(count * share)) / count : 1;
}

bool scaled_profile_init(const struct profile *of, const double shares[CURVE_COUNT],
                         struct scaled_profile *out, struct error *why)
{
    size_t count = 0;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        count += of->curves[id].count;
    }
    *out = (struct scaled_profile){.profile = *of};
    out->values = array_zeroed(count, sizeof *out->values, why);
    double *values = out->values;
    for (enum curve_id id = 0; values != NULL && id < CURVE_COUNT; id++) {
        struct curve *curve = &out->profile.curves[id];
        double most = curve_kinds[id].unit == UNIT_SHARE ? 1 : INFINITY;
        for (uint32_t i = 0; i < curve->count; i++) {
            values[i] = fmin(shares[id] * curve->value[i], most);
        }
        curve->value = values;
        values += curve->count;
    }
    return out->values != NULL;
}

bool scaled_profile_init_one(const struct profile *of, enum curve_id id, double share,
                             struct scaled_profile *out, struct error *why)
{
    double shares[CURVE_COUNT];
    for (enum curve_id i = 0; i < CURVE_COUNT; i++) {
        shares[i] = i == id ? share : 1;
    }
    return scaled_profile_init(of, shares, out, why);
}

void scaled_profile_release(struct scaled_profile *scaled)
{
    free(scaled->values);
    *scaled = (struct scaled_profile){.values = NULL};
}
