/* A row is the feature: help, checking, defaults and documentation walk this table. */

#include "decode/mechanisms.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/quote.h"
#include "core/text.h"
#include "decode/replay/replay.h"

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
static const char *const copy_values[] = {"asynchronous", "synchronous", NULL};
static const char *const prefetch_values[] = {"none", "next-layer", "whole-layer", "whole-head",
                                              NULL};
static const char *const pinned_rounding_values[] = {"pages", "powers", NULL};
static const char *const pool_of_values[] = {"cores", "node", NULL};
static const char *const sync_values[] = {"cpu", "gpu", NULL};
static const char *const attention_values[] = {"gpu", "hybrid", "cpu", NULL};
static const char *const launch_values[] = {"eager", "graph", NULL};
static const char *const micro_batch_values[] = {"whole", "zig-zag", "balanced", "alternating",
                                                 NULL};
static const char *const representation_values[] = {"kv", "act", "hybrid", "tokens", "both", NULL};
static const char *const prefix_values[] = {"none", "gpu", "two-tier", "host", NULL};
static const char *const prefix_write_values[] = {"finish", "fill", "evict", NULL};
const char *const prefix_evictions[] = {"none",
#define POLICY(id)
#define EVICTION(id) #id,
#include "policy/policies.def"
#undef POLICY
                                        NULL};
static const char *const prefix_below_values[] = {"none", "arrive", "evict", NULL};
static const char *const prefix_load_values[] = {"before-start", "layer-by-layer", "in-step", NULL};
static const char *const prefix_save_values[] = {"beside", "in-step", NULL};
static const char *const preemption_values[] = {"recompute", "swap", NULL};
static const char *const barrier_values[] = {"none", "layer", "pass", NULL};

#define FIELD(member) offsetof(struct mechanisms, member)
#define ROW(key, of, kind, member, by_default, what, ...)                                          \
    {                                                                                              \
        .name = key, .group = of, .type = MECHANISM_##kind, .offset = FIELD(member),               \
        .standard = by_default, .summary = what, __VA_ARGS__                                       \
    }
#define CHOICE(key, of, member, list, by_default, what)                                            \
    ROW(key, of, CHOICE, member, by_default, what, .unit = UNIT_COUNT, .values = list)
#define SWITCH(key, of, member, by_default, what)                                                  \
    ROW(key, of, SWITCH, member, by_default, what, .unit = UNIT_COUNT)
#define WHOLE(key, of, member, in, by_default, what, ...)                                          \
    ROW(key, of, WHOLE, member, by_default, what, .unit = in, ##__VA_ARGS__)
#define EXTENT(key, of, member, in, by_default, what)                                              \
    ROW(key, of, EXTENT, member, by_default, what, .unit = in)
#define REAL(key, of, member, in, by_default, what, ...)                                           \
    ROW(key, of, REAL, member, by_default, what, .unit = in, ##__VA_ARGS__)

const struct mechanism_key mechanism_keys[] = {
    ROW("policy", "policy", POLICY, policy, "none", "cache policy, or {name: qsac, eta: 0.8}",
        .unit = UNIT_COUNT),
    ROW("budget", "policy", BUDGET, budget, "0x",
        "HBM of the cache: 8GiB, 30% of the KV, 3x the selection, 4096tok a layer, or the rest",
        .unit = UNIT_COUNT),
    WHOLE("granularity", "policy", granularity, UNIT_TOKENS, "1tok",
          "tokens of a block of the cache's manager", .least = 1,
          .rule = "a block holds at least one token"),
    WHOLE(
        "cache_page", "policy", cache_page, UNIT_TOKENS, "0tok",
        "tokens of a page of the cache, if a block, a cluster, fills whole ones; 0: it takes its size"),
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
          "tokens of an entry", .least = 1, .rule = "an entry stands for at least one token"),
    SWITCH("retrieval_per_query_head", "retrieval", retrieval_per_query_head, "no",
           "top-k sorts the scores of every query head"),
    SWITCH("retrieval_fused", "retrieval", retrieval_fused, "no",
           "top-k is one kernel with a block of threads for each head, instead of a sort"),
    REAL("retrieval_query", "prefetch", retrieval_query, UNIT_SHARE, "0%",
         "share of the query projection run once more to speculate", .most = 1,
         .rule = "a share is at most 100%"),
    WHOLE("retrieval_kernels", "retrieval", retrieval_kernels, UNIT_COUNT, "0",
          "kernels of scoring and top-k"),
    WHOLE("retrieval_id_bytes", "retrieval", retrieval_id_bytes, UNIT_BYTES, "8B",
          "bytes of an index of a selected entry that is copied to the CPU: int64"),
    REAL("estimation", "retrieval", estimation, UNIT_SHARE, "0%",
         "share of the entries attended to by their summary only", .most = 1,
         .rule = "a share is at most 100%"),
    WHOLE("cluster_segment", "retrieval", cluster_segment, UNIT_TOKENS, "8192tok",
          "tokens of a segment: clusters are made within one", .least = 1,
          .rule = "a segment holds at least one token"),
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
          "CTAs of SM loads for each (sequence, head)", .least = 1,
          .rule = "a copy needs at least one CTA"),
    WHOLE("transfer_cta_threads", "transfer", transfer_cta_threads, UNIT_COUNT, "256",
          "threads of each of these CTAs, which take room on the SMs from other kernels",
          .least = 1, .most = 1024, .rule = "a CTA has from 1 to 1024 threads"),
    WHOLE("transfer_lane_bytes", "transfer", transfer_lane_bytes, UNIT_BYTES, "8B",
          "bytes that each of these threads loads at a time", .least = 1, .most = 16,
          .rule = "a thread loads from 1 to 16 bytes at a time"),
    CHOICE("transfer_stream", "transfer", transfer_stream, transfer_stream_values, "own",
           "whether a transfer has its own stream or runs on the kernels' stream"),
    CHOICE("copy", "transfer", copy, copy_values, "asynchronous",
           "whether kernels run while KV is copied: of a prompt to the host, or, in a server, of "
           "prefixes both ways"),
    REAL("disk_kv", "disk_kv", disk_kv, UNIT_SHARE, "0%",
         "share of the KV outside HBM that lies on the disk", .most = 1,
         .rule = "a share is at most 100%"),
    REAL("disk_weights", "disk_kv", disk_weights, UNIT_SHARE, "0%",
         "share of the weights outside HBM that lies on the disk", .most = 1,
         .rule = "a share is at most 100%"),
    WHOLE("disk_block", "disk_kv", disk_block, UNIT_TOKENS, "8tok",
          "tokens of a head whose K and V lie together on the disk and are read together",
          .least = 1, .rule = "a read brings at least one token"),
    WHOLE("disk_depth", "disk_kv", disk_depth, UNIT_COUNT, "32",
          "reads of the disk in flight; a drive gains nothing by more than 32", .least = 1,
          .rule = "at least one read is in flight"),
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
          "CTAs that admit misses, for each (sequence, head)", .least = 1,
          .rule = "a copy needs at least one CTA"),
    SWITCH("repeat_kv", "repeat_kv", repeat_kv, "no",
           "KV and entries are copied once per query head before they are read"),
    CHOICE(
        "prefetch", "prefetch", prefetch, prefetch_values, "none",
        "whether a layer's KV is fetched one layer ahead, or all KV of each of its heads one head "
        "ahead"),
    CHOICE("attention", "attention", attention, attention_values, "gpu",
           "where attention runs: on the GPU; or hybrid: the GPU attends to a window, which is the "
           "budget, and the CPU to the entries kept outside; or cpu: the CPU attends to all KV "
           "outside HBM"),
    CHOICE("sync", "sync", sync, sync_values, "gpu",
           "what waits for indices and for KV: the launch thread or a kernel"),
    WHOLE("syncs", "sync", syncs, UNIT_COUNT, "0", "synchronisations of CPU and GPU in each layer"),
    WHOLE("sync_copies", "sync", sync_copies, UNIT_COUNT, "1",
          "blocking copies to the CPU in each layer, one after the other; each is one of syncs",
          .least = 1, .rule = "the indices come in at least one copy"),
    CHOICE("barrier", "barrier", barrier, barrier_values, "none",
           "when the launch thread waits for all kernels and copies: after each layer or pass"),
    REAL("weights", "weights", weights, UNIT_SHARE, "100%",
         "share of a layer's weights that stays in HBM; the rest is streamed a layer ahead",
         .most = 1, .rule = "a share is at most 100%"),
    SWITCH("weights_spread", "weights", weights_spread, "no",
           "streamed weights cross in equal parts, one with each micro-batch"),
    CHOICE("micro_batch", "micro_batch", micro_batch, micro_batch_values, "whole",
           "how many sequences pass a layer together; alternating: half of them, and while the CPU "
           "attends for one half, the GPU computes for the other"),
    WHOLE("micro_batch_sequences", "micro_batch", micro_batch_sequences, UNIT_COUNT, "0",
          "sequences of a zig-zag block"),
    WHOLE("micro_batch_tokens", "micro_batch", micro_batch_tokens, UNIT_TOKENS, "0tok",
          "most tokens of a balanced micro-batch, unless it is a single sequence"),
    WHOLE("micro_batch_overhead", "micro_batch", micro_batch_overhead, UNIT_NS, "0us",
          "further GPU time of each micro-batch in each layer"),
    WHOLE("prefill_chunk", "prefill_chunk", prefill_chunk, UNIT_TOKENS, "8192tok",
          "tokens processed at a time in a prefill; 0tok: all of a micro-batch"),
    CHOICE("representation", "representation", representation, representation_values, "kv",
           "what is stored of a token: K and V, activations, some of each, its id alone, or both K "
           "and V and activations, of which only one crosses"),
    REAL(
        "representation_share", "representation", representation_share, UNIT_SHARE, "0%",
        "share of the context outside HBM whose K and V are made of activations, or run again from "
        "tokens",
        .most = 1, .rule = "a share is at most 100%"),
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
          "kernels of a layer outside retrieval, transfer and merge", .least = 1,
          .rule = "a layer has at least one kernel"),
    WHOLE("step_overhead", "step_overhead", step_overhead, UNIT_NS, "0us",
          "time of scheduler and sampler in each step"),
    CHOICE("prefix", "prefix", prefix, prefix_values, "none",
           "prefix cache of a server: where KV of ended requests is kept for reuse"),
    WHOLE("prefix_block", "prefix", prefix_block, UNIT_TOKENS, "16tok",
          "tokens of a block of the prefix cache", .least = 1,
          .rule = "a block holds at least one token"),
    CHOICE("prefix_write", "prefix", prefix_write, prefix_write_values, "finish",
           "when a full block is copied to the host tier: when its request ends, when it fills, or "
           "when it is evicted"),
    WHOLE("prefix_asked", "prefix", prefix_asked, UNIT_COUNT, "1",
          "requests that must have held a block before it is copied to the host tier", .least = 1,
          .most = UINT8_MAX, .rule = "from 1 to 255 requests"),
    CHOICE("prefix_eviction", "prefix", prefix_eviction, prefix_evictions, "lru",
           "policy of the host tier; none: it takes no more blocks when it is full"),
    CHOICE("prefix_disk", "prefix", prefix_below[TIER_DISK], prefix_below_values, "none",
           "tier of the prefix cache on the server's drives: none, or written when a block has "
           "arrived in the tier above, or when that evicts it"),
    CHOICE("prefix_pool", "prefix", prefix_below[TIER_POOL], prefix_below_values, "none",
           "tier of the prefix cache in a pool that servers share: none, or written likewise"),
    WHOLE("prefix_reads", "prefix", prefix_reads, UNIT_COUNT, "32",
          "reads of the drives that are in flight together", .least = 1,
          .rule = "at least one read is in flight"),
    WHOLE("prefix_disk_asked", "prefix", prefix_below_asked[TIER_DISK], UNIT_COUNT, "1",
          "requests that must have held a block before it is written to the drives", .least = 1,
          .most = UINT8_MAX, .rule = "from 1 to 255 requests"),
    WHOLE("prefix_least", "prefix", prefix_least, UNIT_TOKENS, "0tok",
          "fewest tokens that are loaded from drives and pool together; fewer are computed"),
    SWITCH("prefix_cheaper", "prefix", prefix_cheaper, "no",
           "a prefix is loaded only as far as that is faster than computing it"),
    SWITCH("prefix_pins", "prefix", prefix_pins, "no",
           "the host tier does not evict a block that is being copied"),
    WHOLE("prefix_unit", "prefix", prefix_unit, UNIT_TOKENS, "0tok",
          "tokens that are copied and looked up together; 0: a block"),
    CHOICE("prefix_load", "prefix", prefix_load, prefix_load_values, "before-start",
           "what waits for a prefix on the host: its request, before it starts; each layer of its "
           "step, for its own part; or all of that step"),
    CHOICE(
        "prefix_save", "prefix", prefix_save, prefix_save_values, "beside",
        "blocks are copied to the host beside later steps, or at the end of their step, which waits"),
    CHOICE("preemption", "prefix", preemption, preemption_values, "recompute",
           "the KV of a preempted request is computed again, or copied to the host and back"),
    {.name = NULL},
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

double mechanisms_pages(const struct mechanisms *mechanisms)
{
    double page = (double)mechanisms->cache_page / (double)mechanisms->granularity;
    return page == 0 || mechanisms->policy->needs_queries ? 0 : 1 / (1 - exp(-page));
}

bool mechanisms_share_ctas(const struct mechanisms *mechanisms)
{
    return mechanisms->merge && mechanisms->hit_ctas == 0;
}

static const void *mechanism_value_of(const struct mechanism_key *key, const struct mechanisms *of)
{
    return (const char *)of + key->offset;
}

static size_t param_count(const struct policy_kind *policy)
{
    size_t count = 0;
    while (policy->params != NULL && policy->params[count].name != NULL) {
        count++;
    }
    return count;
}

static bool mechanism_value_same_policy(const struct mechanisms *a, const struct mechanisms *b)
{
    bool same = strcmp(a->policy->name, b->policy->name) == 0;
    for (size_t i = 0; same && i < param_count(a->policy); i++) {
        same = a->policy_values[i] == b->policy_values[i];
    }
    return same;
}

static bool same_amount(const struct amount *a, const struct amount *b)
{
    return a->rest == b->rest && (a->rest || (a->unit == b->unit && a->value == b->value));
}

bool mechanism_bounded(const struct mechanism_key *key, const struct mechanisms *mechanisms)
{
    const void *value = mechanism_value_of(key, mechanisms);
    if (key->rule == NULL) {
        return true;
    }
    double number =
        key->type == MECHANISM_REAL ? *(const double *)value : (double)*(const uint64_t *)value;
    return number >= key->least && (key->most == 0 || number <= key->most);
}

bool mechanism_same(const struct mechanism_key *key, const struct mechanisms *a,
                    const struct mechanisms *b)
{
    const void *x = mechanism_value_of(key, a), *y = mechanism_value_of(key, b);
    switch (key->type) {
    case MECHANISM_CHOICE:
    case MECHANISM_SWITCH:
        return *(const int *)x == *(const int *)y;
    case MECHANISM_WHOLE:
        return *(const uint64_t *)x == *(const uint64_t *)y;
    case MECHANISM_REAL:
        return *(const double *)x == *(const double *)y;
    case MECHANISM_BUDGET:
    case MECHANISM_EXTENT:
        return same_amount(x, y);
    case MECHANISM_POLICY:
        return mechanism_value_same_policy(a, b);
    }
    return true;
}

void mechanism_take(const struct mechanism_key *key, struct mechanisms *to,
                    const struct mechanisms *from)
{
    void *at = (char *)to + key->offset;
    const void *value = mechanism_value_of(key, from);
    switch (key->type) {
    case MECHANISM_CHOICE:
    case MECHANISM_SWITCH:
        *(int *)at = *(const int *)value;
        break;
    case MECHANISM_WHOLE:
        *(uint64_t *)at = *(const uint64_t *)value;
        break;
    case MECHANISM_REAL:
        *(double *)at = *(const double *)value;
        break;
    case MECHANISM_BUDGET:
    case MECHANISM_EXTENT:
        *(struct amount *)at = *(const struct amount *)value;
        break;
    case MECHANISM_POLICY:
        to->policy = from->policy;
        memcpy(to->policy_values, from->policy_values, sizeof to->policy_values);
        break;
    }
}

/* ---- writing ---- */

static void mechanism_value_write_policy(const struct mechanisms *of, FILE *out)
{
    char number[32];
    size_t params = param_count(of->policy);
    fputs(params > 0 ? "{name: " : "", out);
    quote_write(QUOTE_YAML, of->policy->name, out); /* that of a plug-in is its path */
    for (size_t i = 0; i < params; i++) {
        fprintf(out, ", %s: %s", of->policy->params[i].name,
                units_write(of->policy_values[i], UNIT_COUNT, number, sizeof number));
    }
    fputs(params > 0 ? "}" : "", out);
}

static void mechanism_value_write(const struct mechanism_key *key, const struct mechanisms *of,
                                  FILE *out)
{
    const void *value = mechanism_value_of(key, of);
    const struct amount *amount = value;
    char number[32];
    switch (key->type) {
    case MECHANISM_CHOICE:
        fputs(key->values[*(const int *)value], out);
        break;
    case MECHANISM_SWITCH:
        fputs(*(const int *)value ? "yes" : "no", out);
        break;
    case MECHANISM_WHOLE:
        fputs(units_write((double)*(const uint64_t *)value, key->unit, number, sizeof number), out);
        break;
    case MECHANISM_REAL:
        fputs(units_write(*(const double *)value, key->unit, number, sizeof number), out);
        break;
    case MECHANISM_BUDGET:
    case MECHANISM_EXTENT:
        fputs(amount->rest ? "rest"
                           : units_write(amount->value, amount->unit, number, sizeof number),
              out);
        break;
    case MECHANISM_POLICY:
        mechanism_value_write_policy(of, out);
        break;
    }
}

char *mechanism_text(const struct mechanism_key *key, const struct mechanisms *of,
                     struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    if (good) {
        mechanism_value_write(key, of, file.out);
    }
    return text_close(&file, good, why);
}
