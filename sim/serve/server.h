/* A server under arrivals: continuous batching in steps, a clock, and a prefix cache.
 *
 * G.-I. Yu et al., "Orca", OSDI 2022; A. Agrawal et al., "Sarathi-Serve", OSDI 2024; vLLM's
 * scheduler. A step computes at most `batched_tokens` tokens of at most `sequences` sequences:
 * first one token, or the next chunk of its prompt, of each that runs; then of those that wait, in
 * order of arrival, where there is room for all blocks of their tokens so far, of which each chunk
 * takes its own. Where one that runs finds no room
 * for its next block, the one that came last is put back in front of the queue and computes its
 * tokens again (those that the prefix cache still has, it finds); or its KV is swapped out to the
 * host, where there is room, and back in. What a prompt finds in host memory is copied in before it
 * starts, and it holds its blocks while others run; or it starts, and each layer waits for its own.
 *
 *   request   |..queue..|..load..|.chunk.chunk.|t|t|t|t|
 *                                 first token ─┘       └ end
 *
 * Where a system keeps KV on the host, that of a prompt has to get there: each layer's leaves while
 * the next one computes, and a step ends when the last one's has left. The chunks of a prompt that
 * is not through are taken to be on the GPU still, for its own attention: what decode needs of them
 * it fetches. KV of decoded tokens leaves within the decode step, whose time has it.
 *
 * Copies each way are made one after the other (copies.h), at rates that are constant within a step
 * (link_share.h). Who takes blocks that are still being copied out waits until they are.
 *
 * How long a step takes is the caller's: see step_cost.h.
 */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "serve/prefix_cache.h"
#include "serve/link_share.h"
#include "serve/requests.h"
#include "serve/series.h"
#include "serve/waits.h"

/* Tokens of a prompt that a step computes: those behind the first `start`. */
struct step_chunk {
    uint64_t start;
    uint32_t tokens;
};

/* What a step computes, and whether something crosses the link beside it. */
struct step_load {
    uint32_t decodes;       /* sequences that get their next token */
    uint64_t decode_tokens; /* that they attend to, all together */
    const struct step_chunk *chunks;
    uint32_t chunk_count;
    bool loads, saves; /* KV is on its way in, and out */
    double written_bytes; /* of the chunks' KV, out */
};

/* What a step comes to. */
struct step_time {
    int64_t ns;
    double load_rate, save_rate; /* bytes a second left to KV on its way in, and out: saved, and
                                    written */
    double fetched_bytes;
    int64_t others_ns;            /* of it: what chunks add to a step that decodes */
    int64_t stall_ns[PART_COUNT]; /* of the rest: in which the GPU waits, by cause */
};

struct step_clock {
    bool (*step)(void *context, const struct step_load *load, struct step_time *time,
                 struct error *why);
    void *context;
    struct link link;     /* while no step runs */
    double copy_start_ns; /* of one transfer, before its bytes */
};

struct server_options {
    uint32_t sequences, batched_tokens; /* of a step at most */
    uint32_t clients; /* each sends its next request when its last one has ended; 0: none, requests
                         come as they arrive */
    uint64_t token_bytes; /* of KV, that cross the link */
    uint32_t unit_tokens, unit_transfers; /* whole units of so many tokens cross, each in so many
                                             transfers */
    bool saves_cross; /* what is saved crosses the link: the cache's saves_wait */
    double written_bytes;    /* of each token of a chunk, to the host; 0: its KV stays */
    uint32_t written_layers; /* that it leaves in, a transfer each */
    uint32_t layers;      /* load layer by layer, of so many; 0: before it starts */
    uint64_t swap_blocks; /* room on the host for what is put back; 0: it is computed again */
    struct series *series;     /* told of what happens; NULL: nobody is */
};

/* What became of a request; times since the first arrival, -1: never. */
struct served {
    int64_t arrived_ns, scheduled_ns, first_token_ns, end_ns;
    struct prefix_match match; /* of its prompt, when it first began */
    struct waits waits;
    uint32_t preemptions; /* and of these, to the host */
    uint32_t swaps;
    bool too_long; /* more blocks than there are */
};

struct server_totals {
    uint64_t steps;
    int64_t end_ns; /* of the last step */
    int64_t busy_ns; /* in steps */
    uint32_t most_waiting;
    uint64_t swapped_blocks; /* out; all of them come back in */
};

/* Serve the requests `indices` of `requests` (in order of arrival, `count` of them) through
 * `cache`, which is empty; `served` has a row for each index of `requests`, of which these are
 * written. */
bool server_run(const struct server_options *options, const struct step_clock *clock,
                const struct requests *requests, const uint32_t *indices, uint32_t count,
                struct prefix_cache *cache, struct served *served, struct server_totals *totals,
                struct error *why);

#endif
