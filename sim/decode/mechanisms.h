/* Mechanisms: the orthogonal choices by which one KV-offload system differs from another.
 *
 * A system is a file, scenarios/systems/NAME.yaml, that gives every key of mechanism_keys[] that
 * differs from its default, each with its source in a comment. There is one pipeline (pipeline.h);
 * it reads this struct and nothing else of the system. A combination that cannot be meant (a graph
 * that contains a blocking synchronisation) is refused with the reason.
 */
#ifndef DECODE_MECHANISMS_H
#define DECODE_MECHANISMS_H

#include "base/error.h"
#include "base/node.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct files;

enum resident_heads { RESIDENT_NONE, RESIDENT_FIRST_LAYER, RESIDENT_DIFFICULTY, RESIDENT_ALL };
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
enum manager { MANAGER_CPU, MANAGER_GPU };
enum update { UPDATE_OVERLAPPED, UPDATE_BLOCKING };
enum transfer {
    TRANSFER_COPY_ENGINE,
    TRANSFER_GATHER_COPY,
    TRANSFER_PAGEABLE,
    TRANSFER_SM_ZERO_COPY,
    TRANSFER_CPU_STORE
};
enum transfer_stream { TRANSFER_STREAM_OWN, TRANSFER_STREAM_MAIN };
enum prefetch { PREFETCH_NONE, PREFETCH_NEXT_LAYER, PREFETCH_WHOLE_LAYER };
enum sync { SYNC_CPU, SYNC_GPU };
enum pinned_rounding { PINNED_PAGES, PINNED_POWERS };
enum pool_of { POOL_OF_CORES, POOL_OF_NODE };
enum launch { LAUNCH_EAGER, LAUNCH_GRAPH };
enum micro_batch { MICRO_BATCH_WHOLE, MICRO_BATCH_ZIG_ZAG, MICRO_BATCH_BALANCED };
enum representation {
    REPRESENTATION_KV,
    REPRESENTATION_ACT,
    REPRESENTATION_HYBRID,
    REPRESENTATION_TOKENS
};
enum barrier { BARRIER_NONE, BARRIER_LAYER, BARRIER_PASS };
enum attend { ATTEND_GPU, ATTEND_HYBRID };
enum prefix { PREFIX_NONE, PREFIX_GPU, PREFIX_TWO_TIER };

/* When the host tier of a prefix cache is offered a full block. */
enum prefix_write { PREFIX_WRITE_FINISH, PREFIX_WRITE_FILL, PREFIX_WRITE_EVICT };

/* When a request whose prefix is on the host starts, and what becomes of one that is put back. */
enum prefix_load { PREFIX_LOAD_BEFORE, PREFIX_LOAD_LAYERS };
enum preemption { PREEMPTION_RECOMPUTE, PREEMPTION_SWAP };

/* A quantity that may be said in several units. HBM of the cache: so many bytes in all, a share of
 * the KV, a multiple of the selection, or tokens a layer. An extent: a share of the context, or
 * tokens. */
struct amount {
    enum unit unit; /* UNIT_BYTES, UNIT_SHARE, UNIT_TIMES or UNIT_TOKENS */
    double value;
    bool rest; /* all HBM that nothing else takes, instead */
};

struct mechanisms {
    const struct policy_kind *policy;
    double policy_values[POLICY_MOST_PARAMS];
    struct amount budget;
    uint64_t granularity;      /* tokens of a block of the cache's manager */
    int block_span;            /* enum block_span of replay.h */
    uint64_t block_candidates; /* blocks that a step touches; 0: all that it wants */
    uint64_t sinks;            /* tokens, always in HBM, always attended to */
    struct amount recent;      /* the same: an extent */
    int resident_heads;
    double resident_epsilon; /* slack in reuse difficulty */
    struct amount selection; /* what a head attends to at most: an extent */
    double selection_margin; /* of it, what scores at most so far below the heaviest; 0: all */
    int retrieval;
    /* What an entry of a KV head holds, which scoring reads: so many keys (0.25: a quarter of a
     * key's channels), and so many bytes. */
    double retrieval_keys;
    uint64_t retrieval_bytes;
    uint64_t retrieval_scores;    /* bytes that its scores take on their way, read and written */
    int retrieval_in_place;       /* it reads the KV itself: no index is held beside it */
    int retrieval_stream;         /* the index lies on the host, and comes a layer ahead */
    uint64_t retrieval_tokens;    /* tokens of an entry */
    int retrieval_per_query_head; /* top-k sorts every query head's scores, not the group's */
    double retrieval_query; /* share of the query projection computed once more, to speculate */
    uint64_t retrieval_kernels;
    uint64_t retrieval_id_bytes; /* of an index of what was selected, where it goes to the CPU */
    double estimation; /* share of the entries attended to by their summary only (clusters) */
    uint64_t cluster_segment; /* tokens; a cluster lies within one segment */
    uint64_t cluster_iterations;      /* of the k-means in prefill; at least, on the host */
    uint64_t cluster_iterations_most; /* on the host */
    uint64_t cluster_passes;          /* of the host over all keys, beside the iterations */
    uint64_t cluster_centroids;       /* of a head in each subspace of product quantisation */
    uint64_t cluster_threads;         /* of the host's k-means; 0: every core */
    uint64_t full_layers; /* first layers, which load all their KV: nothing speculates for them */
    int manager;
    int update;
    uint64_t pool_threads; /* 0: every thread that pool_of says */
    int pool_of;           /* cores of the host, or the logical CPUs of one NUMA node */
    uint64_t pool_spare;   /* of these, that the pool leaves to others */
    int transfer;
    uint64_t transfer_threads;     /* of CPU stores or gather; 0: every core */
    uint64_t transfer_ctas;        /* a (sequence, head), of SM loads */
    uint64_t transfer_cta_threads; /* of each of these */
    int transfer_stream;
    int pinned_rounding; /* what each allocation of pinned host memory is rounded up to */
    int merge; /* hits are copied into an execution buffer, misses once more into the cache */
    uint64_t hit_ctas, admit_ctas; /* a (sequence, head), of these two copies */
    int repeat_kv; /* KV and entries are copied once per query head before they are read */
    int prefetch;
    int attention; /* the GPU attends to everything, or the CPU to what lies outside its window */
    int sync;
    uint64_t syncs; /* synchronisations a layer, by the CPU */
    int barrier;    /* when the launch thread waits for all kernels and copies */
    double weights; /* share of each layer's weights that stays in HBM; the rest is streamed */
    int weights_pageable;
    int weights_spread; /* they cross in equal parts, one with each micro-batch */
    int micro_batch;
    uint64_t micro_batch_sequences; /* of a zig-zag block */
    uint64_t micro_batch_tokens;    /* of a balanced one at most, but of one sequence */
    uint64_t micro_batch_overhead;  /* ns of the main stream, a pass */
    uint64_t prefill_chunk;         /* tokens in work at a time in prefill; 0: a micro-batch's */
    int representation;
    double representation_share; /* of what is not in HBM: activations, or tokens run again */
    int balance;                 /* find that share so that GPU and link take as long */
    int balance_counts_act;      /* the loads of activations take their time, too */
    int halves; /* attention and FFN are two layers: weights and micro-batches pass twice */
    int launch;
    uint64_t operators; /* kernels a layer outside retrieval, transfer and merge */
    /* Shares of these kernels before attention and in it; the rest runs behind it. The defaults are
     * assumed for every system: of 40 kernels 15, 5 and 20. */
    double operators_pre, operators_attend;
    uint64_t operators_edge; /* kernels a step behind the last layer */
    uint64_t step_overhead;  /* ns a step on the launch thread: scheduler, sampler */
    /* Of a server: KV of requests that ended, for those that begin alike. */
    int prefix;            /* kept nowhere, in HBM, or there and on the host */
    uint64_t prefix_block; /* tokens */
    int prefix_write;
    uint64_t prefix_asked; /* requests that have held a block before it is saved */
    int prefix_eviction;   /* index of prefix_evictions[]: what runs the host tier */
    int prefix_pins;       /* the host tier keeps what is being copied */
    uint64_t prefix_unit;  /* tokens that cross and are found on the host together; 0: a block */
    int prefix_contiguous; /* a unit's layers cross in one transfer, not in one each */
    int prefix_load;
    int preemption;
};

/* One key: how it is read and described. Keys of one group are one mechanism and its parameters: by
 * themselves the parameters mean nothing, or something else. */
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
    const char *group; /* name of the mechanism that it is, or is a parameter of */
    enum mechanism_type type;
    enum unit unit;
    const char *const *values; /* of a choice; ends with NULL */
    size_t offset;             /* in struct mechanisms */
    const char *standard;      /* the default, as written in a file */
    const char *summary;
};
extern const struct mechanism_key mechanism_keys[]; /* ends with name NULL */

/* Policies that may run the host tier, by their names; the first one never evicts. Ends with NULL.
 */
extern const char *const prefix_evictions[];
enum prefix_eviction { PREFIX_EVICTION_NONE, PREFIX_EVICTION_LRU }; /* and others */

/* What a preset file says besides its mechanisms. */
struct system_info {
    char name[64];
    char summary[160];
    char paper[200];
    char available[16]; /* vllm, sglang, code or paper */
    char lossless[16];  /* exact, native or lossy */
    char baseline[64];  /* system that it is held against; "": all of the KV in HBM */
    char command[640];  /* that starts its server, with {NAME}s (study/plan/server_command.h); "": none */
};

/* Read scenarios/systems/NAME.yaml (or a path), lay `overrides` (the scenario's `mechanisms:`, may
 * be NULL) over it and check the whole. `merged`, if not NULL, receives the effective mapping,
 * which the caller destroys. `at` is the scenario's node that named the system. `files`
 * keeps the file that is read (NULL: none). */
bool system_load(struct files *files, const char *name, const struct node *at,
                 const struct node *overrides, struct mechanisms *out, struct system_info *info,
                 struct node **merged, struct error *why);

/* The reason why this combination cannot be meant, with the key to blame; NULL when it can. */
const char *mechanisms_contradiction(const struct mechanisms *mechanisms, const char **key);

/* True when a head attends to less than everything, if the context is long enough. */
bool mechanisms_select(const struct mechanisms *mechanisms);

/* True when the system keeps KV outside HBM. */
bool mechanisms_offload(const struct mechanisms *mechanisms);

/* True when what the policy does not hold is gone for good. */
bool mechanisms_drop(const struct mechanisms *mechanisms);

/* True when the CPU takes part in a fetch: it manages the cache, gathers, stores or starts a copy.
 * Otherwise kernels fetch by themselves, and no index leaves the GPU. */
bool mechanisms_need_cpu(const struct mechanisms *mechanisms);

#endif
