/* Reading a paper's file: rows are spread over their sweep, and every run is a scenario of its own.
 */
#include "study/paper.h"

#include "base/array.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const paper_keys[] = {"paper", "figure", "scenario", "rows", NULL};
static const char *const row_keys[] = {"what",    "set",   "sweep",     "take", "over",
                                       "against", "minus", "published", "rank", "not_comparable",
                                       "note",    NULL};

static bool require(const struct node *map, const char *key, struct error *why)
{
    return node_get(map, key) != NULL || node_error(map, why, "this does not say '%s'", key);
}

/* ---- what was published ---- */

static bool no_figure(const struct node *node, struct error *why)
{
    node_error(node, why, "'%.60s' is no published figure",
               node->text != NULL ? node->text : "this");
    return error_expect(why, "a figure with its unit, or two: 1490us..1517us");
}

/* "1490us", or "1490us..1517us". */
static bool read_published(const struct node *node, struct paper_row *row, struct error *why)
{
    struct quantity least, most;
    if (node->kind != NODE_SCALAR || snprintf(row->published, sizeof row->published, "%s",
                                              node->text) >= (int)sizeof row->published) {
        return no_figure(node, why);
    }
    char text[sizeof row->published];
    memcpy(text, row->published, sizeof text);
    char *dots = strstr(text, "..");
    if (dots != NULL) {
        *dots = '\0';
    }
    if (!quantity_parse(text, &least) || !quantity_parse(dots != NULL ? dots + 2 : text, &most) ||
        least.unit != most.unit || least.value > most.value || least.value <= 0) {
        return row->not_comparable != NULL || no_figure(node, why);
    }
    row->unit = least.unit;
    row->least = least.value;
    row->most = most.value;
    return true;
}

/* ---- runs ---- */

/* One point of a row's sweep. */
struct point {
    const struct node *key; /* the list, under its key; NULL: nothing is swept */
    size_t index;
};

static bool lay_point(struct scenario *scenario, struct point point, struct error *why)
{
    if (point.key == NULL) {
        return true;
    }
    struct node *map = node_parse("{}", 2, point.key->file, why);
    bool good = map != NULL &&
                node_put(map, point.key->key, point.key->children[point.index], why) &&
                scenario_lay(scenario, map, why);
    node_destroy(map);
    return good;
}

static bool build_run(const struct paper *paper, const struct node *row, struct point point,
                      const struct node *role, struct scenario *out, struct error *why)
{
    const struct node *maps[] = {node_get(paper->tree, "scenario"), node_get(row, "set")};
    if (!scenario_init(out, why)) {
        return false;
    }
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (maps[i] != NULL && !scenario_lay(out, maps[i], why)) {
            return false;
        }
    }
    return lay_point(out, point, why) && (role == NULL || scenario_lay(out, role, why));
}

static bool build_rank(const struct paper *paper, const struct node *node, struct point point,
                       struct paper_row *row, struct error *why)
{
    const struct node *list = node_get(node, "rank");
    if (list->kind != NODE_LIST || list->count < 2 || list->count > PAPER_MOST_RUNS) {
        return node_error(list, why, "a rank is a list of 2 to %d runs", PAPER_MOST_RUNS);
    }
    row->rank = true;
    if (row->take.count == 0) {
        row->take.terms[0].column = COLUMN_DECODE_RATE;
        row->take.count = 1;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (!build_run(paper, node, point, list->children[i], &row->runs[i], why)) {
            return false;
        }
    }
    return true;
}

static bool build_runs(const struct paper *paper, const struct node *node, struct point point,
                       struct paper_row *row, struct error *why)
{
    const struct node *against = node_get(node, "against"), *minus = node_get(node, "minus");
    if (!formula_read(node_get(node, "take"), &row->take, why)) {
        return false;
    }
    if (node_get(node, "rank") != NULL) {
        return build_rank(paper, node, point, row, why);
    }
    if (node_get(node, "take") == NULL && row->not_comparable != NULL) {
        return true;
    }
    return require(node, "take", why) && formula_read(node_get(node, "over"), &row->over, why) &&
           build_run(paper, node, point, NULL, &row->runs[PAPER_RUN], why) &&
           (against == NULL ||
            build_run(paper, node, point, against, &row->runs[PAPER_AGAINST], why)) &&
           (minus == NULL || build_run(paper, node, point, minus, &row->runs[PAPER_MINUS], why));
}

/* ---- rows ---- */

static void name_row(const char *what, struct point point, struct paper_row *row)
{
    if (point.key == NULL) {
        snprintf(row->what, sizeof row->what, "%s", what);
        return;
    }
    const struct node *value = point.key->children[point.index];
    snprintf(row->what, sizeof row->what, "%s, %s %s", what, point.key->key,
             value->kind == NODE_SCALAR ? value->text : "as listed");
}

static bool add_row(struct paper *paper, const struct node *node, struct point point,
                    struct error *why)
{
    const char *what = "";
    const struct node *published = node_get(node, "published");
    if (!array_reserve(&paper->rows, &paper->row_capacity, paper->row_count + 1,
                       sizeof *paper->rows, why)) {
        return false;
    }
    struct paper_row *row = &paper->rows[paper->row_count++];
    *row = (struct paper_row){.rank = false};
    if (!node_text(node, "what", &what, why) ||
        !node_text(node, "not_comparable", &row->not_comparable, why) ||
        !node_text(node, "note", &row->note, why) || !build_runs(paper, node, point, row, why)) {
        return false;
    }
    name_row(what, point, row);
    return row->rank ||
           read_published(point.key != NULL ? published->children[point.index] : published, row,
                          why);
}

/* Without a sweep one row; with one as many as it has values. */
static bool add_rows(struct paper *paper, const struct node *node, struct error *why)
{
    const struct node *sweep = node_get(node, "sweep"), *published = node_get(node, "published");
    if (!node_check_keys(node, row_keys, "row", why) || !require(node, "what", why) ||
        (node_get(node, "rank") == NULL && !require(node, "published", why))) {
        return false;
    }
    if (sweep == NULL) {
        return add_row(paper, node, (struct point){NULL, 0}, why);
    }
    if (sweep->kind != NODE_MAP || sweep->count != 1 || sweep->children[0]->kind != NODE_LIST) {
        node_error(sweep, why, "a row sweeps one key");
        return error_expect(why, "such as {context: [8192, 32768]}");
    }
    const struct node *values = sweep->children[0];
    if (node_get(node, "rank") == NULL &&
        (published->kind != NODE_LIST || published->count != values->count)) {
        return node_error(node, why, "'published' has no figure for each of %zu values",
                          values->count);
    }
    for (size_t i = 0; i < values->count; i++) {
        if (!add_row(paper, node, (struct point){values, i}, why)) {
            return false;
        }
    }
    return true;
}

static bool read_paper(struct paper *paper, struct error *why)
{
    const struct node *rows = node_get(paper->tree, "rows");
    if (!node_check_keys(paper->tree, paper_keys, "paper", why) ||
        !require(paper->tree, "paper", why) || !require(paper->tree, "figure", why) ||
        !require(paper->tree, "rows", why) ||
        !node_text(paper->tree, "paper", &paper->title, why) ||
        !node_text(paper->tree, "figure", &paper->figure, why)) {
        return false;
    }
    if (rows->kind != NODE_LIST || rows->count == 0) {
        return node_error(rows, why, "'rows' is no list of rows");
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (!add_rows(paper, rows->children[i], why)) {
            return false;
        }
    }
    return true;
}

bool paper_load(const char *path, struct paper *out, struct error *why)
{
    *out = (struct paper){.tree = node_load(path, why)};
    if (out->tree == NULL) {
        return false;
    }
    if (!read_paper(out, why)) {
        paper_release(out);
        return false;
    }
    return true;
}

void paper_release(struct paper *paper)
{
    for (size_t i = 0; i < paper->row_count; i++) {
        for (size_t run = 0; run < PAPER_MOST_RUNS; run++) {
            scenario_release(&paper->rows[i].runs[run]);
        }
    }
    free(paper->rows);
    node_destroy(paper->tree);
    *paper = (struct paper){0};
}
