/* Gathering rows that lie scattered in host memory into one buffer, as a CPU does it before a copy
 * to the GPU.
 *
 * Threads share the rows out and copy one after the other, with what the C library copies with and
 * nothing read ahead: what frameworks' index_select and gather do. One pass writes the buffer that
 * is sent; two passes write a fresh array first and copy that to the buffer, as code does that
 * gathers with a framework and then fills a pinned array.
 */
#ifndef CALIBRATE_HOST_GATHER_H
#define CALIBRATE_HOST_GATHER_H

#include "calibrate/host/pool.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gather {
    const char *from;     /* row r begins at r * stride */
    const uint32_t *rows; /* [count] */
    uint32_t count;
    uint32_t row_bytes;
    size_t stride; /* at least row_bytes */
    char *between; /* [count * row_bytes] of the first of two passes; NULL: one pass */
    char *to;      /* [count * row_bytes]: rows[0], rows[1], ... */
};

/* Gather with all threads of the pool: a hand-off a pass. */
void gather_run(struct pool *pool, const struct gather *gather);

#ifdef __cplusplus
}
#endif
#endif
