/* A server under arrivals: continuous batching in steps, a clock, and a prefix cache.
 *
 * G.-I. Yu et al., "Orca", OSDI 2022; A. Agrawal et al., "Sarathi-Serve", OSDI 2024; vLLM's scheduler. A step
 * computes at most `batched_tokens` tokens of at most `sequences` sequences. Each running sequence comes
 * first, with one token or the next chunk of its prompt. Then waiting requests are admitted in order of
 * arrival, while there is room for all their tokens so far; each chunk takes its own blocks.
 *
 * If a running sequence finds no room for its next block, the sequence admitted last is preempted: it goes to
 * the front of the queue. Later it computes its tokens again, except those that the prefix cache still has.
 *
 * A prefix found in host memory is copied in before its request starts, which holds its blocks meanwhile; or
 * the request starts at once, and each layer waits for its own part. Blocks are copied out beside later
 * steps; or at the end of the step that filled them, which waits, and so do all that compute in it.
 *
 *   request   |.API.|..queue..|..load..|.chunk.chunk.|t|t|t|t|
 *                                       first token ─┘       └ end
 *
 * If a system keeps KV on the host, that of a prompt must be written there: each layer's KV leaves
 * while the next layer computes, and a step ends when that of the last layer has left. Earlier
 * chunks of a prompt are assumed to be still on the GPU for the attention of later ones; decode
 * fetches what it needs. The KV of decoded tokens leaves within the decode step and is in its time.
 *
 * Copies in each direction are made one after the other (server_state.h), at rates that are constant
 * within a step (machine/places.h). A sequence that takes blocks which are still being copied out
 * waits until they are; or its step does, and so do all that compute in it.
 *
 * In front of the queue is the API process, and a step may compute prompts alone, or be scheduled before the
 * last one has ended: server_engine.h, by the engine's version. The caller's clock says how long a step takes
 * (struct step_clock). */
#pragma once

#include "server/record.h"
#include "server/prefix/prefix_cache.h"
#include "machine/places.h"
#include "server/requests/requests.h"
#include "server/server_engine.h"

/* The flows on a server's ways: decode's fetches; loads of prefixes from tier k, and saves to it. */
enum { FLOW_FETCHED, SERVER_FLOWS = 2 * PREFIX_MOST_TIERS - 1 };

static inline uint32_t flow_loaded(uint32_t tier)
{
    return 2 * tier - 1;
}

static inline uint32_t flow_saved(uint32_t tier)
{
    return 2 * tier;
}

/* Tokens of a prompt that a step computes: `tokens` after the first `start`. */
struct step_chunk {
    uint64_t start;
    uint32_t tokens;
};

/* The work of a step, and the copies that use the link meanwhile. */
struct step_load {
    uint32_t decodes;       /* sequences that get their next token */
    uint64_t decode_tokens; /* tokens that they attend to, summed */
    double decode_squares;  /* sum of their squares */
    uint64_t longest;       /* that one of them attends to */
    const struct step_chunk *chunks;
    uint32_t chunk_count;
    bool pending[SERVER_FLOWS]; /* copies of KV over this flow are */
    double written_bytes;       /* KV of the chunks that is written to the host */
    double copies_ns;           /* CPU time of copies' calls before the step is launched */
    bool alone;                 /* it waits for copies itself, and is not prepared ahead */
};

/* The time of a step. */
struct step_time {
    int64_t ns;
    double rate[SERVER_FLOWS]; /* bytes a second that decode leaves for copies: loaded and saved,
                                  and written to tier 1 beside what is saved */
    double fetched_bytes;
    int64_t others_ns;            /* part of `ns` that chunks add to a step that decodes */
    int64_t stall_ns[PART_COUNT]; /* of the rest: time in which the GPU waits, by cause; */
    int64_t calls_ns;             /* and of that, for the CPU's calls of copies */
};

/* Why copies make steps longer, or later: a step waits for blocks to be saved, or taken ones, or prefixes, or
 * for the CPU's calls. And of their time the share of the GPU's blocks that wait. */
enum copy_wait { COPY_SAVES, COPY_TAKES, COPY_LOADS, COPY_CALLS, COPY_HOLDS, COPY_WAITS };

/* What copies take beside their bytes at the rate of their way, in ns. */
struct copy_times {
    double unit; /* of each unit, while nothing of it crosses */
    double copy; /* of each copy, however many units it has */
    double cpu;  /* of each unit, for the thread that launches steps */
};

struct step_clock {
    bool (*step)(void *context, const struct step_load *load, struct step_time *time,
                 struct error *why);
    void *context;
    struct way_shares *shares; /* of SERVER_FLOWS; borrowed */
    struct copy_times load[PREFIX_MOST_TIERS], save[PREFIX_MOST_TIERS]; /* by tier */
};

struct server_options {
    uint32_t number;                    /* of this server, for struct served */
    uint32_t sequences, batched_tokens; /* most of a step */
    uint32_t chunk_tokens;              /* most of one sequence in a step; 0: batched_tokens */
    uint64_t token_bytes;               /* of a token's KV on the link */
    uint32_t unit_tokens;               /* only whole units cross */
    bool copies_block;                  /* no step runs while a copy does */
    bool saves_cross;                   /* saved blocks cross ways: the cache's saves_wait */
    bool step_saves;                    /* a step ends when all its saves have reached the host */
    bool step_takes;                    /* it begins when the blocks that it has taken are saved */
    bool one_stream;                /* loads from tier 1 and saves to it do not cross together */
    double step_ns;                 /* CPU time of each step for prefixes */
    struct connector_lookup lookup; /* of a waiting prompt; its gpu_ns are in request_ns */
    double written_bytes;           /* for each token of a chunk, to the host; 0: its KV stays */
    uint32_t written_layers;        /* the KV of a chunk leaves in this many transfers */
    uint32_t layers; /* a prefix loads layer by layer, in this many; 1: before all of its step;
                        0: before its request */
    uint32_t layered_tiers; /* so does what comes from these tiers below the GPU; others come before
                               the request. 0: all do */
    uint32_t load_steps;    /* that a request whose load has ended still waits for; */
    int64_t idle_step_ns;   /* of one that computes nothing */
    struct server_path path; /* of requests, outside the GPU */
    struct series *series;   /* records the run; may be NULL */
    struct gaps *gaps;       /* between the tokens of a request; may be NULL */
    uint64_t warm;           /* the first requests of all, whose gaps do not count */
    int64_t warm_ns;         /* nor does what happens until then */
};

/* The result for a request where its client is; times since the first arrival, -1: never. */
struct served {
    int64_t arrived_ns, scheduled_ns, first_token_ns, end_ns;
    struct waits waits;
    struct prefix_match match; /* of its prompt, when it first began */
    uint32_t server;           /* which one got it */
    uint32_t preemptions;
    bool too_long; /* it needs more blocks than the GPU has, and never ran */
};

struct server_totals {
    uint64_t steps;
    int64_t end_ns;                               /* of the last step, and of the last answer */
    int64_t busy_ns;                              /* sum over steps */
    int64_t copies_ns[COPY_WAITS];                /* of these and between them, for copies */
    uint64_t saved;                               /* blocks copied to the first tier below, */
    double saves_ns;                              /* in so much time */
    struct prefix_counts warm[PREFIX_MOST_TIERS]; /* of the cache, by tier, at warm_ns */
};

/* A server runs in iterations, so that several can share one time (fleet.h). One begins when the last step
 * has ended, or was due: what has come joins the queue, the scheduler runs, and a step, if there is work. */
struct server;

/* A server of `requests` through the empty `cache`. `served` [requests->count] gets the rows of its requests,
 * `totals` what its steps come to. All of these outlive it. NULL on failure. */
struct server *server_create(const struct server_options *options, const struct step_clock *clock,
                             const struct requests *requests, struct prefix_cache *cache,
                             struct served *served, struct server_totals *totals,
                             struct error *why);
void server_destroy(struct server *server); /* NULL is fine */

/* Send request `index`, which arrives at `at_ns`: not before the last one sent or after server_due(). */
bool server_send(struct server *server, uint32_t index, int64_t at_ns, struct error *why);

/* When its next iteration begins; INT64_MAX if nothing is left to do. */
int64_t server_due(const struct server *server);

/* Requests that ended in an iteration: at its beginning those too long to run, and at the end of its step. */
struct server_ends {
    uint32_t refused, answered;
    int64_t refused_ns, answered_ns;
};

/* Run the iteration that is due. */
bool server_iterate(struct server *server, struct server_ends *ends, struct error *why);

/* The last iteration is over: complete the totals. `cut`: some requests have not ended. */
bool server_finish(struct server *server, bool cut, struct error *why);

/* The load that a router sees at `at_ns`, which is not after server_due(). */
struct server_load {
    uint32_t requests; /* sent and not ended */
    uint32_t waiting;  /* of these, not in a step, nor waiting for copies */
    double kv;         /* share of the GPU's KV memory that requests hold */
};
struct server_load server_load(const struct server *server, int64_t at_ns);
