/* The most that any tier of a size could find: Belady's bound.
 *
 * L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", 1966. What a
 * request finds had been kept since the last request that held it, and took a place meanwhile. Of
 * these stretches of time a tier of c places can hold no more than c at a time, and most of them if
 * it drops the one that ends last whenever there are more (U. Faigle and W. Nawijn, "Note on
 * scheduling intervals on-line", 1995). A request that held something anyhow begins a new stretch:
 * it can be written again.
 */
#pragma once

#include "core/error.h"
#include "core/stop_flag.h"

#include <stddef.h>
#include <stdint.h>

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
