/* Replay of one source layer: its caches, and their rows in the target layers that read it.
 * replay_layer() plays caches of tokens, replay_blocks() caches of blocks. */
#pragma once

#include "decode/replay/replay_job.h"

/* Replay source layer `index`: an item of parallel_for() over a struct replay_job. Writes only its
 * own totals and the rows of the target layers that read it. */
bool replay_layer(uint32_t index, uint32_t thread, void *context, struct error *why);

/* The same for caches of blocks (BLOCK_HEAD, BLOCK_LAYER). */
bool replay_blocks(uint32_t index, uint32_t thread, void *context, struct error *why);

/* Unions of demands: what the queries of a verification want together (decode/draft/drafts.h).
 *
 *     recorded step    0 1 2 3 4 5 6 7 ...
 *     verification 0   q d d              n = 2 drafts, of which it accepts 1
 *     verification 1       q d d          ... so the next one begins 2 steps later
 *
 * A verification of n drafts has n + 1 queries. Those of accepted drafts want what the recorded steps
 * of their tokens want; what rejected drafts want is in no recording, and plan->rejected_before says
 * which of its bounds is taken. Each query attends to its own demand, so the attention mass is the
 * mean over the queries whose tokens stay; the cache holds, and the link brings, the union.
 */

/* The demands of all steps of one recorded sequence and layer, stream by stream (replay_layer.c). */
struct replay_union {
    struct arrays arrays;    /* all but units, mass and queries, which grow */
    uint32_t streams, steps; /* recorded steps that the plan reads */
    bool whole; /* all units of a row are kept, and its queries: the policy compares them */
    struct kept_demand *kept; /* [streams][steps] */
    uint32_t *units;          /* of all, best first; owned, as mass and queries */
    uint8_t *mass;
    int8_t *queries;
    size_t count, unit_capacity, mass_capacity, query_count, query_capacity;
    uint32_t *stamp; /* [units of the trace] the last union that has it */
    uint32_t stamps;
    uint32_t *union_units; /* [units of the trace] */
    uint8_t *union_mass;
    struct demand *members; /* [queries] of the last union */
};

/* The caller releases it, on failure too. */
bool replay_union_init(struct replay_union *all, const struct replay_job *job, struct error *why);
void replay_union_release(struct replay_union *all);

/* Read a sequence of source layer `source`, the streams with wanted[stream] != `none`. */
bool replay_union_read(struct replay_union *all, const struct replay_job *job, uint32_t sequence,
                       uint32_t source, const uint32_t *wanted, uint32_t none,
                       struct replay_scratch *scratch, struct error *why);

/* What a stream wants in a step of the plan: each unit once, those that any query ranks higher first.
 * Valid until the next call. */
struct demand replay_union_demand(struct replay_union *all, const struct replay_plan *plan,
                                  uint32_t stream, uint32_t step);
