#include "predict/scenario/resolve_check.h"

#include "decode/plan/mass.h"
#include "model/parallel.h"
#include "policy/policy.h"

#include <math.h>

static bool is_measured(const struct profile *profile, enum curve_id id)
{
    return profile_states(profile, id) && profile->curves[id].basis == BASIS_MEASURED;
}

/* No mechanism uses a network. One that was measured is the machine's, and not a wish. */
static bool check_places(const struct profile *profile, struct error *why)
{
    const struct node *stated = node_get(profile->node, "network");
    if (stated != NULL && !is_measured(profile, CURVE_NETWORK_BANDWIDTH)) {
        node_error(stated, why,
                   "the machine has a 'network', but no mechanism sends KV to another server");
        return error_expect(why, "a machine without 'network'");
    }
    return true;
}

/* A scenario can give prefixes no more of a tier below host memory than the machine has. */
static bool check_rooms(const struct node *root, const struct setup *setup, struct error *why)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    char text[32];
    for (int tier = TIER_HOST + 1; tier < TIER_COUNT; tier++) {
        const struct tier_kind *kind = &tier_kinds[tier];
        bool both = setup->room[tier] > 0 && profile_states(&setup->profile, kind->capacity);
        double has = both ? profile_value(&setup->profile, kind->capacity, 0, &unseen) : INFINITY;
        if ((double)setup->room[tier] > has) {
            node_key_error(root, kind->room, why, "'%s' is more than the machine's %s has",
                           kind->room, kind->title);
            return error_expect(why, "at most %s",
                                units_format(has, UNIT_BYTES, text, sizeof text));
        }
    }
    return true;
}

static bool check_gpus(const struct node *root, const struct setup *setup, struct error *why)
{
    uint64_t there = setup->profile.gpus, asked = model_gpus(&setup->model);
    if (there == 0 || asked <= there) {
        return true;
    }
    node_key_error(root, "hardware", why,
                   "the model is spread over %llu GPUs, but the machine has %llu",
                   (unsigned long long)asked, (unsigned long long)there);
    return error_expect(why, "at most %llu, or a larger hardware.gpus", (unsigned long long)there);
}

/* What offloading fetches is of whole KV heads, and a prompt's exchanges are others. */
static bool resolve_parallel_check_context(const struct node *root, const struct setup *setup,
                                           struct error *why)
{
    static const char *const others[] = {"workload", "prompt"};
    const struct node *node = node_get(root, "decode_context_parallel");
    if (setup->model.parallel.context <= 1) {
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (node_stated(root, others[i]) != NULL) {
            node_error(node, why, "decode_context_parallel with '%s'", others[i]);
            return error_expect(why, "decode steps alone: a context and a batch");
        }
    }
    if (!mechanisms_offload(&setup->mechanisms)) {
        return true;
    }
    node_error(node, why, "decode_context_parallel, but system '%s' offloads KV",
               setup->system.name);
    return error_expect(why, "a system that keeps all KV in HBM, such as vllm");
}

static bool check_parts(const struct node *root, const struct setup *setup, struct error *why)
{
    if (!resolve_parallel_check_context(root, setup, why)) {
        return false;
    }
    if (setup->model.parallel.pipeline > 1 && setup->mechanisms.weights < 1) {
        node_key_error(root, "pipeline_parallel", why,
                       "the stages of a pipeline do not stream weights from host memory");
        return error_expect(why, "pipeline_parallel: 1, or mechanisms.weights=100%%");
    }
    return check_gpus(root, setup, why);
}

/* Why the replay cannot verify drafts; NULL: it can. */
static const char *drafts_refused(const struct point *point)
{
    const struct setup *setup = &point->setup;
    const struct mechanisms *m = &setup->mechanisms;
    if (point_serves(point)) {
        return "a server's steps";
    }
    if (!mechanisms_offload(m)) {
        return NULL;
    }
    bool compares = m->policy->needs_queries && m->policy != &policy_qsac;
    return compares                                          ? "a plug-in that compares queries"
           : m->policy->chooses_own                          ? "a policy that chooses by itself"
           : m->attention != ATTEND_GPU                      ? "attention on the CPU"
           : m->selection_margin > 0                         ? "a selection margin"
           : setup_asks_trace(setup) && setup->trace == NULL ? "an assumed hit ratio"
                                                             : NULL;
}

/* The KV of drafts is kept until they are verified: it must fit in the window of a sequence whose
 * KV is offloaded. */
static bool check_drafts(const struct node *root, const struct point *point, struct error *why)
{
    const struct setup *setup = &point->setup;
    const struct node *node = node_find(root, "drafts.count");
    const char *refused = setup->drafts.count > 0 ? drafts_refused(point) : NULL;
    uint64_t count = setup->drafts.count, window = setup_recent(setup);
    if (refused != NULL) {
        node_error(node, why, "drafts with %s are not computed", refused);
        return error_expect(why, "%s",
                            point_serves(point)
                                ? "a batch of decode steps, without 'workload'"
                                : "a single run of a system that fetches what it selects, or that "
                                  "keeps its KV in HBM");
    }
    if (mechanisms_offload(&setup->mechanisms) && window > 0 && count >= window) {
        node_error(node, why, "%llu drafts do not fit a window of %llu tokens",
                   (unsigned long long)count, (unsigned long long)window);
        return error_expect(why, "a 'count' below %llu, or a larger mechanisms.recent",
                            (unsigned long long)window);
    }
    return true;
}

/* What prompts of a server write to a disk, and read from it, is not timed. */
static bool check_disk(const struct node *root, const struct point *point, struct error *why)
{
    if (!point_serves(point) || !mechanisms_use_disk(&point->setup.mechanisms)) {
        return true;
    }
    const char *key = point->setup.mechanisms.disk_kv > 0 ? "disk_kv" : "disk_weights";
    const struct node *stated = node_get(node_get(root, "mechanisms"), key);
    node_error(stated != NULL ? stated : node_get(root, "system"), why,
               "a server's steps with '%s' are not computed", key);
    return error_expect(why, "a batch of decode steps, without 'workload'");
}

/* Selecting by attention mass needs measured masses. */
static bool check_scores(const struct node *merged, const struct setup *setup, struct error *why)
{
    if (setup->mechanisms.selection_margin == 0 || mass_is_measured(setup)) {
        return true;
    }
    node_key_error(merged, "selection_margin", why,
                   "'selection_margin' compares attention masses; those of trace '%.100s' are %s",
                   setup->trace_name,
                   setup->trace != NULL ? "generated or assumed, not measured" : "absent");
    return error_expect(why, "a recorded trace, such as trace: smollm2-135m, or a margin of 0");
}

bool resolve_check_machine(const struct node *root, const struct setup *setup, struct error *why)
{
    return check_places(&setup->profile, why) && check_rooms(root, setup, why) &&
           check_parts(root, setup, why);
}

bool resolve_check_point(const struct node *root, const struct node *merged,
                         const struct point *point, struct error *why)
{
    return check_drafts(root, point, why) && check_disk(root, point, why) &&
           check_scores(merged, &point->setup, why);
}
