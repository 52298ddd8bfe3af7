/* The last request that found no room, so that a server can ask again at every step for nothing.
 *
 * Room lacks as long as room < need - (first uses of blocks since then): a first use of one of the
 * prompt's blocks by somebody else is all that makes the need smaller, by that block.
 */
#pragma once

#include "server/prefix/block_pool.h"

#include <stddef.h>

struct prefix_refusal {
    size_t index;
    uint64_t tokens; /* of the request; 0: none was refused */
    uint64_t need;   /* blocks, less those of the whole prompt that somebody used */
    uint64_t first_uses;
};

void prefix_refusal_note(struct prefix_refusal *refusal, const struct block_pool *gpu, size_t index,
                         uint64_t tokens, uint64_t need);

/* Would the request find no room now either? False if that is not known without looking. */
bool prefix_refusal_holds(const struct prefix_refusal *refusal, const struct block_pool *gpu,
                          size_t index, uint64_t tokens);
