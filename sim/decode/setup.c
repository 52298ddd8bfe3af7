/* A setup owns its mechanisms, model, drafts and profile, and holds a reference to each of its traces. */
#include "decode/setup.h"
#include "decode/mechanism_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t setup_cohort_count(const struct setup *setup)
{
    return setup->cohorts != NULL ? setup->cohort_count : 1;
}

struct setup_cohort setup_cohort(const struct setup *setup, uint32_t cohort)
{
    return setup->cohorts != NULL ? setup->cohorts[cohort]
                                  : (struct setup_cohort){.context = setup->context,
                                                          .prompt = setup->prompt,
                                                          .sequences = 1,
                                                          .trace = setup->trace};
}

struct setup setup_at(const struct setup *setup, uint64_t context)
{
    struct setup own = *setup;
    own.context = context;
    own.cohorts = NULL;
    return own;
}

bool setup_grow(struct setup *setup, struct error *why)
{
    enum { PARTS = SETUP_MOST_LENGTHS - 3 };
    const struct mechanisms *m = setup->mechanisms;
    uint64_t fills = m->budget.unit == UNIT_TOKENS ? (uint64_t)m->budget.value : 0;
    uint64_t lengths[SETUP_MOST_LENGTHS] = {fills, fills > 0 ? fills + m->granularity : 0};
    for (uint32_t i = 0; i <= PARTS; i++) {
        lengths[2 + i] = setup->context - (setup->grows - 1) * (PARTS - i) / PARTS;
    }
    uint64_t at = setup->context - setup->grows;
    setup->cohorts = array_zeroed(SETUP_MOST_LENGTHS, sizeof *setup->cohorts, why);
    while (setup->cohorts != NULL && at < setup->context) {
        uint64_t next = setup->context; /* the shortest of those that are left */
        for (uint32_t i = 0; i < SETUP_MOST_LENGTHS; i++) {
            next = lengths[i] > at && lengths[i] < next ? lengths[i] : next;
        }
        setup->cohorts[setup->cohort_count++].context = at = next;
    }
    return setup->cohorts != NULL;
}

bool setup_grows(const struct setup *setup)
{
    return setup->cohorts != NULL && setup->grows > 0;
}

struct setup setup_length(const struct setup *setup, uint32_t length)
{
    struct setup own = setup_at(setup, setup->cohorts[length].context);
    own.trace = setup->cohorts[length].trace;
    own.grows -= setup->context - own.context;
    return own;
}

struct setup setup_whole(const struct setup *setup)
{
    return setup_grows(setup) ? setup_length(setup, setup->cohort_count - 1) : *setup;
}

bool setup_at_any(const struct setup *setup, bool (*holds)(const struct setup *own))
{
    bool any = false;
    for (uint32_t i = 0; i < setup_cohort_count(setup); i++) {
        struct setup own = setup_at(setup, setup_cohort(setup, i).context);
        any = any || holds(&own);
    }
    return any;
}

bool setup_attends_all(const struct setup *setup, uint32_t layer)
{
    const struct mechanisms *m = setup->mechanisms;
    bool chosen = m->policy->chooses_own && layer >= mechanisms_resident_layers(m);
    return (!setup_selects(setup) && !chosen) || layer < m->full_layers ||
           model_layer_local(&setup->model, layer);
}

bool setup_attends_own(const struct setup *setup, uint32_t layer)
{
    return setup_attends_all(setup, layer) ||
           (setup_indexes(setup) && strcmp(mechanisms_lossless(setup->mechanisms), "native") == 0);
}

/* Does the policy that chooses what is attended to have room for all of it? */
static bool chooses_all(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    const struct amount *budget = &m->budget;
    double share = budget->unit == UNIT_TOKENS  ? budget->value / (double)setup->context
                   : budget->unit == UNIT_SHARE ? budget->value
                                                : 0;
    return m->policy->chooses_own && !budget->rest && share >= 1 && !setup_selects(setup);
}

const char *setup_lossless(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    bool exact = m->ffn_active >= 1 && !mechanisms_remake_keys(m); /* all neurons, all of a key */
    bool own = exact;
    for (uint32_t i = 0; i < setup_cohort_count(setup); i++) {
        struct setup at = setup_at(setup, setup_cohort(setup, i).context);
        for (uint32_t l = 0; l < setup->model.layer_count && !chooses_all(&at); l++) {
            exact = exact && setup_attends_all(&at, l);
            own = own && setup_attends_own(&at, l);
        }
    }
    return exact ? "exact" : own ? "native" : "lossy";
}

bool setup_loads_whole(const struct setup *setup, uint32_t layer)
{
    const struct mechanisms *m = setup->mechanisms;
    return mechanisms_offload(m) && (mechanisms_load_whole(m) || layer < m->full_layers);
}

bool setup_asks_trace(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    bool without = m->budget.value == 0 && !m->budget.rest;
    bool fixed = without || mechanisms_load_whole(m) || m->policy->by_position;
    return mechanisms_offload(m) && !(!setup_selects(setup) && fixed);
}

double setup_share(const struct setup *setup, const struct amount *extent)
{
    return extent->unit == UNIT_TOKENS ? fmin(extent->value / (double)setup->context, 1)
                                       : extent->value;
}

uint64_t setup_recent(const struct setup *setup)
{
    double share = setup_share(setup, &setup->mechanisms->recent);
    return setup->mechanisms->recent.unit == UNIT_TOKENS
               ? (uint64_t)setup->mechanisms->recent.value
               : (uint64_t)llround(share * (double)setup->context);
}

bool setup_selects(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    return setup_share(setup, &m->selection) < 1 || m->selection_margin > 0;
}

void setup_resolve_native(struct setup *setup)
{
    struct mechanisms *m = setup->mechanisms;
    /* A copy engine cannot move the scattered tokens of a selection. */
    bool contiguous = mechanisms_offload(m) && !mechanisms_cpu_selects(m) &&
                      (m->transfer == TRANSFER_COPY_ENGINE || m->transfer == TRANSFER_PAGEABLE);
    if (setup_indexes(setup) && !contiguous) {
        m->selection = (struct amount){.unit = UNIT_TOKENS, .value = setup->model.index_topk};
    }
}

bool setup_retrieves(const struct setup *setup)
{
    int retrieval = setup->mechanisms->retrieval;
    return retrieval == RETRIEVAL_NATIVE ? mechanisms_select(setup->mechanisms)
                                         : retrieval != RETRIEVAL_NONE;
}

bool setup_indexes(const struct setup *setup)
{
    return setup->mechanisms->retrieval == RETRIEVAL_NATIVE && setup->model.index_topk > 0;
}

bool setup_selects_in(const struct setup *setup, uint32_t layer)
{
    return !setup_indexes(setup) || !setup->model.layers[layer].shares_index;
}

uint32_t setup_queries(const struct setup *setup)
{
    return setup->drafts.count + 1;
}

void setup_init(struct setup *setup)
{
    memset(setup, 0, sizeof *setup);
    setup->warmup = SETUP_WARMUP_AUTO;
    setup->hbm_usable = 0.9;
    setup->hybrid_kv = true;
    setup->batch = 1;
    setup->seed = SETUP_SEED;
}

void setup_close_traces(struct setup *setup)
{
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        if (setup->cohorts[i].trace != setup->trace) {
            trace_close(setup->cohorts[i].trace);
        }
        setup->cohorts[i].trace = NULL;
    }
    trace_close(setup->trace);
    setup->trace = NULL;
}

void setup_release(struct setup *setup)
{
    free(setup->mechanisms);
    model_release(&setup->model);
    drafts_release(&setup->drafts);
    profile_release(&setup->profile);
    setup_close_traces(setup);
    free(setup->cohorts);
    setup_init(setup);
}
