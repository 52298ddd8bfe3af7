/* Replay of requests through a prefix cache without a clock: one after the other, each alone on the
 * GPU. Its hits depend on the trace and the tiers alone, not on queues or concurrent requests.
 */
#pragma once

#include "core/error.h"
#include "core/stop_flag.h"
#include "server/prefix/prefix_cache.h"

#include <stddef.h>
#include <stdint.h>

/* Of a tier below the GPU, in blocks. */
struct prefix_moved {
    uint64_t loaded, saved; /* to the GPU, from the tier above */
    uint64_t held;          /* at the end */
};

struct prefix_totals {
    uint64_t requests; /* replayed */
    uint64_t too_long; /* left out: longer than the GPU's blocks hold */
    uint64_t prompt_tokens;
    uint64_t found[PREFIX_MOST_TIERS]; /* tokens, by tier; with compute_tokens they add up to
                                          prompt_tokens */
    uint64_t compute_tokens;
    struct prefix_moved moved[PREFIX_MOST_TIERS];
    uint64_t best_tokens; /* the most that the largest lower tier could find (prefix_curve_best());
                             only with best_known */
    bool best_known;
    double worth_ns; /* time of computing what lower tiers found, less that of loading it */
};

/* Replay the `count` requests `indices` on an empty cache and add the result to `totals`. */
bool prefix_replay(const struct prefix_options *options, const struct requests *requests,
                   const uint32_t *indices, uint32_t count, struct prefix_totals *totals,
                   struct error *why);

/* Replay all requests in their order, each on the cache of its server, of which `servers` share the
 * last tier of `options` as a pool; add the result. */
bool prefix_replay_shared(const struct prefix_options *options, const struct requests *requests,
                          const uint32_t *server_of, uint32_t servers, struct prefix_totals *totals,
                          struct error *why);

/* Replay request `index` on a cache that no other request is using. Returns false and changes
 * nothing if the GPU has no room for its tokens. */
bool prefix_replay_one(struct prefix_cache *cache, const struct prefix_options *options,
                       size_t index, const struct request *request, struct prefix_match *match);

/* Let these requests, the past of a stream (requests/stream.h), fill the cache. */
void prefix_replay_past(struct prefix_cache *cache, const struct prefix_options *options,
                        const struct requests *requests, const uint32_t *indices, uint32_t count);

/* Add what has moved in a cache so far, and what it holds; without what is in a pool, if `pool` is
 * false: that is what all caches see. */
void prefix_moved_add(struct prefix_moved moved[PREFIX_MOST_TIERS],
                      const struct prefix_cache *cache, bool pool);

/* The result of prefix_replay() for every size of the tiers below the GPU, in one pass.
 *
 * R. L. Mattson et al., "Evaluation techniques for storage hierarchies", 1970: an LRU tier of c
 * blocks holds the c blocks touched last, so every tier at least as large as a block's depth in the
 * stack of touches finds that block. This needs the same touches in the same order for every size.
 * An ended request has touched all whole units of its full blocks, whichever of them were found:
 * PREFIX_WRITE_FINISH offers them when it ends, PREFIX_WRITE_FILL before, and counts them as used
 * again when it ends. Beginnings are touched last, so depths rise along a prompt. The GPU evicts
 * ends first and holds the same blocks whatever the size of the tiers. Touches of a tier pass to the
 * next one, if that takes all that arrives, so one stack is true for all of them.
 *
 * A tier that is smaller than a request evicts a part of it while it is offered the rest: the curve
 * is true from prefix_curve_least() on. It is a replay's; a server, whose requests overlap, touches
 * blocks in the order of time, and cannot use blocks that are on their way.
 */

struct prefix_curve;

/* Does the method apply to these tiers? They need LRU, take a block whoever holds it (`least_asked`
 * 1), none takes only what the tier above evicts, and all that is found is loaded. */
bool prefix_curve_applies(const struct prefix_options *options);

/* An empty curve for tiers to which prefix_curve_applies(); `requests` must outlive the calls of
 * prefix_curve_add(). NULL on failure. */
struct prefix_curve *prefix_curve_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why);
void prefix_curve_destroy(struct prefix_curve *curve); /* NULL is fine */

/* Replay the `count` requests `indices` on empty tiers and add the result. */
bool prefix_curve_add(struct prefix_curve *curve, const uint32_t *indices, uint32_t count,
                      struct error *why);

/* The fewest blocks of a tier that the curve is true for. */
uint64_t prefix_curve_least(const struct prefix_curve *curve);

/* The totals with the sizes of the tiers below the GPU of `options`, of which nothing else but
 * load_ns is used. Takes time in proportion to the blocks found. */
struct prefix_totals prefix_curve_read(const struct prefix_curve *curve,
                                       const struct prefix_options *options);

/* The most prompt tokens that a tier of `blocks` below the GPU could find, whatever it keeps: units
 * whose first blocks the GPU has count as whole ones. */
bool prefix_curve_best(const struct prefix_curve *curve, uint64_t blocks, uint64_t *tokens,
                       struct error *why);

/* The most that any tier of a size could find: Belady's bound.
 *
 * L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", 1966. What a
 * request finds had been kept since the last request that held it, and took a place meanwhile. Of
 * these stretches of time a tier of c places can hold no more than c at a time, and most of them if
 * it drops the one that ends last whenever there are more (U. Faigle and W. Nawijn, "Note on
 * scheduling intervals on-line", 1995). A request that held something anyhow begins a new stretch:
 * it can be written again.
 */

/* Something that a request held. */
struct prefix_holding {
    uint32_t id, request;
    bool looked; /* it was looked up in the tier; else it was there already, or is computed */
};

/* Requests of one server after the other, in their order. */
struct prefix_best {
    struct prefix_holding *all; /* owned */
    size_t count, capacity;
    uint32_t requests; /* so far */
};

void prefix_best_release(struct prefix_best *best); /* a zeroed struct is fine */

/* The request under way holds `id`, once; the next request begins. False when memory is out. */
bool prefix_best_hold(struct prefix_best *best, uint32_t id, bool looked, struct error *why);
void prefix_best_next(struct prefix_best *best);

/* The most lookups that a tier of `places` finds, of things with numbers below `ids`; each server
 * has numbers and a tier of its own. */
bool prefix_best_find(const struct prefix_best *best, uint32_t ids, uint64_t places,
                      const struct stop_flag *stop, uint64_t *found, struct error *why);
