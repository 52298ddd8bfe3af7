/* The tiers of a prefix cache: the GPU's blocks, those below it, and the copies between neighbours.
 *
 * Copies to a tier end in the order in which they begin. Each refers to its blocks until it is done. Where blocks
 * of a span are used one after the other, they are so with `back` from the last one on, else from the first.
 * For part of prefix_cache.c alone, which uses the fields, too. */
#pragma once

#include "server/prefix/prefix_cache.h"

/* Blocks that are being copied between two tiers, first come, first served, and the references
 * that each copy holds until it is done. */
struct block_copy {
    struct piece_span span;
    bool back;
    bool crosses;      /* the way; else it only waits for the copies in front of it */
    bool upper, lower; /* it holds a reference there until it is done */
};

struct block_queue {
    struct block_copy *items; /* pending copies are [first, count), owned */
    size_t first, count, capacity;
    uint64_t crossing, upper, lower; /* blocks of pending copies with each flag */
};

/* A load and the tier from which it comes, in one number; 0: none. */
static inline uint64_t tier_load(uint64_t number, uint32_t tier)
{
    return number * PREFIX_MOST_TIERS + tier;
}

struct prefix_tiers;

struct prefix_lower {
    struct prefix_tiers *tiers; /* all of them */
    uint32_t number;            /* its own */
    struct block_store *store;
    /* Saves to it, in order. Those to tier 1 have among them blocks of ended requests that it has
     * already and that do not cross: they wait in the queue, so that they do not become idle on the
     * GPU before blocks of the same request that are still being saved. */
    struct block_queue saves;
    struct block_queue loads; /* from it; only with pins */
    uint32_t *saving;         /* by number: pending saves of the piece; NULL: saves take no time */
    bool shared;              /* store and saving are the pool's */
    struct prefix_counts counts;
};

/* Blocks have the same numbers in all caches that share a pool. */
struct prefix_pool {
    struct block_numbers numbers;
    struct block_store *store;
    uint32_t *saving; /* as in prefix_lower, of all caches */
};

struct prefix_tiers {
    const struct prefix_options *options; /* borrowed */
    struct block_numbers *numbers;        /* borrowed */
    struct block_pool *gpu;
    struct prefix_lower lower[PREFIX_MOST_TIERS]; /* [1, count); of others only counts are used */
    uint32_t count;                               /* with the GPU */
    struct prefix_tiers *next; /* of the caches that share the last tier, in a ring */
    uint8_t *asked;            /* by number: requests that held it; NULL: not counted */
    uint8_t *source;           /* by number of a piece just found below the GPU: its nearest tier;
                                      NULL: there is one at most */
    uint64_t *brought_by;      /* by number of a piece known to the GPU: its tier_load(); NULL if
                                      the GPU retains none, or nothing is loaded */
    uint64_t saves;            /* begun so far, to all tiers */
    bool past;                 /* saves take no time (prefix_past()) */
    bool failed;               /* memory was out */
};

/* Whose blocks get numbers, and which are recycled. */
struct block_owners prefix_tiers_owners(const struct prefix_options *options,
                                        const struct requests *requests);

/* `numbers` is initialised. After a failure the caller releases what there is. */
bool prefix_tiers_init(struct prefix_tiers *tiers, const struct prefix_options *options,
                       struct block_numbers *numbers, struct error *why);
void prefix_tiers_release(struct prefix_tiers *tiers); /* a zeroed struct is fine */

/* Pending copies that refer to blocks of a tier: those of all caches, if it is shared. */
uint64_t prefix_tiers_held(const struct prefix_tiers *tiers, uint32_t tier);

/* The nearest tier below the GPU that has the piece, and to which its copy has arrived, 0: none; and the same
 * when a request has just found it. */
uint32_t prefix_tiers_find(const struct prefix_tiers *tiers, uint32_t id);
uint32_t prefix_tiers_source(const struct prefix_tiers *tiers, uint32_t id);

/* Touch blocks that this lower tier has, or offer it those that it lacks and enough requests held. */
void prefix_tiers_offer(struct prefix_tiers *tiers, uint32_t tier, struct piece_span span,
                        bool back);

/* Refer to the piece, which a request found, on the GPU. It is loaded, if missing: queue that with pins. */
void prefix_tiers_use(struct prefix_tiers *tiers, uint32_t id);

/* The piece counts as used in every lower tier that has it, its last block first. */
void prefix_tiers_touch(struct prefix_tiers *tiers, uint32_t id);

/* Blocks on their way to the GPU, from one source, pass the tiers above it, some of which take them. */
void prefix_tiers_pass(struct prefix_tiers *tiers, struct piece_span span);

/* A request holds these blocks no more. `saves`: they are offered to tier 1. Behind the first block since `before`
 * that this took, those that it has already wait for their turn, too. */
void prefix_tiers_end(struct prefix_tiers *tiers, struct piece_span span, bool saves,
                      uint64_t before);

/* prefix_saved(), prefix_loaded(), and one more request that held the full piece. */
void prefix_tiers_saved(struct prefix_tiers *tiers, uint32_t tier, uint64_t count);
void prefix_tiers_loaded(struct prefix_tiers *tiers, uint32_t tier, uint64_t count);
void prefix_tiers_count(struct prefix_tiers *tiers, uint32_t id);

/* Make taken blocks known as the part of a piece by which it grows, as prefix_tiers_name() and a join of what is
 * then alike would: the piece is the request's alone, and in no tier below. Returns false if it is not. */
bool prefix_tiers_grow(struct prefix_tiers *tiers, uint32_t id, uint32_t rest, uint32_t count);

/* Make taken blocks known, if the GPU retains blocks. `load`, a tier_load(), brings their KV; 0: the KV is there. */
void prefix_tiers_name(struct prefix_tiers *tiers, uint32_t id, uint64_t load);
