/* Distinct sets of mechanisms, to which rows refer, are points: overrides of the nearer of both systems. */
#include "study/ablate/ablation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "predict/result/tie.h"

#define AGAINST "--against"
#define FULL_ATTENTION "fullattn"

const char *const ablation_kinds[] = {[ABLATION_BASE] = "base",
                                      [ABLATION_ALONE] = "alone",
                                      [ABLATION_LEFT_OUT] = "left-out",
                                      [ABLATION_WHOLE] = "whole",
                                      NULL};

static bool check_scenario(const struct scenario *scenario, const struct point *point,
                           struct error *why)
{
    if (point_serves(point)) {
        return error_usage(why, NULL, 0, "an ablation compares steps and takes no workload");
    }
    if (point->setup.batch == SETUP_BATCH_MAX) {
        scenario_error(scenario, "batch", why, "steps of different batch sizes cannot be compared");
        return error_expect(why, "a batch that both systems hold, such as batch=1");
    }
    return true;
}

/* A map whose `system` is the base. */
static struct node *name_base(const struct ablation_options *options,
                              const struct system_info *system, struct error *why)
{
    struct node *map = node_parse("{system: x}", 11, AGAINST, why);
    const char *name = options->against != NULL      ? options->against
                       : system->baseline[0] != '\0' ? system->baseline
                                                     : FULL_ATTENTION;
    if (map == NULL || !node_set_text(map->children[0], name, why)) {
        node_destroy(map);
        return NULL;
    }
    map->children[0]->line = 0; /* an option has no line */
    return map;
}

struct ablation_side {
    const struct node *system, *overrides; /* `overrides` NULL: none */
};

/* One side, with the mechanisms that the set takes from the other one overridden. */
static struct node *write_case(const struct difference *difference, uint32_t set,
                               const struct ablation_side *base, const struct ablation_side *system,
                               struct error *why)
{
    bool near_base = 2 * (uint32_t)__builtin_popcount(set) <= difference->count;
    const struct ablation_side *side = near_base ? base : system;
    const struct mechanisms *other = near_base ? difference->system : difference->base;
    struct node *map = node_map("ablation", why);
    bool good = map != NULL && node_put(map, "system", side->system, why) &&
                (side->overrides == NULL || node_put(map, "mechanisms", side->overrides, why));
    for (size_t i = 0; good && mechanism_keys[i].name != NULL; i++) {
        uint8_t mechanism = difference->of_key[i];
        bool in = mechanism < difference->count && (set >> mechanism & 1) != 0;
        if (mechanism < difference->count && in == near_base) {
            char path[64];
            char *text = mechanism_text(&mechanism_keys[i], other, why);
            snprintf(path, sizeof path, "mechanisms.%s", mechanism_keys[i].name);
            good = text != NULL && node_set(map, path, text, why);
            free(text);
        }
    }
    if (!good) {
        node_destroy(map);
        return NULL;
    }
    return map;
}

/* Add a mechanism's row, nearest to the base or to the system, and before it why it cannot be so alone. */
static void add_row(struct ablation *ablation, enum ablation_kind kind, uint32_t i)
{
    const struct difference *difference = &ablation->difference;
    const struct difference_mechanism *mechanism = &difference->mechanisms[i];
    bool alone = kind == ABLATION_ALONE;
    uint32_t bit = 1u << i, all = difference_all(difference);
    uint32_t set = alone ? mechanism->least : mechanism->most;
    const char *refused = difference_refusal(difference, alone ? bit : all & ~bit);
    if (refused != NULL) {
        ablation->rows[ablation->row_count++] =
            (struct ablation_row){.kind = kind, .mechanism = i, .refused = refused};
    }
    ablation->rows[ablation->row_count++] =
        (struct ablation_row){.kind = kind,
                              .mechanism = i,
                              .others = alone ? set : all & ~set & ~bit,
                              .without = set,
                              .with = set | bit,
                              .shown = alone ? set | bit : set};
}

static bool ablation_make_rows(struct ablation *ablation, struct error *why)
{
    uint32_t count = ablation->difference.count, all = difference_all(&ablation->difference);
    ablation->rows = array_zeroed(2 + 4 * count, sizeof *ablation->rows, why);
    if (ablation->rows == NULL) {
        return false;
    }
    ablation->rows[ablation->row_count++] = (struct ablation_row){.kind = ABLATION_BASE};
    for (uint32_t i = 0; i < 2 * count; i++) {
        add_row(ablation, i < count ? ABLATION_ALONE : ABLATION_LEFT_OUT, i % count);
    }
    ablation->rows[ablation->row_count++] =
        (struct ablation_row){.kind = ABLATION_WHOLE, .shown = all, .with = all};
    return true;
}

/* Where `set` stands among `count` sets; `count` if it does not. */
static uint32_t ablation_place(const uint32_t *sets, uint32_t count, uint32_t set)
{
    uint32_t i = 0;
    while (i < count && sets[i] != set) {
        i++;
    }
    return i;
}

static bool ablation_make_points(struct ablation *ablation, const struct scenario *scenario,
                                 const struct ablation_side *base,
                                 const struct ablation_side *system, struct error *why)
{
    struct scenario *points = &ablation->scenario;
    ablation->sets = array_zeroed(2 * ablation->row_count, sizeof *ablation->sets, why);
    if (ablation->sets == NULL || !scenario_copy(scenario, points, why)) {
        return false;
    }
    node_remove(points->root, "system");
    node_remove(points->root, "mechanisms");
    uint32_t count = 0; /* of the sets that the rows name */
    for (uint32_t i = 0; i < ablation->row_count; i++) {
        const struct ablation_row *row = &ablation->rows[i];
        const uint32_t sets[] = {row->shown, row->without, row->with};
        for (size_t s = 0; row->refused == NULL && s < sizeof sets / sizeof *sets; s++) {
            uint32_t at = ablation_place(ablation->sets, count, sets[s]);
            ablation->sets[at] = sets[s];
            count += at == count;
        }
    }
    const char *ours = ablation->base.engine, *theirs = ablation->system.engine;
    bool engines = ours[0] != '\0' && theirs[0] != '\0' && strcmp(ours, theirs) != 0;
    /* Engines are no mechanisms: of two, all rows run in the system's. A system without one keeps its own
     * launches, and rows of the other one are what 'simulate' says of it. */
    bool good = !engines || node_stated(scenario->root, "engine") != NULL ||
                node_set(points->root, "engine", theirs, why);
    for (uint32_t i = 0; good && i < count; i++) {
        struct node *map = write_case(&ablation->difference, ablation->sets[i], base, system, why);
        good = map != NULL && scenario_add_case(points, map, NULL, why);
        node_destroy(map);
    }
    ablation->results = good ? array_zeroed(count, sizeof *ablation->results, why) : NULL;
    return ablation->results != NULL;
}

static bool hash_name(struct ablation *ablation, const struct point *point, struct error *why)
{
    char run[17];
    if (!run_identity(point, run, why)) {
        return false;
    }
    uint64_t hash = XXH64(run, sizeof run, 0);
    hash = XXH64(ablation->base.name, strlen(ablation->base.name), hash);
    for (uint32_t i = 0; i < ablation->difference.count; i++) {
        const char *changes = ablation->difference.mechanisms[i].changes;
        hash = XXH64(changes, strlen(changes), hash);
    }
    snprintf(ablation->name, sizeof ablation->name, "%016llx", (unsigned long long)hash);
    return true;
}

static bool ablation_prepare(struct ablation *out, const struct scenario *scenario,
                             const struct ablation_options *options, const struct point *point,
                             struct error *why)
{
    const struct ablation_side system = {node_get(scenario->root, "system"),
                                         node_get(scenario->root, "mechanisms")};
    struct files *files = sources_files(scenario->sources);
    struct difference *difference = &out->difference;
    difference->system = system_load(files, system.system->text, system.system, system.overrides,
                                     &out->system, NULL, why);
    struct node *map = difference->system != NULL ? name_base(options, &out->system, why) : NULL;
    const struct ablation_side base = {node_get(map, "system"), NULL};
    if (map != NULL) {
        difference->base =
            system_load(files, base.system->text, base.system, NULL, &out->base, NULL, why);
    }
    bool good = difference->base != NULL && difference_find(difference, why);
    if (good && difference->count == 0) {
        error_usage(why, AGAINST, 0, "'%s' and '%s' have the same mechanisms", out->system.name,
                    out->base.name);
        good = error_expect(why, "another system, or an override such as mechanisms.sync=gpu");
    }
    good = good && ablation_make_rows(out, why) &&
           ablation_make_points(out, scenario, &base, &system, why) && hash_name(out, point, why);
    node_destroy(map);
    return good;
}

/* ---- what is saved ---- */

const struct result *ablation_result(const struct ablation *ablation, uint32_t set)
{
    return &ablation->results[ablation_place(ablation->sets, ablation->scenario.points, set)];
}

static bool ablation_read_step(const struct ablation *ablation, uint32_t set, int64_t *ns)
{
    const struct cell *step = result_cell(ablation_result(ablation, set), COLUMN(step_us));
    *ns = step->set ? step->integer : 0;
    return *ns > 0;
}

bool ablation_saves(const struct ablation *ablation, const struct ablation_row *row, int64_t *ns,
                    double *times)
{
    int64_t without, with;
    if (row->refused != NULL || !ablation_read_step(ablation, row->without, &without) ||
        !ablation_read_step(ablation, row->with, &with)) {
        return false;
    }
    *ns = without - with;
    *times = (double)without / (double)with;
    return true;
}

bool ablation_range(const struct ablation *ablation, const struct ablation_row *row, double *least,
                    double *most)
{
    struct tie_figure without, with;
    *least = INFINITY;
    *most = -INFINITY;
    if (row->refused != NULL) {
        return false;
    }
    tie_figure(ablation_result(ablation, row->without), COLUMN(step_us), &without);
    tie_figure(ablation_result(ablation, row->with), COLUMN(step_us), &with);
    uint32_t families = without.family_count > 0 ? without.family_count : with.family_count;
    bool known = families > 0;
    for (uint32_t i = 0; i < families; i++) {
        double ns = 1e3 * (tie_figure_with(&without, i) - tie_figure_with(&with, i));
        known = known && !isnan(ns);
        *least = fmin(*least, ns);
        *most = fmax(*most, ns);
    }
    return known;
}

bool ablation_add_up(const struct ablation *ablation, struct ablation_sum *out)
{
    const struct ablation_row *whole = &ablation->rows[ablation->row_count - 1];
    int64_t ns;
    double times;
    *out = (struct ablation_sum){.alone_times = 1};
    for (uint32_t i = 0; i < ablation->row_count; i++) {
        const struct ablation_row *row = &ablation->rows[i];
        if (row->kind != ABLATION_ALONE || row->refused != NULL) {
            continue;
        }
        if (!ablation_saves(ablation, row, &ns, &times)) {
            return false;
        }
        out->alone_ns += ns;
        out->alone_times *= times;
    }
    if (!ablation_saves(ablation, whole, &ns, &times)) {
        return false;
    }
    out->interaction_ns = ns - out->alone_ns;
    out->interaction_times = times / out->alone_times;
    return true;
}

double ablation_more(const struct ablation *ablation, const struct ablation_row *row,
                     const struct column *column)
{
    return result_number(ablation_result(ablation, row->with), column) -
           result_number(ablation_result(ablation, row->without), column);
}

bool ablation_together(const struct ablation *ablation, const struct ablation_row *row, int64_t *ns)
{
    struct ablation_row all = *row;
    double times;
    all.with = difference_all(&ablation->difference);
    return row->kind == ABLATION_LEFT_OUT && row->others != 0 &&
           ablation_saves(ablation, &all, ns, &times);
}

static bool check_systems(const struct ablation *ablation, struct error *why)
{
    const uint32_t ends[] = {0, difference_all(&ablation->difference)};
    const char *names[] = {ablation->base.name, ablation->system.name};
    for (size_t i = 0; i < 2; i++) {
        const struct result *result = ablation_result(ablation, ends[i]);
        if (result_failed(result)) {
            return error_set(why, NULL, 0, "'%s' cannot run: %s", names[i], result->message);
        }
    }
    return true;
}

bool ablation_run(const struct scenario *scenario, const struct ablation_options *options,
                  struct ablation *out, struct error *why)
{
    struct point point;
    *out = (struct ablation){.done = 0};
    if (!sweep_is_one_point(scenario, why) || !scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    bool good = check_scenario(scenario, &point, why) &&
                ablation_prepare(out, scenario, options, &point, why);
    point_release(&point);
    return good && sweep_keep(&out->scenario, &options->study, out->results, &out->done, why) &&
           check_systems(out, why);
}

void ablation_release(struct ablation *ablation)
{
    for (uint32_t i = 0; i < ablation->done; i++) {
        result_release(&ablation->results[i]);
    }
    free(ablation->difference.base);
    free(ablation->difference.system);
    free(ablation->results);
    free(ablation->sets);
    free(ablation->rows);
    scenario_release(&ablation->scenario);
    *ablation = (struct ablation){.done = 0};
}
