#include "decode/cost/cpu_attention.h"

#include "decode/cost/cost.h"

#include <math.h>

bool cpu_attends(const struct setup *setup, uint32_t layer)
{
    return setup->mechanisms.attention == ATTEND_HYBRID && !setup_attends_all(setup, layer);
}

bool cpu_attends_whole(const struct setup *setup, uint32_t layer)
{
    return setup->mechanisms.attention == ATTEND_CPU && setup_loads_whole(setup, layer);
}

uint32_t cpu_whole_threads(const struct setup *setup, struct trust *trust)
{
    double threads = cost_pool_threads(setup, trust);
    return (uint32_t)fmax(1, threads / cost_uplink_sharers(setup, trust));
}

uint32_t cpu_attention_threads(const struct setup *setup, struct trust *trust)
{
    bool hybrid = setup->mechanisms.attention == ATTEND_HYBRID;
    return hybrid ? cpu_whole_threads(setup, trust) : 0;
}
