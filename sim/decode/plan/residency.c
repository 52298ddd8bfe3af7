#include "decode/plan/residency.h"

#include "decode/plan/memory.h"

#include <math.h>

/* KV that may leave: all tokens of offloaded heads outside their windows. */
static double residency_leaving_bytes(const struct setup *setup, const struct plan *plan)
{
    double tokens = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        struct setup own = setup_at(setup, cohort->context);
        double window = (double)(own.mechanisms.sinks + setup_recent(&own));
        tokens += cohort->sequences * fmax(0, (double)cohort->context - window);
    }
    return tokens * (double)plan_offloaded_heads(plan) * (double)model_kv_head_bytes(&setup->model);
}

void residency_resolve(const struct setup *setup, struct plan *plan, struct trust *trust)
{
    struct memory_held *hbm = &plan->memory.in[TIER_GPU];
    double leaving = residency_leaving_bytes(setup, plan);
    if (setup->mechanisms.residency != RESIDENCY_PRESSURE || leaving == 0) {
        return;
    }
    double room = (double)memory_hbm_room(setup, &plan->memory, trust) - (double)hbm->all;
    double share = fmin(1, fmax(0, room / leaving));
    uint64_t stays = (uint64_t)floor(share * leaving);
    if (share == 1) {
        hbm->all -= hbm->cache;
        hbm->cache = 0;
    }
    plan->resident_share = share;
    hbm->kv += stays;
    hbm->all += stays;
}
