/* Rows gathered by CPU threads straight into the GPU's memory, mapped into this process: what takes
 * the place of a gather and a copy.
 *
 * Such a mapping is write-combining: whole lines are to be written once, in order, and are never
 * read. So a row is stored past the caches 16 bytes at a time, where the processor can; and a
 * thread ends with a fence, behind which its rows have left it.
 */
#ifndef CALIBRATE_HOST_STORE_ROWS_H
#define CALIBRATE_HOST_STORE_ROWS_H

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
    uint32_t to_rows;       /* of no use with `places` */
    const uint32_t *places; /* [count] row i becomes row places[i] instead; or NULL */
};

/* Store with all threads of the pool. Which of rows that share a place comes last is left open.
 */
void store_rows_run(struct pool *pool, const struct store_rows *store);

#ifdef __cplusplus
}
#endif
#endif
