/* Memory to measure with: really there, full of random bytes, on the node of who filled it.
 *
 * Pages are those that the system gives without being asked: neither huge nor locked. A CPU reads
 * and writes pinned memory as it does this.
 */
#ifndef CALIBRATE_HOST_BUFFER_H
#define CALIBRATE_HOST_BUFFER_H

#include "base/error.h"
#include "calibrate/host/pool.h"

#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *bytes;
    size_t size;
};

/* `size` bytes, filled by the threads of the pool, which decides on which NUMA node they lie: in as
 * many shares as threads, in turn. Each 16 bits are a bf16 number of 2^-7 to 2^-3, of either sign;
 * the same seed gives the same bytes whoever fills them. */
bool buffer_init(struct buffer *buffer, size_t size, uint64_t seed, struct pool *pool,
                 struct error *why);
/* The sum of the 64-bit words from byte `first` on, `size` bytes of them (multiples of 64 both),
 * read by all threads of the pool in shares: a stream, or a way to leave nothing else in caches. */
uint64_t buffer_sum(const struct buffer *buffer, size_t first, size_t size, struct pool *pool);

void buffer_release(struct buffer *buffer); /* of a zeroed struct is fine */

#endif
