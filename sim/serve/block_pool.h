/* The KV blocks of a GPU: who has them, and which are worth keeping.
 *
 * A block is free, or its owner's alone while nobody can ask for it (it is being written, or what
 * it holds has no hash), or known: it holds the tokens that a hash stands for and can be shared. A
 * known block that nobody refers to stays until room is needed; then the one that lost its last
 * reference first leaves (LRU, as in vLLM). Known blocks are numbered; the pool never looks inside.
 */
#ifndef SERVE_BLOCK_POOL_H
#define SERVE_BLOCK_POOL_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct block_pool;

/* A pool of `capacity` free blocks; numbers are below `ids`. `on_evict` (or NULL) is told of each
 * known block that leaves. NULL when memory is out. */
struct block_pool *block_pool_create(uint32_t ids, uint64_t capacity,
                                     void (*on_evict)(uint32_t id, void *context), void *context,
                                     struct error *why);
void block_pool_destroy(struct block_pool *pool); /* NULL is fine */

bool block_pool_knows(const struct block_pool *pool, uint32_t id);
/* Of a known one: nobody refers to it. */
bool block_pool_is_idle(const struct block_pool *pool, uint32_t id);

/* Blocks that block_pool_take() can give: free ones, and known ones without references. */
uint64_t block_pool_room(const struct block_pool *pool);

/* Take `count` blocks for oneself, evicting what is in the way; at most the room. */
void block_pool_take(struct block_pool *pool, uint64_t count);
void block_pool_give_back(struct block_pool *pool, uint64_t count);

/* What the pool has on its books: capacity = free + taken + known. */
struct block_census {
    uint64_t capacity, free, taken, known;
    uint64_t idle;       /* known, without references */
    uint64_t references; /* to known ones */
};
struct block_census block_pool_census(const struct block_pool *pool);

/* A known block gets or loses a reference. */
void block_pool_refer(struct block_pool *pool, uint32_t id);
void block_pool_release(struct block_pool *pool, uint32_t id);

/* A block that was taken holds `id` now: it is known, with one reference, its owner's. Where `id`
 * is known already the owner refers to that one, and the block that was taken is free. */
void block_pool_name(struct block_pool *pool, uint32_t id);

#endif
