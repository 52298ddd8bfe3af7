/* Numbers of blocks: those of a chunk are in a row. Other blocks only one request can have: the
 * block in which its prompt ends, those of its output, and all blocks of a prompt without hashes. A
 * chunk and a request get their numbers when a request first begins with them, so that a cache that
 * serves some of many requests uses few numbers, and touches little memory.
 *
 * Once a request has ended, nobody finds its own blocks again, but both tiers keep them until they
 * evict them. Its blocks are then orphans. When an orphan is nowhere, its number is spare, if
 * numbers are recycled, so that there are never many more in use than the tiers have blocks.
 *
 * With one tier own blocks get no numbers: they are a run of the pool (block_pool.h).
 */
#ifndef SERVE_BLOCK_NUMBERS_H
#define SERVE_BLOCK_NUMBERS_H

#include "serve/requests/requests.h"

/* Whose blocks are numbered. */
struct block_owners {
    const struct requests *requests; /* borrowed */
    uint32_t block_tokens;
    bool runs;                 /* own blocks are runs */
    const uint32_t *server_of; /* [requests->count], borrowed; NULL: all requests may begin */
    uint32_t server;           /* else those with this server */
};

struct block_numbers {
    struct block_owners of;
    uint32_t blocks_per_chunk, chunks_per_block; /* one is a multiple of the other; rounded down */
    uint32_t most;                               /* numbers are below it */
    uint32_t **own;         /* by request: the numbers of the blocks that are its alone, owned;
                                 NULL: none yet, or not any more */
    uint32_t *first_shared; /* by chunk: the number of its first block, and 1; 0: none yet; owned */
    uint32_t next;          /* the next number */
    uint32_t *spare;        /* [spare_count] numbers to give before it, owned */
    size_t spare_count, spare_capacity;
    bool *orphan; /* by number: its request has ended, owned; NULL: not recycled */
};

/* None is given yet, nor will one be recycled. On failure there is nothing to release. */
bool block_numbers_init(struct block_numbers *numbers, const struct block_owners *of,
                        struct error *why);
void block_numbers_release(struct block_numbers *numbers); /* a zeroed struct is fine */

/* Recycle them from now on. */
bool block_numbers_recycle(struct block_numbers *numbers, struct error *why);

/* The number of request `index`'s first blocks, up to `blocks`, that have numbers. */
uint64_t block_numbers_count(const struct block_numbers *numbers, size_t index, uint64_t blocks);

/* The number of block `block` of request `index`, which has begun. */
uint32_t block_numbers_read(const struct block_numbers *numbers, size_t index, uint64_t block);

/* The same, and how many blocks from it on, at least 1, have numbers in a row: those of a chunk. */
uint32_t block_numbers_row(const struct block_numbers *numbers, size_t index, uint64_t block,
                           uint64_t *length);

/* Number the blocks of a request that begins. False when memory is out. */
bool block_numbers_give(struct block_numbers *numbers, size_t index);

/* The request has ended: call `orphaned` for each of its own blocks, the last one first. Does
 * nothing if numbers are not recycled. */
void block_numbers_leave(struct block_numbers *numbers, size_t index,
                         void (*orphaned)(uint32_t id, void *context), void *context);

/* Is it the number of an ended request's own block? */
static inline bool block_numbers_is_orphan(const struct block_numbers *numbers, uint32_t id)
{
    return numbers->orphan != NULL && numbers->orphan[id];
}

/* An orphan is nowhere: others may have its number. */
void block_numbers_spare(struct block_numbers *numbers, uint32_t id);

#endif
