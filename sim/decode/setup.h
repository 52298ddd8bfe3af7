/* A setup: the whole input of a run of decode steps: a model, a machine, a system, a trace, and the
 * sizes of a batch. */
#ifndef DECODE_SETUP_H
#define DECODE_SETUP_H

#include "decode/mechanisms.h"
#include "hardware/profile.h"
#include "model/model.h"
#include "policy/policy.h"
#include "trace/format/trace.h"

#include <stdint.h>

#define SETUP_BATCH_MAX 0
#define SETUP_STEPS_ALL 0
#define SETUP_WARMUP_AUTO (-1)
#define SETUP_SEED 1 /* where nothing is said */

/* Sequences of one context in a batch that mixes several. */
struct setup_cohort {
    uint64_t context, prompt; /* tokens a sequence */
    uint32_t sequences;       /* or, where the batch is as large as fits, so many of every round */
    struct trace *trace;      /* the setup's, or one generated at this context */
};
#define SETUP_MOST_COHORTS 128

struct setup {
    struct system_info system;
    struct mechanisms mechanisms;
    struct model model;
    struct profile profile;

    char trace_name[256]; /* as the scenario says it, or the default that was taken */
    char trace_note[256]; /* why that is not the usual default; or "" */
    struct trace *trace;  /* NULL: the ledger is assumed; of several, the first cohort's */
    double assumed_hit, assumed_spread;
    bool trace_is_model;    /* recorded from this very model */
    enum basis trace_basis; /* what its hits rest on; of a recording measured */

    uint64_t context; /* tokens a sequence; of several contexts their mean */
    uint64_t prompt;  /* tokens a sequence, likewise; 0: its prefill is not asked about */
    uint64_t output;  /* tokens generated a sequence; 0: not said */
    uint32_t batch;   /* sequences, or SETUP_BATCH_MAX */
    uint32_t steps;   /* reported, or SETUP_STEPS_ALL */
    int64_t warmup;   /* steps, or SETUP_WARMUP_AUTO */
    uint64_t seed;
    enum policy_order order;
    struct setup_cohort *cohorts; /* by context, shortest first, owned; NULL: there is one */
    uint32_t cohort_count;        /* 0 or 2 ... SETUP_MOST_COHORTS */
    double hbm_usable;            /* share of HBM that may be used */
    uint64_t hbm_reserve;         /* bytes of that kept free */
    uint64_t kv_pool_tokens;      /* 0: what memory gives */
    uint64_t host_memory;         /* bytes; 0: what the profile says */
    bool unlimited_memory;        /* every tier has room: a server asks how long a step takes */
};

/* The cohorts of a setup: its own, or one that is the whole batch. */
uint32_t setup_cohort_count(const struct setup *setup);
struct setup_cohort setup_cohort(const struct setup *setup, uint32_t cohort);

/* The same setup where all sequences have this context. It points to what `setup` owns. The
 * functions below that ask about a context ask about a setup of one. */
struct setup setup_at(const struct setup *setup, uint64_t context);

/* Does the GPU attend to all tokens of this layer? It does when nothing selects and no policy
 * chooses what it keeps, when the layer is one of those that load everything, and when it holds a
 * window only. */
bool setup_attends_all(const struct setup *setup, uint32_t layer);

/* Does all KV of this layer cross the link, in a known order and so a layer ahead? */
bool setup_loads_whole(const struct setup *setup, uint32_t layer);

/* Does what hits depend on the trace? Without a selection every head wants everything, and what it
 * holds may be known without one: nothing, or a fixed part. */
bool setup_asks_trace(const struct setup *setup);

/* The share of the context that an extent comes to; at most 1. */
double setup_share(const struct setup *setup, const struct amount *extent);

/* Last tokens that stay in HBM. */
uint64_t setup_recent(const struct setup *setup);

/* Does a head attend to less than the whole context? */
bool setup_selects(const struct setup *setup);

/* Make the selection of `retrieval: native` the model's own count of tokens, where it has an
 * indexer and the transfer can move scattered tokens. Without an indexer it stays what the system
 * says. */
void setup_resolve_native(struct setup *setup);

/* Is there an index that is scored? Not of a native retrieval where nothing is selected. */
bool setup_retrieves(const struct setup *setup);

/* Is the model's own indexer what selects? */
bool setup_indexes(const struct setup *setup);

void setup_init(struct setup *setup);
void setup_release(struct setup *setup);

#endif
