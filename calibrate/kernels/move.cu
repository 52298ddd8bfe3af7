/* Copies rows between given places: rows that were copied to the GPU into a cache, or missed rows
 * from pinned memory over the link. */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#define MOVE_THREADS 256

struct move_task {
    const uint2 *from;
    const uint32_t *from_rows;
    uint2 *to;
    const uint32_t *to_rows;
    uint64_t words; /* in all rows */
    uint32_t row_words;
};

static __global__ void __launch_bounds__(MOVE_THREADS) move_rows(const struct move_task task)
{
    uint64_t step = (uint64_t)gridDim.x * MOVE_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * MOVE_THREADS + threadIdx.x; i < task.words;
         i += step) {
        uint64_t row = i / task.row_words, within = i % task.row_words;
        uint64_t from = task.from_rows != nullptr ? task.from_rows[row] : row;
        uint64_t to = task.to_rows != nullptr ? task.to_rows[row] : row;
        task.to[to * task.row_words + within] = task.from[from * task.row_words + within];
    }
}

bool kernel_move_rows(const void *from, const uint32_t *from_rows, void *to,
                      const uint32_t *to_rows, uint32_t count, uint32_t row_bytes, uint32_t ctas,
                      void *stream, struct error *why)
{
    if (row_bytes == 0 || row_bytes % sizeof(uint2) != 0 || ctas == 0) {
        return error_set(why, NULL, 0, "no rows of %u bytes are moved by %u CTAs", row_bytes, ctas);
    }
    uint32_t words = row_bytes / (uint32_t)sizeof(uint2);
    const struct move_task task = {(const uint2 *)from,     from_rows, (uint2 *)to, to_rows,
                                   (uint64_t)count * words, words};
    return count == 0 || launch(move_rows, dim3(ctas), MOVE_THREADS, 0, stream, why, task);
}
