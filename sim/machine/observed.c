#include "machine/observed.h"

#include "core/array.h"
#include "core/name.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const unit_names[] = {
    [UNIT_COUNT] = "count",         [UNIT_SHARE] = "share",       [UNIT_TIMES] = "times",
    [UNIT_TOKENS] = "tokens",       [UNIT_BYTES] = "bytes",       [UNIT_NS] = "time",
    [UNIT_BYTES_PER_S] = "bytes/s", [UNIT_FLOP_PER_S] = "FLOP/s",
};
enum { UNITS = sizeof unit_names / sizeof unit_names[0] };

const char *observed_unit(enum unit unit)
{
    return unit_names[unit];
}

enum unit observed_axis_unit(const char *axis)
{
    return strcmp(axis, "bytes") == 0 ? UNIT_BYTES : UNIT_COUNT;
}

static const char *name_of_unit(size_t row)
{
    return row + UNIT_COUNT < UNITS ? unit_names[row + UNIT_COUNT] : NULL;
}

static bool read_unit(const struct node *node, enum unit *out, struct error *why)
{
    const char *name = NULL;
    const struct node *unit = node_get(node, "unit");
    if (!node_text(node, "unit", &name, why)) {
        return false;
    }
    if (name == NULL) {
        node_error(node, why, "'%s' has no unit", node->key);
        return error_expect(why, "unit: %s", unit_names[UNIT_NS]);
    }
    int row = name_find(name, name_of_unit, "unit", unit->file, unit->line, why);
    *out = row >= 0 ? (enum unit)(row + UNIT_COUNT) : UNIT_COUNT;
    return row >= 0;
}

static bool observed_read_text(const struct node *node, const char *key, char *out, size_t size,
                               struct error *why)
{
    const char *text = "";
    if (!node_text(node, key, &text, why)) {
        return false;
    }
    if (strlen(text) >= size) {
        return node_key_error(node, key, why, "'%s' is longer than %zu bytes", key, size - 1);
    }
    text_copy(out, size, text);
    return true;
}

static bool observed_read_number(const struct node *node, enum unit unit, const char *name,
                                 double *out, struct error *why)
{
    return units_parse(node->text, unit, node->file, node->line, name, out, why);
}

static bool observed_read_whole(const struct node *node, const char *name, uint32_t *out,
                                struct error *why)
{
    uint64_t whole;
    if (!units_parse_whole(node->text, UNIT_COUNT, UINT32_MAX, node->file, node->line, name, &whole,
                           why)) {
        return false;
    }
    *out = (uint32_t)whole;
    return true;
}

static bool read_precise(const struct node *node, bool *out, struct error *why)
{
    *out = strcmp(node->text, "yes") == 0;
    if (!*out && strcmp(node->text, "no") != 0) {
        node_error(node, why, "'settled' is '%.40s'", node->text);
        return error_expect(why, "yes or no");
    }
    return true;
}

static bool is_row(const struct node *node, size_t count)
{
    bool row = node->kind == NODE_LIST && node->count == count;
    for (size_t i = 0; row && i < count; i++) {
        row = node->children[i]->kind == NODE_SCALAR;
    }
    return row;
}

static bool observed_read_point(const struct node *node, struct finding *finding, struct error *why)
{
    enum { COLUMNS = 8 };
    struct found_point point;
    struct node *const *cells = node->children;
    const char *name = finding->name;
    if (!is_row(node, COLUMNS)) {
        node_error(node, why, "a point of '%s' does not have %d values", name, COLUMNS);
        return error_expect(why, "[size, median, p10, p90, samples, settled, drift, stray]");
    }
    if (!observed_read_number(cells[0], observed_axis_unit(finding->axis), name, &point.size,
                              why) ||
        !observed_read_number(cells[1], finding->unit, name, &point.median, why) ||
        !observed_read_number(cells[2], finding->unit, name, &point.p10, why) ||
        !observed_read_number(cells[3], finding->unit, name, &point.p90, why) ||
        !observed_read_whole(cells[4], name, &point.samples, why) ||
        !read_precise(cells[5], &point.precise, why) ||
        !observed_read_number(cells[6], UNIT_SHARE, name, &point.drift, why) ||
        !observed_read_whole(cells[7], name, &point.stray, why)) {
        return false;
    }
    if (finding->count > 0 && point.size <= finding->points[finding->count - 1].size) {
        return node_error(node, why, "the points of '%s' are out of order", name);
    }
    if (point.p10 > point.median || point.p90 < point.median || point.samples == 0) {
        node_error(node, why, "a point of '%s' is invalid", name);
        return error_expect(why, "p10 <= median <= p90, and at least one sample");
    }
    return finding_put(finding, &point, why);
}

static bool observed_read_points(const struct node *node, struct finding *finding,
                                 struct error *why)
{
    const struct node *points = node_get(node, "points");
    if (points == NULL) {
        return true;
    }
    if (points->kind != NODE_LIST) {
        return node_error(points, why, "the points of '%s' are not a list", finding->name);
    }
    for (size_t i = 0; i < points->count; i++) {
        if (!observed_read_point(points->children[i], finding, why)) {
            return false;
        }
    }
    return true;
}

/* A word can be written without quotes. */
static bool observed_is_word(const char *text)
{
    static const char parts[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return strspn(text, parts) == strlen(text) && text[0] != '-' && text[0] != '.';
}

static bool observed_read_axis(const struct node *node, struct finding *out, struct error *why)
{
    return observed_read_text(node, "axis", out->axis, sizeof out->axis, why) &&
           (observed_is_word(out->axis) ||
            node_key_error(node, "axis", why, "the axis '%.40s' is not one word", out->axis));
}

static bool observed_read_entry(const struct node *node, struct finding *out, struct error *why)
{
    static const char *const keys[] = {"axis", "unit", "note", "points", "absent", NULL};
    if (node->key == NULL || strlen(node->key) >= sizeof out->name ||
        !observed_is_word(node->key) || node->kind != NODE_MAP) {
        node_error(node, why, "this is not a finding");
        return error_expect(why, "NAME: {unit, points, ...}, with a name under %zu bytes",
                            sizeof out->name);
    }
    text_copy(out->name, sizeof out->name, node->key);
    bool absent = node_get(node, "absent") != NULL;
    if (!node_check_keys(node, keys, out->name, why)) {
        return false;
    }
    if (absent == (node_get(node, "points") != NULL)) {
        node_error(node, why, "'%s' has %s", node->key,
                   absent ? "both points and a reason for being absent"
                          : "neither points nor a reason for being absent");
        return error_expect(why, "either points or absent");
    }
    return observed_read_axis(node, out, why) && read_unit(node, &out->unit, why) &&
           observed_read_text(node, absent ? "absent" : "note", out->note, sizeof out->note, why) &&
           observed_read_points(node, out, why);
}

bool observed_read(const struct node *node, struct finding *out, struct error *why)
{
    *out = (struct finding){.points = NULL};
    if (!observed_read_entry(node, out, why)) {
        observed_release(out);
        return false;
    }
    return true;
}

void observed_release(struct finding *finding)
{
    free(finding->points);
    *finding = (struct finding){.points = NULL};
}

static uint32_t observed_place_of(const struct finding *finding, double size)
{
    uint32_t at = 0;
    while (at < finding->count && finding->points[at].size < size) {
        at++;
    }
    return at;
}

bool finding_put(struct finding *finding, const struct found_point *point, struct error *why)
{
    uint32_t at = observed_place_of(finding, point->size);
    if (at == finding->count || finding->points[at].size != point->size) {
        size_t capacity = finding->capacity;
        if (!array_reserve(&finding->points, &capacity, finding->count + 1, sizeof *point, why)) {
            return false;
        }
        finding->capacity = (uint32_t)capacity;
        memmove(&finding->points[at + 1], &finding->points[at],
                (finding->count - at) * sizeof *point);
        finding->count++;
    }
    struct found_point *placed = &finding->points[at];
    *placed = *point;
    placed->p10 = fmin(point->median, fmin(point->p10, point->p90));
    placed->p90 = fmax(point->median, fmax(point->p10, point->p90));
    return true;
}
