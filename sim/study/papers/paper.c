/* Parses a paper's file. A row with a sweep or two published ends becomes several rows. */
#include "study/papers/paper.h"

#include "base/array.h"
#include "base/name.h"
#include "base/units.h"
#include "study/papers/paper_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const paper_keys[] = {"paper", "figure", "scenario", "assumed", "rows", NULL};
static const char *const row_keys[] = {
    "what",           "set",   "sweep",     "across", "take",    "over",
    "against",        "minus", "published", "served", "assumed", "rank",
    "not_comparable", "used",  "later",     "note",   NULL};
static const char *const served_keys[] = {"what",  "set",  "served", "not_comparable",
                                          "later", "note", NULL};
static const char *const end_keys[] = {"least", "most", NULL};
static const struct paper_overlay nothing = {NULL, NULL};

/* The figures of `served`. */
static const struct served_figure {
    enum column column;
    const char *what;
    enum band_figure figure;
} served_figures[] = {
    {COLUMN_TTFT, "TTFT, mean", BAND_TTFT},
    {COLUMN_TTFT_P50, "TTFT, median", BAND_TTFT},
    {COLUMN_TPOT, "TPOT, mean", BAND_TPOT},
    {COLUMN_TPOT_P50, "TPOT, median", BAND_TPOT},
    {COLUMN_DECODE_RATE, "tokens a second", BAND_RATE},
};
enum { SERVED_FIGURES = sizeof served_figures / sizeof served_figures[0] };

static bool require(const struct node *map, const char *key, struct error *why)
{
    return node_get(map, key) != NULL || node_error(map, why, "'%s' is missing here", key);
}

/* ---- published figures ---- */

static bool no_figure(const struct node *node, struct error *why)
{
    node_error(node, why, "'%.60s' is not a published figure",
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

/* ---- rows ---- */

static void title_row(const char *what, struct paper_overlay swept, struct paper_row *row)
{
    if (row->end != PAPER_ONLY) {
        snprintf(row->what, sizeof row->what, "%s, %s", what,
                 row->end == PAPER_LEAST ? "least" : "most");
    } else if (swept.key == NULL) {
        snprintf(row->what, sizeof row->what, "%s", what);
    } else {
        snprintf(row->what, sizeof row->what, "%s, %s %s", what, swept.key,
                 swept.value->kind == NODE_SCALAR ? swept.value->text : "as listed");
    }
}

/* What the row says about itself. */
static bool read_remarks(const struct node *node, struct paper *paper, struct paper_row *row,
                         struct error *why)
{
    if (!node_text(node, "not_comparable", &row->not_comparable, why) ||
        !node_text(node, "used", &row->used, why) || !node_bool(node, "later", &row->later, why) ||
        !node_text(node, "note", &row->note, why)) {
        return false;
    }
    if (row->used == NULL) {
        return true;
    }
    if (row->not_comparable != NULL) {
        return node_error(node, why, "'used' is the reason: leave out 'not_comparable'");
    }
    paper->used = true;
    row->not_comparable = row->used;
    return true;
}

static bool paper_add_row(struct paper *paper, const struct node *node, struct paper_overlay swept,
                          enum paper_end end, const struct node *published, struct error *why)
{
    const char *what = "";
    if (!array_reserve(&paper->rows, &paper->row_capacity, paper->row_count + 1,
                       sizeof *paper->rows, why)) {
        return false;
    }
    struct paper_row *row = &paper->rows[paper->row_count++];
    *row = (struct paper_row){.end = end};
    if (!node_text(node, "what", &what, why) || !read_remarks(node, paper, row, why) ||
        !paper_runs_build(paper, node, swept, row, why)) {
        return false;
    }
    title_row(what, swept, row);
    return row->rank || read_published(published, row, why);
}

/* Add a row for each value of the sweep. */
static bool add_swept(struct paper *paper, const struct node *node, const struct node *sweep,
                      struct error *why)
{
    const struct node *published = node_get(node, "published");
    if (sweep->kind != NODE_MAP || sweep->count != 1 || sweep->children[0]->kind != NODE_LIST) {
        node_error(sweep, why, "'sweep' must have one key with a list");
        return error_expect(why, "such as {context: [8192, 32768]}");
    }
    const struct node *values = sweep->children[0];
    bool rank = node_get(node, "rank") != NULL;
    if (!rank && (published->kind != NODE_LIST || published->count != values->count)) {
        return node_error(node, why, "'published' needs a figure for each of %zu values",
                          values->count);
    }
    for (size_t i = 0; i < values->count; i++) {
        struct paper_overlay swept = {values->key, values->children[i]};
        if (!paper_add_row(paper, node, swept, PAPER_ONLY, rank ? NULL : published->children[i],
                           why)) {
            return false;
        }
    }
    return true;
}

static bool check_across(const struct node *node, const struct node *across, struct error *why)
{
    static const char *const others[] = {"sweep", "rank", "assumed"};
    if (across->kind != NODE_LIST || across->count < 2 || across->count > PAPER_MOST_CASES) {
        node_error(across, why, "'across' needs a list of 2 to %d maps", PAPER_MOST_CASES);
        return error_expect(why, "such as [{context: 32768}, {context: 8192, batch: 4}]");
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (node_get(node, others[i]) != NULL) {
            return node_error(node, why, "use either 'across' or '%s'", others[i]);
        }
    }
    return true;
}

/* Add a row for each published end. */
static bool add_ends(struct paper *paper, const struct node *node, const struct node *across,
                     struct error *why)
{
    const struct node *published = node_get(node, "published");
    if (!check_across(node, across, why)) {
        return false;
    }
    if (published->kind != NODE_MAP || published->count == 0) {
        node_error(published, why, "'published' must name the ends that a row with 'across' has");
        return error_expect(why, "{least: 2.08x, most: 3.24x}, or one of both");
    }
    if (!node_check_keys(published, end_keys, "published", why)) {
        return false;
    }
    for (size_t i = 0; i < published->count; i++) {
        const struct node *figure = published->children[i];
        enum paper_end end = strcmp(figure->key, "least") == 0 ? PAPER_LEAST : PAPER_MOST;
        if (!paper_add_row(paper, node, nothing, end, figure, why)) {
            return false;
        }
    }
    return true;
}

static bool find_served(const struct node *figure, const struct served_figure **out,
                        struct error *why)
{
    const char *names[SERVED_FIGURES + 1] = {NULL};
    *out = NULL;
    for (int i = 0; i < SERVED_FIGURES; i++) {
        names[i] = column_kinds[served_figures[i].column].name;
        *out = strcmp(names[i], figure->key) == 0 ? &served_figures[i] : *out;
    }
    if (*out == NULL) {
        node_error(figure, why, "'%.60s' is not a figure of 'served'", figure->key);
        return name_expect(figure->key, names, why);
    }
    return true;
}

/* Add a row for each figure of a server. */
static bool add_served(struct paper *paper, const struct node *node, const struct node *served,
                       struct error *why)
{
    if (served->kind != NODE_MAP || served->count == 0) {
        node_error(served, why, "'served' must be a map of figures");
        return error_expect(why, "such as {ttft_ms: 40.44ms, decode_tokens_per_s: 2692.8}");
    }
    for (size_t i = 0; i < served->count; i++) {
        const struct served_figure *figure;
        if (!find_served(served->children[i], &figure, why) ||
            !paper_add_row(paper, node, nothing, PAPER_ONLY, served->children[i], why)) {
            return false;
        }
        struct paper_row *row = &paper->rows[paper->row_count - 1];
        size_t length = strlen(row->what);
        row->served = true;
        row->figure = figure->figure;
        row->take = formula_of_column(figure->column);
        snprintf(row->what + length, sizeof row->what - length, ", %s", figure->what);
    }
    return true;
}

static bool paper_add_rows(struct paper *paper, const struct node *node, struct error *why)
{
    const struct node *sweep = node_get(node, "sweep"), *across = node_get(node, "across");
    const struct node *served = node_get(node, "served");
    if (served != NULL) {
        return node_check_keys(node, served_keys, "row with 'served'", why) &&
               require(node, "what", why) && add_served(paper, node, served, why);
    }
    if (!node_check_keys(node, row_keys, "row", why) || !require(node, "what", why) ||
        (node_get(node, "rank") == NULL && !require(node, "published", why))) {
        return false;
    }
    return across != NULL ? add_ends(paper, node, across, why)
           : sweep != NULL
               ? add_swept(paper, node, sweep, why)
               : paper_add_row(paper, node, nothing, PAPER_ONLY, node_get(node, "published"), why);
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
        return node_error(rows, why, "'rows' must be a list of rows");
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (!paper_add_rows(paper, rows->children[i], why)) {
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

static void release_row(struct paper_row *row)
{
    for (size_t run = 0; run < PAPER_MOST_RUNS; run++) {
        scenario_release(&row->runs[run]);
    }
    for (uint32_t i = 0; i < row->assumed_count; i++) {
        for (int role = PAPER_RUN; role < PAPER_ROLES; role++) {
            scenario_release(&row->assumed[i].runs[0][role]);
            scenario_release(&row->assumed[i].runs[1][role]);
        }
    }
}

void paper_release(struct paper *paper)
{
    for (size_t i = 0; i < paper->row_count; i++) {
        release_row(&paper->rows[i]);
    }
    free(paper->rows);
    node_destroy(paper->tree);
    *paper = (struct paper){0};
}

void paper_case_name(const struct paper_row *row, uint32_t which, char *text, size_t size)
{
    const struct node *map = row->across != NULL ? row->across->children[which] : NULL;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; map != NULL && i < map->count && used < size; i++) {
        const struct node *value = map->children[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s %s", i > 0 ? ", " : "", value->key,
                                 value->kind == NODE_SCALAR ? value->text : "as listed");
    }
}
