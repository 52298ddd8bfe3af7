/* The tiers of a prefix cache: the GPU's blocks, the host's, and the copies between them.
 *
 * Copies end in the order in which they begin. Each refers to its block until it is done. For part
 * of prefix_cache.c alone, which uses the fields, too.
 */
#ifndef SERVE_PREFIX_TIERS_H
#define SERVE_PREFIX_TIERS_H

#include "serve/prefix/block_numbers.h"
#include "serve/prefix/block_pool.h"
#include "serve/prefix/block_queue.h"
#include "serve/prefix/host_tier.h"
#include "serve/prefix/prefix_cache.h"

/* The last load that brought some of a request's own blocks, from that block on. Earlier loads have
 * ended: a request is not preempted before. */
struct own_load {
    uint64_t number, first;
};

struct prefix_tiers {
    const struct prefix_options *options; /* borrowed */
    struct block_numbers *numbers;        /* borrowed */
    struct block_pool *gpu;
    struct host_tier *host; /* NULL: one tier */
    uint8_t *asked;         /* by number: requests that held it; NULL: not counted */
    /* Saves, in order. Among them are blocks of ended requests that the host has already and that
     * do not cross: they wait in the queue, so that they do not become idle on the GPU before
     * blocks of the same request that are still being saved. */
    struct block_queue saves;
    struct block_queue loads;      /* only with pins */
    uint32_t *saving;              /* by number: pending saves of the block */
    uint64_t *brought_by;          /* by number of a block known to the GPU: its load, or 0; NULL if
                                      the GPU retains none */
    struct own_load *loads_of_own; /* by request; NULL: own blocks have numbers, they are no runs */
    bool failed;                   /* memory was out */
    struct prefix_counts counts;
};

/* `numbers` is initialised; its numbers are recycled from now on if the options say so. After a
 * failure the caller releases what there is. */
bool prefix_tiers_init(struct prefix_tiers *tiers, const struct prefix_options *options,
                       struct block_numbers *numbers, struct error *why);
void prefix_tiers_release(struct prefix_tiers *tiers); /* a zeroed struct is fine */

/* Are requests' own blocks runs of the pool? Runs need what recycling does, that nobody asks for
 * the numbers of ended requests, and no host that looks at its blocks one by one. */
bool prefix_tiers_runs(const struct prefix_options *options);

/* Does the host have the block, and has its copy arrived? */
bool prefix_tiers_host_has(const struct prefix_tiers *tiers, uint32_t id);

/* Touch a block that the host has, or offer it one that it lacks. */
void prefix_tiers_offer(struct prefix_tiers *tiers, uint32_t id);

/* Queue a save of the block that does not cross the link (see `saves`); or, with pins, its load. */
void prefix_tiers_wait(struct prefix_tiers *tiers, uint32_t id);
void prefix_tiers_load(struct prefix_tiers *tiers, uint32_t id);

/* prefix_saved() and prefix_loaded() */
void prefix_tiers_saved(struct prefix_tiers *tiers, uint64_t count);
void prefix_tiers_loaded(struct prefix_tiers *tiers, uint64_t count);

/* Count one more request that held the full block. */
void prefix_tiers_count(struct prefix_tiers *tiers, uint32_t id);

/* Make a taken block known, if the GPU retains blocks. `load` brings its KV; 0: the KV is there. */
void prefix_tiers_name(struct prefix_tiers *tiers, uint32_t id, uint64_t load);

/* The request has ended: nobody finds its own blocks any more. */
void prefix_tiers_leave(struct prefix_tiers *tiers, size_t index);

#endif
