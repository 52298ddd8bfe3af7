/* A setup: the whole input of a run of decode steps. */
#pragma once

#include "decode/mechanisms.h"
#include "decode/draft/drafts.h"
#include "machine/profile.h"
#include "model/kv_pools.h"
#include "model/model.h"
#include "policy/policy.h"
#include "trace/format/trace.h"

#include <stdint.h>

#define SETUP_BATCH_MAX 0
#define SETUP_STEPS_ALL 0
#define SETUP_WARMUP_AUTO (-1)
#define SETUP_SEED 1                 /* the default */
#define SETUP_PROMPT_OF_CONTEXT (-1) /* until each sequence has its own */

/* Sequences of one context in a batch that mixes several. */
struct setup_cohort {
    uint64_t context, prompt; /* tokens a sequence */
    uint32_t sequences;       /* of the batch; with SETUP_BATCH_MAX the cohort's share of it */
    struct trace *trace;      /* the setup's, or one generated at this context */
};
#define SETUP_MOST_COHORTS 128
#define SETUP_MOST_LENGTHS 7 /* of a context that grows */

/* Sizes of CUDA graphs up to `to` are multiples of `step`. */
struct graph_sizes {
    uint64_t to, step;
};
enum { SETUP_GRAPH_SIZES = 12 };

/* What a serving engine adds around the GPU's work of a step (decode/time/engine_step.h). All 0: the
 * system runs in none. */
struct setup_engine {
    bool runs;
    const char *name;    /* as engines/NAME.yaml has it; static */
    const char *refuses; /* why it does not start; static. NULL: it does */
    bool overlaps;       /* a step is scheduled while the one before runs */
    bool launches;       /* the CPU launches kernels one by one: there are no CUDA graphs */
    int64_t sequence_ns; /* of the CPU, with each sequence of a step */
    int64_t gap_ns;      /* from one step to the next, if they overlap */
    uint64_t most_rows;  /* of a CUDA graph; 0: no other limit than the sizes' */
    struct graph_sizes sizes[SETUP_GRAPH_SIZES]; /* ascending */
    uint32_t size_count;

    /* Its memory on one GPU (predict/scenario/engine_memory.h). `room` 0: KV has what weights and a
     * step's tensors leave of `hbm_usable`. */
    uint64_t room;     /* bytes of weights, all that the engine takes beside them, and KV */
    uint64_t taken;    /* bytes that it takes beside weights and KV */
    uint64_t pool;     /* bytes of KV: the rest, or what kv_pool_tokens asks for */
    double pool_share; /* of what kv_pool_tokens asks for */
    uint32_t most;     /* sequences of a step */
    struct kv_limits limits;
    struct kv_pool_rules pools;
};

struct setup {
    struct system_info system;
    struct setup_engine engine;    /* in which it runs */
    struct mechanisms *mechanisms; /* of the system, owned; a copy of a setup borrows them */
    struct model model;
    struct profile profile;
    struct drafts drafts; /* of a step; count 0: none */

    char trace_name[256];  /* from the scenario, or the default that was chosen */
    char trace_fault[128]; /* why this is not the usual default; or "" */
    bool trace_recorded;   /* then a small model's recording, else a generated trace */
    struct trace *trace;   /* NULL: the ledger is assumed; with cohorts, the first one's */
    double assumed_hit, assumed_spread;
    bool trace_is_model;    /* recorded from this very model */
    enum basis trace_basis; /* of its hits; measured for a recording */

    uint64_t context; /* tokens a sequence; of several contexts their mean */
    uint64_t prompt;  /* tokens a sequence, likewise; 0: no prefill is timed */
    uint64_t output;  /* tokens generated a sequence; 0: unspecified */
    uint64_t grows;   /* last tokens of the context that the run decodes; 0: it stands still */
    uint32_t batch;   /* sequences, or SETUP_BATCH_MAX */
    uint32_t steps;   /* reported, or SETUP_STEPS_ALL */
    int64_t warmup;   /* steps, or SETUP_WARMUP_AUTO */
    uint64_t seed;
    enum policy_order order;
    /* By context, shortest first, owned; NULL: there is one. Of a context that grows, lengths that it
     * passes: 1 ... SETUP_MOST_LENGTHS, the last one `context`. */
    struct setup_cohort *cohorts;
    uint32_t cohort_count;   /* 0 or 2 ... SETUP_MOST_COHORTS */
    double hbm_usable;       /* share of HBM that may be used */
    uint64_t hbm_reserve;    /* bytes of that share which stay free */
    uint64_t kv_pool_tokens; /* 0: as many as memory holds */
    uint64_t kv_pool_blocks; /* of the engine; kv_pool_tokens are then those of so many */
    uint64_t kv_pool;        /* bytes of each GPU; likewise */
    bool hybrid_kv;          /* the engine frees what windows no longer reach */
    double window_ratio;     /* of the engine's pools (kv_pool_rules); 0: its own */
    double state_ratio;
    uint64_t room[TIER_COUNT]; /* bytes of a tier (tier_kind.room), below host memory those for
                                     prefixes; 0: the profile's */
    double host_share;         /* of host memory that a server may use; 0: of steps alone, all */
    bool unlimited_memory;     /* every tier has room: a server asks how long a step takes */
};

/* The cohorts of a setup: its own, or one that is the whole batch. */
uint32_t setup_cohort_count(const struct setup *setup);
struct setup_cohort setup_cohort(const struct setup *setup, uint32_t cohort);

/* Rows that a sequence has in a step: its last token, and its drafts. */
uint32_t setup_queries(const struct setup *setup);

/* A copy of the setup in which all sequences have this context, which the functions below expect. */
struct setup setup_at(const struct setup *setup, uint64_t context);

/* Fill in the lengths that a context passes which grows, at which it is timed: few, as a step is nearly
 * linear between them, and those where a window of tokens is full. */
bool setup_grow(struct setup *setup, struct error *why);

/* Does the context grow in the run? */
bool setup_grows(const struct setup *setup);

/* The setup at one of these lengths, with its trace; `grows` is then what was decoded up to there. */
struct setup setup_length(const struct setup *setup, uint32_t length);

/* The setup at its whole context, if that grows; else as it is. */
struct setup setup_whole(const struct setup *setup);

/* Does it hold at any of the contexts? */
bool setup_at_any(const struct setup *setup, bool (*holds)(const struct setup *own));

/* Does attention in this layer read all its tokens: nothing chooses among them, or it is one of the first
 * `full_layers`, or has a sliding window? */
bool setup_attends_all(const struct setup *setup, uint32_t layer);

/* Does attention in this layer read all that the model's own does, whose indexer may select? */
bool setup_attends_own(const struct setup *setup, uint32_t layer);

/* How close attention is to the model's own, at all contexts (mechanisms_lossless()). If not lossy its mass
 * is 1. */
const char *setup_lossless(const struct setup *setup);

/* Is this layer's KV loaded whole? Its order is known, so it crosses the link a layer ahead. */
bool setup_loads_whole(const struct setup *setup, uint32_t layer);

/* Do hits depend on the trace? Not when every head wants everything and holds nothing, or a fixed part. */
bool setup_asks_trace(const struct setup *setup);

/* The extent as a share of the context; an extent in tokens gives at most 1. */
double setup_share(const struct setup *setup, const struct amount *extent);

/* The number of last tokens that always stay in HBM. */
uint64_t setup_recent(const struct setup *setup);

/* Does a head attend to less than the whole context? */
bool setup_selects(const struct setup *setup);

/* With `retrieval: native`, a model with an indexer, and a transfer of scattered tokens: set the selection to
 * what the indexer selects. */
void setup_resolve_native(struct setup *setup);

/* Is an index scored? A native retrieval without a selection scores none. */
bool setup_retrieves(const struct setup *setup);

/* Does the model's own indexer select? */
bool setup_indexes(const struct setup *setup);

/* Does `layer` select by itself, if it selects? Not if the model's own indexer runs in another. */
bool setup_selects_in(const struct setup *setup, uint32_t layer);

void setup_init(struct setup *setup);
void setup_release(struct setup *setup);

/* Close its trace and those of its cohorts; it has none then. */
void setup_close_traces(struct setup *setup);
