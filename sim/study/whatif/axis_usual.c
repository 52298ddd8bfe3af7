/* The usual ranges of axes, used if none is given. */
#include "study/whatif/axis_build.h"

#include "decode/system.h"
#include "decode/plan/memory.h"
#include "server/requests/requests.h"
#include "predict/server/serving_memory.h"

#include <math.h>
#include <string.h>

/* ---- usual ranges ---- */

static bool axis_usual_add_own(struct axis *axis, double number, const char *text,
                               struct error *why)
{
    struct axis_value *own;
    if (!(text != NULL ? axis_add(axis, number, text, &own, why)
                       : axis_add_number(axis, number, &own, why))) {
        return false;
    }
    own->own = true;
    return true;
}

/* The share of the KV that the scenario's own budget holds. */
static double own_share(const struct axis_base *base)
{
    const struct setup *setup = &base->point->setup;
    const struct amount *budget = &setup->mechanisms.budget;
    double kv = (double)base->plan->memory.in[TIER_HOST].kv / memory_host_copies(setup);
    if (budget->rest || budget->unit == UNIT_BYTES) {
        return fmin((double)base->plan->memory.in[TIER_GPU].cache / kv, 1);
    }
    double times = setup_share(setup, &setup->mechanisms.selection);
    double share = budget->unit == UNIT_SHARE   ? budget->value
                   : budget->unit == UNIT_TIMES ? budget->value * times
                                                : budget->value / (double)setup->context;
    return fmin(share, 1);
}

/* Why the system cannot have this share as its budget; NULL if it can. */
static const char *contradiction(const struct setup *setup, double share)
{
    const char *key;
    struct mechanisms mechanisms = setup->mechanisms;
    mechanisms.budget = (struct amount){.unit = UNIT_SHARE, .value = share};
    return mechanisms_contradiction(&mechanisms, &key);
}

const char *axis_no_budget(const struct setup *setup)
{
    return mechanisms_offload(&setup->mechanisms) ? contradiction(setup, 1)
                                                  : "it keeps all KV in HBM";
}

static bool check_budget(const struct axis *axis, const struct setup *setup, struct error *why)
{
    const char *reason = axis_no_budget(setup);
    if (reason == NULL) {
        return true;
    }
    error_usage(why, axis->option, 0, "system '%s' has no cache to size: %s", setup->system.name,
                reason);
    return error_expect(why, "a system that caches KV, see 'list systems'");
}

/* From nothing, or from the least that the policy must hold, to everything. Nobody needs caches
 * below a hundredth. */
static bool walk_shares(const struct axis_base *base, struct axis *axis, struct error *why)
{
    const struct mechanisms *m = &base->point->setup.mechanisms;
    double block = (double)m->granularity / (double)base->point->setup.context;
    double least = m->policy->needs_queries ? setup_share(&base->point->setup, &m->selection)
                                            : fmin(fmax(0.01, block), 1);
    bool nothing = !m->policy->needs_queries && contradiction(&base->point->setup, 0) == NULL;
    uint32_t points = axis_points(base, 13);
    return (!nothing || axis_add_number(axis, 0, NULL, why)) &&
           axis_walk(axis, least, 1, nothing ? points - 1 : points, false, why);
}

static bool walk_budget(const struct axis_base *base, struct axis *axis, struct error *why)
{
    struct node *tree = axis_key_tree(base, why);
    const struct node *own = node_find(tree, axis->key);
    double share = own_share(base);
    axis->unit = UNIT_SHARE;
    bool good = tree != NULL && check_budget(axis, &base->point->setup, why) &&
                walk_shares(base, axis, why) &&
                axis_usual_add_own(axis, share, own != NULL ? own->text : NULL, why);
    node_destroy(tree);
    return good;
}

static bool walk_batch(const struct axis_base *base, struct axis *axis, struct error *why)
{
    uint32_t most = base->most_batch > 1 ? base->most_batch : 2;
    uint32_t doublings = (uint32_t)ceil(log2(most));
    axis->unit = UNIT_COUNT;
    return axis_walk(axis, 1, most, axis_points(base, doublings + 1), true, why) &&
           axis_usual_add_own(axis, base->plan->batch, NULL, why);
}

static bool walk_context(const struct axis_base *base, struct axis *axis, struct error *why)
{
    double own = (double)base->point->setup.context;
    uint32_t trained = base->point->setup.model.trained_context;
    double most = trained > own ? trained : 128 * own;
    axis->unit = UNIT_TOKENS;
    if (!scenario_states(base->scenario, "context") &&
        base->point->setup.prompt == 0) { /* planned_own() filled it */
        return axis_walk(axis, own, most, axis_points(base, (uint32_t)ceil(log2(most / own)) + 1),
                         true, why);
    }
    return axis_walk(axis, fmax(own / 8, 1), own * 2, axis_points(base, 5), true, why) &&
           axis_usual_add_own(axis, own, NULL, why);
}

static bool walk_links(const struct axis_base *base, struct axis *axis, struct error *why)
{
    static const char *const links[] = {"pcie3-x16", "pcie4-x16", "pcie5-x16", "pcie6-x16",
                                        "nvlink-c2c"};
    const struct node *hardware = node_get(base->scenario->root, "hardware");
    const struct node *link = node_get(hardware, "link");
    for (size_t i = 0; link != NULL && i < link->count; i++) {
        if (strcmp(link->children[i]->key, "extends") != 0) {
            node_error(link->children[i], why, "'hardware.link.%s' would apply to every link",
                       link->children[i]->key);
            return error_expect(why, "links without overrides, or hardware.link.%s as the axis",
                                link->children[i]->key);
        }
    }
    axis->numeric = false;
    bool good = true;
    for (size_t i = 0; good && i < sizeof links / sizeof *links; i++) {
        good = axis_add(axis, (double)i, links[i], NULL, why);
    }
    return good;
}

/* Numbers of GPUs that one server holds and that divide the heads of most models. */
static bool walk_gpus(const struct axis_base *base, struct axis *axis, struct error *why)
{
    bool good = true;
    axis->unit = UNIT_COUNT;
    axis->ranges = true;
    for (uint32_t gpus = 1; good && gpus <= 8; gpus *= 2) {
        good = axis_add_number(axis, gpus, NULL, why);
    }
    return good && axis_usual_add_own(axis, base->point->setup.model.tensor_parallel, NULL, why);
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

/* The range of a share ends at 100 %. */
static bool walk_others(const struct axis_base *base, struct axis *axis, struct error *why)
{
    struct quantity own;
    const char *text;
    struct node *tree = axis_key_tree(base, why);
    if (tree == NULL || !axis_key_own(base, axis, tree, &own, &text, why)) {
        node_destroy(tree);
        return false;
    }
    bool whole = axis_is_counted(axis, own.unit, own.value), good = own.value > 0;
    double most = own.unit == UNIT_SHARE ? fmin(4 * own.value, 1) : 4 * own.value;
    double least = whole ? fmax(own.value / 4, 1) : own.value / 4;
    axis->unit = own.unit;
    if (good) {
        good = axis_walk(axis, least, most, axis_points(base, 9), whole, why) &&
               axis_usual_add_own(axis, own.value, text, why);
    } else {
        error_usage(why, axis->option, 0, "'%s' is 0 here, so it has no usual range", axis->key);
        error_expect(why, "values such as %s=[A, B], or a range such as %s=FROM:TO", axis->key,
                     axis->key);
    }
    node_destroy(tree);
    return good;
}

/* A search must not end where the range that people look at does: it goes on in the same ratios, 13
 * octaves down, where each request is alone, and 4 up. No rate is so low that the times of the
 * requests leave the range of a clock of nanoseconds (1e18 of them is 30 years). */
enum { OCTAVES_SHOWN = 9, OCTAVES_BELOW = 13, OCTAVES_ABOVE = 4 };

static bool walk_searched_rates(const struct axis_base *base, struct axis *axis, double own,
                                struct error *why)
{
    double steps = (double)(AXIS_FINE - 1) / OCTAVES_SHOWN; /* of an octave */
    double least = fmax((double)base->point->requests->count / 1e9, 1e-6);
    double below = ceil(OCTAVES_BELOW * steps), above = ceil(OCTAVES_ABOVE * steps);
    while (below > 0 && own / 8 * exp2(-below / steps) < least) {
        below--;
    }
    return axis_walk(axis, own / 8 * exp2(-below / steps), own * 64 * exp2(above / steps),
                     (uint32_t)(AXIS_FINE + below + above), false, why);
}

static bool walk_rates(const struct axis_base *base, struct axis *axis, struct error *why)
{
    if (!point_serves(base->point)) {
        return walk_others(base, axis, why);
    }
    double own = own_rate(base->point);
    axis->unit = UNIT_COUNT;
    return (base->points == AXIS_FINE
                ? walk_searched_rates(base, axis, own, why)
                : axis_walk(axis, own / 8, own * 64, axis_points(base, 9), false, why)) &&
           (base->point->workload.rate == 0 || axis_usual_add_own(axis, own, NULL, why));
}

/* Bytes of the workload's distinct prompt tokens, if prefixes are kept in the tier. 0 if they are
 * not, or if the contents of prompts are unknown. */
static double prefix_bytes(const struct point *point, enum tier_id tier)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    bool keeps = false;
    for (uint32_t k = 1; point_serves(point) && k < tiers.count; k++) {
        keeps = keeps || tiers.of[k] == tier;
    }
    return keeps ? (double)point->requests->hashed.distinct_tokens *
                       (double)serving_token_bytes(&point->setup)
                 : 0;
}

/* If neither the scenario nor the machine sets it: from a 64th to all of the prefixes, or of the
 * tier. */
static bool walk_room(const struct axis_base *base, struct axis *axis, enum tier_id tier,
                      struct error *why)
{
    const struct setup *setup = &base->point->setup;
    if (setup->room[tier] > 0 || !profile_states(&setup->profile, tier_kinds[tier].capacity)) {
        return walk_others(base, axis, why);
    }
    double own = (double)base->plan->limit[tier], keeps = prefix_bytes(base->point, tier);
    double most = keeps > 0 ? fmin(keeps, own) : own;
    axis->unit = UNIT_BYTES;
    return axis_walk(axis, ceil(most / 64), most, axis_points(base, 9), true, why) &&
           axis_usual_add_own(axis, own, "none", why);
}

/* If the scenario sets none: from a quarter to all of the tokens that the server has room for. */
static bool walk_pool(const struct axis_base *base, struct axis *axis, struct error *why)
{
    const struct setup *setup = &base->point->setup;
    bool unsaid = setup->kv_pool_tokens == 0 && point_serves(base->point);
    if (!unsaid || mechanisms_offload(&setup->mechanisms)) {
        return walk_others(base, axis, why);
    }
    struct serving_memory memory;
    if (!serving_memory_plan(base->point, base->runs, &memory, why)) {
        return false;
    }
    double own = (double)memory.prefix.gpu_blocks * memory.prefix.block_tokens;
    axis->unit = UNIT_TOKENS;
    return axis_walk(axis, ceil(own / 4), own, axis_points(base, 9), true, why) &&
           axis_usual_add_own(axis, own, "none", why);
}

/* None to eight drafts; more win nothing by published lengths. */
static bool walk_drafts(const struct axis_base *base, struct axis *axis, struct error *why)
{
    bool good = base->point->setup.drafts.count > 0;
    axis->unit = UNIT_COUNT;
    if (!good) {
        error_usage(why, axis->option, 0, "nothing here says who drafts");
        error_expect(why, "--set 'drafts={count: 3, method: eagle3, acceptance: 70%%}'");
    }
    for (int count = 0; good && count <= 8; count++) {
        good = axis_add_number(axis, count, NULL, why);
    }
    return good;
}

static const struct usual {
    const char *key;
    bool (*walk)(const struct axis_base *base, struct axis *axis, struct error *why);
} usual[] = {
    {"mechanisms.budget", walk_budget}, {"batch", walk_batch},          {"context", walk_context},
    {"hardware.link", walk_links},      {"tensor_parallel", walk_gpus}, {"rate", walk_rates},
    {"kv_pool_tokens", walk_pool},      {AXIS_DRAFTS, walk_drafts},
};

bool axis_walk_usual(const struct axis_base *base, struct axis *axis, struct error *why)
{
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (strcmp(usual[i].key, axis->key) == 0) {
            return usual[i].walk(base, axis, why);
        }
    }
    enum tier_id tier = tier_of_room(axis->key);
    return tier != TIER_COUNT ? walk_room(base, axis, tier, why) : walk_others(base, axis, why);
}
