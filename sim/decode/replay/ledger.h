/* The ledger: what each layer wants, hits and misses at each reported step, in the target's tokens.
 *
 *              layer 0      layer 1      ...
 *     step 0   row          row                  a row sums over the pairs of its layer: every
 *     step 1   row          row                  (sequence, offloaded KV head) is one
 *      ...
 *
 * Replay writes it and timing reads it; it knows no time. In every row wanted = hit + missed +
 * for_cpu + recomputed. The ledger of a batch of several contexts is the sum of theirs, behind
 * which it keeps each.
 */
#ifndef DECODE_REPLAY_LEDGER_H
#define DECODE_REPLAY_LEDGER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* One (step, layer): tokens of one KV head's K and V. */
struct ledger_row {
    uint64_t wanted, hit, missed;
    uint64_t missed_worst;     /* most that one pair missed */
    uint64_t for_cpu;          /* attended to by the CPU, where they are */
    uint64_t for_cpu_padded;   /* the same, with the padding of its tasks (cpu_heads.h) */
    uint64_t for_cpu_worst;    /* of its longest task */
    uint64_t recomputed;       /* K and V made again, from activations or from the tokens */
    uint64_t lookups, updates; /* in units of the cache's manager; in query heads for a policy that
                                  needs queries */
    uint64_t inserts;          /* in units of the cache's manager */
    uint32_t fetching_heads;   /* pairs with a miss */
    uint32_t reused_heads;     /* pairs that reused their set as it is */
    uint32_t offloaded_heads;  /* pairs */
    double mass; /* attention mass attended to, window included; a pair's is at most 1 */
};

struct ledger {
    uint32_t steps, layers;
    uint32_t parts;          /* ledgers that it is the sum of; 0: it is no sum */
    struct ledger_row *rows; /* [steps * layers], step-major, and as many of each part; owned */
    bool cache_filled;       /* every cache was full, or held as much after the last step of the
                                warm-up as before it */
    uint64_t
        demand_wanted; /* units of the trace over reported steps and pairs, for tests and stats */
    uint64_t demand_hit;
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger);

/* An empty ledger for so many rows. The caller releases it, on failure too. */
bool ledger_reserve(struct ledger *ledger, uint32_t steps, uint32_t layers, struct error *why);

/* The same for a sum of `parts` (> 0) ledgers, to be laid with ledger_lay() one after the other. */
bool ledger_reserve_sum(struct ledger *ledger, uint32_t steps, uint32_t layers, uint32_t parts,
                        struct error *why);
void ledger_lay(struct ledger *sum, uint32_t part, const struct ledger *ledger);

/* The rows of a part, as of a ledger of its own; of one that is no sum, its rows. */
const struct ledger_row *ledger_part(const struct ledger *ledger, uint32_t part);

/* Make the first `layers` layers ones that load whole each step, whatever was replayed: every pair
 * wants `wanted` tokens, of which it holds the same `held` and has `recomputed` made again, and
 * attends to all mass. */
void ledger_load_whole(struct ledger *ledger, uint32_t layers, uint64_t wanted, uint64_t held,
                       uint64_t recomputed);

/* Add `times` pairs, each with this row of its own, to a layer's row. */
void ledger_add(struct ledger_row *row, const struct ledger_row *pair, uint32_t times);

#endif
