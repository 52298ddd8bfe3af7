/* There are three kinds of heads: those that attend to everything, offloaded ones whose mass is in
 * the ledger (they select, or their policy chooses), and resident ones that select with the true
 * query. */
#include "decode/plan/mass.h"

#include "core/array.h"
#include "decode/plan/memory.h"
#include "trace/source.h"

#include <stdlib.h>

bool mass_is_measured(const struct setup *setup)
{
    struct trace_source source = {.masses = false};
    if (setup->trace != NULL) {
        trace_source_read(trace_header(setup->trace), &source);
    }
    return setup->trace_basis == BASIS_MEASURED && source.masses;
}

/* A cohort and how to replay it. */
struct mass_view {
    const struct setup *setup; /* at its context */
    const struct plan *plan;
    uint32_t cohort;
    const struct replay_means *means;
};

/* The mass of fresh demands of the resident heads: the same replay without a cache. */
static bool replay_resident(const struct mass_view *view, struct ledger *ledger, struct error *why)
{
    const struct plan *plan = view->plan;
    size_t count = (size_t)plan->layers * plan->kv_heads;
    struct replay_head *heads = array_zeroed(count, sizeof *heads, why);
    struct replay_plan replay = plan_replay(view->setup, plan, view->cohort);
    replay.policy = policy_find("none", NULL, 0, why);
    if (heads == NULL || replay.policy == NULL) {
        free(heads);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t layer = (uint32_t)(i / plan->kv_heads);
        heads[i].offloaded = !plan->heads[i].offloaded && !setup_attends_own(view->setup, layer);
    }
    replay.heads = heads;
    replay.policy_values = NULL;
    replay.capacity = 0;
    replay.block_span = BLOCK_UNIT;
    replay.speculates = false;
    bool good = replay_run_kept(view->setup->trace, &replay, 1, view->means, ledger, why);
    free(heads);
    return good;
}

/* The number of resident heads that select, over all layers. */
static uint64_t count_selecting(const struct mass_view *view)
{
    const struct plan *plan = view->plan;
    uint64_t heads = 0;
    for (uint32_t l = 0; l < plan->layers; l++) {
        heads += setup_attends_own(view->setup, l) ? 0 : plan->kv_heads - plan->offloaded[l];
    }
    return heads;
}

/* Add the mass of `pairs` heads that attend to everything to each step. */
static void add_whole(double pairs, uint32_t steps, struct mass *out)
{
    for (uint32_t s = 0; s < steps; s++) {
        out->at_step[s] += pairs;
        out->most += pairs;
    }
}

/* Add the mass of a layer's rows; nothing if there are none. */
static void mass_add_rows(const struct plan *plan, const struct ledger_row *rows, uint32_t layer,
                          struct mass *out)
{
    for (uint32_t s = 0; rows != NULL && s < plan->steps; s++) {
        const struct ledger_row *row = &rows[(size_t)s * plan->layers + layer];
        out->at_step[s] += row->mass;
        out->most += row->mass_most;
    }
}

/* Add the mass of a cohort's pairs. */
static bool mass_add(const struct mass_view *view, const struct ledger *ledger, struct mass *out,
                     struct error *why)
{
    const struct plan *plan = view->plan;
    const struct ledger_row *rows = ledger != NULL ? ledger_part(ledger, view->cohort) : NULL;
    bool chooses = rows != NULL && view->setup->mechanisms.policy->chooses_own;
    uint32_t sequences = plan->cohorts[view->cohort].sequences;
    bool selecting = sequences > 0 && count_selecting(view) > 0;
    struct ledger resident;
    ledger_init(&resident);
    if (selecting && !replay_resident(view, &resident, why)) {
        ledger_release(&resident);
        return false;
    }
    for (uint32_t l = 0; l < plan->layers; l++) {
        if (setup_attends_own(view->setup, l)) {
            uint32_t own = chooses ? plan->offloaded[l] : 0;
            add_whole((double)(plan->kv_heads - own) * sequences, plan->steps, out);
            mass_add_rows(plan, chooses ? rows : NULL, l, out);
            continue;
        }
        mass_add_rows(plan, rows, l, out);
        mass_add_rows(plan, selecting ? resident.rows : NULL, l, out);
    }
    ledger_release(&resident);
    return true;
}

/* Does any head attend to a part of its context only? */
static bool mass_any_selects(const struct setup *setup, const struct plan *plan)
{
    bool selects = mechanisms_offload(&setup->mechanisms) && setup->mechanisms.policy->chooses_own;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        struct setup own = setup_at(setup, plan->cohorts[i].context);
        for (uint32_t l = 0; l < plan->layers; l++) {
            selects = selects || !setup_attends_own(&own, l);
        }
    }
    return selects;
}

/* Sums over heads and sequences become means. */
static void mass_finish(const struct plan *plan, struct mass *out)
{
    double pairs = (double)plan->kv_heads * plan->batch * plan->layers;
    for (uint32_t s = 0; s < plan->steps; s++) {
        out->least += out->at_step[s];
        out->at_step[s] /= pairs;
    }
    out->least /= pairs * plan->steps;
    out->most /= pairs * plan->steps;
}

bool mass_recall(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 const struct replay_means *means, struct mass *out, struct error *why)
{
    *out = (struct mass){.known = mass_is_measured(setup) || !mass_any_selects(setup, plan)};
    out->at_step = array_zeroed(plan->steps, sizeof *out->at_step, why);
    if (out->at_step == NULL) {
        return false;
    }
    for (uint32_t i = 0; out->known && i < plan->cohort_count; i++) {
        struct setup own = setup_at(setup, plan->cohorts[i].context);
        own.trace = setup_cohort(setup, i).trace;
        if (!mass_add(&(struct mass_view){&own, plan, i, means}, ledger, out, why)) {
            mass_release(out);
            return false;
        }
    }
    mass_finish(plan, out);
    return true;
}

void mass_release(struct mass *mass)
{
    free(mass->at_step);
    *mass = (struct mass){0};
}
