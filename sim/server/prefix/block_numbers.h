/* Numbers of blocks: those of a chunk are in a row. Other blocks only one request can have: the
 * block in which its prompt ends, those of its output, and all blocks of a prompt without hashes. A
 * chunk and a request get their numbers when a request first begins with them, so that a cache that
 * serves some of many requests uses few numbers, and touches little memory.
 *
 * Numbers can be recycled: once all that were made are in use, those of blocks that are in no tier are
 * given anew, if no request needs them that has begun and not ended. There are then never many more
 * than the tiers have blocks, however many requests come.
 *
 * With one tier own blocks get no numbers: they are a run of the pool (block_pool.h). */
#pragma once

#include "server/requests/requests.h"

/* Whose blocks are numbered. */
struct block_owners {
    const struct requests *requests; /* borrowed */
    uint32_t block_tokens;
    bool runs;                 /* own blocks are runs */
    bool recycled;             /* so are numbers of own blocks, */
    bool chunks_recycled;      /* and those of chunks */
    const uint32_t *server_of; /* [requests->count], borrowed; NULL: all requests may begin */
    uint32_t server;           /* else those with this server */
};

struct number_list {
    uint32_t *items; /* [count] owned */
    size_t count, capacity;
};

/* Numbers in rows of `length`. */
struct block_rows {
    uint32_t length;
    struct number_list spare; /* first numbers of rows that can be given anew */
    uint64_t made, limit;     /* so far, and before spare ones are looked for */
};

struct block_numbers {
    struct block_owners of;
    uint32_t blocks_per_chunk, chunks_per_block; /* one is a multiple of the other; rounded down */
    uint32_t most;                               /* numbers are below it */
    uint32_t **own;         /* by request: the numbers of the blocks that are its alone, owned;
                                 NULL: none yet, or not any more */
    uint32_t *first_shared; /* by chunk: the number of its first block, and 1; 0: none yet; owned */
    uint32_t *users;        /* by chunk: requests with it that have begun and not ended, owned */
    uint32_t *listed;       /* by block: scratch of block_numbers_list(), owned */
    uint32_t next;          /* the next number */
    struct block_rows ones, rows;    /* of own blocks, and of chunks */
    struct number_list left, chunks; /* own numbers of ended requests; chunks that have numbers */
    bool (*gone)(uint32_t id, void *context); /* is the block nowhere? */
    void *context;
};

/* None is given yet. The caller sets `gone` and `context` where numbers are recycled. On failure there
 * is nothing to release. */
bool block_numbers_init(struct block_numbers *numbers, const struct block_owners *of,
                        struct error *why);
void block_numbers_release(struct block_numbers *numbers); /* a zeroed struct is fine */

/* The number of request `index`'s first blocks, up to `blocks`, that have numbers. */
uint64_t block_numbers_count(const struct block_numbers *numbers, size_t index, uint64_t blocks);

/* The numbers of the blocks of request `index`, which has begun, from `from` up to `to`, as an array that the
 * next call overwrites. */
const uint32_t *block_numbers_list(const struct block_numbers *numbers, size_t index, uint64_t from,
                                   uint64_t to);

/* Number the blocks of a request that begins. False when memory is out. */
bool block_numbers_give(struct block_numbers *numbers, size_t index);

/* The request has begun (1), or ends or is preempted (-1): it needs the numbers of its chunks. */
void block_numbers_use(struct block_numbers *numbers, size_t index, int change);

/* The request has ended: nobody looks for its own blocks again. */
void block_numbers_leave(struct block_numbers *numbers, size_t index);
