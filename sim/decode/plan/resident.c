/* Reuse difficulty after CLO: heads that miss often stay in HBM if the link cannot prefetch them in time. */

#include "decode/plan/resident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decode/mechanism_values.h"
#include "policy/policy.h"

/* A target head and its sort key. */
struct resident_ranked {
    uint32_t index; /* layer * kv_heads + head */
    double key;
};

static int by_key_ascending(const void *a, const void *b)
{
    const struct resident_ranked *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

void resident_importance(const struct setup *setup, struct plan *plan)
{
    for (uint32_t l = 0; l < plan->layers; l++) {
        for (uint32_t h = 0; h < plan->kv_heads; h++) {
            /* The plan has the heads of one GPU: the first of the model's. */
            struct replay_head *head = &plan->heads[l * plan->kv_heads + h];
            size_t of_model = (size_t)l * setup->model.kv_heads + h;
            head->importance =
                setup->model.importance != NULL ? setup->model.importance[of_model] : 1;
            if (setup->model.query_importance != NULL) {
                uint32_t group = setup->model.query_heads / setup->model.kv_heads;
                head->queries = group < REPLAY_MOST_QUERIES ? group : REPLAY_MOST_QUERIES;
                memcpy(head->query_importance, setup->model.query_importance + of_model * group,
                       head->queries * sizeof *head->query_importance);
            }
        }
    }
}

uint32_t resident_prefetchable(const struct setup *setup, const struct plan *plan,
                               struct trust *trust)
{
    uint64_t attended = 0, selected = 0;
    double compute = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        struct setup own = setup_at(setup, cohort->context);
        uint64_t window = setup->mechanisms->sinks + setup_recent(&own);
        selected += cohort->sizes.selected_tokens * cohort->sequences;
        attended += (cohort->sizes.selected_tokens + window) * cohort->sequences;
    }
    for (enum model_stage stage = MODEL_PRE; stage <= MODEL_POST; stage++) {
        uint64_t kernels = cost_stage_kernels(setup->mechanisms, stage);
        struct kernel kernel = cost_stage(setup, 1, stage, plan->batch, attended, kernels);
        trust_add(trust, kernel.trust);
        compute += kernel.ns;
    }
    double bytes =
        (double)selected * (double)model_kv_head_bytes(&setup->model) * keys_host_share(setup);
    double link = cost_transfer_rate(setup, trust) / 1e9;
    return bytes > 0 ? (uint32_t)fmin(compute * link / bytes, plan->kv_heads) : plan->kv_heads;
}

static uint32_t collect_candidates(const struct setup *setup, const double *head_cosine,
                                   const struct plan *plan, uint32_t prefetchable,
                                   struct resident_ranked *candidates)
{
    const struct trace_header *header = trace_header(setup->trace);
    const struct replay_plan target = {.layers = plan->layers, .kv_heads = plan->kv_heads};
    uint32_t count = 0;
    for (uint32_t l = 1; l < plan->layers; l++) {
        uint32_t first = count;
        for (uint32_t h = 0; h < plan->kv_heads; h++) {
            uint32_t index = l * plan->kv_heads + h;
            struct replay_source source = replay_source(header, &target, l, h);
            double difficulty =
                qsac_threshold(setup->mechanisms->policy_values, plan->heads[index].importance) -
                (head_cosine[source.layer * header->kv_heads + source.head] -
                 setup->mechanisms->resident_epsilon);
            if (difficulty > 0 && plan->heads[index].offloaded) {
                candidates[count++] = (struct resident_ranked){index, -difficulty};
            }
        }
        qsort(candidates + first, count - first, sizeof *candidates, by_key_ascending);
        uint32_t hard = count - first;
        count = first + (hard > prefetchable ? hard - prefetchable : 0);
    }
    return count;
}

/* How many more heads HBM can hold whole, each in place of its window and cache. */
static uint64_t room_for_heads(const struct setup *setup, const struct plan *plan)
{
    uint64_t offloaded = plan_offloaded_heads(plan);
    uint64_t used = memory_of(setup, plan, offloaded).in[TIER_GPU].all;
    if (offloaded == 0 || used >= plan->limit[TIER_GPU]) {
        return 0;
    }
    uint64_t fewer = memory_of(setup, plan, offloaded - 1).in[TIER_GPU].all;
    return fewer > used ? (plan->limit[TIER_GPU] - used) / (fewer - used) : UINT64_MAX;
}

static bool keep_hardest(const struct setup *setup, const double *head_cosine, struct plan *plan,
                         struct trust *trust, struct error *why)
{
    uint32_t most = plan->layers * plan->kv_heads;
    struct resident_ranked *candidates = array_zeroed(most, sizeof *candidates, why);
    if (candidates == NULL) {
        return false;
    }
    uint32_t prefetchable = resident_prefetchable(setup, plan, trust);
    uint32_t count = collect_candidates(setup, head_cosine, plan, prefetchable, candidates);
    uint64_t room = room_for_heads(setup, plan);
    qsort(candidates, count, sizeof *candidates, by_key_ascending);
    for (uint32_t i = 0; i < count && i < room; i++) {
        uint32_t index = candidates[i].index;
        plan->heads[index].offloaded = false;
        plan->offloaded[index / plan->kv_heads]--;
    }
    free(candidates);
    return true;
}

bool resident_choose(const struct setup *setup, const double *head_cosine, struct plan *plan,
                     struct trust *trust, struct error *why)
{
    bool difficulty = setup->mechanisms->resident_heads == RESIDENT_DIFFICULTY;
    for (uint32_t l = 0; l < plan->layers; l++) {
        bool away =
            memory_can_offload(setup, l) && !(l < mechanisms_resident_layers(setup->mechanisms));
        plan->offloaded[l] = away ? plan->kv_heads : 0;
        for (uint32_t h = 0; h < plan->kv_heads; h++) {
            plan->heads[l * plan->kv_heads + h].offloaded = away;
        }
    }
    return !difficulty || head_cosine == NULL || keep_hardest(setup, head_cosine, plan, trust, why);
}

uint64_t resident_most_offloaded(const struct setup *setup)
{
    uint64_t heads = 0;
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        bool away =
            memory_can_offload(setup, l) && l >= mechanisms_resident_layers(setup->mechanisms);
        heads += away ? model_kv_heads(&setup->model) : 0;
    }
    return heads;
}

void residency_resolve(const struct setup *setup, struct plan *plan, struct trust *trust)
{
    struct memory_held *hbm = &plan->memory.in[TIER_GPU];
    /* KV that may leave: all tokens of offloaded heads outside their windows. */
    double tokens = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        struct setup own = setup_at(setup, cohort->context);
        double window = (double)(own.mechanisms->sinks + setup_recent(&own));
        tokens += cohort->sequences * fmax(0, (double)cohort->context - window);
    }
    double leaving =
        tokens * (double)plan_offloaded_heads(plan) * (double)model_kv_head_bytes(&setup->model);
    if (setup->mechanisms->residency != RESIDENCY_PRESSURE || leaving == 0) {
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

/* Largest remainder: each item gets the whole part of its mean. The rest goes where means lost most. */

int64_t apportion_mean(int64_t sum, uint32_t count)
{
    return (2 * sum + count) / (2 * (int64_t)count);
}

void apportion(const int64_t *sums, size_t n, uint32_t count, int64_t total, int64_t *means)
{
    int64_t left = total;
    for (size_t i = 0; i < n; i++) {
        means[i] = sums[i] / count;
        left -= means[i];
    }
    while (left > 0) {
        size_t most = 0;
        int64_t most_lost = -1;
        for (size_t i = 0; i < n; i++) {
            int64_t lost = sums[i] - means[i] * count;
            if (lost > most_lost) {
                most = i;
                most_lost = lost;
            }
        }
        means[most]++;
        left--;
    }
}
