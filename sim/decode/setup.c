/* A setup owns its model, profile, trace and text. */
#include "decode/setup.h"

#include <stdlib.h>
#include <string.h>

bool setup_attends_all(const struct setup *setup, uint32_t layer)
{
    const struct mechanisms *m = &setup->mechanisms;
    bool chosen =
        m->policy->chooses_own && !(layer == 0 && m->resident_heads == RESIDENT_FIRST_LAYER);
    return (m->selection >= 1 && !chosen) || layer < m->full_layers ||
           setup->model.layers[layer].attention == ATTENTION_SLIDING;
}

bool setup_loads_whole(const struct setup *setup, uint32_t layer)
{
    const struct mechanisms *m = &setup->mechanisms;
    return mechanisms_offload(m) &&
           (m->prefetch == PREFETCH_WHOLE_LAYER || layer < m->full_layers);
}

bool setup_asks_trace(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    bool without = m->budget.value == 0 && !m->budget.rest;
    bool fixed = without || m->prefetch == PREFETCH_WHOLE_LAYER || m->policy->by_position;
    return mechanisms_offload(m) && !(m->selection >= 1 && fixed);
}

double setup_entry_bytes(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    double key = (double)model_kv_head_bytes(&setup->model) / 2;
    return m->retrieval_keys * key + (double)m->retrieval_bytes;
}

void setup_init(struct setup *setup)
{
    memset(setup, 0, sizeof *setup);
    setup->warmup = SETUP_WARMUP_AUTO;
    setup->hbm_usable = 0.9;
    setup->batch = 1;
}

void setup_release(struct setup *setup)
{
    model_release(&setup->model);
    profile_release(&setup->profile);
    trace_close(setup->trace);
    free(setup->scenario);
    setup_init(setup);
}
