/* Three kinds of heads: those that attend to everything, those whose ledger says what they attended
 * to (they select, or their policy chooses), and resident ones that select with the true query. */
#include "study/mass.h"

#include "base/array.h"
#include "decode/memory.h"
#include "trace/source.h"

#include <stdlib.h>

static double ledger_mass(const struct ledger *ledger, uint32_t layer)
{
    double mass = 0;
    for (uint32_t s = 0; s < ledger->steps; s++) {
        mass += ledger->rows[(size_t)s * ledger->layers + layer].mass;
    }
    return mass;
}

/* What a fresh demand of the resident heads would attend to: the same replay without a cache. */
static bool replay_resident(const struct setup *setup, const struct plan *plan, uint32_t threads,
                            struct ledger *ledger, struct error *why)
{
    size_t count = (size_t)plan->layers * plan->kv_heads;
    struct replay_head *heads = array_zeroed(count, sizeof *heads, why);
    struct replay_plan replay = plan_replay(setup, plan);
    replay.policy = policy_find("none", NULL, 0, why);
    if (heads == NULL || replay.policy == NULL) {
        free(heads);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t layer = (uint32_t)(i / plan->kv_heads);
        heads[i].offloaded = !plan->heads[i].offloaded && !setup_attends_all(setup, layer);
    }
    replay.heads = heads;
    replay.policy_values = NULL;
    replay.capacity = 0;
    replay.block_span = BLOCK_UNIT;
    replay.speculates = false;
    bool good = replay_run(setup->trace, &replay, threads, ledger, why);
    free(heads);
    return good;
}

/* Resident heads that select, over all layers. */
static uint64_t count_selecting(const struct setup *setup, const struct plan *plan)
{
    uint64_t heads = 0;
    for (uint32_t l = 0; l < plan->layers; l++) {
        heads += setup_attends_all(setup, l) ? 0 : plan->kv_heads - plan->offloaded[l];
    }
    return heads;
}

/* Does any head, or its policy, leave something out? */
static bool any_selects(const struct setup *setup, uint32_t layers)
{
    bool selects = mechanisms_offload(&setup->mechanisms) && setup->mechanisms.policy->chooses_own;
    for (uint32_t l = 0; l < layers; l++) {
        selects = selects || !setup_attends_all(setup, l);
    }
    return selects;
}

static bool masses_are_measured(const struct setup *setup)
{
    struct trace_source source = {.masses = false};
    if (setup->trace != NULL) {
        trace_source_read(trace_header(setup->trace), &source);
    }
    return setup->trace_basis == BASIS_MEASURED && source.masses;
}

bool mass_recall(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 uint32_t threads, bool *known, double *recall, struct error *why)
{
    struct ledger resident;
    uint64_t selecting = count_selecting(setup, plan);
    double pairs = (double)plan->kv_heads * plan->batch * plan->steps, mass = 0;
    *known = masses_are_measured(setup) || !any_selects(setup, plan->layers);
    if (!*known) {
        return true;
    }
    bool chooses = ledger != NULL && setup->mechanisms.policy->chooses_own;
    ledger_init(&resident);
    if (selecting > 0 && !replay_resident(setup, plan, threads, &resident, why)) {
        ledger_release(&resident);
        return false;
    }
    for (uint32_t l = 0; l < plan->layers; l++) {
        if (setup_attends_all(setup, l)) {
            double own = chooses ? (double)plan->offloaded[l] * plan->batch * plan->steps : 0;
            mass += pairs - own + (chooses ? ledger_mass(ledger, l) : 0);
            continue;
        }
        mass += ledger != NULL ? ledger_mass(ledger, l) : 0;
        mass += selecting > 0 ? ledger_mass(&resident, l) : 0;
    }
    ledger_release(&resident);
    *recall = mass / (pairs * plan->layers);
    return true;
}
