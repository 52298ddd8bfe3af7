/* Plain streams of ids as cache simulators exchange them: 32-bit little-endian numbers and nothing
 * else. Each is one access, in order.
 *
 * A short stream stays in memory with its ids numbered. A long one is read again on each pass, a
 * piece at a time; only the table that numbers its ids stays: 4 MiB if they are below 2^20, and
 * otherwise 16 to 24 bytes for each different id.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

/* Ids of a stream that stays in memory: 256 MiB. */
#define IDS_KEPT ((uint32_t)1 << 26)

/* A stream with its ids numbered: blocks 0 ... blocks-1 in the order of their first access. */
struct ids {
    uint32_t *block; /* [count]; NULL: a long stream, in `file` */
    uint32_t count, blocks;
    uint64_t hash;          /* XXH64 of the numbered ids */
    FILE *file;             /* owned, as are the tables */
    char *path;             /* for messages */
    uint32_t *small;        /* by id, its number + 1; 0: none. NULL: an id is too large for it */
    struct dense_ids dense; /* otherwise */
};

void ids_release(struct ids *ids);

/* Read a file. A stream of up to `kept` ids stays in memory. Fails when the file is none, is empty,
 * ends within an id or has 2^32 ids. On failure `ids` is released. */
bool ids_read(const char *path, uint32_t kept, struct ids *ids, struct error *why);

/* Write the blocks of `count` accesses from `first` on to `out`. Fails for a long stream whose file
 * cannot be read, or has changed. Safe from several threads. */
bool ids_blocks(const struct ids *ids, uint32_t first, uint32_t count, uint32_t *out,
                struct error *why);
