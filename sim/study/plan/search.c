/* The search of one candidate: its values, and the scenario of each. */
#include "study/plan/planning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t search_shown(const struct search *search)
{
    return search->found != PLANNING_NONE ? search->found : search->nearest;
}

bool search_is_close(const struct search *search, uint32_t value)
{
    return notes_find(search->results[value].notes, NOTE_too_close) != NULL;
}

uint32_t search_surely_held(const struct search *search)
{
    for (uint32_t value = search->found; value < search->grid.count; value++) {
        if (search->grid.violation[value] == 0 && !search_is_close(search, value)) {
            return value;
        }
    }
    return search->found;
}

bool search_is_whole(const struct search *search)
{
    return search->depth == NULL || search->depth[search->found] == SEARCH_WHOLE;
}

/* A short run may be off by this share of a figure, and of a load that it holds or misses. (Assumed.) */
static const double short_run = 0.1;

/* Does a value miss a target by more than a short run is off? */
static bool clearly_misses(const struct search *search, uint32_t value)
{
    bool grows = result_number(&search->results[value], COLUMN(queue_grows)) > 0;
    return search->grid.violation[value] > (grows ? 0 : short_run);
}

bool search_surely_misses(const struct search *search, uint32_t value)
{
    bool stream = search->depth != NULL, brief = stream && search->depth[value] == SEARCH_BRIEF;
    const struct capacity_draws *draws = stream ? &search->draws[value] : NULL;
    return draws != NULL && draws->asked > 0 ? draws->missed > 0
           : search_is_close(search, value)  ? brief && clearly_misses(search, value)
                                             : search->grid.violation[value] > 0;
}

uint32_t search_next_miss(const struct search *search)
{
    uint32_t value = search->found, first = PLANNING_NONE;
    while (value != PLANNING_NONE && value-- > 0) {
        if (search_surely_misses(search, value)) {
            return value;
        }
        first = first == PLANNING_NONE && search->grid.violation[value] > 0 ? value : first;
    }
    return first;
}

struct search_interval search_interval(const struct search *search)
{
    uint32_t value = search->found;
    bool whole = search_is_whole(search);
    double least = search_value(search, whole ? value : search_surely_held(search))->number;
    if (whole) {
        return (struct search_interval){least, least};
    }
    uint32_t missed = value; /* the highest tried: where none misses clearly, it is off twice */
    while (value > 0 && !clearly_misses(search, value - 1)) {
        missed = grid_tried(&search->grid, --value) ? value : missed;
    }
    double twice = value > 0 ? 1 : 1 + short_run;
    missed = value > 0 ? value - 1 : missed;
    double most = missed < search->found ? search_value(search, missed)->number * twice : INFINITY;
    return (struct search_interval){least / (1 + short_run), most * (1 + short_run)};
}

enum tie searches_tie(const struct search *a, const struct search *b)
{
    enum tie tie =
        result_tie(&a->results[a->found], &b->results[b->found], COLUMN(decode_tokens_per_s));
    if (tie != TIE_NONE || (search_is_whole(a) && search_is_whole(b))) {
        return tie;
    }
    struct search_interval x = search_interval(a), y = search_interval(b);
    return x.least <= y.most && y.least <= x.most ? TIE_ROUGH : TIE_NONE;
}

static uint32_t search_place(const struct search *search, uint32_t value)
{
    return search->maximise ? search->axis.count - 1 - value : value;
}

const struct axis_value *search_value(const struct search *search, uint32_t value)
{
    return &search->axis.values[search_place(search, value)];
}

uint32_t search_value_at(const struct search *search, double number)
{
    uint32_t value = 0;
    while (value + 1 < search->grid.count && search_value(search, value)->number > number) {
        value++;
    }
    return value;
}

const char *search_text(const struct search *search, uint32_t value)
{
    return search->axis.count == 0 ? NULL : search_value(search, value)->text;
}

const char *search_label(const struct search *search, uint32_t value, char *text, size_t size)
{
    return search->axis.count == 0
               ? NULL
               : axis_label(&search->axis, search_place(search, value), text, size);
}

static bool search_read_axis(struct search *search, const struct planning_options *options,
                             const struct planned *own, struct error *why)
{
    const struct axis_base base = {.option = options->maximise ? "--maximise" : "--minimise",
                                   .scenario = &search->candidate->scenario,
                                   .point = &own->point,
                                   .runs = options->study.runs,
                                   .plan = &own->plan,
                                   .most_batch = own->plan.max_batch,
                                   .points = AXIS_FINE};
    return axis_read(options->axis, strlen(options->axis), &base, &search->axis, why);
}

/* A higher load is harder to serve, so a load is an answer only if all lower ones pass too. */
bool search_is_load(const char *axis)
{
    size_t key = strcspn(axis, "=");
    return (key == 4 && strncmp(axis, "rate", key) == 0) ||
           (key == 7 && strncmp(axis, "clients", key) == 0);
}

bool search_begin(struct search *search, struct candidate *candidate,
                  const struct planning_options *options, bool is_stream, struct error *why)
{
    struct planned own;
    struct serving_memory memory;
    const char *key = options->axis + (strncmp(options->axis, "mechanisms.", 11) == 0 ? 11 : 0);
    bool budget = strcspn(key, "=") == 6 && strncmp(key, "budget", 6) == 0;
    search->candidate = candidate;
    search->maximise = options->maximise;
    struct axis_text axis = {.text = options->axis, .length = strlen(options->axis)};
    search->cannot =
        !planned_own(&candidate->scenario, options->maximise ? "--maximise" : "--minimise", &axis,
                     1, options->study.runs, &own, &search->why);
    if (!search->cannot) {
        candidate_check(candidate, &own.point.setup, &options->candidates);
        search->fixed = budget ? axis_no_budget(&own.point.setup) : NULL;
        search->cannot =
            search->fixed == NULL && !search_read_axis(search, options, &own, &search->why);
    }
    /* One value if all must fail alike, as a load of a server without room for KV. */
    uint32_t count = search->cannot ? 0 : search->fixed != NULL ? 1 : search->axis.count;
    if (count > 1 && point_serves(&own.point) && search_is_load(search->axis.key) &&
        !serving_memory_plan(&own.point, options->study.runs, &memory, ERROR_UNSEEN)) {
        count = 1;
    }
    planned_release(&own);
    if (search->cannot && !stop_flag_check(options->study.runs->stop, why)) {
        return false; /* an interruption is not what the candidate lacks */
    }
    if (search->cannot || candidate->left_out[0] != '\0') {
        return true;
    }
    search->results = array_zeroed(count, sizeof *search->results, why);
    if (search->results == NULL || !grid_init(&search->grid, count, why) ||
        (options->best != NULL && !grid_for_peak(&search->grid, why))) {
        return false;
    }
    search->grid.unordered = search->fixed == NULL && !search->axis.numeric;
    search->grid.load =
        search->maximise && search->fixed == NULL && search_is_load(search->axis.key);
    bool asks = search->grid.load && is_stream && options->best == NULL;
    return !asks || ((search->depth = array_zeroed(count, sizeof *search->depth, why)) != NULL &&
                     (search->draws = array_zeroed(count, sizeof *search->draws, why)) != NULL);
}

void search_release(struct search *search)
{
    for (uint32_t i = 0; i < search->grid.count; i++) {
        result_release(&search->results[i]);
    }
    free(search->results);
    grid_release(&search->grid);
    free(search->depth);
    free(search->draws);
    axis_release(&search->axis);
}

bool search_scenario(const struct search *search, uint32_t value, struct scenario *out,
                     struct error *why)
{
    bool good = scenario_copy(&search->candidate->scenario, out, why);
    struct scenario swept = {.root = out->root, .points = 1};
    struct axis one = search->axis;
    struct node *map = NULL;
    if (good && search->axis.count > 0) {
        struct axis_value at = *search_value(search, value);
        one.values = &at;
        one.count = 1;
        good = axis_sweep(&one, &swept, why) && (map = node_map("scenario", why)) != NULL;
        const struct node *key = good ? swept.sweep->children[0] : NULL;
        good =
            good && node_put(map, key->key, key->children[0], why) && scenario_set(out, map, why);
    }
    node_destroy(map);
    node_destroy(swept.sweep);
    return good;
}
