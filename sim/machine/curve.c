/* Reading a figure, and reading a value off a curve.
 *
 * A figure that no machine can have is refused. It is usually a slip of the unit: GB for GB/s is
 * caught by the unit itself, but B/s for GB/s only here. The check also keeps every duration that
 * is computed from a profile within 63 bits.
 */
#include "machine/curve.h"

#include "core/array.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct curve_kind curve_kinds[CURVE_COUNT] = {
#define CURVE(id, name, unit, axis, what) [CURVE_##id] = {name, unit, axis, what, 0, false},
#define CURVE_OR(id, name, unit, axis, standard, what)                                             \
    [CURVE_##id] = {name, unit, axis, what, standard, false},
#define CURVE_IF(id, name, unit, axis, what) [CURVE_##id] = {name, unit, axis, what, 0, true},
#include "machine/curves.def"
#undef CURVE_IF
#undef CURVE_OR
#undef CURVE
};

struct bounds {
    double least, most;
};

static const struct bounds bounds_of_unit[] = {
    [UNIT_COUNT] = {1, 1e6},    [UNIT_SHARE] = {0.001, 1},        [UNIT_BYTES] = {1, 1e15},
    [UNIT_NS] = {0, 1e12},      [UNIT_BYTES_PER_S] = {1e6, 1e15}, [UNIT_FLOP_PER_S] = {1e9, 1e19},
    [UNIT_TIMES] = {0.01, 100},
};

static struct bounds bounds_of(enum curve_id id)
{
    return id == CURVE_LINK_COHERENT ? (struct bounds){0, 1} : bounds_of_unit[curve_kinds[id].unit];
}

static bool curve_check_value(const struct node *node, enum curve_id id, double value,
                              struct error *why)
{
    const struct curve_kind *kind = &curve_kinds[id];
    struct bounds bounds = bounds_of(id);
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
        return error_expect(why, "a value such as %s", unit_example(kind->unit));
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
        return error_expect(why, "value: %s", unit_example(kind->unit));
    }
    if (points->kind != NODE_LIST || points->count < 2) {
        node_error(points, why, "'%s' has fewer than two points", kind->name);
        return error_expect(why, "points: [[%s, value], ...], or value: %s for every size",
                            kind->axis, unit_example(kind->unit));
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
    const struct node *value = node_get(figure, "value");
    const struct node *points = node_get(figure, "points");
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
    const char *basis = NULL;
    const char *source = NULL;
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
    return node_check_keys(figure, keys, curve_kinds[id].name, why) &&
           curve_read_figure(figure, id, curve, why) && curve_read_basis(figure, id, curve, why) &&
           read_range(figure, id, curve, why);
}

bool curve_read(const struct node *figure, enum curve_id id, struct curve *out, struct error *why)
{
    *out = (struct curve){.least = 1, .most = 1};
    bool bare = figure->kind == NODE_SCALAR;
    if (!(bare ? read_bare : read_stated)(figure, id, out, why)) {
        curve_release(out);
        return false;
    }
    return true;
}

void curve_release(struct curve *curve)
{
    free(curve->size);
    free(curve->value);
    free(curve->source);
    *curve = (struct curve){0};
}

double curve_value(const struct curve *curve, double size, bool *extrapolated)
{
    const double *sizes = curve->size;
    const double *values = curve->value;
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
