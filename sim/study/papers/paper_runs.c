#include "study/papers/paper_runs.h"

static const struct paper_overlay nothing = {NULL, NULL};

static bool paper_runs_lay_map(struct scenario *scenario, const struct node *map, struct error *why)
{
    return map == NULL || scenario_lay(scenario, map, why);
}

static bool lay_overlay(struct scenario *scenario, struct paper_overlay overlay, struct error *why)
{
    if (overlay.key == NULL) {
        return paper_runs_lay_map(scenario, overlay.value, why);
    }
    struct node *map = node_map(overlay.value->file, why);
    bool good = map != NULL && node_put(map, overlay.key, overlay.value, why) &&
                scenario_lay(scenario, map, why);
    node_destroy(map);
    return good;
}

/* Lay over each other: the file's scenario, the row, its sweep's value or its case, the role, a
 * range's end. */
static bool build_run(const struct paper *paper, const struct node *row, struct paper_overlay swept,
                      const struct node *role, struct paper_overlay end, struct scenario *out,
                      struct error *why)
{
    return scenario_init(out, why) &&
           paper_runs_lay_map(out, node_get(paper->tree, "scenario"), why) &&
           paper_runs_lay_map(out, node_get(row, "set"), why) && lay_overlay(out, swept, why) &&
           paper_runs_lay_map(out, role, why) && lay_overlay(out, end, why);
}

/* How many runs `against` has. A list is checked: there must be a best of it. */
static bool count_against(const struct node *against, const struct formula *take, size_t *out,
                          struct error *why)
{
    *out = against != NULL;
    if (against == NULL || against->kind != NODE_LIST) {
        return true;
    }
    *out = against->count;
    if (against->count < 2 || against->count > PAPER_MOST_AGAINST) {
        return node_error(against, why, "a list of 'against' needs 2 to %d runs",
                          PAPER_MOST_AGAINST);
    }
    if (formula_speed(take) == 0) {
        node_error(against, why, "a list of 'against' has no best by this 'take'");
        return error_expect(why, "the time of a step or a rate, such as decode_tokens_per_s");
    }
    return true;
}

/* The runs of a case. */
static bool build_roles(const struct paper *paper, const struct node *row,
                        struct paper_overlay swept, struct paper_overlay end,
                        const struct formula *take, struct scenario runs[PAPER_ROLES],
                        struct error *why)
{
    const struct node *minus = node_get(row, "minus"), *against = node_get(row, "against");
    size_t count;
    if (!count_against(against, take, &count, why) ||
        !build_run(paper, row, swept, NULL, end, &runs[PAPER_RUN], why) ||
        (minus != NULL && !build_run(paper, row, swept, minus, end, &runs[PAPER_MINUS], why))) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct node *role = against->kind == NODE_LIST ? against->children[i] : against;
        if (!build_run(paper, row, swept, role, end, &runs[PAPER_AGAINST + i], why)) {
            return false;
        }
    }
    return true;
}

/* The cases of `across`, or the only one. */
static bool build_cases(const struct paper *paper, const struct node *node,
                        struct paper_overlay swept, struct paper_row *row, struct error *why)
{
    row->across = node_get(node, "across");
    row->case_count = row->across != NULL ? (uint32_t)row->across->count : 1;
    for (uint32_t i = 0; i < row->case_count; i++) {
        if (row->across != NULL) {
            swept = (struct paper_overlay){NULL, row->across->children[i]};
        }
        if (!build_roles(paper, node, swept, nothing, &row->take, &row->runs[i * PAPER_ROLES],
                         why)) {
            return false;
        }
    }
    return true;
}

static bool build_assumed(const struct paper *paper, const struct node *node,
                          struct paper_overlay swept, struct paper_row *row, struct error *why)
{
    const struct node *own = node_get(node, "assumed");
    const struct node *map = own != NULL ? own : node_get(paper->tree, "assumed");
    if (map == NULL) {
        return true;
    }
    if (map->kind != NODE_MAP || map->count > PAPER_MOST_ASSUMED) {
        return node_error(map, why, "'assumed' must be a map of up to %d keys", PAPER_MOST_ASSUMED);
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct node *range = map->children[i];
        struct paper_assumed *assumed = &row->assumed[row->assumed_count++];
        assumed->key = range->key;
        if (range->kind != NODE_LIST || range->count != 2) {
            return node_error(range, why, "the range of '%.60s' needs two ends", range->key);
        }
        for (int end = 0; end < 2; end++) {
            const struct node *value = range->children[end];
            assumed->values[end] = value->kind == NODE_SCALAR ? value->text : "an end";
            if (!build_roles(paper, node, swept, (struct paper_overlay){range->key, value},
                             &row->take, assumed->runs[end], why)) {
                return false;
            }
        }
    }
    return true;
}

static bool build_rank(const struct paper *paper, const struct node *node,
                       struct paper_overlay swept, struct paper_row *row, struct error *why)
{
    const struct node *list = node_get(node, "rank");
    if (list->kind != NODE_LIST || list->count < 2 || list->count > PAPER_MOST_RANKED) {
        return node_error(list, why, "a rank needs a list of 2 to %d runs", PAPER_MOST_RANKED);
    }
    row->rank = true;
    if (row->take.count == 0) {
        row->take.terms[0].column = COLUMN_DECODE_RATE;
        row->take.count = 1;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (!build_run(paper, node, swept, list->children[i], nothing, &row->runs[i], why)) {
            return false;
        }
    }
    return true;
}

bool paper_runs_build(const struct paper *paper, const struct node *node,
                      struct paper_overlay swept, struct paper_row *row, struct error *why)
{
    if (!formula_read(node_get(node, "take"), &row->take, why) ||
        !formula_read(node_get(node, "over"), &row->over, why)) {
        return false;
    }
    if (node_get(node, "rank") != NULL) {
        return build_rank(paper, node, swept, row, why);
    }
    bool served = node_get(node, "served") != NULL; /* paper.c reads its formulas */
    if (row->take.count == 0 && row->not_comparable != NULL && !served) {
        return true;
    }
    if (node_get(node, "take") == NULL && !served) {
        return node_error(node, why, "'take' is missing here");
    }
    return build_cases(paper, node, swept, row, why) &&
           (row->across != NULL || build_assumed(paper, node, swept, row, why));
}
