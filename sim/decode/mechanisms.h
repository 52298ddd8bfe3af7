/* Mechanisms: the orthogonal choices by which one KV-offload system differs from another.
 *
 * A system is a file, scenarios/systems/NAME.yaml. It gives every key of mechanism_keys[] that
 * differs from its default, each with its source in a comment. There is one pipeline (pipeline.h);
 * it knows a system by this struct alone. Contradictory combinations (a graph that contains a
 * blocking synchronisation) are refused with the reason.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/node.h"
#include "machine/places.h"
#include "policy/policy.h"

struct files;

enum resident_heads { RESIDENT_NONE, RESIDENT_FIRST_LAYER, RESIDENT_DIFFICULTY, RESIDENT_ALL };
enum residency { RESIDENCY_FIXED, RESIDENCY_PRESSURE };
enum retrieval {
    RETRIEVAL_NONE,
    RETRIEVAL_QUEST,
    RETRIEVAL_HATA,
    RETRIEVAL_LOKI,
    RETRIEVAL_CLUSTERS,
    RETRIEVAL_PARTIAL_WEIGHTS,
    RETRIEVAL_PQ,
    RETRIEVAL_NATIVE
};
enum manager { MANAGER_CPU, MANAGER_GPU, MANAGER_SPLIT };
enum update { UPDATE_OVERLAPPED, UPDATE_BLOCKING };
enum transfer {
    TRANSFER_COPY_ENGINE,
    TRANSFER_GATHER_COPY,
    TRANSFER_PAGEABLE,
    TRANSFER_SM_ZERO_COPY,
    TRANSFER_CPU_STORE,
    TRANSFER_IN_PLACE
};
enum transfer_stream { TRANSFER_STREAM_OWN, TRANSFER_STREAM_MAIN };
enum kv_copy { COPY_ASYNCHRONOUS, COPY_SYNCHRONOUS };
enum prefetch { PREFETCH_NONE, PREFETCH_NEXT_LAYER, PREFETCH_WHOLE_LAYER, PREFETCH_WHOLE_HEAD };
enum sync { SYNC_CPU, SYNC_GPU };
enum pinned_rounding { PINNED_PAGES, PINNED_POWERS };
enum pool_of { POOL_OF_CORES, POOL_OF_NODE };
enum launch { LAUNCH_EAGER, LAUNCH_GRAPH };
enum micro_batch {
    MICRO_BATCH_WHOLE,
    MICRO_BATCH_ZIG_ZAG,
    MICRO_BATCH_BALANCED,
    MICRO_BATCH_ALTERNATING
};
enum representation {
    REPRESENTATION_KV,
    REPRESENTATION_ACT,
    REPRESENTATION_HYBRID,
    REPRESENTATION_TOKENS,
    REPRESENTATION_BOTH
};
enum barrier { BARRIER_NONE, BARRIER_LAYER, BARRIER_PASS };
enum attend { ATTEND_GPU, ATTEND_HYBRID, ATTEND_CPU };
enum prefix { PREFIX_NONE, PREFIX_GPU, PREFIX_TWO_TIER, PREFIX_HOST };

/* When a full block is offered to the host tier of a prefix cache. */
enum prefix_write { PREFIX_WRITE_FINISH, PREFIX_WRITE_FILL, PREFIX_WRITE_EVICT };

/* When a block is written to a tier below host memory: never, because there is none; when it has
 * arrived in the tier above; or when that evicts it. */
enum prefix_below { PREFIX_BELOW_NONE, PREFIX_BELOW_ARRIVE, PREFIX_BELOW_EVICT };

/* What waits for a prefix that is loaded: the request, before it starts; the step that computes it,
 * each layer for its own part, while what comes from below host memory arrives before; or all of
 * that step. What waits for blocks that are saved: nothing, or the step that filled them. And what
 * happens to the KV of a request that is preempted. */
enum prefix_load { PREFIX_LOAD_BEFORE, PREFIX_LOAD_LAYERS, PREFIX_LOAD_STEP };
enum prefix_save { PREFIX_SAVE_BESIDE, PREFIX_SAVE_STEP };
enum preemption { PREEMPTION_RECOMPUTE, PREEMPTION_SWAP };

/* A quantity in one of several units. A budget (HBM of the cache) is bytes in all, a share of the
 * KV, a multiple of the selection, or tokens a layer. An extent is a share of the context, or
 * tokens. */
struct amount {
    enum unit unit; /* UNIT_BYTES, UNIT_SHARE, UNIT_TIMES or UNIT_TOKENS */
    double value;
    bool rest; /* a budget of all HBM that nothing else takes; unit and value mean nothing */
};

struct mechanisms {
    const struct policy_kind *policy;
    double policy_values[POLICY_MOST_PARAMS];
    struct amount budget;
    uint64_t granularity;      /* tokens of a block of the cache's manager */
    uint64_t cache_page;       /* tokens of a page, in whole ones of which a block lies; 0: none */
    int block_span;            /* enum block_span of replay.h */
    uint64_t block_candidates; /* most blocks that a step touches; 0: all that it wants */
    uint64_t sinks;            /* first tokens: always in HBM, always attended to */
    struct amount recent;      /* an extent of last tokens, likewise */
    int resident_heads;
    double resident_epsilon; /* slack in reuse difficulty */
    int residency;           /* KV of other heads that is offloaded: all, or what has no room */
    struct amount selection; /* the most that a head attends to: an extent */
    double selection_margin; /* retains selected units whose score is at most this far below the
                                highest; 0: all */
    int retrieval;
    /* Size of an entry of a KV head, which scoring reads: a number of keys (0.25: a quarter of a
     * key's channels) and a number of bytes. */
    double retrieval_keys;
    uint64_t retrieval_bytes;
    uint64_t retrieval_scores;    /* bytes read and written for an entry's scores before top-k */
    int retrieval_in_place;       /* scoring reads the KV itself: there is no separate index */
    int retrieval_stream;         /* the index lies on the host and is copied a layer ahead */
    uint64_t retrieval_tokens;    /* tokens of an entry */
    int retrieval_per_query_head; /* top-k sorts every query head's scores, not the group's */
    int retrieval_fused;          /* top-k is one kernel, a block of threads a row, not a sort */
    double retrieval_query; /* share of the query projection computed once more, to speculate */
    uint64_t retrieval_kernels;
    uint64_t retrieval_id_bytes; /* of an index of what was selected, where it goes to the CPU */
    double estimation; /* share of the entries attended to by their summary only (clusters) */
    uint64_t cluster_segment;         /* tokens; a cluster lies within one segment */
    uint64_t cluster_iterations;      /* of the k-means in prefill; on the host the minimum */
    uint64_t cluster_iterations_most; /* the most, on the host */
    uint64_t cluster_passes;          /* of the host over all keys, besides the iterations */
    uint64_t cluster_centroids;       /* of a head in each subspace of product quantisation */
    uint64_t cluster_threads;         /* of the host's k-means; 0: every core */
    uint64_t full_layers; /* first layers that load all their KV: nothing speculates for them */
    int manager;
    uint64_t lookup_kernels; /* of a look-up on the GPU */
    int update;
    uint64_t pool_threads; /* 0: every thread that pool_of allows */
    int pool_of;           /* cores of the host, or the logical CPUs of one NUMA node */
    uint64_t pool_spare;   /* threads of these that the pool leaves to others */
    int transfer;
    uint64_t transfer_threads;     /* of CPU stores or gather; 0: every core */
    uint64_t transfer_ctas;        /* CTAs of SM loads for each (sequence, head) */
    uint64_t transfer_cta_threads; /* of each of these CTAs */
    uint64_t transfer_lane_bytes;  /* that each of these threads loads at a time */
    int transfer_stream;
    int copy;            /* of a prompt's KV to the host, and of a server's prefixes both ways */
    double disk_kv;      /* share of the KV outside HBM that lies on the disk; host memory has the
                            rest */
    double disk_weights; /* of the weights outside HBM */
    uint64_t disk_block; /* tokens of a head that lie together there and are read together */
    uint64_t disk_depth; /* reads in flight */
    int host_shared;     /* GPUs that have the same KV share one copy of it on the host */
    int pinned_rounding; /* what each allocation of pinned host memory is rounded up to */
    int merge;           /* hits are copied into an execution buffer, misses also into the cache */
    uint64_t hit_ctas;   /* for each (sequence, head), to copy hits; 0: mechanisms_share_ctas() */
    uint64_t admit_ctas; /* for each (sequence, head), to copy misses into the cache */
    int repeat_kv;       /* KV and entries are copied once per query head before they are read */
    int prefetch;
    int attention; /* by the GPU; by the GPU to a window and by the CPU to the rest; by the CPU */
    int sync;
    uint64_t syncs;       /* synchronisations a layer, by the CPU */
    uint64_t sync_copies; /* of these, at the end of a copy to the CPU */
    int barrier;          /* when the launch thread waits for all kernels and copies */
    double weights;     /* share of each layer's weights that stays in HBM; the rest is streamed */
    int weights_spread; /* they cross in equal parts, one with each micro-batch */
    int micro_batch;
    uint64_t micro_batch_sequences; /* of a zig-zag block */
    uint64_t micro_batch_tokens;    /* most of a balanced one, unless it is a single sequence */
    uint64_t micro_batch_overhead;  /* ns of the main stream in each layer of a micro-batch */
    uint64_t prefill_chunk;         /* tokens processed at a time in prefill; 0: a micro-batch's */
    int representation;
    double representation_share; /* share of the context outside HBM that is kept as activations,
                                    or whose tokens are run again */
    int balance;                 /* choose that share so that GPU and link take equally long */
    int balance_counts_act;      /* the balance counts the loads of activations */
    int halves; /* attention and FFN are two layers: weights and micro-batches pass twice */
    int launch;
    double launch_cost;     /* CPU time of a launch, over host.launch: the software around it */
    uint64_t operators;     /* kernels a layer outside retrieval, transfer and merge */
    uint64_t step_overhead; /* ns a step on the launch thread: scheduler, sampler */
    /* The prefix cache of a server: KV of ended requests, for new ones with the same beginning. */
    int prefix; /* no cache, one in HBM, one in HBM and host memory, or in host memory alone */
    uint64_t prefix_block; /* tokens */
    int prefix_write;
    uint64_t prefix_asked; /* requests that have held a block before it is saved */
    int prefix_eviction;   /* policy of the host tier: an index of prefix_evictions[] */
    /* By tier below host memory: is there one, enum prefix_below; and requests that have held a
     * block before it is written there, 0: 1. */
    int prefix_below[TIER_COUNT];
    uint64_t prefix_below_asked[TIER_COUNT];
    uint64_t prefix_reads; /* reads of a drive that are in flight together */
    uint64_t prefix_least; /* tokens; fewer are not loaded from tiers below host memory */
    int prefix_cheaper;    /* load a prefix only as far as that is faster than computing it */
    int prefix_pins;       /* the host tier does not evict a block that is being copied */
    uint64_t prefix_unit;  /* tokens that are copied and looked up together; 0: a block */
    int prefix_load;
    int prefix_save;
    int preemption;
};

/* One key: how it is read and described. A group is one mechanism and its parameters; without their
 * mechanism the parameters mean nothing, or something else. */
enum mechanism_type {
    MECHANISM_CHOICE, /* one of `values` */
    MECHANISM_SWITCH, /* yes or no */
    MECHANISM_WHOLE,  /* a whole number in `unit` */
    MECHANISM_REAL,   /* a number in `unit` */
    MECHANISM_BUDGET,
    MECHANISM_EXTENT, /* of the context; a bare number is in `unit` */
    MECHANISM_POLICY
};
struct mechanism_key {
    const char *name;
    const char *group; /* name of the mechanism: this key, or the key that it is a parameter of */
    enum mechanism_type type;
    enum unit unit;
    const char *const *values; /* of a choice; ends with NULL */
    size_t offset;             /* in struct mechanisms */
    const char *standard;      /* the default, as written in a file */
    const char *summary;
    double least, most; /* of a number; most 0: any */
    const char *rule;   /* why it has these bounds; NULL: it has none */
};
extern const struct mechanism_key mechanism_keys[]; /* ends with name NULL */

/* Names of the policies that the host tier may use; the first one never evicts. Ends with NULL. */
extern const char *const prefix_evictions[];
enum prefix_eviction { PREFIX_EVICTION_NONE, PREFIX_EVICTION_LRU }; /* and others */

/* What a preset file says besides its mechanisms. */
struct system_info {
    char name[64];
    char summary[160];
    char paper[200];
    char available[16]; /* vllm, sglang, code or paper */
    char where[64]; /* first version of the engine that has it, or the code's repository, or "" */
    bool reference; /* papers measure with it; nobody serves with it */
    const char *lossless; /* mechanisms_lossless() of its mechanisms, overrides included */
    char baseline[64];    /* system that it is compared with; "": all of the KV in HBM */
    char engine[32];      /* that runs it as a server (server/server_engine.h), or "" */
    char connector[32];   /* by which that moves KV (server/server_engine.h), or "" */
    char command[1024];   /* starts its server, with {NAME}s (study/plan/server_command.h), or "" */
};

/* Read the preset `name` (scenarios/systems/NAME.yaml, or a path), apply `overrides` and check it.
 *   at         the scenario's node that named the system, for complaints
 *   overrides  the scenario's `mechanisms:`; may be NULL
 *   files      keeps the file that is read; NULL: nothing is kept
 *   merged     out, may be NULL: preset and overrides together, which the caller destroys */
bool system_load(struct files *files, const char *name, const struct node *at,
                 const struct node *overrides, struct mechanisms *out, struct system_info *info,
                 struct node **merged, struct error *why);

/* True when a head attends to a part of the context only, if the context is long enough. */
bool mechanisms_select(const struct mechanisms *mechanisms);

/* How close attention is to the model's own: "exact" when heads attend to all tokens; "native" when
 * they attend to what the indexer of a model selects that has one; else "lossy". In a given setup:
 * setup_lossless(). */
const char *mechanisms_lossless(const struct mechanisms *mechanisms);

/* True when the system keeps KV outside HBM. */
bool mechanisms_offload(const struct mechanisms *mechanisms);

/* Is all KV of a layer loaded, whatever its query: a layer ahead, or a head ahead? */
static inline bool mechanisms_load_whole(const struct mechanisms *mechanisms)
{
    return mechanisms->prefetch == PREFETCH_WHOLE_LAYER ||
           mechanisms->prefetch == PREFETCH_WHOLE_HEAD;
}

/* Does a server keep KV of ended requests in host memory? */
static inline bool mechanisms_host_prefixes(const struct mechanisms *mechanisms)
{
    return mechanisms->prefix == PREFIX_TWO_TIER || mechanisms->prefix == PREFIX_HOST;
}

/* True when the system keeps KV or weights on a disk. */
bool mechanisms_use_disk(const struct mechanisms *mechanisms);

/* True when the system deletes what its policy does not hold. */
bool mechanisms_drop(const struct mechanisms *mechanisms);

/* True when the CPU takes part in a fetch: it manages the cache, gathers, stores or starts a copy.
 * Otherwise kernels fetch by themselves, and the indices of what they fetch stay on the GPU. */
bool mechanisms_need_cpu(const struct mechanisms *mechanisms);

/* True when attention itself loads what it misses, where that lies in host memory. */
bool mechanisms_attend_in_place(const struct mechanisms *mechanisms);

/* True when one kernel copies hits within HBM and loads misses over the link, and its CTAs are
 * shared out between both. */
bool mechanisms_share_ctas(const struct mechanisms *mechanisms);

/* Pages of a block in the cache, in the mean over blocks of random sizes with the granularity as
 * their mean (exponential); 0: nothing is cut into pages, as whole sets are not. */
double mechanisms_pages(const struct mechanisms *mechanisms);

/* Is the value of the key within its bounds? */
bool mechanism_bounded(const struct mechanism_key *key, const struct mechanisms *mechanisms);

/* Compare, copy and write the value of one mechanism key. */

/* Have `a` and `b` the same value, however it was spelt? */
bool mechanism_same(const struct mechanism_key *key, const struct mechanisms *a,
                    const struct mechanisms *b);

/* Copy the key's value in `from` to `to`. */
void mechanism_take(const struct mechanism_key *key, struct mechanisms *to,
                    const struct mechanisms *from);

/* The value as YAML, in its canonical spelling: gpu, 30%, {name: qsac, eta: 0.8, power: 3}. The
 * caller frees it; NULL when memory is out. */
char *mechanism_text(const struct mechanism_key *key, const struct mechanisms *of,
                     struct error *why);
