#include "decode/cost/cpu_attention.h"

#include "decode/cost/cost.h"

#include <math.h>

bool cpu_attends(const struct setup *setup, uint32_t layer)
{
    return setup->mechanisms.attention == ATTEND_HYBRID && !setup_attends_all(setup, layer);
}

uint32_t cpu_attention_threads(const struct setup *setup, struct trust *trust)
{
    const struct mechanisms *m = &setup->mechanisms;
    if (m->attention != ATTEND_HYBRID) {
        return 0;
    }
    double threads = cost_pool_threads(setup, trust);
    return (uint32_t)fmax(1, threads / cost_uplink_sharers(setup, trust));
}
