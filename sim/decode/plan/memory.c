/* Bytes of every tier, in doubles: exact below 2^53 (8 PiB), and a sum past 64 bits saturates. */

#include "decode/plan/memory.h"

#include <math.h>

#include "decode/cost/attention.h"
#include "decode/mechanism_values.h"
#include "model/sharding.h"

static uint64_t memory_whole(double bytes)
{
    return bytes >= 9e18 ? (uint64_t)9e18 : (uint64_t)llround(bytes);
}

bool memory_can_offload(const struct setup *setup, uint32_t layer)
{
    return mechanisms_offload(setup->mechanisms) && !model_layer_local(&setup->model, layer);
}

/* RetroInfer's clusters: about `retrieval_tokens` tokens each, a multiple of 8 and of the segments. */
static uint64_t cluster_count(uint64_t context, const struct mechanisms *m)
{
    uint64_t tokens = m->retrieval_tokens;
    uint64_t segments = (context + m->cluster_segment / 2) / m->cluster_segment;
    uint64_t step = segments > 0 ? segments : 1;
    while (step % 8 != 0) {
        step *= 2;
    }
    uint64_t clusters = (context + tokens / 2) / tokens;
    uint64_t snapped = (clusters + step / 2) / step * step;
    return snapped > 0 ? snapped : step;
}

/* HBM left for the cache. Sets the cache of all heads to one block on the way. */
static double rest_bytes(const struct setup *setup, struct plan *plan, uint64_t offloaded)
{
    for (uint32_t i = 0; i < plan->cohort_count; i++) { /* not 0, which has other buffers */
        plan->cohorts[i].sizes.cache_tokens = setup->mechanisms->granularity;
    }
    struct memory memory = memory_of(setup, plan, offloaded);
    return fmax(0, (double)memory_limit(setup, &memory, TIER_GPU, TRUST_UNSEEN) -
                       (double)memory.in[TIER_GPU].all);
}

double memory_mean_context(const struct plan *plan)
{
    double tokens = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        tokens += (double)plan->cohorts[i].context * plan->cohorts[i].sequences;
    }
    return tokens / plan->batch;
}

/* Bytes of a token in the cache of a KV head: K and V, or the head's part of an activation. */
static double cached_bytes(const struct setup *setup)
{
    const struct model *model = &setup->model;
    return setup->mechanisms->representation == REPRESENTATION_KV
               ? (double)model_kv_head_bytes(model) * keys_buffer_share(setup)
               : (double)model_activation_bytes(model) / model_kv_heads(model);
}

/* Tokens that a budget in bytes pays for, for a head with the mean context; 0 for other budgets. */
static double paid_tokens(const struct setup *setup, struct plan *plan, uint64_t offloaded)
{
    const struct amount *budget = &setup->mechanisms->budget;
    double heads = (double)offloaded * plan->batch;
    if (heads == 0 || !(budget->rest || budget->unit == UNIT_BYTES)) {
        return 0;
    }
    double all = budget->rest ? rest_bytes(setup, plan, offloaded) : budget->value;
    return all / (heads * cached_bytes(setup));
}

/* Tokens of a head that the budget pays for, not yet rounded to blocks. `paid`: for a budget in bytes. */
static double budget_tokens(const struct setup *setup, const struct head_sizes *sizes, double paid)
{
    const struct amount *budget = &setup->mechanisms->budget;
    switch (budget->rest ? UNIT_BYTES : budget->unit) {
    case UNIT_BYTES:
        return paid;
    case UNIT_SHARE:
        return round(budget->value * (double)setup->context);
    case UNIT_TIMES:
        return budget->value * (double)sizes->selected_tokens;
    case UNIT_TOKENS:
        return budget->value;
    default:
        return 0;
    }
}

/* Entries of the index, and how many are selected and estimated. */
static void size_selection(const struct setup *setup, struct head_sizes *out)
{
    const struct mechanisms *m = setup->mechanisms;
    double share = setup_share(setup, &m->selection);
    out->entries = !setup_retrieves(setup) ? 0
                   : m->retrieval == RETRIEVAL_CLUSTERS
                       ? cluster_count(setup->context, m)
                       : (setup->context + m->retrieval_tokens - 1) / m->retrieval_tokens;
    out->estimated_entries = (uint64_t)llround(m->estimation * (double)out->entries);
    out->selected_tokens =
        m->retrieval == RETRIEVAL_CLUSTERS
            ? (uint64_t)llround(share * (double)out->entries) * m->retrieval_tokens
            : (uint64_t)llround(share * (double)setup->context);
    if (out->selected_tokens > setup->context) { /* clusters are rounded up */
        out->selected_tokens = setup->context;
    }
}

static bool check_selection(const struct setup *setup, const struct head_sizes *sizes,
                            struct error *why)
{
    const struct mechanisms *m = setup->mechanisms;
    if (sizes->selected_tokens == 0) {
        uint64_t least = m->retrieval == RETRIEVAL_CLUSTERS ? m->retrieval_tokens : 1;
        error_usage(why, NULL, 0, "a selection of %.3g %% of %llu tokens is empty",
                    100 * setup_share(setup, &m->selection), (unsigned long long)setup->context);
        return error_expect(why, "a larger one, such as %.3g %% (tokens: %llu)",
                            100 * (double)least / (double)setup->context,
                            (unsigned long long)least);
    }
    uint64_t chosen = sizes->selected_tokens / m->retrieval_tokens;
    if (sizes->estimated_entries > 0 && chosen + sizes->estimated_entries > sizes->entries) {
        error_usage(why, NULL, 0, "selection and estimation together are more than all entries");
        return error_expect(why, "at most %llu entries, not %llu + %llu",
                            (unsigned long long)sizes->entries, (unsigned long long)chosen,
                            (unsigned long long)sizes->estimated_entries);
    }
    return true;
}

/* Tokens of a head that the budget pays for, in whole blocks. */
static uint64_t budget_blocks(const struct setup *setup, const struct head_sizes *sizes,
                              double paid_bytes)
{
    uint64_t block = setup->mechanisms->granularity;
    double paid = budget_tokens(setup, sizes, paid_bytes);
    uint64_t all = (setup->context + block - 1) / block * block; /* the last one may not be full */
    if (paid >= (double)all) {
        return setup->context;
    }
    return (uint64_t)floor(paid / (double)block + 1e-9) * block;
}

/* Tokens in the cache of a policy that reuses whole selections: at least one of them, and no more where a
 * larger cache would answer alike. 0: the budget, before any rounding, does not pay for one. */
static uint64_t selection_blocks(const struct setup *setup, const struct head_sizes *sizes,
                                 double paid_bytes, uint64_t cached)
{
    double asked = budget_tokens(setup, sizes, paid_bytes);
    double selected = setup_share(setup, &setup->mechanisms->selection) * (double)setup->context;
    if (asked < (double)sizes->selected_tokens && asked + 0.5 < selected) {
        return 0;
    }
    bool more = cached > sizes->selected_tokens && !setup->mechanisms->policy->ignores_capacity;
    return more ? cached : sizes->selected_tokens;
}

/* Set the cache to the blocks that the budget pays for. If K and V are recomputed these are
 * activations: `split` gets them, and its other parts are not known yet. */
static bool size_cache(const struct setup *setup, uint64_t offloaded, uint32_t batch, double paid,
                       struct head_sizes *out, struct error *why)
{
    const struct mechanisms *m = setup->mechanisms;
    uint64_t cached = budget_blocks(setup, out, paid);
    if (m->budget.value > 0 && offloaded > 0 && cached == 0) {
        error_usage(why, NULL, 0, "the budget is less than one block for each head");
        return error_expect(why, "at least %llu tokens for each of %llu heads of %u sequences",
                            (unsigned long long)m->granularity, (unsigned long long)offloaded,
                            batch);
    }
    bool whole = offloaded > 0 && m->policy->needs_queries;
    if (whole && (cached = selection_blocks(setup, out, paid, cached)) == 0) {
        error_usage(why, NULL, 0,
                    "policy '%s' caches whole selections, and the budget is less than one",
                    m->policy->name);
        return error_expect(why, "a budget of at least 1x");
    }
    bool kv = m->representation == REPRESENTATION_KV;
    out->cache_tokens = kv ? cached : 0;
    out->split = (struct split){.act_hbm = kv ? 0 : cached, .kv = kv ? setup->context : 0};
    return true;
}

/* Split every cohort's context with the same share, which is balanced for the mean sequence. */
static void split_contexts(const struct setup *setup, struct plan *plan)
{
    double held = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        held += (double)cohort->sizes.split.act_hbm * cohort->sequences;
    }
    double share =
        representation_share(setup, plan->batch, memory_mean_context(plan), held / plan->batch);
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        struct cohort *cohort = &plan->cohorts[i];
        struct split *split = &cohort->sizes.split;
        *split = representation_split(setup, cohort->context, split->act_hbm, share);
    }
}

bool memory_head_sizes(const struct setup *setup, uint64_t offloaded, struct plan *plan,
                       struct error *why)
{
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        struct head_sizes *sizes = &plan->cohorts[i].sizes;
        struct setup own = setup_at(setup, plan->cohorts[i].context);
        *sizes = (struct head_sizes){0};
        size_selection(&own, sizes);
        if (!check_selection(&own, sizes, why)) {
            return false;
        }
    }
    double paid = paid_tokens(setup, plan, offloaded), mean = memory_mean_context(plan);
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        struct cohort *cohort = &plan->cohorts[i];
        struct setup own = setup_at(setup, cohort->context);
        if (!size_cache(&own, offloaded, plan->batch, paid * ((double)cohort->context / mean),
                        &cohort->sizes, why)) {
            return false;
        }
    }
    if (setup->mechanisms->representation != REPRESENTATION_KV) {
        split_contexts(setup, plan);
    }
    return true;
}

/* KV on the host, or activations in its place: a copy of everything; with attention on the CPU only
 * the tokens outside the window; nothing if the policy deletes what it evicts. */
static double host_kv_bytes(const struct setup *setup, const struct head_sizes *sizes,
                            uint64_t offloaded, uint32_t batch)
{
    const struct mechanisms *m = setup->mechanisms;
    if (mechanisms_drop(m)) {
        return 0;
    }
    double pairs = (double)offloaded * batch, token = (double)model_kv_head_bytes(&setup->model);
    if (m->attention != ATTEND_HYBRID) {
        return pairs / model_kv_heads(&setup->model) * split_host_bytes(setup, &sizes->split);
    }
    double window = (double)(m->sinks + setup_recent(setup) + sizes->cache_tokens);
    return pairs * fmax(0, (double)setup->context - window) * (token + CPU_AVERAGE_BYTES);
}

static uint32_t indexed_layers(const struct setup *setup)
{
    uint32_t layers = 0;
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        layers += setup_attends_all(setup, l) || !setup_selects_in(setup, l) ? 0 : 1;
    }
    return layers;
}

/* The index of all layers. */
static double memory_index_bytes(const struct setup *setup, const struct head_sizes *sizes,
                                 uint32_t batch)
{
    const struct mechanisms *m = setup->mechanisms;
    double entry = m->retrieval_in_place ? 0 : retrieval_entry_bytes(setup);
    double heads = (double)indexed_layers(setup) * model_kv_heads(&setup->model);
    if (m->estimation > 0) { /* the summary of an entry is a key and a value */
        entry = fmax(entry, (double)model_kv_head_bytes(&setup->model));
    }
    return heads * (double)sizes->entries * entry * batch;
}

/* The index in HBM. If it is on the host, two buffers of a layer's; with the CPU's attention, averages. */
static double metadata_bytes(const struct setup *setup, const struct head_sizes *sizes,
                             uint64_t offloaded, uint32_t batch)
{
    const struct mechanisms *m = setup->mechanisms;
    if (m->retrieval_on == RETRIEVAL_ON_CPU) {
        return 0;
    }
    if (m->attention == ATTEND_HYBRID) {
        return (double)offloaded * (double)sizes->cache_tokens * CPU_AVERAGE_BYTES * batch;
    }
    if (m->retrieval_stream) {
        return 2.0 * (double)sizes->entries * retrieval_entry_bytes(setup) *
               model_kv_heads(&setup->model) * batch;
    }
    return memory_index_bytes(setup, sizes, batch);
}

/* Memory that grows with the sequences. */
struct held {
    double resident, window, cache, metadata; /* HBM */
    double host_kv, staging, index;           /* below HBM, of one GPU; a disk may have some KV */
    uint32_t indexed;                         /* layers with an index, in any sequence */
};

/* Bytes of all KV and states of a sequence of the setup's context, and of the network that drafts. */
static double kept_sequence_bytes(const struct setup *setup)
{
    double bytes = drafting_kv_bytes(setup, 1);
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        bytes += (double)model_layer_kv_bytes(&setup->model, l, setup->context);
    }
    return bytes;
}

/* Add `batch` sequences of the setup's context. */
static void hold(const struct setup *setup, const struct head_sizes *sizes, uint64_t offloaded,
                 uint32_t batch, struct held *held)
{
    const struct mechanisms *m = setup->mechanisms;
    double one = (double)model_kv_head_bytes(&setup->model) * batch;
    double window = fmin((double)(m->sinks + setup_recent(setup)), (double)setup->context);
    double all = kept_sequence_bytes(setup) * batch;
    double cached_tokens = (double)(sizes->cache_tokens + sizes->split.act_hbm);
    bool gathers =
        m->transfer == TRANSFER_GATHER_COPY && mechanisms_offload(m) && !mechanisms_cpu_selects(m);
    bool on_host = m->retrieval_stream || m->retrieval_on == RETRIEVAL_ON_CPU;
    held->resident += all - (double)offloaded * (double)setup->context * one +
                      (double)offloaded * keys_hbm_bytes(setup) * batch;
    held->window += (double)offloaded * window * one * keys_buffer_share(setup);
    held->cache += (double)offloaded * cached_tokens * cached_bytes(setup) * batch;
    held->metadata += metadata_bytes(setup, sizes, offloaded, batch);
    held->host_kv += host_kv_bytes(setup, sizes, offloaded, batch);
    held->staging += gathers ? 2 * (double)sizes->selected_tokens * model_kv_heads(&setup->model) *
                                   one * keys_host_share(setup)
                             : 0;
    held->index += on_host ? memory_index_bytes(setup, sizes, batch) : 0;
    uint32_t indexed = indexed_layers(setup);
    held->indexed = indexed > held->indexed ? indexed : held->indexed;
}

double memory_host_copies(const struct setup *setup)
{
    const struct model *model = &setup->model;
    return setup->mechanisms->host_shared ? (double)model->kv_heads / model_kv_heads(model)
                                          : model->tensor_parallel;
}

/* A layer of all sequences: at most the blocks of what they select. */
static double selected_bytes(const struct setup *setup, const struct plan *plan)
{
    double bytes = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        double pairs = (double)model_kv_heads(&setup->model) * cohort->sequences;
        double selected = (double)cohort->sizes.selected_tokens * setup_queries(setup);
        bytes += disk_selection_bytes(setup, pairs * fmin(selected, (double)cohort->context),
                                      pairs * (double)cohort->context);
    }
    return bytes;
}

bool memory_loads_whole(const struct setup *setup)
{
    uint64_t first = mechanisms_resident_layers(setup->mechanisms);
    return first < setup->model.layer_count && setup_loads_whole(setup, (uint32_t)first);
}

/* Host memory into which a disk is read, or pageable KV is copied for attention on the CPU, for one GPU: two
 * buffers for weights and two for KV, as one is filled while the other is in use (decode/time/fetch.h,
 * hybrid.h). 0 where nothing lies on a disk. Each is as large as the largest part that is read at a time: of
 * a layer or half of one, of a micro-batch's KV, or of what all heads of a layer select. */
static double disk_buffer_bytes(const struct setup *setup, const struct plan *plan)
{
    const struct mechanisms *m = setup->mechanisms;
    double kv = 0;
    if (!mechanisms_use_disk(m) && m->attention != ATTEND_CPU) {
        return 0;
    }
    if (m->attention == ATTEND_CPU) {
        bool all = m->transfer == TRANSFER_PAGEABLE && mechanisms_load_whole(m);
        kv = (all ? 1 : m->disk_kv) * peak_layer_bytes(setup, plan);
    } else if (m->disk_kv > 0) {
        bool whole = mechanisms_load_whole(m);
        double layer = memory_loads_whole(setup) ? peak_layer_bytes(setup, plan) : 0;
        kv = fmax(m->disk_kv * layer, whole ? 0 : selected_bytes(setup, plan));
    }
    return 2 * kv + m->disk_weights * peak_weight_buffers(setup);
}

/* Padding of pinned host memory: the bytes that allocations take beyond the bytes asked for.
 *
 * The driver pins whole pages. PyTorch's caching allocator of pinned memory, from release 1.12 on,
 * first rounds each request up to a power of two (ATen's CachingHostAllocator; pytorch/pytorch
 * issues 95823 and 150517): a layer's K of 5 GiB takes 8 GiB. The mechanism `pinned_rounding` says
 * which of the two a system uses. These pieces are pinned:
 *
 *     KV               K and V of each layer, where the GPU or a copy engine reads them in place
 *     staging          two buffers of K and two of V
 *     streamed index   one for each layer
 *     streamed weights each matrix; if a share is streamed, that share of all matrices' padding
 *
 * Memory that only the CPU reads (the source of a gather, of CPU stores, of attention on the CPU)
 * is not pinned, nor is pageable memory. Their rounding to pages is too small to count. */

/* Bytes asked for, for one GPU. */
struct pinned_parts {
    double kv;
    double kv_layers; /* layers that `kv` holds */
    double staging;
    double index;
    double index_layers;
};

/* Rounding of each piece. Doubles hold powers of two exactly. */

#define PAGE_BYTES 4096.0 /* x86-64; 64 KiB on some ARM hosts, small beside any buffer */

static double padding(const struct setup *setup, double bytes, double pieces)
{
    double piece = bytes / pieces;
    int exponent;
    double up = setup->mechanisms->pinned_rounding == PINNED_PAGES
                    ? ceil(piece / PAGE_BYTES) * PAGE_BYTES
                : frexp(piece, &exponent) == 0.5 ? piece
                                                 : ldexp(1, exponent);
    return bytes > 0 ? pieces * (up - piece) : 0;
}

static double weight_padding(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    double sum = 0;
    for (uint32_t l = 0; m->weights < 1 && l < setup->model.layer_count; l++) {
        struct model_operator operators[MODEL_MOST_OPERATORS];
        size_t count = model_operators(&setup->model, l, UINT64_MAX, 0, operators);
        for (size_t i = 0; i < count; i++) {
            double pieces = fmax(1, (double)operators[i].matrices);
            sum += padding(setup, (double)operators[i].weight_bytes, pieces);
        }
    }
    return (1 - m->weights) * (1 - m->disk_weights) * sum;
}

/* Bytes of padding for these parts and for streamed weights. */
static double pinned_padding(const struct setup *setup, const struct pinned_parts *parts)
{
    const struct mechanisms *m = setup->mechanisms;
    /* Copy engines and SMs read only pinned memory. */
    bool pins = m->attention == ATTEND_GPU &&
                (m->transfer == TRANSFER_COPY_ENGINE || m->transfer == TRANSFER_SM_ZERO_COPY ||
                 m->transfer == TRANSFER_IN_PLACE);
    double kv = pins ? parts->kv : 0;
    return padding(setup, kv, 2 * parts->kv_layers) + padding(setup, parts->staging, 4) +
           padding(setup, m->retrieval_stream ? parts->index : 0, parts->index_layers) +
           weight_padding(setup);
}

/* Weights of all layers that are streamed, of one GPU. */
static double all_streamed_bytes(const struct setup *setup)
{
    double streamed = 0, layer = 0;
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        layer = model_layer_repeats(&setup->model, l) ? layer
                                                      : streamed_weight_bytes(setup, l, HALF_BOTH);
        streamed += layer;
    }
    return streamed;
}

uint64_t memory_hbm_weights(const struct setup *setup)
{
    return memory_whole((double)model_weight_bytes(&setup->model) +
                        (double)drafting_weight_bytes(setup) - all_streamed_bytes(setup));
}

/* Does the engine divide the pool among layers? Then it holds `*tokens` of sequences of this context. */
static bool divided_tokens(const struct setup *setup, double pool, double *tokens)
{
    const struct setup_engine *engine = &setup->engine;
    struct kv_limits limits = engine->limits;
    struct kv_groups groups;
    struct kv_pools pools;
    limits.in_flight = 1;
    if (engine->pools.slots > 0) {
        bool divided = kv_pools_divide(&setup->model, &engine->pools, pool, &pools);
        bool caches = mechanisms_keep_prefixes(setup->mechanisms);
        *tokens = divided ? kv_pools_tokens(&setup->model, &pools, setup->context, caches) : 0;
        return divided;
    }
    if (!kv_groups_divide(&setup->model, &limits, &groups)) {
        return false;
    }
    /* A GPU of a pipeline holds its layers of the sequences of all stages. */
    double blocks = (double)kv_groups_blocks(&groups, &limits, setup->context);
    *tokens = pool / (blocks * (double)groups.block_bytes) * (double)setup->context /
              setup->model.parallel.pipeline;
    return true;
}

uint64_t memory_pool_tokens(const struct setup *setup)
{
    double tokens = 0, pool = (double)setup->engine.pool;
    return (uint64_t)(divided_tokens(setup, pool, &tokens)
                          ? tokens
                          : pool / (kept_sequence_bytes(setup) / (double)setup->context));
}

/* KV of the plan's sequences as their engine holds it: in whole blocks, and as a share of a divided pool. */
static uint64_t engine_kv_bytes(const struct setup *setup, const struct plan *plan)
{
    double bytes = 0, pool = (double)setup->engine.pool;
    double block = fmax(1, (double)setup->mechanisms->prefix_block);
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        const struct setup own = setup_at(setup, cohort->context);
        double held = 0, takes = ceil((double)cohort->context / block) * cohort->sequences;
        bool divides = divided_tokens(&own, pool, &held) && held >= block;
        bytes += divides ? pool * (takes / floor(floor(held) / block))
                         : takes * block * (kept_sequence_bytes(&own) / (double)cohort->context);
    }
    return memory_whole(bytes);
}

struct memory memory_of(const struct setup *setup, const struct plan *plan, uint64_t offloaded)
{
    struct held held = {0};
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        struct setup own = setup_at(setup, cohort->context);
        hold(&own, &cohort->sizes, offloaded, cohort->sequences, &held);
    }
    const struct mechanisms *m = setup->mechanisms;
    const struct setup_engine *engine = &setup->engine;
    double streamed = all_streamed_bytes(setup);
    double layers = ceil((double)offloaded / model_kv_heads(&setup->model));
    double disk_kv = held.host_kv * m->disk_kv, disk_weights = streamed * m->disk_weights;
    double read = disk_buffer_bytes(setup, plan);
    /* The predictors' weights need room in host memory, too. */
    double predictors = m->ffn_predictor * (double)model_weight_bytes(&setup->model);
    struct pinned_parts pinned = {held.host_kv - disk_kv, layers, held.staging, held.index,
                                  held.indexed};
    struct peak peak = peak_of(setup, plan);
    double gpus = model_gpus(&setup->model);
    double copies = memory_host_copies(setup) * model_passes(&setup->model);
    struct memory memory = {
        .in[TIER_GPU] = {.weights = memory_hbm_weights(setup),
                         .kv = memory_whole(held.resident),
                         .window = memory_whole(held.window),
                         .cache = memory_whole(held.cache),
                         .metadata = memory_whole(held.metadata),
                         .buffers = memory_whole(peak.buffers),
                         .workspace = memory_whole(peak.workspace)},
        .in[TIER_HOST] = {.weights = memory_whole((streamed - disk_weights + predictors) * gpus),
                          .kv = memory_whole((held.host_kv - disk_kv) * copies),
                          .buffers = memory_whole((held.staging + held.index + read) * gpus),
                          .padding = memory_whole(pinned_padding(setup, &pinned) * gpus)},
        .in[TIER_DISK] = {.weights = memory_whole(disk_weights * gpus),
                          .kv = memory_whole(disk_kv * copies)},
        .peak_in_prefill = peak.in_prefill,
    };
    if (engine->room > 0) {
        memory.in[TIER_GPU].kv = engine_kv_bytes(setup, plan);
        /* The keys of a model's own indexer are a part of it. */
        memory.in[TIER_GPU].metadata = setup_indexes(setup) ? 0 : memory.in[TIER_GPU].metadata;
        memory.in[TIER_GPU].buffers = 0;
        memory.in[TIER_GPU].workspace = engine->taken;
        memory.peak_in_prefill = false;
    }
    for (int tier = 0; tier < TIER_COUNT; tier++) {
        struct memory_held *in = &memory.in[tier];
        in->all = memory_whole((double)in->weights + (double)in->kv + (double)in->window +
                               (double)in->cache + (double)in->metadata + (double)in->buffers +
                               (double)in->workspace + (double)in->padding);
    }
    return memory;
}

uint64_t memory_hbm_room(const struct setup *setup, const struct memory *memory,
                         struct trust *trust)
{
    double capacity = profile_value(&setup->profile, CURVE_GPU_HBM_CAPACITY, 0, trust);
    if (setup->engine.room > 0) {
        return setup->engine.room;
    }
    if (setup->kv_pool_tokens > 0) {
        double token = (double)model_kv_tokens_bytes(&setup->model);
        /* A GPU of a pipeline has them in the layers of its stage. */
        double pool = (double)setup->kv_pool_tokens * token / setup->model.parallel.pipeline;
        return memory_whole(fmin(capacity, (double)model_weight_bytes(&setup->model) +
                                               (double)memory->in[TIER_GPU].workspace + pool));
    }
    return memory_whole(fmax(0, floor(capacity * setup->hbm_usable) - (double)setup->hbm_reserve));
}

uint64_t memory_limit(const struct setup *setup, const struct memory *memory, enum tier_id tier,
                      struct trust *trust)
{
    double share = tier == TIER_HOST && setup->host_share > 0 ? setup->host_share : 1;
    if (tier == TIER_HOST && setup->room[TIER_HOST] > 0) {
        return memory_whole(share * (double)setup->room[TIER_HOST]);
    }
    if (tier > TIER_HOST && !profile_states(&setup->profile, tier_kinds[tier].capacity)) {
        return 0; /* nothing lies there */
    }
    uint64_t room = tier == TIER_GPU
                        ? memory_hbm_room(setup, memory, trust)
                        : memory_whole(share * profile_value(&setup->profile,
                                                             tier_kinds[tier].capacity, 0, trust));
    return setup->unlimited_memory ? UINT64_MAX : room;
}
