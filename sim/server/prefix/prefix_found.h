/* A request's first blocks that a tier has, up to the first block that none has. */
#pragma once

#include "server/prefix/prefix_tiers.h"

struct prefix_found {
    uint64_t blocks;
    uint64_t in[PREFIX_MOST_TIERS];   /* of these, by their nearest tier */
    uint64_t idle;                    /* blocks on the GPU without references so far */
    uint64_t load[PREFIX_MOST_TIERS]; /* the latest load from each tier that brings, or brought, one
                                         of them; 0: none */
};

/* Of a request whose blocks have their numbers, among its first `most` blocks: in all tiers, those
 * below the GPU in whole units; on the GPU alone. */
struct prefix_found prefix_found_in_all(const struct prefix_tiers *tiers, size_t index,
                                        uint64_t most);
struct prefix_found prefix_found_in_first(const struct prefix_tiers *tiers, size_t index,
                                          uint64_t most);

/* How many of these blocks somebody uses on the GPU. */
uint64_t prefix_found_used(const struct prefix_tiers *tiers, size_t index, uint64_t most);

/* Refer to the blocks on the GPU, before room for the rest is made, and use those below it, the
 * first block last. Lower tiers keep whole units: a part of one counts as used on the GPU only. */
void prefix_found_refer(struct prefix_tiers *tiers, size_t index, const struct prefix_found *found);
