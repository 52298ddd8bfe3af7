/* Bytes of every tier. All in doubles until the end: a sum past 64 bits saturates instead of
 * wrapping, and below 2^53 (8 PiB) every figure is an exact integer. */
#include "decode/memory.h"

#include "decode/hybrid.h"
#include "decode/peak.h"
#include "decode/pinned.h"
#include "decode/retrieval.h"
#include "decode/stream.h"

#include <math.h>

static uint64_t whole(double bytes)
{
    return bytes >= 9e18 ? (uint64_t)9e18 : (uint64_t)llround(bytes);
}

bool memory_can_offload(const struct setup *setup, uint32_t layer)
{
    return mechanisms_offload(&setup->mechanisms) &&
           setup->model.layers[layer].attention != ATTENTION_SLIDING;
}

uint64_t memory_head_bytes(const struct setup *setup, uint32_t layer)
{
    return model_layer_tokens(&setup->model, layer, setup->context) *
           model_kv_head_bytes(&setup->model);
}

static uint64_t least_common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* RetroInfer's clusters: about `retrieval_tokens` tokens each, their number a multiple of both 8
 * and the segments. */
static uint64_t cluster_count(uint64_t context, uint64_t tokens)
{
    uint64_t segments = (context + CLUSTER_SEGMENT_TOKENS / 2) / CLUSTER_SEGMENT_TOKENS;
    uint64_t step = least_common_multiple(8, segments > 0 ? segments : 1);
    uint64_t clusters = (context + tokens / 2) / tokens;
    uint64_t snapped = (clusters + step / 2) / step * step;
    return snapped > 0 ? snapped : step;
}

static uint64_t entry_count(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    if (m->retrieval == RETRIEVAL_CLUSTERS) {
        return cluster_count(setup->context, m->retrieval_tokens);
    }
    return (setup->context + m->retrieval_tokens - 1) / m->retrieval_tokens;
}

/* HBM that nothing but the cache takes. */
static double rest_bytes(const struct setup *setup, const struct head_sizes *sizes,
                         uint64_t offloaded, uint32_t batch)
{
    struct trust ignored = {BASIS_MEASURED, false};
    struct head_sizes bare = *sizes;
    bare.cache_tokens = setup->mechanisms.granularity; /* a cache there is, of one block */
    struct memory memory = memory_of(setup, &bare, offloaded, batch);
    return fmax(0, (double)memory_hbm_limit(setup, &memory, &ignored) - (double)memory.hbm);
}

/* Tokens a head that the budget pays for, before rounding to blocks, when each takes `bytes`. */
static double budget_tokens(const struct setup *setup, const struct head_sizes *sizes,
                            uint64_t offloaded, uint32_t batch, double bytes)
{
    const struct amount *budget = &setup->mechanisms.budget;
    double heads = (double)offloaded * batch;
    if (heads > 0 && (budget->rest || budget->unit == UNIT_BYTES)) {
        double all = budget->rest ? rest_bytes(setup, sizes, offloaded, batch) : budget->value;
        return all / (heads * bytes);
    }
    switch (budget->unit) {
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

/* Bytes of a token in the cache, a KV head: K and V, or a head's part of an activation. */
static double cached_bytes(const struct setup *setup)
{
    const struct model *model = &setup->model;
    return setup->mechanisms.representation == REPRESENTATION_KV
               ? (double)model_kv_head_bytes(model)
               : (double)model_activation_bytes(model) / model_kv_heads(model);
}

/* What retrieval has, and what is taken of it. */
static void size_selection(const struct setup *setup, struct head_sizes *out)
{
    const struct mechanisms *m = &setup->mechanisms;
    double share = setup_share(setup, &m->selection);
    out->entries = setup_retrieves(setup) ? entry_count(setup) : 0;
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
    const struct mechanisms *m = &setup->mechanisms;
    if (sizes->selected_tokens == 0) {
        uint64_t least = m->retrieval == RETRIEVAL_CLUSTERS ? m->retrieval_tokens : 1;
        error_usage(why, NULL, 0, "a selection of %.3g %% of %llu tokens is none at all",
                    100 * setup_share(setup, &m->selection), (unsigned long long)setup->context);
        return error_expect(why, "more, such as %.3g %%, which is %llu of them",
                            100 * (double)least / (double)setup->context,
                            (unsigned long long)least);
    }
    uint64_t chosen = sizes->selected_tokens / m->retrieval_tokens;
    if (sizes->estimated_entries > 0 && chosen + sizes->estimated_entries > sizes->entries) {
        error_usage(why, NULL, 0,
                    "what is selected and what is estimated are more than all entries");
        return error_expect(why, "at most %llu, not %llu and %llu",
                            (unsigned long long)sizes->entries, (unsigned long long)chosen,
                            (unsigned long long)sizes->estimated_entries);
    }
    return true;
}

/* Tokens a head that the budget pays for, in whole blocks. */
static uint64_t budget_blocks(const struct setup *setup, const struct head_sizes *sizes,
                              uint64_t offloaded, uint32_t batch)
{
    uint64_t block = setup->mechanisms.granularity;
    double paid = budget_tokens(setup, sizes, offloaded, batch, cached_bytes(setup));
    double tokens = fmin(paid, (double)setup->context);
    if (block > setup->context && paid >= (double)block) { /* one block is more than there is */
        return setup->context;
    }
    return (uint64_t)floor(tokens / (double)block + 1e-9) * block;
}

bool memory_head_sizes(const struct setup *setup, uint64_t offloaded, uint32_t batch,
                       struct head_sizes *out, struct error *why)
{
    const struct mechanisms *m = &setup->mechanisms;
    *out = (struct head_sizes){0};
    size_selection(setup, out);
    if (!check_selection(setup, out, why)) {
        return false;
    }
    uint64_t cached = budget_blocks(setup, out, offloaded, batch);
    if (m->budget.value > 0 && offloaded > 0 && cached == 0) {
        error_usage(why, NULL, 0, "the budget is below one block of the cache a head");
        return error_expect(why, "at least %llu tokens for each of %llu heads of %u sequences",
                            (unsigned long long)m->granularity, (unsigned long long)offloaded,
                            batch);
    }
    bool kv = m->representation == REPRESENTATION_KV;
    out->cache_tokens = kv ? cached : 0;
    out->split =
        kv ? (struct split){.kv = setup->context} : representation_split(setup, batch, cached);
    if (offloaded > 0 && m->policy->needs_queries && out->cache_tokens < out->selected_tokens) {
        error_usage(why, NULL, 0, "policy '%s' caches a whole selection, and the budget is less",
                    m->policy->name);
        return error_expect(why, "a budget of at least 1x");
    }
    return true;
}

/* Sequences of one context are alike: a balanced micro-batch takes as many as its buffers hold. */
uint32_t memory_micro_batch(const struct setup *setup, uint32_t batch)
{
    const struct mechanisms *m = &setup->mechanisms;
    uint64_t most = m->micro_batch == MICRO_BATCH_ZIG_ZAG ? m->micro_batch_sequences
                    : m->micro_batch == MICRO_BATCH_BALANCED
                        ? m->micro_batch_tokens / setup->context
                        : batch;
    most = most > 0 ? most : 1;
    return most < batch ? (uint32_t)most : batch;
}

/* Weights of all layers that lie in host memory. */
static double streamed_weight_bytes(const struct setup *setup)
{
    double bytes = 0;
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        bytes += stream_weight_bytes(setup, l, HALF_BOTH);
    }
    return bytes;
}

/* KV on the host, or what stands for it: a copy of everything; where a window moves on, what has
 * left it; nothing of what a policy drops for good. */
static double host_kv_bytes(const struct setup *setup, const struct head_sizes *sizes,
                            uint64_t offloaded, uint32_t batch)
{
    const struct mechanisms *m = &setup->mechanisms;
    if (mechanisms_drop(m)) {
        return 0;
    }
    double pairs = (double)offloaded * batch, token = (double)model_kv_head_bytes(&setup->model);
    if (m->attention != ATTEND_HYBRID) {
        return pairs / model_kv_heads(&setup->model) *
               representation_host_bytes(setup, &sizes->split);
    }
    double window = (double)(m->sinks + setup_recent(setup) + sizes->cache_tokens);
    return pairs * fmax(0, (double)setup->context - window) * (token + HYBRID_AVERAGE_BYTES);
}

static uint32_t indexed_layers(const struct setup *setup)
{
    uint32_t layers = 0;
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        layers += setup_attends_all(setup, l) ? 0 : 1;
    }
    return layers;
}

/* What retrieval reads of all layers. */
static double index_bytes(const struct setup *setup, const struct head_sizes *sizes, uint32_t batch)
{
    const struct mechanisms *m = &setup->mechanisms;
    double entry = m->retrieval_in_place ? 0 : retrieval_entry_bytes(setup);
    double heads = (double)indexed_layers(setup) * model_kv_heads(&setup->model);
    if (m->estimation > 0) { /* the summary of an entry is a key and a value */
        entry = fmax(entry, (double)model_kv_head_bytes(&setup->model));
    }
    return heads * (double)sizes->entries * entry * batch;
}

/* Of an index on the host, two buffers for a layer's; of a window for the CPU, its averages. */
static double metadata_bytes(const struct setup *setup, const struct head_sizes *sizes,
                             uint64_t offloaded, uint32_t batch)
{
    const struct mechanisms *m = &setup->mechanisms;
    if (m->attention == ATTEND_HYBRID) {
        return (double)offloaded * (double)sizes->cache_tokens * HYBRID_AVERAGE_BYTES * batch;
    }
    if (m->retrieval_stream) {
        return 2.0 * (double)sizes->entries * retrieval_entry_bytes(setup) *
               model_kv_heads(&setup->model) * batch;
    }
    return index_bytes(setup, sizes, batch);
}

struct memory memory_of(const struct setup *setup, const struct head_sizes *sizes,
                        uint64_t offloaded, uint32_t batch)
{
    const struct mechanisms *m = &setup->mechanisms;
    uint64_t token = model_kv_head_bytes(&setup->model);
    double one = (double)token * batch;
    double window = fmin((double)(m->sinks + setup_recent(setup)), (double)setup->context);
    double all = 0; /* bytes of all KV */
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        all += model_kv_heads(&setup->model) * (double)memory_head_bytes(setup, l) * batch;
    }
    double away = (double)offloaded * (double)setup->context * one;
    double host = host_kv_bytes(setup, sizes, offloaded, batch);
    double staging = m->transfer == TRANSFER_GATHER_COPY && mechanisms_offload(m)
                         ? 2 * (double)sizes->selected_tokens * model_kv_heads(&setup->model) * one
                         : 0;
    double streamed = streamed_weight_bytes(setup);
    double cached_tokens = (double)(sizes->cache_tokens + sizes->split.act_hbm);
    double index = m->retrieval_stream ? index_bytes(setup, sizes, batch) : 0;
    double layers = ceil((double)offloaded / model_kv_heads(&setup->model));
    struct pinned_parts pinned = {host, layers, staging, index, indexed_layers(setup)};
    struct peak peak = peak_of(setup, sizes, batch);
    struct memory memory = {
        .weights = whole((double)model_weight_bytes(&setup->model) - streamed),
        .resident = whole(all - away),
        .window = whole((double)offloaded * window * one),
        .cache = whole((double)offloaded * cached_tokens * cached_bytes(setup) * batch),
        .metadata = whole(metadata_bytes(setup, sizes, offloaded, batch)),
        .buffers = whole(peak.buffers),
        .workspace = whole(peak.workspace),
        .peak_in_prefill = peak.in_prefill,
        .host_kv = whole(host * setup->model.tensor_parallel),
        .host_weights = whole(streamed * setup->model.tensor_parallel),
        .host_buffers = whole((staging + index) * setup->model.tensor_parallel),
        .host_padding = whole(pinned_padding(setup, &pinned) * setup->model.tensor_parallel),
    };
    memory.hbm = whole((double)memory.weights + (double)memory.resident + (double)memory.window +
                       (double)memory.cache + (double)memory.metadata + (double)memory.buffers +
                       (double)memory.workspace);
    memory.dram = whole((double)memory.host_kv + (double)memory.host_weights +
                        (double)memory.host_buffers + (double)memory.host_padding);
    return memory;
}

uint64_t memory_hbm_limit(const struct setup *setup, const struct memory *memory,
                          struct trust *trust)
{
    double capacity = profile_value(&setup->profile, CURVE_GPU_HBM_CAPACITY, 0, trust);
    if (setup->kv_pool_tokens > 0) {
        double token = 0;
        for (uint32_t l = 0; l < setup->model.layer_count; l++) {
            token += (double)model_kv_token_bytes(&setup->model, l);
        }
        double pool = (double)setup->kv_pool_tokens * token;
        return whole(fmin(capacity, (double)model_weight_bytes(&setup->model) +
                                        (double)memory->workspace + pool));
    }
    return whole(fmax(0, floor(capacity * setup->hbm_usable) - (double)setup->hbm_reserve));
}

uint64_t memory_dram_limit(const struct setup *setup, struct trust *trust)
{
    if (setup->host_memory > 0) {
        return setup->host_memory;
    }
    return whole(profile_value(&setup->profile, CURVE_HOST_DRAM_CAPACITY, 0, trust));
}
