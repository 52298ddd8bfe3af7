/* Numbers ids of any kind 0, 1, 2 ... in the order of their first use. */
#ifndef TRACE_DENSE_IDS_H
#define TRACE_DENSE_IDS_H

#include "base/error.h"

#include <stdint.h>

/* Open addressing, at most half full. A zeroed one is empty. */
struct dense_ids {
    uint64_t *ids;     /* by slot */
    uint32_t *numbers; /* by slot; 0: free, else the number + 1 */
    uint64_t places;   /* number of slots: a power of two, or 0 */
    uint32_t count;
};

void dense_ids_release(struct dense_ids *dense);

/* Find the number of `id`, which gets the next number if it is new. */
bool dense_ids_find(struct dense_ids *dense, uint64_t id, uint32_t *number, struct error *why);

/* The number of an id that has one. Safe from several threads while no id is added. */
bool dense_ids_get(const struct dense_ids *dense, uint64_t id, uint32_t *number);

#endif
