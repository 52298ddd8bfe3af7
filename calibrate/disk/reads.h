/* Reads and writes of blocks of a file by io_uring, a number of them in flight, as caches that keep
 * KV on drives do them. One thread asks and waits; it never sleeps while it could ask.
 *
 *     depth 2   ask 0, ask 1 | 1 is done: ask 2 | 0 is done: ask 3 | ...
 */
#pragma once

#include "core/error.h"
#include "machine/places.h"

#include <stddef.h>
#include <stdint.h>

enum { READS_DEPTH = DRIVE_DEPTH }; /* the most in flight */

struct disk_request {
    uint64_t offset; /* in the file */
    char *memory;
    bool write;
};

struct disk_ring;

/* NULL, with the reason, where the system has no io_uring or does not allow it. */
struct disk_ring *disk_ring_create(struct error *why);
void disk_ring_destroy(struct disk_ring *ring); /* accepts NULL */

/* Carry out all requests for `block` bytes each, at most `depth` at a time, in this order. `*ns` is
 * the time from the first to the end of the last. After a failure destroy the ring before the
 * memory: requests may still be in flight. */
bool disk_ring_run(struct disk_ring *ring, int file, size_t block,
                   const struct disk_request *requests, uint32_t count, uint32_t depth, double *ns,
                   struct error *why);
