/* The table of mechanisms, and the combinations of them that cannot be meant.
 *
 * A row is the feature: help, checking, defaults and documentation walk this table. */
#include "decode/mechanisms.h"

#include "decode/replay/replay.h"
#include "policy/kinds.h"

#include <stddef.h>

static const char *const resident_values[] = {"none", "first-layer", "difficulty", "all", NULL};
static const char *const retrieval_values[] = {
    "none", "quest", "hata", "loki", "clusters", "partial-weights", "pq", "native", NULL};
static const char *const block_span_values[] = {"unit", "head", "layer", NULL};
static const char *const manager_values[] = {"cpu", "gpu", NULL};
static const char *const update_values[] = {"overlapped", "blocking", NULL};
static const char *const transfer_values[] = {"copy-engine",  "gather+copy", "pageable",
                                              "sm-zero-copy", "cpu-store",   NULL};
static const char *const transfer_stream_values[] = {"own", "main", NULL};
static const char *const prefetch_values[] = {"none", "next-layer", "whole-layer", NULL};
static const char *const pinned_rounding_values[] = {"pages", "powers", NULL};
static const char *const pool_of_values[] = {"cores", "node", NULL};
static const char *const sync_values[] = {"cpu", "gpu", NULL};
static const char *const attention_values[] = {"gpu", "hybrid", NULL};
static const char *const launch_values[] = {"eager", "graph", NULL};
static const char *const micro_batch_values[] = {"whole", "zig-zag", "balanced", NULL};
static const char *const representation_values[] = {"kv", "act", "hybrid", "tokens", NULL};
static const char *const prefix_values[] = {"none", "gpu", "two-tier", NULL};
static const char *const prefix_write_values[] = {"finish", "fill", "evict", NULL};
const char *const prefix_evictions[] = {"none", "lru",    "fifo",  "lfu", "clock",
                                        "arc",  "s3fifo", "sieve", NULL};
static const char *const prefix_load_values[] = {"before-start", "layer-by-layer", NULL};
static const char *const preemption_values[] = {"recompute", "swap", NULL};
static const char *const barrier_values[] = {"none", "layer", "pass", NULL};

#define FIELD(member) offsetof(struct mechanisms, member)
#define CHOICE(key, group, member, list, standard, what)                                           \
    {                                                                                              \
        key, group, MECHANISM_CHOICE, UNIT_COUNT, list, FIELD(member), standard, what              \
    }
#define SWITCH(key, group, member, standard, what)                                                 \
    {                                                                                              \
        key, group, MECHANISM_SWITCH, UNIT_COUNT, NULL, FIELD(member), standard, what              \
    }
#define WHOLE(key, group, member, unit, standard, what)                                            \
    {                                                                                              \
        key, group, MECHANISM_WHOLE, unit, NULL, FIELD(member), standard, what                     \
    }
#define EXTENT(key, group, member, unit, standard, what)                                           \
    {                                                                                              \
        key, group, MECHANISM_EXTENT, unit, NULL, FIELD(member), standard, what                    \
    }
#define REAL(key, group, member, unit, standard, what)                                             \
    {                                                                                              \
        key, group, MECHANISM_REAL, unit, NULL, FIELD(member), standard, what                      \
    }

const struct mechanism_key mechanism_keys[] = {
    {"policy", "policy", MECHANISM_POLICY, UNIT_COUNT, NULL, FIELD(policy), "none",
     "cache policy, or {name: qsac, eta: 0.8}"},
    {"budget", "policy", MECHANISM_BUDGET, UNIT_COUNT, NULL, FIELD(budget), "0x",
     "HBM of the cache: 8GiB, 30% of the KV, 3x the selection, 4096tok a layer, or the rest"},
    WHOLE("granularity", "policy", granularity, UNIT_TOKENS, "1tok",
          "tokens of a block of the cache's manager"),
    CHOICE("block_span", "policy", block_span, block_span_values, "unit",
           "what is kept or evicted: units of the trace, or blocks of one head, or the same block "
           "of all heads"),
    WHOLE("block_candidates", "policy", block_candidates, UNIT_COUNT, "0",
          "blocks that a step touches and admits, those with most wanted tokens; 0: all"),
    WHOLE("sinks", "recent", sinks, UNIT_TOKENS, "4tok", "first tokens, always in HBM"),
    EXTENT("recent", "recent", recent, UNIT_TOKENS, "64tok",
           "last tokens, always in HBM: 64tok, or a share"),
    CHOICE("resident_heads", "resident_heads", resident_heads, resident_values, "none",
           "heads whose whole KV stays in HBM"),
    REAL("resident_epsilon", "resident_heads", resident_epsilon, UNIT_COUNT, "0.1",
         "slack in the reuse difficulty that makes a head resident"),
    EXTENT("selection", "retrieval", selection, UNIT_SHARE, "100%",
           "what a head attends to: a share of the context, or 2048tok"),
    REAL("selection_margin", "retrieval", selection_margin, UNIT_COUNT, "0",
         "of that, only what scores at most so far below the heaviest, in natural logs; 0: all"),
    CHOICE("retrieval", "retrieval", retrieval, retrieval_values, "none",
           "how the selection is found"),
    REAL("retrieval_keys", "retrieval", retrieval_keys, UNIT_TIMES, "0x",
         "keys that an entry is as large as: 1x for a centroid, 0.25x for a quarter of the "
         "channels"),
    WHOLE("retrieval_bytes", "retrieval", retrieval_bytes, UNIT_BYTES, "0B",
          "bytes of an entry of a KV head besides: codes"),
    WHOLE("retrieval_scores", "retrieval", retrieval_scores, UNIT_BYTES, "0B",
          "bytes that an entry's scores take on their way to top-k, read and written"),
    SWITCH("retrieval_in_place", "retrieval", retrieval_in_place, "no",
           "retrieval reads the KV itself: no index is held"),
    SWITCH("retrieval_stream", "retrieval", retrieval_stream, "no",
           "the index lies on the host and is copied to HBM a layer ahead"),
    WHOLE("retrieval_tokens", "retrieval", retrieval_tokens, UNIT_TOKENS, "1tok",
          "tokens of an entry"),
    SWITCH("retrieval_per_query_head", "retrieval", retrieval_per_query_head, "no",
           "top-k sorts the scores of every query head"),
    REAL("retrieval_query", "prefetch", retrieval_query, UNIT_SHARE, "0%",
         "share of the query projection run once more to speculate"),
    WHOLE("retrieval_kernels", "retrieval", retrieval_kernels, UNIT_COUNT, "0",
          "kernels of scoring and top-k"),
    WHOLE("retrieval_id_bytes", "retrieval", retrieval_id_bytes, UNIT_BYTES, "8B",
          "bytes of an index of a selected entry that is copied to the CPU: int64"),
    REAL("estimation", "retrieval", estimation, UNIT_SHARE, "0%",
         "share of the entries attended to by their summary only"),
    WHOLE("cluster_segment", "retrieval", cluster_segment, UNIT_TOKENS, "8192tok",
          "tokens of a segment: clusters are made within one"),
    WHOLE("cluster_iterations", "retrieval", cluster_iterations, UNIT_COUNT, "0",
          "iterations of the k-means that makes the index in prefill; at least, on the host"),
    WHOLE("cluster_iterations_most", "retrieval", cluster_iterations_most, UNIT_COUNT, "300",
          "iterations of the host's k-means at most, where prefill hides more"),
    WHOLE("cluster_passes", "retrieval", cluster_passes, UNIT_COUNT, "2",
          "passes over all keys that the host's k-means makes beside its iterations"),
    WHOLE("cluster_centroids", "retrieval", cluster_centroids, UNIT_COUNT, "0",
          "centroids of product quantisation, which the host trains; 0: its training is not timed"),
    WHOLE("cluster_threads", "retrieval", cluster_threads, UNIT_COUNT, "0",
          "threads of the host's k-means; 0: every core"),
    WHOLE("full_layers", "prefetch", full_layers, UNIT_COUNT, "0",
          "first layers that load all their KV: nothing speculates for them"),
    CHOICE("manager", "manager", manager, manager_values, "gpu",
           "where the cache is looked up and updated"),
    CHOICE("update", "manager", update, update_values, "overlapped",
           "whether a layer waits for the manager's update"),
    WHOLE("pool_threads", "manager", pool_threads, UNIT_COUNT, "0",
          "threads of the CPU pool; 0: all that pool_of says"),
    CHOICE("pool_of", "manager", pool_of, pool_of_values, "cores",
           "where a pool has its threads: on every core, or on the logical CPUs of one NUMA node"),
    WHOLE("pool_spare", "manager", pool_spare, UNIT_COUNT, "0",
          "of these, that the pool leaves to others"),
    CHOICE("transfer", "transfer", transfer, transfer_values, "copy-engine",
           "how missed KV crosses the link"),
    WHOLE("transfer_threads", "transfer", transfer_threads, UNIT_COUNT, "0",
          "threads of CPU stores or of the gather; 0: every core"),
    WHOLE("transfer_ctas", "transfer", transfer_ctas, UNIT_COUNT, "16",
          "CTAs a (sequence, head) of SM loads"),
    WHOLE("transfer_cta_threads", "transfer", transfer_cta_threads, UNIT_COUNT, "256",
          "threads of each of these CTAs, which keep other kernels off the SMs"),
    CHOICE("transfer_stream", "transfer", transfer_stream, transfer_stream_values, "own",
           "whether a transfer has a stream of its own or stands among the kernels"),
    CHOICE("pinned_rounding", "pinned_rounding", pinned_rounding, pinned_rounding_values, "pages",
           "what an allocation of pinned memory takes: whole pages, or PyTorch's power of two"),
    SWITCH("merge", "merge", merge, "no",
           "hits are copied into an execution buffer, misses once more into the cache"),
    WHOLE("hit_ctas", "merge", hit_ctas, UNIT_COUNT, "16",
          "CTAs a (sequence, head) that copy hits"),
    WHOLE("admit_ctas", "merge", admit_ctas, UNIT_COUNT, "1",
          "CTAs a (sequence, head) that admit misses"),
    SWITCH("repeat_kv", "repeat_kv", repeat_kv, "no",
           "KV and entries are copied once per query head before they are read"),
    CHOICE("prefetch", "prefetch", prefetch, prefetch_values, "none",
           "whether a layer's KV is asked for a layer ahead"),
    CHOICE(
        "attention", "attention", attention, attention_values, "gpu",
        "who attends: the GPU; or it to a window, the budget, and the CPU to what is kept outside"),
    CHOICE("sync", "sync", sync, sync_values, "gpu",
           "who waits for indices and for KV: launch thread or kernel"),
    WHOLE("syncs", "sync", syncs, UNIT_COUNT, "0", "synchronisations of CPU and GPU a layer"),
    CHOICE("barrier", "barrier", barrier, barrier_values, "none",
           "when the launch thread waits for all kernels and copies: after each layer or pass"),
    REAL("weights", "weights", weights, UNIT_SHARE, "100%",
         "share of a layer's weights that stays in HBM; the rest is streamed a layer ahead"),
    SWITCH("weights_pageable", "weights", weights_pageable, "no",
           "streamed weights lie in pageable memory"),
    SWITCH("weights_spread", "weights", weights_spread, "no",
           "streamed weights cross in equal parts, one with each micro-batch"),
    CHOICE("micro_batch", "micro_batch", micro_batch, micro_batch_values, "whole",
           "how many sequences pass a layer together"),
    WHOLE("micro_batch_sequences", "micro_batch", micro_batch_sequences, UNIT_COUNT, "0",
          "sequences of a zig-zag block"),
    WHOLE("micro_batch_tokens", "micro_batch", micro_batch_tokens, UNIT_TOKENS, "0tok",
          "tokens of a balanced micro-batch at most, but of one sequence"),
    WHOLE("micro_batch_overhead", "micro_batch", micro_batch_overhead, UNIT_NS, "0us",
          "time of the GPU that each micro-batch takes in each layer besides"),
    WHOLE("prefill_chunk", "prefill_chunk", prefill_chunk, UNIT_TOKENS, "8192tok",
          "tokens of which a prefill holds activations at a time; 0tok: all of a micro-batch"),
    CHOICE("representation", "representation", representation, representation_values, "kv",
           "what is kept of a token: K and V, activations, some of each, or the token alone"),
    REAL("representation_share", "representation", representation_share, UNIT_SHARE, "0%",
         "share of what is not in HBM that is kept as activations, or run again from tokens"),
    SWITCH("balance", "representation", balance, "no",
           "choose that share so that recomputing K and V takes as long as loading the rest"),
    SWITCH("balance_counts_act", "representation", balance_counts_act, "yes",
           "the balance counts the loads of activations"),
    SWITCH("halves", "halves", halves, "no",
           "attention and FFN are two layers: weights and micro-batches pass twice"),
    CHOICE("launch", "launch", launch, launch_values, "eager",
           "operator by operator, or one CUDA graph a step"),
    WHOLE("operators", "operators", operators, UNIT_COUNT, "40",
          "kernels a layer outside retrieval, transfer and merge"),
    REAL("operators_pre", "operators", operators_pre, UNIT_SHARE, "37.5%",
         "share of these kernels that run before attention; the default is assumed"),
    REAL("operators_attend", "operators", operators_attend, UNIT_SHARE, "12.5%",
         "share of these kernels that attend; the default is assumed"),
    WHOLE("operators_edge", "operators", operators_edge, UNIT_COUNT, "3",
          "kernels a step behind the last layer: norm, head, sampler"),
    WHOLE("step_overhead", "step_overhead", step_overhead, UNIT_NS, "0us",
          "scheduler and sampler, a step"),
    CHOICE("prefix", "prefix", prefix, prefix_values, "none",
           "of a server: where KV of requests that ended is kept for those that begin alike"),
    WHOLE("prefix_block", "prefix", prefix_block, UNIT_TOKENS, "16tok", "tokens of a block of it"),
    CHOICE("prefix_write", "prefix", prefix_write, prefix_write_values, "finish",
           "when a full block is copied to the host tier: its request ends, it fills, it is "
           "evicted"),
    WHOLE("prefix_asked", "prefix", prefix_asked, UNIT_COUNT, "1",
          "requests that have held a block before it is copied to the host tier"),
    CHOICE("prefix_eviction", "prefix", prefix_eviction, prefix_evictions, "lru",
           "policy of the host tier; none: it takes no more when it is full"),
    SWITCH("prefix_pins", "prefix", prefix_pins, "no",
           "the host tier keeps a block while it is copied to it or from it"),
    WHOLE("prefix_unit", "prefix", prefix_unit, UNIT_TOKENS, "0tok",
          "tokens that cross the link and are found on the host together; 0: a block"),
    SWITCH("prefix_contiguous", "prefix", prefix_contiguous, "yes",
           "a unit's layers lie in a row and cross in one transfer, not in one each"),
    CHOICE("prefix_load", "prefix", prefix_load, prefix_load_values, "before-start",
           "when a request starts whose prefix is on the host: when it has come, or at once, and "
           "each layer waits for its own"),
    CHOICE("preemption", "prefix", preemption, preemption_values, "recompute",
           "what becomes of the KV of a request that is put back: it is computed again, or copied "
           "to the host and back"),
    {NULL, NULL, 0, 0, NULL, 0, NULL, NULL},
};

bool mechanisms_select(const struct mechanisms *mechanisms)
{
    return mechanisms->selection.unit == UNIT_TOKENS || mechanisms->selection.value < 1 ||
           mechanisms->selection_margin > 0;
}

bool mechanisms_offload(const struct mechanisms *mechanisms)
{
    return mechanisms->resident_heads != RESIDENT_ALL;
}

bool mechanisms_drop(const struct mechanisms *mechanisms)
{
    return mechanisms->policy->chooses_own && !mechanisms->policy->names_for_cpu;
}

bool mechanisms_need_cpu(const struct mechanisms *mechanisms)
{
    return mechanisms->manager == MANAGER_CPU || mechanisms->transfer != TRANSFER_SM_ZERO_COPY;
}

#define MOST_CTA_THREADS 1024 /* of CUDA, on every GPU */

/* A rule that a system may break: the key to blame, and the reason. */
struct rule {
    bool broken;
    const char *key, *reason;
};

const char *mechanisms_contradiction(const struct mechanisms *m, const char **key)
{
    bool offload = mechanisms_offload(m);
    bool graph = m->launch == LAUNCH_GRAPH;
    bool hybrid = m->attention == ATTEND_HYBRID;
    bool caches = m->policy != &policy_none;
    bool has_budget = m->budget.value > 0 || m->budget.rest;
    bool whole_layers = offload && m->prefetch == PREFETCH_WHOLE_LAYER;
    bool selects = mechanisms_select(m);
    bool near = m->selection_margin > 0;
    const struct rule rules[] = {
        {m->selection.value <= 0, "selection", "a head attends to something"},
        {m->retrieval_query > 1, "retrieval_query", "it is a share, at most 100%"},
        {m->estimation > 1, "estimation", "it is a share, at most 100%"},
        {m->granularity == 0, "granularity", "a block holds at least one token"},
        {m->retrieval_tokens == 0, "retrieval_tokens", "an entry stands for at least one token"},
        {m->cluster_segment == 0, "cluster_segment", "a segment holds at least one token"},
        {m->cluster_centroids > 0 && m->cluster_iterations_most < m->cluster_iterations,
         "cluster_iterations_most", "at least cluster_iterations"},
        {m->transfer_ctas == 0, "transfer_ctas", "a copy needs at least one CTA"},
        {m->transfer_cta_threads == 0 || m->transfer_cta_threads > MOST_CTA_THREADS,
         "transfer_cta_threads", "a CTA has from 1 to 1024 threads"},
        {m->hit_ctas == 0, "hit_ctas", "a copy needs at least one CTA"},
        {m->admit_ctas == 0, "admit_ctas", "a copy needs at least one CTA"},
        {m->operators == 0, "operators", "a layer has at least one kernel"},
        {m->operators_pre + m->operators_attend > 1, "operators_pre",
         "with operators_attend it is at most 100%"},
        {m->operators_edge == 0, "operators_edge", "the head is at least one kernel"},
        {m->prefix_block == 0, "prefix_block", "a block holds at least one token"},
        {!(m->selection.unit == UNIT_TOKENS) && m->selection.value + m->estimation > 1,
         "estimation", "what is selected and what is estimated are at most all entries"},
        {near && m->retrieval == RETRIEVAL_NONE, "selection_margin",
         "scores to compare come of a 'retrieval'"},
        {near && m->retrieval == RETRIEVAL_NATIVE, "selection_margin",
         "the model's own indexer takes a fixed number of tokens"},
        {near && (m->retrieval == RETRIEVAL_CLUSTERS || m->estimation > 0), "selection_margin",
         "of clusters a fixed number is taken and another estimated"},
        {near && m->resident_heads != RESIDENT_NONE, "selection_margin",
         "nothing counts what heads select that stay in HBM"},
        {near && m->policy->needs_queries, "selection_margin",
         "a set that later queries reuse has one size"},
        {selects && m->retrieval == RETRIEVAL_NONE, "selection",
         "a share can only be selected with a 'retrieval'"},
        {!offload && caches, "policy", "nothing is offloaded, so nothing is cached"},
        {!offload && has_budget, "budget", "nothing is offloaded, so nothing is cached"},
        {offload && !caches && has_budget && m->representation == REPRESENTATION_KV, "budget",
         "a budget needs a policy"},
        {offload && !caches && m->manager == MANAGER_CPU, "manager",
         "there is no policy to manage"},
        {offload && !caches && m->merge && m->representation == REPRESENTATION_KV, "merge",
         "there is no policy to admit for"},
        {m->resident_heads == RESIDENT_DIFFICULTY && !m->policy->needs_queries, "resident_heads",
         "reuse difficulty is a matter of query labels: policy qsac"},
        {offload && selects &&
             (m->transfer == TRANSFER_COPY_ENGINE || m->transfer == TRANSFER_PAGEABLE),
         "transfer", "a copy engine moves contiguous KV, and a selection is scattered"},
        {graph && offload && m->sync == SYNC_CPU, "launch",
         "a CUDA graph cannot contain a synchronisation with the CPU"},
        {graph && offload && m->transfer == TRANSFER_GATHER_COPY, "launch",
         "a CUDA graph cannot contain a gather by the launch thread"},
        {graph && m->barrier != BARRIER_NONE, "launch",
         "a CUDA graph cannot contain a barrier of the launch thread"},
        {graph && (offload && m->transfer == TRANSFER_PAGEABLE), "launch",
         "a CUDA graph cannot contain a copy by the launch thread"},
        {graph && m->weights < 1 && m->weights_pageable, "launch",
         "a CUDA graph cannot contain a copy by the launch thread"},
        {offload && m->manager == MANAGER_CPU && m->policy->needs_queries, "manager",
         "query labels live on the GPU: the CPU cannot manage them"},
        {offload && mechanisms_drop(m) && !has_budget, "budget",
         "only what is held is attended to, and without a budget nothing is"},
        {offload && m->policy->chooses_own && (m->retrieval != RETRIEVAL_NONE || selects),
         "retrieval", "the policy attends to what it keeps: nothing is retrieved"},
        {offload && m->block_span != BLOCK_UNIT && caches && m->policy->holds == NULL, "block_span",
         "the policy does not keep or evict one block after the other"},
        {offload && m->block_span != BLOCK_UNIT && !caches, "block_span",
         "there is no policy to keep blocks"},
        {offload && m->block_span != BLOCK_UNIT && m->prefetch != PREFETCH_NONE, "block_span",
         "what is asked for ahead are units, not blocks"},
        {m->block_candidates > 0 && m->block_span == BLOCK_UNIT, "block_candidates",
         "units are not candidates: all that are wanted are touched"},
        {m->weights > 1, "weights", "it is a share, at most 100%"},
        {m->weights_pageable && m->weights == 1, "weights_pageable", "no weights are streamed"},
        {m->weights_spread && m->micro_batch == MICRO_BATCH_WHOLE, "weights_spread",
         "there are no micro-batches to spread them over"},
        {(m->micro_batch == MICRO_BATCH_ZIG_ZAG) != (m->micro_batch_sequences > 0),
         "micro_batch_sequences", "a zig-zag block, and nothing else, has a number of sequences"},
        {(m->micro_batch == MICRO_BATCH_BALANCED) != (m->micro_batch_tokens > 0),
         "micro_batch_tokens", "a balanced micro-batch, and nothing else, has a number of tokens"},
        {m->micro_batch == MICRO_BATCH_BALANCED && !whole_layers, "micro_batch",
         "buffers of whole layers are what balanced micro-batches fill: prefetch whole-layer"},
        {m->representation != REPRESENTATION_KV && !whole_layers, "representation",
         "K and V are recomputed for whole layers: prefetch whole-layer"},
        {m->representation != REPRESENTATION_KV && m->resident_heads != RESIDENT_NONE,
         "resident_heads", "K and V are recomputed for all heads of a layer"},
        {m->representation != REPRESENTATION_KV && caches, "policy",
         "nothing is looked up: HBM holds activations"},
        {m->representation == REPRESENTATION_TOKENS && has_budget, "budget",
         "tokens need no memory: there is nothing to hold in HBM"},
        {m->representation_share > 1, "representation_share", "it is a share, at most 100%"},
        {m->balance && m->representation != REPRESENTATION_HYBRID, "balance",
         "only a hybrid of KV and activations has a share to choose"},
        {m->representation_share > 0 && (m->balance || m->representation == REPRESENTATION_KV ||
                                         m->representation == REPRESENTATION_ACT),
         "representation_share", "a hybrid that is not balanced, or tokens, have a share"},
        {offload && m->micro_batch != MICRO_BATCH_WHOLE && !whole_layers, "micro_batch",
         "a selection is asked for by the whole batch: only whole layers come in micro-batches"},
        {offload && m->halves && !whole_layers, "halves",
         "a selection is asked for by a whole layer: only whole layers come in halves"},
        {whole_layers && selects, "prefetch",
         "whole layers come without a query: nothing is selected"},
        {whole_layers && caches && !m->policy->by_position, "policy",
         "what is loaded whole is held by position: policy prefix"},
        {whole_layers && m->merge && m->representation == REPRESENTATION_KV, "merge",
         "whole layers are not merged with a cache"},
        {whole_layers && m->full_layers > 0, "full_layers", "all layers are loaded whole"},
        {whole_layers && m->sync == SYNC_CPU, "sync",
         "whole layers come without a query: nothing is synchronised but by a barrier"},
        {whole_layers && m->manager == MANAGER_CPU, "manager",
         "whole layers come without a query: there is nothing to look up"},
        {hybrid && !offload, "attention",
         "nothing is offloaded, so the CPU has nothing to attend to"},
        {hybrid && !m->policy->names_for_cpu, "attention",
         "the CPU attends to what a policy keeps for it: policy window-maw"},
        {!hybrid && m->policy->names_for_cpu, "policy",
         "it keeps entries for the CPU to attend to: attention hybrid"},
        {hybrid && m->budget.value == 0, "budget", "the GPU attends to a window, the budget"},
        {hybrid && m->manager == MANAGER_CPU, "manager",
         "what the GPU attended to is averaged there: the CPU manages no cache"},
        {hybrid && m->merge, "merge", "nothing is fetched that could be admitted"},
        {hybrid && m->prefetch != PREFETCH_NONE, "prefetch",
         "the CPU attends with the layer's own query: nothing can be asked for ahead"},
        {m->retrieval_stream && (!offload || m->resident_heads != RESIDENT_NONE),
         "retrieval_stream", "heads that stay in HBM keep their index there"},
        {m->retrieval_stream && (m->retrieval == RETRIEVAL_NONE || m->retrieval_in_place),
         "retrieval_stream", "there is no index to copy"},
        {m->cluster_centroids > 0 && !(m->retrieval == RETRIEVAL_PQ && m->retrieval_stream),
         "cluster_centroids", "only product quantisation with its index on the host trains there"},
        {offload && m->transfer_stream == TRANSFER_STREAM_MAIN && m->transfer == TRANSFER_CPU_STORE,
         "transfer_stream", "the CPU's stores are on no stream"},
        {whole_layers && m->transfer_stream == TRANSFER_STREAM_MAIN, "transfer_stream",
         "whole layers are loaded while others compute"},
        {m->prefix_asked == 0 || m->prefix_asked > UINT8_MAX, "prefix_asked",
         "from 1 to 255 requests"},
        {m->prefix_pins && m->prefix_eviction != PREFIX_EVICTION_NONE &&
             m->prefix_eviction != PREFIX_EVICTION_LRU,
         "prefix_pins",
         "only prefix_eviction lru or none can keep what is being copied: no, for another"},
        {m->prefix_block > 0 && m->prefix_unit % m->prefix_block != 0, "prefix_unit",
         "a unit is whole blocks"},
        {offload && m->preemption == PREEMPTION_SWAP, "preemption",
         "KV is on the host already: there is nowhere to swap it to"},
        {m->prefix == PREFIX_TWO_TIER && m->preemption == PREEMPTION_SWAP, "preemption",
         "host memory is the prefix cache's: there is no room to swap to"},
        {offload && m->prefix == PREFIX_GPU, "prefix",
         "no whole KV stays in HBM: that of ended requests is on the host, prefix two-tier"},
        {offload && m->prefix != PREFIX_NONE &&
             (m->representation != REPRESENTATION_KV || mechanisms_drop(m)),
         "prefix", "not all KV of a prompt is kept: there is nothing for another to find"},
        {offload && m->prefetch == PREFETCH_NEXT_LAYER && m->merge, "merge",
         "an execution buffer is filled in its own layer: it cannot be prefetched"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].broken) {
            *key = rules[i].key;
            return rules[i].reason;
        }
    }
    return NULL;
}
