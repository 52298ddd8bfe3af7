/* Memory to measure with: every page exists, is full of random bytes, and is on the NUMA node of
 * the thread that filled it.
 *
 * Pages are the system's default, neither huge nor locked. A CPU reads and writes pinned memory at
 * the same rate.
 */
#pragma once

#include "core/error.h"
#include "calibrate/host/pool.h"

#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *bytes;
    size_t size;
};

/* Allocate `size` bytes and fill them with the threads of the pool. Each thread fills one of as
 * many consecutive shares as there are threads, and so decides on which NUMA node it is. Each 16
 * bits are a bf16 number with a magnitude of 2^-7 to 2^-3. The same seed gives the same bytes,
 * whatever the number of threads. */
bool buffer_init(struct buffer *buffer, size_t size, uint64_t seed, struct pool *pool,
                 struct error *why);
/* The sum of the 64-bit words in `size` bytes from byte `first` on (both multiples of 64), read by
 * all threads of the pool in shares. Used as a stream of reads, and to flush caches. */
uint64_t buffer_sum(const struct buffer *buffer, size_t first, size_t size, struct pool *pool);

void buffer_release(struct buffer *buffer); /* accepts a zeroed struct */
