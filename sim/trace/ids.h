/* Plain streams of ids as cache simulators exchange them: 32-bit little-endian numbers, an access each. */
#pragma once

#include <stdint.h>

#include "core/error.h"

/* Numbers ids of any kind 0, 1, 2 ... in the order of their first use. */

/* Open addressing, at most half full. A zeroed one is empty. */
struct dense_ids {
    uint64_t *ids;     /* [count] by number */
    uint32_t *numbers; /* by slot; 0: free, else the number + 1 */
    uint64_t places;   /* number of slots: a power of two, or 0 */
    size_t capacity;   /* of ids */
    uint32_t count;
};

void dense_ids_release(struct dense_ids *dense);

/* Free everything but the count: no id is looked up any more. */
void dense_ids_close(struct dense_ids *dense);

/* Find the number of `id`, which gets the next number if it is new. */
bool dense_ids_find(struct dense_ids *dense, uint64_t id, uint32_t *number, struct error *why);

/* Ids of a stream: 256 MiB. */
enum { IDS_MOST = 1 << 26 };

/* A stream with its ids numbered: blocks 0 ... blocks-1 in the order of their first access. */
struct ids {
    uint32_t *block; /* [count]; owned */
    uint32_t count, blocks;
    uint64_t hash; /* XXH64 of the numbered ids */
};

void ids_release(struct ids *ids);

/* Read a file. Fails when it is none, is empty, ends within an id or has more than IDS_MOST. */
bool ids_read(const char *path, struct ids *ids, struct error *why);
