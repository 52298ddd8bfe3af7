/* The table of mechanisms, and the rules for combining them.
 *
 * A row is the feature: help, checking, defaults and documentation walk this table. */
#include "decode/mechanisms.h"

#include "decode/replay/replay.h"
#include "policy/kinds.h"

#include <stddef.h>

static const char *const resident_values[] = {"none", "first-layer", "difficulty", "all", NULL};
static const char *const residency_values[] = {"fixed", "pressure", NULL};
static const char *const retrieval_values[] = {
    "none", "quest", "hata", "loki", "clusters", "partial-weights", "pq", "native", NULL};
static const char *const block_span_values[] = {"unit", "head", "layer", NULL};
static const char *const manager_values[] = {"cpu", "gpu", "split", NULL};
static const char *const update_values[] = {"overlapped", "blocking", NULL};
static const char *const transfer_values[] = {
    "copy-engine", "gather+copy", "pageable", "sm-zero-copy", "cpu-store", "in-place", NULL};
static const char *const transfer_stream_values[] = {"own", "main", NULL};
static const char *const prefetch_values[] = {"none", "next-layer", "whole-layer", NULL};
static const char *const pinned_rounding_values[] = {"pages", "powers", NULL};
static const char *const pool_of_values[] = {"cores", "node", NULL};
static const char *const sync_values[] = {"cpu", "gpu", NULL};
static const char *const attention_values[] = {"gpu", "hybrid", "cpu", NULL};
static const char *const launch_values[] = {"eager", "graph", NULL};
static const char *const micro_batch_values[] = {"whole", "zig-zag", "balanced", NULL};
static const char *const representation_values[] = {"kv", "act", "hybrid", "tokens", NULL};
static const char *const prefix_values[] = {"none", "gpu", "two-tier", NULL};
static const char *const prefix_write_values[] = {"finish", "fill", "evict", NULL};
const char *const prefix_evictions[] = {"none",
#define POLICY(id)
#define EVICTION(id) #id,
#include "policy/policies.def"
#undef POLICY
                                        NULL};
static const char *const prefix_below_values[] = {"none", "arrive", "evict", NULL};
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
           "what is cached and evicted: units of the trace, blocks of one head, or blocks of all "
           "heads of a layer"),
    WHOLE("block_candidates", "policy", block_candidates, UNIT_COUNT, "0",
          "most blocks that a step touches and admits, those with most wanted tokens; 0: all"),
    WHOLE("sinks", "recent", sinks, UNIT_TOKENS, "4tok", "first tokens, always in HBM"),
    EXTENT("recent", "recent", recent, UNIT_TOKENS, "64tok",
           "last tokens, always in HBM: 64tok, or a share"),
    CHOICE("resident_heads", "resident_heads", resident_heads, resident_values, "none",
           "heads whose whole KV stays in HBM"),
    REAL("resident_epsilon", "resident_heads", resident_epsilon, UNIT_COUNT, "0.1",
         "slack in the reuse difficulty that makes a head resident"),
    CHOICE("residency", "residency", residency, residency_values, "fixed",
           "KV of other heads that is offloaded: all of it (fixed), or what HBM has no room for "
           "(pressure)"),
    EXTENT("selection", "retrieval", selection, UNIT_SHARE, "100%",
           "the most that a head attends to: a share of the context, or 2048tok"),
    REAL("selection_margin", "retrieval", selection_margin, UNIT_COUNT, "0",
         "of the selection keep only scores at most this far below the highest, in natural "
         "logarithms; 0: all"),
    CHOICE("retrieval", "retrieval", retrieval, retrieval_values, "none",
           "how the selection is found"),
    REAL("retrieval_keys", "retrieval", retrieval_keys, UNIT_TIMES, "0x",
         "size of an entry in keys: 1x for a centroid, 0.25x for a quarter of the channels"),
    WHOLE("retrieval_bytes", "retrieval", retrieval_bytes, UNIT_BYTES, "0B",
          "further bytes of an entry of a KV head, such as codes"),
    WHOLE("retrieval_scores", "retrieval", retrieval_scores, UNIT_BYTES, "0B",
          "bytes read and written for an entry's scores before top-k"),
    SWITCH("retrieval_in_place", "retrieval", retrieval_in_place, "no",
           "retrieval reads the KV itself: there is no separate index"),
    SWITCH("retrieval_stream", "retrieval", retrieval_stream, "no",
           "the index lies on the host and is copied to HBM a layer ahead"),
    WHOLE("retrieval_tokens", "retrieval", retrieval_tokens, UNIT_TOKENS, "1tok",
          "tokens of an entry"),
    SWITCH("retrieval_per_query_head", "retrieval", retrieval_per_query_head, "no",
           "top-k sorts the scores of every query head"),
    SWITCH("retrieval_fused", "retrieval", retrieval_fused, "no",
           "top-k is one kernel with a block of threads for each head, instead of a sort"),
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
          "iterations of the k-means that builds the index in prefill; on the host the minimum"),
    WHOLE("cluster_iterations_most", "retrieval", cluster_iterations_most, UNIT_COUNT, "300",
          "most iterations of the host's k-means, however many prefill hides"),
    WHOLE("cluster_passes", "retrieval", cluster_passes, UNIT_COUNT, "2",
          "passes of the host's k-means over all keys, besides its iterations"),
    WHOLE("cluster_centroids", "retrieval", cluster_centroids, UNIT_COUNT, "0",
          "centroids of product quantisation, which the host trains; 0: its training is not timed"),
    WHOLE("cluster_threads", "retrieval", cluster_threads, UNIT_COUNT, "0",
          "threads of the host's k-means; 0: every core"),
    WHOLE("full_layers", "prefetch", full_layers, UNIT_COUNT, "0",
          "first layers that load all their KV: nothing speculates for them"),
    CHOICE(
        "manager", "manager", manager, manager_values, "gpu",
        "where the cache is looked up and updated: by a pool of the CPU, on the GPU, or (split) on "
        "the GPU and then, behind the transfer, by the launch thread"),
    WHOLE("lookup_kernels", "manager", lookup_kernels, UNIT_COUNT, "1",
          "kernels that tell hits from misses on the GPU"),
    CHOICE("update", "manager", update, update_values, "overlapped",
           "whether a layer waits for the manager's update"),
    WHOLE("pool_threads", "manager", pool_threads, UNIT_COUNT, "0",
          "threads of the CPU pool; 0: all that pool_of allows"),
    CHOICE("pool_of", "manager", pool_of, pool_of_values, "cores",
           "where the pool's threads run: on every core, or on the logical CPUs of one NUMA node"),
    WHOLE("pool_spare", "manager", pool_spare, UNIT_COUNT, "0",
          "threads of these that the pool leaves to others"),
    CHOICE("transfer", "transfer", transfer, transfer_values, "copy-engine",
           "how missed KV crosses the link: copied, or (in-place) loaded by attention itself"),
    WHOLE("transfer_threads", "transfer", transfer_threads, UNIT_COUNT, "0",
          "threads of CPU stores or of the gather; 0: every core"),
    WHOLE("transfer_ctas", "transfer", transfer_ctas, UNIT_COUNT, "16",
          "CTAs of SM loads for each (sequence, head)"),
    WHOLE("transfer_cta_threads", "transfer", transfer_cta_threads, UNIT_COUNT, "256",
          "threads of each of these CTAs, which take room on the SMs from other kernels"),
    WHOLE("transfer_lane_bytes", "transfer", transfer_lane_bytes, UNIT_BYTES, "8B",
          "bytes that each of these threads loads at a time"),
    CHOICE("transfer_stream", "transfer", transfer_stream, transfer_stream_values, "own",
           "whether a transfer has its own stream or runs on the kernels' stream"),
    REAL("disk_kv", "disk_kv", disk_kv, UNIT_SHARE, "0%",
         "share of the KV outside HBM that lies on the disk"),
    REAL("disk_weights", "disk_kv", disk_weights, UNIT_SHARE, "0%",
         "share of the weights outside HBM that lies on the disk"),
    WHOLE("disk_block", "disk_kv", disk_block, UNIT_TOKENS, "8tok",
          "tokens of a head whose K and V lie together on the disk and are read together"),
    WHOLE("disk_depth", "disk_kv", disk_depth, UNIT_COUNT, "32",
          "reads of the disk in flight; a drive gains nothing by more than 32"),
    SWITCH("host_shared", "host_shared", host_shared, "no",
           "GPUs that have the same KV share one copy of it on the host"),
    CHOICE("pinned_rounding", "pinned_rounding", pinned_rounding, pinned_rounding_values, "pages",
           "size of an allocation of pinned memory: whole pages, or PyTorch's power of two"),
    SWITCH("merge", "merge", merge, "no",
           "hits are copied into an execution buffer, misses also into the cache"),
    WHOLE(
        "hit_ctas", "merge", hit_ctas, UNIT_COUNT, "16",
        "CTAs that copy hits, for each (sequence, head); 0: the CTAs of sm-zero-copy copy hits and "
        "misses, each their share"),
    WHOLE("admit_ctas", "merge", admit_ctas, UNIT_COUNT, "1",
          "CTAs that admit misses, for each (sequence, head)"),
    SWITCH("repeat_kv", "repeat_kv", repeat_kv, "no",
           "KV and entries are copied once per query head before they are read"),
    CHOICE("prefetch", "prefetch", prefetch, prefetch_values, "none",
           "whether a layer's KV is fetched one layer ahead"),
    CHOICE("attention", "attention", attention, attention_values, "gpu",
           "where attention runs: on the GPU; or hybrid: the GPU attends to a window, which is the "
           "budget, and the CPU to the entries kept outside; or cpu: the CPU attends to all KV "
           "outside HBM"),
    CHOICE("sync", "sync", sync, sync_values, "gpu",
           "what waits for indices and for KV: the launch thread or a kernel"),
    WHOLE("syncs", "sync", syncs, UNIT_COUNT, "0", "synchronisations of CPU and GPU in each layer"),
    WHOLE("sync_copies", "sync", sync_copies, UNIT_COUNT, "1",
          "blocking copies to the CPU in each layer, one after the other; each is one of syncs"),
    CHOICE("barrier", "barrier", barrier, barrier_values, "none",
           "when the launch thread waits for all kernels and copies: after each layer or pass"),
    REAL("weights", "weights", weights, UNIT_SHARE, "100%",
         "share of a layer's weights that stays in HBM; the rest is streamed a layer ahead"),
    SWITCH("weights_spread", "weights", weights_spread, "no",
           "streamed weights cross in equal parts, one with each micro-batch"),
    CHOICE("micro_batch", "micro_batch", micro_batch, micro_batch_values, "whole",
           "how many sequences pass a layer together"),
    WHOLE("micro_batch_sequences", "micro_batch", micro_batch_sequences, UNIT_COUNT, "0",
          "sequences of a zig-zag block"),
    WHOLE("micro_batch_tokens", "micro_batch", micro_batch_tokens, UNIT_TOKENS, "0tok",
          "most tokens of a balanced micro-batch, unless it is a single sequence"),
    WHOLE("micro_batch_overhead", "micro_batch", micro_batch_overhead, UNIT_NS, "0us",
          "further GPU time of each micro-batch in each layer"),
    WHOLE("prefill_chunk", "prefill_chunk", prefill_chunk, UNIT_TOKENS, "8192tok",
          "tokens processed at a time in a prefill; 0tok: all of a micro-batch"),
    CHOICE("representation", "representation", representation, representation_values, "kv",
           "what is stored of a token: K and V, activations, some of each, or its id alone"),
    REAL("representation_share", "representation", representation_share, UNIT_SHARE, "0%",
         "share of the context outside HBM stored as activations, or run again from tokens"),
    SWITCH("balance", "representation", balance, "no",
           "choose that share so that recomputing K and V takes as long as loading the rest"),
    SWITCH("balance_counts_act", "representation", balance_counts_act, "yes",
           "the balance counts the loads of activations"),
    SWITCH("halves", "halves", halves, "no",
           "attention and FFN are two layers: weights and micro-batches pass twice"),
    CHOICE("launch", "launch", launch, launch_values, "eager",
           "operator by operator, or one CUDA graph a step"),
    REAL("launch_cost", "launch", launch_cost, UNIT_TIMES, "1x",
         "CPU time of one launch by the system's software, over host.launch"),
    WHOLE("operators", "operators", operators, UNIT_COUNT, "40",
          "kernels of a layer outside retrieval, transfer and merge"),
    WHOLE("step_overhead", "step_overhead", step_overhead, UNIT_NS, "0us",
          "time of scheduler and sampler in each step"),
    CHOICE("prefix", "prefix", prefix, prefix_values, "none",
           "prefix cache of a server: where KV of ended requests is kept for reuse"),
    WHOLE("prefix_block", "prefix", prefix_block, UNIT_TOKENS, "16tok",
          "tokens of a block of the prefix cache"),
    CHOICE("prefix_write", "prefix", prefix_write, prefix_write_values, "finish",
           "when a full block is copied to the host tier: when its request ends, when it fills, or "
           "when it is evicted"),
    WHOLE("prefix_asked", "prefix", prefix_asked, UNIT_COUNT, "1",
          "requests that must have held a block before it is copied to the host tier"),
    CHOICE("prefix_eviction", "prefix", prefix_eviction, prefix_evictions, "lru",
           "policy of the host tier; none: it takes no more blocks when it is full"),
    CHOICE("prefix_disk", "prefix", prefix_disk, prefix_below_values, "none",
           "tier of the prefix cache on the server's drives: none, or written when a block has "
           "arrived in the tier above, or when that evicts it"),
    CHOICE("prefix_pool", "prefix", prefix_pool, prefix_below_values, "none",
           "tier of the prefix cache in a pool that servers share: none, or written likewise"),
    WHOLE("prefix_reads", "prefix", prefix_reads, UNIT_COUNT, "32",
          "reads of the drives that are in flight together"),
    WHOLE("prefix_disk_asked", "prefix", prefix_disk_asked, UNIT_COUNT, "1",
          "requests that must have held a block before it is written to the drives"),
    WHOLE("prefix_least", "prefix", prefix_least, UNIT_TOKENS, "0tok",
          "fewest tokens that are loaded from drives and pool together; fewer are computed"),
    SWITCH("prefix_cheaper", "prefix", prefix_cheaper, "no",
           "a prefix is loaded only as far as that is faster than computing it"),
    SWITCH("prefix_pins", "prefix", prefix_pins, "no",
           "the host tier does not evict a block that is being copied"),
    WHOLE("prefix_unit", "prefix", prefix_unit, UNIT_TOKENS, "0tok",
          "tokens that are copied and looked up together; 0: a block"),
    SWITCH("prefix_contiguous", "prefix", prefix_contiguous, "yes",
           "a unit is contiguous and crosses in one transfer, not in one for each layer"),
    CHOICE("prefix_load", "prefix", prefix_load, prefix_load_values, "before-start",
           "when a request starts if its prefix is on the host: after it has arrived, or at once, "
           "with each layer waiting for its own part"),
    CHOICE("preemption", "prefix", preemption, preemption_values, "recompute",
           "the KV of a preempted request is computed again, or copied to the host and back"),
    {NULL, NULL, 0, 0, NULL, 0, NULL, NULL},
};

bool mechanisms_select(const struct mechanisms *mechanisms)
{
    return mechanisms->selection.unit == UNIT_TOKENS || mechanisms->selection.value < 1 ||
           mechanisms->selection_margin > 0;
}

/* A set that is used again, or that was asked for a layer ahead, is not the one that the model's
 * indexer selects. */
const char *mechanisms_lossless(const struct mechanisms *mechanisms)
{
    const struct policy_kind *policy = mechanisms->policy;
    bool chooses = mechanisms_offload(mechanisms) && policy->chooses_own;
    bool native = mechanisms->retrieval == RETRIEVAL_NATIVE && !chooses && !policy->needs_queries &&
                  mechanisms->prefetch != PREFETCH_NEXT_LAYER;
    return !mechanisms_select(mechanisms) && !chooses ? "exact" : native ? "native" : "lossy";
}

bool mechanisms_offload(const struct mechanisms *mechanisms)
{
    return mechanisms->resident_heads != RESIDENT_ALL;
}

bool mechanisms_use_disk(const struct mechanisms *mechanisms)
{
    return (mechanisms->disk_kv > 0 && mechanisms_offload(mechanisms)) ||
           (mechanisms->disk_weights > 0 && mechanisms->weights < 1);
}

bool mechanisms_drop(const struct mechanisms *mechanisms)
{
    return mechanisms->policy->chooses_own && !mechanisms->policy->names_for_cpu;
}

bool mechanisms_need_cpu(const struct mechanisms *mechanisms)
{
    return mechanisms->manager != MANAGER_GPU || (mechanisms->transfer != TRANSFER_SM_ZERO_COPY &&
                                                  mechanisms->transfer != TRANSFER_IN_PLACE);
}

bool mechanisms_attend_in_place(const struct mechanisms *mechanisms)
{
    return mechanisms_offload(mechanisms) && mechanisms->transfer == TRANSFER_IN_PLACE;
}

bool mechanisms_share_ctas(const struct mechanisms *mechanisms)
{
    return mechanisms->merge && mechanisms->hit_ctas == 0;
}

#define MOST_CTA_THREADS 1024 /* CUDA's limit on every GPU */
#define MOST_LOAD_BYTES 16    /* of one instruction of a thread */

/* A rule that a system may break: the key to blame, and the rule in words. */
struct rule {
    bool broken;
    const char *key, *reason;
};

const char *mechanisms_contradiction(const struct mechanisms *m, const char **key)
{
    bool offload = mechanisms_offload(m);
    bool graph = m->launch == LAUNCH_GRAPH;
    bool hybrid = m->attention == ATTEND_HYBRID;
    bool by_cpu = m->attention == ATTEND_CPU;
    bool caches = m->policy != &policy_none;
    bool has_budget = m->budget.value > 0 || m->budget.rest;
    bool whole_layers = offload && m->prefetch == PREFETCH_WHOLE_LAYER;
    bool selects = mechanisms_select(m);
    bool in_place = mechanisms_attend_in_place(m);
    bool near = m->selection_margin > 0;
    bool pressure = m->residency == RESIDENCY_PRESSURE;
    const struct rule rules[] = {
        {m->selection.value <= 0, "selection", "a head must attend to at least one token"},
        {m->retrieval_query > 1, "retrieval_query", "a share is at most 100%"},
        {m->estimation > 1, "estimation", "a share is at most 100%"},
        {m->granularity == 0, "granularity", "a block holds at least one token"},
        {m->retrieval_tokens == 0, "retrieval_tokens", "an entry stands for at least one token"},
        {m->cluster_segment == 0, "cluster_segment", "a segment holds at least one token"},
        {m->cluster_centroids > 0 && m->cluster_iterations_most < m->cluster_iterations,
         "cluster_iterations_most", "at least cluster_iterations"},
        {m->transfer_ctas == 0, "transfer_ctas", "a copy needs at least one CTA"},
        {m->transfer_cta_threads == 0 || m->transfer_cta_threads > MOST_CTA_THREADS,
         "transfer_cta_threads", "a CTA has from 1 to 1024 threads"},
        {m->transfer_lane_bytes == 0 || m->transfer_lane_bytes > MOST_LOAD_BYTES,
         "transfer_lane_bytes", "a thread loads from 1 to 16 bytes at a time"},
        {m->merge && m->hit_ctas == 0 && m->transfer != TRANSFER_SM_ZERO_COPY, "hit_ctas",
         "only the CTAs of 'transfer: sm-zero-copy' can copy hits, too"},
        {m->merge && m->hit_ctas == 0 && m->transfer_ctas == 1, "hit_ctas",
         "a kernel that copies hits and misses needs at least two 'transfer_ctas'"},
        {m->admit_ctas == 0, "admit_ctas", "a copy needs at least one CTA"},
        {m->operators == 0, "operators", "a layer has at least one kernel"},
        {m->prefix_block == 0, "prefix_block", "a block holds at least one token"},
        {!(m->selection.unit == UNIT_TOKENS) && m->selection.value + m->estimation > 1,
         "estimation", "selection and estimation together are at most 100%"},
        {near && m->retrieval == RETRIEVAL_NONE, "selection_margin",
         "a margin compares scores, which need a 'retrieval'"},
        {near && m->retrieval == RETRIEVAL_NATIVE, "selection_margin",
         "the model's own indexer selects a fixed number of tokens"},
        {near && (m->retrieval == RETRIEVAL_CLUSTERS || m->estimation > 0), "selection_margin",
         "clusters and 'estimation' select a fixed number of entries"},
        {near && m->resident_heads != RESIDENT_NONE, "selection_margin",
         "a margin needs 'resident_heads: none': selections of resident heads are not counted"},
        {near && m->policy->needs_queries, "selection_margin",
         "sets that later queries reuse have a fixed size"},
        {selects && m->retrieval == RETRIEVAL_NONE, "selection", "a selection needs a 'retrieval'"},
        {!offload && caches, "policy", "nothing is offloaded, so nothing is cached"},
        {!offload && has_budget, "budget", "nothing is offloaded, so nothing is cached"},
        {offload && !caches && has_budget && m->representation == REPRESENTATION_KV, "budget",
         "a budget needs a policy"},
        {offload && !caches && m->manager != MANAGER_GPU, "manager",
         "a cache to manage needs a policy"},
        {offload && !caches && m->merge && m->representation == REPRESENTATION_KV, "merge",
         "a merge needs a policy that admits misses"},
        {m->resident_heads == RESIDENT_DIFFICULTY && !m->policy->needs_queries, "resident_heads",
         "reuse difficulty needs query labels: policy qsac"},
        {pressure && !offload, "residency", "all KV stays in HBM, under pressure, too"},
        {pressure && m->budget.rest, "budget",
         "with 'residency: pressure' KV takes the rest of HBM, and the cache cannot"},
        {pressure && m->resident_heads == RESIDENT_DIFFICULTY, "resident_heads",
         "with 'residency: pressure' the room in HBM is not for whole heads"},
        {pressure && (whole_layers || m->full_layers > 0), "residency",
         "layers that are loaded whole stay on the host"},
        {pressure && m->manager != MANAGER_GPU, "manager",
         "with 'residency: pressure' the GPU looks up where KV lies"},
        {pressure && m->merge, "merge", "KV that stays in HBM is not merged with a cache"},
        {pressure && m->block_span != BLOCK_UNIT, "block_span",
         "with 'residency: pressure' single tokens are loaded"},
        {pressure && m->policy->needs_queries, "policy",
         "query labels fetch whole sets, whatever HBM holds of them"},
        {pressure && (hybrid || mechanisms_drop(m)), "residency",
         "what leaves the cache is attended to by the CPU, or deleted"},
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
        {offload && m->manager != MANAGER_GPU && m->policy->needs_queries, "manager",
         "query labels live on the GPU: the CPU cannot manage them"},
        {offload && m->manager == MANAGER_SPLIT && m->sync != SYNC_CPU, "manager",
         "the launch thread updates what it has waited for: sync cpu"},
        {m->sync_copies == 0, "sync_copies", "the indices come in at least one copy"},
        {m->sync_copies > 1 && m->sync_copies > m->syncs, "sync_copies",
         "each copy ends with a synchronisation: at most 'syncs'"},
        {offload && mechanisms_drop(m) && !has_budget, "budget",
         "the system attends to cached tokens only, so it needs a budget"},
        {offload && m->policy->chooses_own && (m->retrieval != RETRIEVAL_NONE || selects),
         "retrieval", "the policy chooses what is attended to, so nothing is retrieved"},
        {offload && m->block_span != BLOCK_UNIT && caches && m->policy->holds == NULL, "block_span",
         "the policy does not admit and evict blocks one by one"},
        {offload && m->block_span != BLOCK_UNIT && !caches, "block_span",
         "caching blocks needs a policy"},
        {offload && m->block_span != BLOCK_UNIT && m->prefetch != PREFETCH_NONE, "block_span",
         "a prefetch asks for units, not for blocks"},
        {m->block_candidates > 0 && m->block_span == BLOCK_UNIT, "block_candidates",
         "with 'block_span: unit' all wanted units are touched"},
        {m->weights > 1, "weights", "a share is at most 100%"},
        {m->disk_kv > 1, "disk_kv", "a share is at most 100%"},
        {m->disk_weights > 1, "disk_weights", "a share is at most 100%"},
        {m->disk_block == 0, "disk_block", "a read brings at least one token"},
        {m->disk_depth == 0, "disk_depth", "at least one read is in flight"},
        {m->disk_kv > 0 && !offload, "disk_kv", "all KV stays in HBM"},
        {m->transfer == TRANSFER_IN_PLACE && !offload, "transfer", "all KV stays in HBM"},
        {m->disk_kv > 0 && offload && mechanisms_drop(m), "disk_kv",
         "what leaves the cache is deleted, so nothing lies outside HBM"},
        {m->disk_kv > 0 && hybrid, "disk_kv", "the CPU attends to what host memory holds"},
        {m->disk_kv > 0 && pressure, "disk_kv",
         "with 'residency: pressure' KV that has no room goes to host memory"},
        {m->disk_kv > 0 && !whole_layers && !mechanisms_need_cpu(m), "disk_kv",
         "the GPU fetches by itself, and only the CPU reads a disk"},
        {m->disk_kv > 0 && m->prefix != PREFIX_NONE, "disk_kv",
         "a server's prefix cache lies in HBM and in host memory"},
        {m->disk_weights > 0 && m->weights >= 1, "disk_weights", "all weights stay in HBM"},
        {m->weights_spread && m->micro_batch == MICRO_BATCH_WHOLE, "weights_spread",
         "spreading weights needs micro-batches"},
        {(m->micro_batch == MICRO_BATCH_ZIG_ZAG) != (m->micro_batch_sequences > 0),
         "micro_batch_sequences", "zig-zag blocks, and only these, need a number of sequences"},
        {(m->micro_batch == MICRO_BATCH_BALANCED) != (m->micro_batch_tokens > 0),
         "micro_batch_tokens", "balanced micro-batches, and only these, need a number of tokens"},
        {m->micro_batch == MICRO_BATCH_BALANCED && !whole_layers, "micro_batch",
         "balanced micro-batches need 'prefetch: whole-layer'"},
        {m->representation != REPRESENTATION_KV && !whole_layers, "representation",
         "recomputing K and V needs 'prefetch: whole-layer'"},
        {m->representation != REPRESENTATION_KV && m->resident_heads != RESIDENT_NONE,
         "resident_heads", "K and V are recomputed for all heads of a layer"},
        {m->representation != REPRESENTATION_KV && caches, "policy",
         "HBM holds activations, so no KV is cached"},
        {m->representation == REPRESENTATION_TOKENS && has_budget, "budget",
         "token ids need no memory, so there is nothing to keep in HBM"},
        {m->representation_share > 1, "representation_share", "a share is at most 100%"},
        {m->balance && m->representation != REPRESENTATION_HYBRID, "balance",
         "only 'representation: hybrid' has a share to choose"},
        {m->representation_share > 0 && (m->balance || m->representation == REPRESENTATION_KV ||
                                         m->representation == REPRESENTATION_ACT),
         "representation_share",
         "only 'representation: tokens', or hybrid without 'balance', uses this share"},
        {offload && m->micro_batch != MICRO_BATCH_WHOLE && !whole_layers, "micro_batch",
         "a batch fetches its selection at once: micro-batches need 'prefetch: whole-layer'"},
        {offload && m->halves && !whole_layers, "halves",
         "a layer fetches its selection at once: halves need 'prefetch: whole-layer'"},
        {whole_layers && selects, "prefetch",
         "whole layers are loaded without a query, so nothing is selected"},
        {whole_layers && caches && !m->policy->by_position, "policy",
         "whole layers are cached by position: policy prefix"},
        {whole_layers && m->merge && m->representation == REPRESENTATION_KV, "merge",
         "whole layers are not merged with a cache"},
        {whole_layers && m->full_layers > 0, "full_layers", "all layers are loaded whole"},
        {whole_layers && m->sync == SYNC_CPU, "sync",
         "whole layers are loaded without a query: only a barrier synchronises"},
        {whole_layers && m->manager != MANAGER_GPU, "manager",
         "whole layers are loaded without a query, so nothing is looked up"},
        {by_cpu && !whole_layers, "attention",
         "the CPU attends to whole layers: 'prefetch: whole-layer'"},
        {by_cpu && (caches || m->representation != REPRESENTATION_KV), "attention",
         "the CPU attends to K and V of all tokens, so nothing is cached or recomputed"},
        {by_cpu && m->repeat_kv, "repeat_kv", "the CPU reads KV once for all query heads"},
        {by_cpu && graph, "launch", "a CUDA graph cannot contain attention on the CPU"},
        {hybrid && !offload, "attention",
         "nothing is offloaded, so the CPU has nothing to attend to"},
        {hybrid && !m->policy->names_for_cpu, "attention",
         "the CPU attends to entries that a policy keeps for it: policy window-maw"},
        {!hybrid && m->policy->names_for_cpu, "policy",
         "this policy keeps entries for the CPU: attention hybrid"},
        {hybrid && m->budget.value == 0, "budget",
         "the budget is the GPU's window and must be above 0"},
        {hybrid && m->manager != MANAGER_GPU, "manager",
         "the GPU manages its window: the CPU has no cache to manage"},
        {hybrid && m->merge, "merge", "nothing is fetched, so there is nothing to merge"},
        {hybrid && m->prefetch != PREFETCH_NONE, "prefetch",
         "the CPU attends with the layer's own query, so nothing can be prefetched"},
        {in_place && (m->prefetch != PREFETCH_NONE || m->full_layers > 0), "transfer",
         "attention in place loads with the layer's own query, so nothing can be prefetched"},
        {in_place && m->merge, "transfer", "attention in place copies nothing into a buffer"},
        {in_place && m->block_span != BLOCK_UNIT, "transfer",
         "attention in place loads tokens, not blocks"},
        {in_place && hybrid, "transfer", "the CPU attends to what lies on the host"},
        {in_place && m->transfer_stream == TRANSFER_STREAM_MAIN, "transfer_stream",
         "attention in place has no transfer of its own"},
        {in_place && m->repeat_kv, "repeat_kv", "attention in place copies nothing"},
        {m->retrieval_stream && (!offload || m->resident_heads != RESIDENT_NONE),
         "retrieval_stream", "heads that stay in HBM keep their index there"},
        {m->retrieval_stream && (m->retrieval == RETRIEVAL_NONE || m->retrieval_in_place),
         "retrieval_stream", "there is no index to copy"},
        {m->cluster_centroids > 0 && !(m->retrieval == RETRIEVAL_PQ && m->retrieval_stream),
         "cluster_centroids",
         "only 'retrieval: pq' with 'retrieval_stream: yes' trains on the host"},
        {offload && m->transfer_stream == TRANSFER_STREAM_MAIN && m->transfer == TRANSFER_CPU_STORE,
         "transfer_stream", "the CPU's stores run on no stream"},
        {whole_layers && m->transfer_stream == TRANSFER_STREAM_MAIN, "transfer_stream",
         "whole layers are loaded while others compute"},
        {m->prefix_asked == 0 || m->prefix_asked > UINT8_MAX, "prefix_asked",
         "from 1 to 255 requests"},
        {m->prefix_pins && m->prefix_eviction != PREFIX_EVICTION_NONE &&
             m->prefix_eviction != PREFIX_EVICTION_LRU,
         "prefix_pins",
         "only 'prefix_eviction: lru' or none can keep a block that is being copied"},
        {m->prefix_block > 0 && m->prefix_unit % m->prefix_block != 0, "prefix_unit",
         "a unit is a multiple of 'prefix_block'"},
        {m->prefix == PREFIX_NONE && m->prefix_disk != PREFIX_BELOW_NONE, "prefix_disk",
         "a tier needs one above it: prefix gpu or two-tier"},
        {m->prefix == PREFIX_NONE && m->prefix_pool != PREFIX_BELOW_NONE, "prefix_pool",
         "a tier needs one above it: prefix gpu or two-tier"},
        {(m->prefix_disk == PREFIX_BELOW_EVICT || m->prefix_pool == PREFIX_BELOW_EVICT) &&
             m->prefix_eviction != PREFIX_EVICTION_LRU && m->prefix == PREFIX_TWO_TIER,
         "prefix_eviction", "only lru says which blocks it evicts to the tier below"},
        {offload && m->prefix_disk != PREFIX_BELOW_NONE, "prefix_disk",
         "only a system that keeps KV in HBM writes prefixes to a disk"},
        {offload && m->prefix_pool != PREFIX_BELOW_NONE, "prefix_pool",
         "only a system that keeps KV in HBM writes prefixes to a pool"},
        {m->prefix_disk_asked == 0 || m->prefix_disk_asked > UINT8_MAX, "prefix_disk_asked",
         "from 1 to 255 requests"},
        {offload && m->prefix_cheaper, "prefix_cheaper",
         "only a system that keeps KV in HBM computes a prefix again"},
        {m->prefix_reads == 0, "prefix_reads", "at least one read is in flight"},
        {m->prefix == PREFIX_GPU && m->preemption == PREEMPTION_SWAP &&
             m->prefix_disk + m->prefix_pool > 0,
         "preemption", "preempted requests are copied to host memory, not to a tier below it"},
        {offload && m->preemption == PREEMPTION_SWAP, "preemption",
         "KV is on the host already, so it cannot be swapped out"},
        {m->prefix == PREFIX_TWO_TIER && m->preemption == PREEMPTION_SWAP, "preemption",
         "the prefix cache uses all host memory, so there is no room to swap"},
        {offload && m->prefix == PREFIX_GPU, "prefix",
         "KV of ended requests is on the host, not in HBM: prefix two-tier"},
        {offload && m->prefix != PREFIX_NONE &&
             (m->representation != REPRESENTATION_KV || mechanisms_drop(m)),
         "prefix", "not all KV of a prompt is kept, so other requests cannot use it"},
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
