/* Gathers scattered rows of host memory into one buffer, as a CPU does before a copy to the GPU.
 *
 * Threads divide the rows among them and copy row after row with memcpy(), without prefetching, as
 * index_select and gather of frameworks do. One pass writes directly to the buffer that is sent.
 * Two passes write a new array first and copy it to the buffer, like code that gathers with a
 * framework and then fills a pinned array.
 */
#pragma once

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
    char *between; /* [count * row_bytes] for the first of two passes; NULL: one pass */
    char *to;      /* [count * row_bytes]: rows[0], rows[1], ... */
};

/* Gather with all threads of the pool, with one hand-off for each pass. */
void gather_run(struct pool *pool, const struct gather *gather);

#ifdef __cplusplus
}
#endif
