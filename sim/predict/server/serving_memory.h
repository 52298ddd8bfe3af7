/* How a server divides its memory for KV between running sequences and the prefix cache. */
#pragma once

#include "machine/places.h"
#include "predict/decode/context.h"
#include "predict/scenario/point.h"
#include "server/prefix/prefix_cache.h"
#include "server/server.h"

/* Why a server does not start. */
enum serving_lack {
    SERVING_STARTS,
    SERVING_REFUSED, /* by its engine: setup.engine.refuses */
    SERVING_NO_KV,   /* weights leave nothing */
    SERVING_LENGTH,  /* its engine serves no length that exceeds the pool */
};

struct serving_memory {
    enum serving_lack lacks;          /* if the plan failed; SERVING_STARTS: another fault */
    uint64_t weights, limit;          /* bytes, of all HBM that may be used */
    uint64_t longest;                 /* tokens of a sequence that the pool holds */
    double usable;                    /* hbm_usable with which it would start; 0: with none */
    uint32_t sequences;               /* most of a step */
    uint64_t tokens;                  /* that sequences can hold together */
    enum tier_id full;                /* of a system that offloads: which tier bounds them */
    uint64_t host_bytes, host_blocks; /* left on the host */
    struct prefix_options prefix;
    uint64_t block_bytes; /* of a block below the GPU, of all GPUs together */
    double written_bytes; /* written to the host for each token of a prompt, by each GPU */
};

/* The memory of one server of `point`, which has a workload. Fails, too, if the server does not start. */
bool serving_memory_plan(const struct point *point, const struct run_context *context,
                         struct serving_memory *out, struct error *why);

/* Bytes of host memory for prefixes of a server with so many tokens in its pool (0: unknown): as stated, or
 * what its engine takes of its part of the machine's. `ratio`: its engine's to the pool, if it decides; else 0. */
uint64_t serving_host_room(const struct point *point, uint64_t tokens, double *ratio);

uint64_t serving_token_bytes(const struct setup *setup); /* of KV, on all GPUs together */

/* The tiers of a server's prefix cache on a machine: which there are, how much each holds, and the
 * ways that copies take.
 *
 *     HBM ◀─ link ─▶ host memory ◀─▶ disk      the drives of the server, all GPUs' together
 *                        ▲
 *                        └─────────▶ pool      memory that servers share
 *
 * What is loaded crosses its own way and the link in one go, at the pace of the slower: engines
 * pass it on in parts. What is saved to a disk or pool leaves host memory, where it has arrived or
 * lies until it is written; a pool that takes what a disk evicts reads it there.
 *
 * A unit (mechanisms.prefix_unit) is one file or object: the drive's rate is that of reads of so many bytes,
 * `prefix_reads` at a time. Reads are in flight together, so a load waits for one latency only. */

/* Nearest to the kernels first; of[0] is TIER_GPU. Without a tier below it there is host memory,
 * which preempted requests are copied to: then `count` is 1. */
struct serving_tiers {
    uint32_t count;
    enum tier_id of[PREFIX_MOST_TIERS];
};
struct serving_tiers serving_tiers(const struct mechanisms *mechanisms);

/* Bytes of a disk for the prefixes of one server, or of the whole pool. */
uint64_t serving_tiers_room(const struct point *point, enum tier_id tier);

/* Do several servers share a pool? They run in one common time then. */
bool serving_tiers_shared(const struct point *point);

/* The flows of a GPU's copies. */
struct serving_ways {
    struct way_shares shares; /* of SERVER_FLOWS */
    struct copy_times load[PREFIX_MOST_TIERS],
        save[PREFIX_MOST_TIERS]; /* as in struct step_clock */
};

/* `trust` is lowered to that of the figures. On failure there is nothing to release. */
bool serving_ways_init(struct serving_ways *ways, const struct point *point, double sharers,
                       struct trust *trust, struct error *why);
void serving_ways_release(struct serving_ways *ways); /* a zeroed struct is fine */

/* What a connector makes of copies between GPU and host: pieces of a unit, their time, and the CPU's. */

/* The connector by which the point's engine moves KV; NULL: its system names none, or the engine lacks it. */
const struct server_connector *serving_connector(const struct point *point);

/* What waits for copies: the fields `layers`, `layered_tiers`, `load_steps`, `idle_step_ns`, `step_saves`,
 * `copies_block`, `step_takes`, `lookup` and `step_ns`. */
void serving_pieces_waits(const struct point *point, struct server_options *out);

/* The times of a unit of `prefix_unit` tokens, of one GPU's part: to be loaded, or `saved`. */
struct copy_times serving_pieces_times(const struct point *point,
                                       const struct server_connector *connector, bool saved,
                                       struct trust *trust);
