#include "calibrate/measure/finding.h"

#include "core/array.h"
#include "core/name.h"
#include "core/text.h"
#include "machine/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a finding as text ---- */

static const char *const unit_names[] = {
    [UNIT_COUNT] = "count",         [UNIT_SHARE] = "share",       [UNIT_TIMES] = "times",
    [UNIT_TOKENS] = "tokens",       [UNIT_BYTES] = "bytes",       [UNIT_NS] = "time",
    [UNIT_BYTES_PER_S] = "bytes/s", [UNIT_FLOP_PER_S] = "FLOP/s", [UNIT_FLOP_PER_S + 1] = NULL,
};

const char *unit_word(enum unit unit)
{
    return unit_names[unit];
}

/* The unit of the sizes on an axis: bytes on the axis "bytes", otherwise plain numbers. */
static enum unit observed_axis_unit(const char *axis)
{
    return strcmp(axis, "bytes") == 0 ? UNIT_BYTES : UNIT_COUNT;
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
    int row = name_find(name, NAMES(unit_names + UNIT_COUNT), "unit", unit->file, unit->line, why);
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

static bool observed_read_point(const struct node *node, struct finding *finding, struct error *why)
{
    enum { COLUMNS = 8 };
    struct found_point point;
    struct node *const *cells = node->children;
    const char *name = finding->name;
    bool row = node->kind == NODE_LIST && node->count == COLUMNS;
    for (size_t i = 0; row && i < COLUMNS; i++) {
        row = node->children[i]->kind == NODE_SCALAR;
    }
    if (!row) {
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
    if (!node_check_keys(node, NAMES(keys), out->name, why)) {
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

bool finding_read(const struct node *node, struct finding *out, struct error *why)
{
    *out = (struct finding){.points = NULL};
    if (!observed_read_entry(node, out, why)) {
        finding_release(out);
        return false;
    }
    return true;
}

void finding_release(struct finding *finding)
{
    free(finding->points);
    *finding = (struct finding){.points = NULL};
}

bool finding_put(struct finding *finding, const struct found_point *point, struct error *why)
{
    uint32_t at = 0;
    while (at < finding->count && finding->points[at].size < point->size) {
        at++;
    }
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

/* Figures as profiles state them: one spelling each, which reads back as the same figure. */

struct scale {
    enum unit unit;
    double size;
    const char *suffix;
};

/* For each unit in descending order. */
static const struct scale scales[] = {
    {UNIT_SHARE, 0.01, "%"},
    {UNIT_TIMES, 1, "x"},
    {UNIT_TOKENS, 1, "tok"},
    {UNIT_NS, 1e9, "s"},
    {UNIT_NS, 1e6, "ms"},
    {UNIT_NS, 1e3, "us"},
    {UNIT_NS, 1, "ns"},
    {UNIT_BYTES_PER_S, 1e12, "TB/s"},
    {UNIT_BYTES_PER_S, 1e9, "GB/s"},
    {UNIT_BYTES_PER_S, 1e6, "MB/s"},
    {UNIT_BYTES_PER_S, 1e3, "kB/s"},
    {UNIT_BYTES_PER_S, 1, "B/s"},
    {UNIT_FLOP_PER_S, 1e12, "TFLOP/s"},
    {UNIT_FLOP_PER_S, 1e9, "GFLOP/s"},
    {UNIT_FLOP_PER_S, 1e6, "MFLOP/s"},
    {UNIT_FLOP_PER_S, 1, "FLOP/s"},
    {UNIT_COUNT, 1, ""},
};
enum { SCALES = sizeof scales / sizeof scales[0] };

static double four_digits(double value)
{
    char text[FIGURE_TEXT];
    snprintf(text, sizeof text, "%.3e", value);
    return strtod(text, NULL);
}

static bool observed_figure_is_whole(double value)
{
    return value == floor(value) && value < 0x1p53;
}

/* In the largest unit that gives a whole number. */
static void write_bytes(double bytes, char text[FIGURE_TEXT])
{
    static const char *const suffixes[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t power = 0;
    while (power < 4 && bytes >= 1024 && fmod(bytes, 1024) == 0) {
        bytes /= 1024;
        power++;
    }
    snprintf(text, FIGURE_TEXT, "%.0f%s", bytes, suffixes[power]);
}

char *figure_text(double value, enum unit unit, char text[FIGURE_TEXT])
{
    if (unit == UNIT_BYTES) {
        write_bytes(floor(value + 0.5), text);
        return text;
    }
    bool counted = unit == UNIT_COUNT || unit == UNIT_TOKENS;
    value = counted && observed_figure_is_whole(value) ? value : four_digits(value);
    size_t row = 0;
    while (scales[row].unit != unit ||
           (value < scales[row].size && row + 1 < SCALES && scales[row + 1].unit == unit)) {
        row++;
    }
    double shown = value / scales[row].size;
    const char *format = counted && observed_figure_is_whole(shown) ? "%.0f%s" : "%.4g%s";
    snprintf(text, FIGURE_TEXT, format, shown, scales[row].suffix);
    return text;
}

char *size_text(double size, const char *axis, char text[FIGURE_TEXT])
{
    return figure_text(size, observed_axis_unit(axis), text);
}

/* ---- all of them ---- */

static struct finding *finding_find(const struct findings *findings, const char *name)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        if (strcmp(findings->all[i].name, name) == 0) {
            return &findings->all[i];
        }
    }
    return NULL;
}

static const struct curve_kind *find_curve(const char *name)
{
    for (size_t id = 0; id < CURVE_COUNT; id++) {
        if (strcmp(curve_kinds[id].name, name) == 0) {
            return &curve_kinds[id];
        }
    }
    return NULL;
}

struct finding *findings_add(struct findings *findings, const char *name, const char *axis,
                             enum unit unit, struct error *why)
{
    struct finding *found = finding_find(findings, name);
    size_t capacity = findings->capacity;
    if (found != NULL) {
        return found;
    }
    if (!array_reserve(&findings->all, &capacity, findings->count + 1, sizeof *findings->all,
                       why)) {
        return NULL;
    }
    findings->capacity = (uint32_t)capacity;
    found = &findings->all[findings->count++];
    const struct curve_kind *curve = find_curve(name);
    *found = (struct finding){.unit = curve != NULL ? curve->unit : unit};
    text_copy(found->name, sizeof found->name, name);
    text_copy(found->axis, sizeof found->axis, curve != NULL ? curve->axis : axis);
    return found;
}

const struct finding *findings_get(const struct findings *findings, const char *name)
{
    return finding_find(findings, name);
}

bool findings_note(struct findings *findings, const char *name, const char *note, struct error *why)
{
    struct finding *found = findings_add(findings, name, "", UNIT_COUNT, why);
    if (found == NULL) {
        return false;
    }
    text_copy(found->note, sizeof found->note, note);
    return true;
}

bool findings_state(struct findings *findings, const char *name, double value, const char *note,
                    struct error *why)
{
    const struct found_point point = {
        .median = value, .p10 = value, .p90 = value, .samples = 1, .precise = true, .drift = 1};
    struct finding *finding = findings_add(findings, name, "", UNIT_COUNT, why);
    return finding != NULL && finding_put(finding, &point, why) &&
           findings_note(findings, name, note, why);
}

bool finding_is_restless(const struct finding *finding)
{
    for (uint32_t i = 0; i < finding->count; i++) {
        if (!finding->points[i].precise && finding->points[i].samples > 1) {
            return true;
        }
    }
    return false;
}

bool finding_is_curve(const struct finding *finding)
{
    return find_curve(finding->name) != NULL;
}

void findings_drop(struct findings *findings, const char *name)
{
    struct finding *found = finding_find(findings, name);
    if (found != NULL) {
        finding_release(found);
        *found = findings->all[--findings->count];
    }
}

bool findings_take(struct findings *to, struct findings *from, struct error *why)
{
    for (uint32_t i = 0; i < from->count; i++) {
        struct finding *moved = &from->all[i];
        struct finding *place = findings_add(to, moved->name, moved->axis, moved->unit, why);
        if (place == NULL) {
            return false;
        }
        finding_release(place);
        *place = *moved;
        *moved = (struct finding){.points = NULL};
    }
    return true;
}

void findings_release(struct findings *findings)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        finding_release(&findings->all[i]);
    }
    free(findings->all);
    *findings = (struct findings){.all = NULL};
}
