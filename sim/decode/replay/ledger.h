/* The ledger: tokens (of the target) that each layer wants, hits and misses at each reported step.
 *
 *              layer 0      layer 1      ...
 *     step 0   row          row                  a row sums over the pairs of its layer: every
 *     step 1   row          row                  (sequence, offloaded KV head) is one
 *      ...
 *
 * Replay writes it and timing reads it; it knows no time. In every row wanted = hit + missed +
 * for_cpu + recomputed. The ledger of a batch with several contexts is the sum of a part for each
 * context; it stores the parts behind the sum. */
#pragma once

#include <stdint.h>

#include "core/error.h"

/* One (step, layer): tokens of one KV head's K and V. */
struct ledger_row {
    uint64_t wanted, hit, missed;
    uint64_t missed_worst;     /* of the pair that missed most */
    uint64_t for_cpu;          /* attended to by the CPU in host memory */
    uint64_t for_cpu_padded;   /* the same, with the padding of the CPU's tasks (cpu_heads_pad) */
    uint64_t for_cpu_worst;    /* of the CPU's longest task */
    uint64_t recomputed;       /* K and V computed again, from activations or from token ids */
    uint64_t lookups, updates; /* in units of the cache's manager; in query heads for a policy that
                                  needs queries */
    uint64_t inserts;          /* in units of the cache's manager */
    uint32_t fetching_heads;   /* pairs with a miss */
    uint32_t reused_heads;     /* pairs that reused their set unchanged */
    uint32_t offloaded_heads;  /* pairs */
    /* Attention mass attended to, window included, of the pairs at this step of their recording, which no
     * shift moves: the least and the most that it may be (demand_attended()). */
    double mass, mass_most;
};

struct ledger {
    uint32_t steps, layers;
    uint32_t parts;          /* ledgers in the sum; 0: this ledger is no sum */
    struct ledger_row *rows; /* [steps * layers], step-major, then as many for each part; owned */
    /* Units of the trace, over reported steps and pairs. Cold ones missed while the cache still grew into
     * room that the warm-up had left empty: at most as many in a step as the cache grew beyond its largest
     * size so far. A full cache could have held each of them, so it would have hit at most as many more. */
    uint64_t demand_wanted, demand_hit, demand_cold;
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger);

/* A ledger of zeroes, or with `parts` (> 0) a sum of so many ledgers, each of which ledger_set() stores and
 * adds. The caller releases it, on failure too. */
bool ledger_reserve(struct ledger *ledger, uint32_t steps, uint32_t layers, uint32_t parts,
                    struct error *why);
void ledger_set(struct ledger *sum, uint32_t part, const struct ledger *ledger);

/* The rows [steps * layers] of a part; of a ledger that is no sum, all its rows. */
const struct ledger_row *ledger_part(const struct ledger *ledger, uint32_t part);

/* The rows of one step that lacks as many tokens as the median step. The caller releases it in any case. */
bool ledger_middle_step(const struct ledger *ledger, struct ledger *one, struct error *why);

/* Replace the first `layers` layers by ones that are loaded whole each step: every pair wants `wanted`
 * tokens, holds `held` of them, recomputes `recomputed`, and misses the rest. */
void ledger_load_whole(struct ledger *ledger, uint32_t layers, uint64_t wanted, uint64_t held,
                       uint64_t recomputed);

/* Find this share of what is missed in HBM: these tokens hit, and neither cache nor manager sees them. */
void ledger_keep(struct ledger *ledger, double share);

static inline uint64_t ledger_rounded(double tokens)
{
    return (uint64_t)(tokens + 0.5);
}

/* Add `times` pairs with this row to a layer's row: all but the mass, and the mass. */
void ledger_add(struct ledger_row *row, const struct ledger_row *pair, uint32_t times);
void ledger_add_mass(struct ledger_row *row, const struct ledger_row *pair, uint32_t times);

/* A ledger that is no sum as bytes, and back: its totals, then the rows, in the machine's byte order. */

/* The bytes, in memory that the caller frees; NULL without memory. */
uint8_t *ledger_pack(const struct ledger *ledger, size_t *size);

/* False if the bytes are no ledger of this shape, or without memory. The caller releases it in any case. */
bool ledger_unpack(const uint8_t *bytes, size_t size, uint32_t steps, uint32_t layers,
                   struct ledger *ledger);

/* How the threads of a CPU pool share the heads of a layer.
 *
 * HGCA deals the (sequence, KV head) pairs of a layer in order, ceil(pairs / threads) to each
 * thread. They are a task: one batched product of adjacent heads, padded to the longest of them:
 *
 *     heads      5 2 | 3 7 | 1 1       two heads a task
 *     padded     5 5 | 7 7 | 1 1       26 tokens for 19; the longest task has 14
 *
 * Here a task has heads of one sequence only. If a thread is due more heads than a sequence has,
 * the task's other sequences are taken to be like this one (neighbours in a batch read neighbouring
 * rows), so that one sequence gives the result for all. */

/* Pairs for each of `threads` threads; at least 1. */
uint64_t cpu_heads_each(uint64_t pairs, uint64_t threads);

/* Deal the `heads` heads of a sequence in tasks of `each`: tokens with padding, and those of the longest
 * task. */
void cpu_heads_pad(const uint64_t *tokens, uint32_t heads, uint64_t each, uint64_t *padded,
                   uint64_t *worst);
