/* The KV blocks of a GPU: who uses them, and which are evicted.
 *
 * A block is in one of three states:
 *     free
 *     taken   used by one owner and found by nobody else: it is being written, or has no hash
 *     known   it holds the tokens of a hash, has a number, and can be shared
 *
 * A known block without references is idle. It is retained until room is needed; then the block
 * that has been idle longest is evicted (LRU, as in vLLM). The pool never looks into a block. */
#pragma once

#include "core/error.h"
#include "policy/policy.h"
#include "server/prefix/block_numbers.h"

/* Numbers of blocks: capacity = free + taken + known. */
struct block_census {
    uint64_t capacity, free, taken, known;
    uint64_t idle;       /* known, without references */
    uint64_t references; /* to known ones */
};

/* Idle pieces (block_numbers.h) are a doubly linked list through places, one for each number. The piece that has
 * been idle longest is in front; place `ids` is the list's end. `references` counts one more for a
 * known block, so that a zeroed array holds none: memory of numbers that are never used is not touched. */
enum { BLOCK_UNKNOWN = 0, BLOCK_KNOWN = 1 };

struct block_place {
    uint32_t next, last;      /* `last` is the previous one */
    uint32_t references : 31; /* BLOCK_UNKNOWN, or BLOCK_KNOWN and its references */
    uint32_t back : 1; /* of an idle piece: its last block has been idle longest, else its first */
};

/* The fields are for block_pool.c, and for the functions below that are called for each block of each
 * request. Invariant: capacity = free + taken + known, and the list has the known blocks without references.
 * Each amount is counted separately, so that an error shows as a disagreement (server_state.h). */
struct block_pool {
    struct block_census census;
    uint64_t first_uses; /* how often a block got its first reference so far */
    uint32_t ids;
    struct block_numbers *numbers; /* borrowed */
    struct block_place *places;    /* [ids + 1] owned */
    void (*on_evict)(uint32_t id, bool back, void *context);
    void *context;
};

/* A pool of `capacity` free blocks. `on_evict` (or NULL) is called for each known piece that is evicted, with `back`
 * from its last block on. NULL when memory is out. */
struct block_pool *block_pool_create(struct block_numbers *numbers, uint64_t capacity,
                                     void (*on_evict)(uint32_t id, bool back, void *context),
                                     void *context, struct error *why);
void block_pool_destroy(struct block_pool *pool); /* NULL is fine */

static inline bool block_pool_knows(const struct block_pool *pool, uint32_t id)
{
    return pool->places[id].references != BLOCK_UNKNOWN;
}

/* Is a known block without references? */
static inline bool block_pool_is_idle(const struct block_pool *pool, uint32_t id)
{
    return pool->places[id].references == BLOCK_KNOWN;
}

/* Blocks that block_pool_take() can give: free ones, and known ones without references. */
static inline uint64_t block_pool_room(const struct block_pool *pool)
{
    return pool->census.free + pool->census.idle;
}

/* Take `count` blocks (at most the room), evicting idle ones as needed; and give them back. */
void block_pool_take(struct block_pool *pool, uint64_t count);
void block_pool_give_back(struct block_pool *pool, uint64_t count);

static inline struct block_census block_pool_census(const struct block_pool *pool)
{
    return pool->census;
}

static inline void block_pool_unlink(struct block_pool *pool, uint32_t place)
{
    struct block_place *places = pool->places;
    places[places[place].last].next = places[place].next;
    places[places[place].next].last = places[place].last;
}

static inline void block_pool_append(struct block_pool *pool, uint32_t place)
{
    struct block_place *places = pool->places;
    uint32_t end = pool->ids, tail = places[end].last;
    places[tail].next = place;
    places[place].last = tail;
    places[place].next = end;
    places[end].last = place;
}

static inline uint32_t block_pool_count(const struct block_pool *pool, uint32_t id)
{
    return pool->numbers->pieces[id].count;
}

/* Add or remove a reference to a known piece, with `back` from its last block on. */
static inline void block_pool_refer(struct block_pool *pool, uint32_t id)
{
    uint32_t count = block_pool_count(pool, id);
    if (pool->places[id].references++ == BLOCK_KNOWN) {
        block_pool_unlink(pool, id);
        pool->census.idle -= count;
        pool->first_uses += count;
    }
    pool->census.references += count;
}

static inline void block_pool_release(struct block_pool *pool, uint32_t id, bool back)
{
    uint32_t count = block_pool_count(pool, id);
    if (--pool->places[id].references == BLOCK_KNOWN) {
        block_pool_append(pool, id);
        pool->places[id].back = back;
        pool->census.idle += count;
    }
    pool->census.references -= count;
}

/* A known piece counts as used. */
static inline void block_pool_touch(struct block_pool *pool, uint32_t id, bool back)
{
    if (block_pool_is_idle(pool, id)) {
        block_pool_unlink(pool, id);
        block_pool_append(pool, id);
        pool->places[id].back = back;
    }
}

/* Has a piece one reference? It may grow by taken blocks, which become known with it. */
static inline bool block_pool_is_alone(const struct block_pool *pool, uint32_t id)
{
    return pool->places[id].references == BLOCK_KNOWN + 1;
}
static inline void block_pool_grow(struct block_pool *pool, uint32_t count)
{
    pool->first_uses += count;
    pool->census.taken -= count;
    pool->census.known += count;
    pool->census.references += count;
}

/* Taken blocks now hold piece `id`: it becomes known, with one reference, its owner's. If `id` is known already,
 * the owner refers to that piece instead, and the taken blocks become free. */
void block_pool_name(struct block_pool *pool, uint32_t id);

/* A piece is cut (block_numbers.h). Can it be joined with its rest, and do so. */
void block_pool_cut(struct block_pool *pool, uint32_t id, uint32_t rest);
bool block_pool_joins(const struct block_pool *pool, uint32_t id, uint32_t rest);
void block_pool_join(struct block_pool *pool, uint32_t id, uint32_t rest);

/* The KV blocks of a tier below the GPU, under any cache policy or without eviction.
 *
 * A saved block is a copy; the tier above may keep its own. Without eviction the tier takes blocks
 * until it is full, and then no more (the simplest published design). Under LRU a block can be
 * held: it is not evicted while held, and counts as used when it is let go. */

struct block_store {
    struct policy *policy;         /* this one */
    struct block_pool *pool;       /* or this one; the other is NULL */
    bool evicts;                   /* may the pool evict? */
    uint64_t capacity;             /* blocks */
    struct block_numbers *numbers; /* borrowed */
};

/* A tier of `capacity` blocks. Under a policy other than LRU each piece is one block (block_owners.single).
 *   kind    NULL: never evicts. Refused: a policy that needs queries or the future, or does not
 *           admit and evict block by block
 *   values  as in policy_create()
 *   holds   blocks will be held, which only LRU and no eviction can do: other policies are refused
 *   on_evict, context   called for each piece that LRU evicts; on_evict may be NULL
 * NULL on failure. */
struct block_store *block_store_create(struct block_numbers *numbers, uint64_t capacity,
                                       const struct policy_kind *kind, const double *values,
                                       bool holds, uint64_t seed,
                                       void (*on_evict)(uint32_t id, bool back, void *context),
                                       void *context, struct error *why);

/* Does a tier of this kind remember nothing of a block that it does not have? */
bool block_store_forgets(const struct policy_kind *kind);
void block_store_destroy(struct block_store *store); /* NULL is fine */

static inline bool block_store_knows(const struct block_store *store, uint32_t id)
{
    return store->policy != NULL ? store->policy->kind->holds(store->policy, id)
                                 : block_pool_knows(store->pool, id);
}

/* Touch pieces that it has, or offer it some that it lacks: what has the same outcome at the beginning of a span,
 * or with `back` at its end. That part leaves the span. Sets `took` if the tier lacked it and has it now. It
 * refuses when it is full and can evict nothing. */
struct piece_span block_store_offer(struct block_store *store, struct piece_span *span, bool back,
                                    bool *took);

/* A piece that it has counts as used. */
void block_store_touch(struct block_store *store, uint32_t id, bool back);

/* The tier's blocks. Under a policy all of them are known and idle; without eviction each has one
 * reference that is never removed. */
struct block_census block_store_census(const struct block_store *store);

/* False if a plug-in policy gave an invalid answer. */
bool block_store_check(const struct block_store *store, struct error *why);
