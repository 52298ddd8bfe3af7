#include "predict/decode/threshold.h"

#include "core/array.h"
#include "decode/replay/replay_kept.h"
#include "policy/policy.h"
#include "policy/qsac.h"
#include "predict/decode/shared.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* What is replayed with each eta. */
struct trials {
    const struct trace *trace;
    struct replay_plan plan;
    const struct run_context *context;
    const double *values; /* as the scenario has them */
};

bool threshold_is_chosen(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    return setup->trace != NULL && m->policy == &policy_qsac && qsac_reuse(m->policy_values) > 0;
}

/* The share of pairs that reuse their sets, over layers that are not loaded whole. */
static bool try_values(void *context, const double *values, double *reused, struct error *why)
{
    const struct trials *trials = context;
    struct replay_plan plan = trials->plan;
    struct ledger ledger;
    uint64_t all = 0, reuses = 0;
    plan.policy_values = values;
    ledger_init(&ledger);
    struct replay_means means = run_means(trials->context);
    means.meter = NULL; /* counts expected replays only */
    bool good = replay_run_kept(trials->trace, &plan, 1, &means, &ledger, why);
    for (size_t i = 0; good && i < (size_t)ledger.steps * ledger.layers; i++) {
        bool counts = i % ledger.layers >= plan.whole_layers;
        all += counts ? ledger.rows[i].offloaded_heads : 0;
        reuses += counts ? ledger.rows[i].reused_heads : 0;
    }
    *reused = all > 0 ? (double)reuses / (double)all : 0;
    ledger_release(&ledger);
    return good;
}

static void *make_eta(void *context, struct error *why)
{
    struct trials *trials = context;
    double *values = array_zeroed(POLICY_MOST_PARAMS, sizeof *values, why);
    if (values != NULL) {
        memcpy(values, trials->values, POLICY_MOST_PARAMS * sizeof *values);
        if (!qsac_choose_eta(values, try_values, trials, why)) {
            free(values);
            values = NULL;
        }
    }
    return values;
}

static const struct shared_kind eta_kind = {make_eta, free};

bool threshold_choose(const struct setup *setup, const struct plan *plan,
                      const struct run_context *context, double *values, struct error *why)
{
    uint32_t longest = plan->cohort_count - 1;
    struct setup own = setup_at(setup, plan->cohorts[longest].context);
    size_t count = (size_t)plan->layers * plan->kv_heads;
    struct replay_head *heads = array_zeroed(count, sizeof *heads, why);
    struct trials trials = {setup_cohort(setup, longest).trace, plan_replay(&own, plan, longest),
                            context, setup->mechanisms.policy_values};
    for (size_t i = 0; heads != NULL && i < count; i++) {
        heads[i] = (struct replay_head){true, plan->heads[i].importance};
    }
    trials.plan.heads = heads;
    trials.plan.batch = 1;
    trials.plan.before = trials.plan.behind = 0;
    uint64_t key;
    struct shared_entry *entry = NULL;
    bool good = heads != NULL && trace_hash(trials.trace, &key, why);
    const double *chosen = NULL;
    if (good) {
        key = XXH64("eta", 3, key ^ plan_replay_hash(&trials.plan));
        chosen = shared_get(context->shared, &eta_kind, key, &trials, &entry, why);
    }
    if (chosen != NULL) {
        memcpy(values, chosen, POLICY_MOST_PARAMS * sizeof *values);
    }
    shared_release(context->shared, entry);
    free(heads);
    return chosen != NULL;
}
