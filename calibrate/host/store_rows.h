/* CPU threads gather rows directly into GPU memory that is mapped into this process, in place of a
 * gather and a copy.
 *
 * The mapping is write-combining: lines should be written once, whole and in order, and never read.
 * So a row is stored 16 bytes at a time, past the caches if the processor can. A thread ends with a
 * fence, after which its rows have left the processor.
 */
#pragma once

#include "calibrate/host/pool.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct store_rows {
    const char *from;     /* row r begins at r * row_bytes; aligned to 16 */
    const uint32_t *rows; /* [count] */
    uint32_t count;
    uint32_t row_bytes;     /* a multiple of 16 */
    char *to;               /* row i becomes row i % to_rows of it; aligned to 16 */
    uint32_t to_rows;       /* ignored with `places` */
    const uint32_t *places; /* [count] row i becomes row places[i] instead; or NULL */
};

/* Store with all threads of the pool. If rows share a place, any of them may be stored last. */
void store_rows_run(struct pool *pool, const struct store_rows *store);

#ifdef __cplusplus
}
#endif
