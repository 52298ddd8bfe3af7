/* Numbers of blocks, by pieces: neighbours that no tier tells apart have one number, so that what is done to all
 * of them costs as much as to one block. A piece is cut where something is done to a part of it, and joined with
 * the next one again once all tiers have both alike.
 *
 *     row     pieces of a request's blocks that other requests have, all of them or none
 *     path    of a request: whole rows, and then a row of its own blocks, which only it can have: that in which
 *             its prompt ends, those of its output, and all of a prompt without hashes
 *
 * Chunks that follow each other in a prompt mostly have consecutive numbers, because chunks are numbered by
 * first appearance, and a chunk always follows the same one. A row is a run of these. It gets its numbers when
 * a request first begins with it, and is divided when another request shares only its beginning.
 *
 * Numbers can be recycled: those of rows whose blocks are in no tier are given anew, if no request needs them
 * that has begun and not ended. There are then never many more than the tiers have pieces.
 */
#pragma once

#include "server/requests/requests.h"

/* Whose blocks are numbered. */
struct block_owners {
    const struct requests *requests; /* borrowed */
    uint32_t block_tokens;
    bool recycled;             /* numbers of own blocks are given anew, */
    bool chunks_recycled;      /* and those of chunks */
    bool single;               /* each piece is one block */
    const uint32_t *server_of; /* [requests->count], borrowed; NULL: all requests may begin */
    uint32_t server;           /* else those with this server */
    uint32_t ranks; /* that find only their own requests' blocks (prefix_options); 0: 1 */
};

/* The row of a request's own blocks, and 1; 0: none yet, or not any more. Behind its block `from`, with which piece
 * `mark` begins, it was written last: only there do its pieces change while it runs. */
struct row_mark {
    uint32_t row, mark, from;
};

/* A list has room for all numbers from the beginning, so that it forgets none when memory runs out. */
struct number_list {
    uint32_t *items; /* [count] owned, sparse */
    size_t count;
};

/* `blocks`, `users` and `chunk` are of the row, in its first piece. */
struct block_piece {
    uint32_t count;  /* blocks, at least 1 */
    uint32_t next;   /* the piece behind it, if it is not the last of its row */
    uint32_t copies; /* pending ones of it, or of a span with it: it is not joined, nor recycled */
    uint32_t blocks, users; /* requests that have begun and not ended */
    uint32_t chunk;         /* of its first block */
};

/* Blocks of a row, from the beginning of a piece to the end of one. */
struct piece_span {
    uint32_t first, count; /* a piece, and blocks */
};

/* What tiers do with pieces. */
struct block_pieces {
    bool (*gone)(uint32_t id, void *context);               /* is it nowhere? */
    void (*cut)(uint32_t id, uint32_t rest, void *context); /* `rest` is now its end */
    bool (*join)(uint32_t id, uint32_t rest,
                 void *context); /* it ends with `rest`, if they are alike */
};

struct block_numbers {
    struct block_owners of;
    uint32_t blocks_per_chunk, chunks_per_block; /* one is a multiple of the other; rounded down */
    uint32_t most;                               /* numbers are below it */
    struct block_piece *pieces;                  /* by number, owned */
    struct row_mark *own;                        /* by request, owned */
    uint32_t *first_shared; /* by chunk and rank: the row that begins with it + 1; 0: none; owned */
    struct piece_span *listed; /* scratch of block_numbers_list(), owned */
    uint32_t next, limit; /* the next number, and when to look for those that can be given anew */
    struct number_list spare;      /* those that can be */
    struct number_list left, rows; /* rows of ended requests; places in first_shared of others */
    const struct block_pieces *tiers;
    void *context;
};

/* None is given yet. The caller sets `tiers` and `context`. On failure there is nothing to release. */
bool block_numbers_init(struct block_numbers *numbers, const struct block_owners *of,
                        struct error *why);
void block_numbers_release(struct block_numbers *numbers); /* a zeroed struct is fine */

/* The pieces of request `index`, which has begun, with exactly its blocks from `from` up to `to`: a list of spans
 * of one piece each, which the next call overwrites. */
const struct piece_span *block_numbers_list(struct block_numbers *numbers, size_t index,
                                            uint64_t from, uint64_t to, size_t *count);

/* The first piece of a span, or with `back` its last one. take() and next() take blocks off that end of the span:
 * `count` of them, for which a piece may be cut, or this piece. */
uint32_t piece_span_piece(const struct block_numbers *numbers, const struct piece_span *span,
                          bool back);
struct piece_span piece_span_take(struct block_numbers *numbers, struct piece_span *span,
                                  uint32_t count, bool back);
uint32_t piece_span_next(struct block_numbers *numbers, struct piece_span *span, bool back);

/* The piece keeps its first `count` blocks. Returns the number of the rest. */
uint32_t block_numbers_cut(struct block_numbers *numbers, uint32_t id, uint32_t count);

/* Number the blocks of a request that begins, and join its pieces that are alike. */
void block_numbers_give(struct block_numbers *numbers, size_t index);

/* The request's own blocks from `at` on fill, `count` of them: what is before them is a piece that could grow by them,
 * and what is behind them another. Returns false if they are not between two pieces without copies; else `id` and
 * `rest` are these. block_numbers_grow() lets `id` have so many more of the blocks of `rest`. */
bool block_numbers_between(const struct block_numbers *numbers, size_t index, uint64_t at,
                           uint64_t count, uint32_t *id, uint32_t *rest);
static inline void block_numbers_grow(struct block_numbers *numbers, uint32_t id, uint32_t rest,
                                      uint32_t count)
{
    numbers->pieces[id].count += count;
    numbers->pieces[rest].count -= count;
}

/* Some of its own blocks were written: join pieces of them that are alike. */
void block_numbers_join(struct block_numbers *numbers, size_t index);

/* The request has begun (1), or ends or is preempted (-1): it needs the numbers of its chunks. */
void block_numbers_use(struct block_numbers *numbers, size_t index, int change);

/* The request has ended: nobody looks for its own blocks again. */
void block_numbers_leave(struct block_numbers *numbers, size_t index);
