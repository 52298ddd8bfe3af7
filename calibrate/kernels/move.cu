/* Copies rows between given places: rows that were copied to the GPU into a cache, or missed rows
 * from pinned memory over the link. */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"
#include "calibrate/kernels/moved_rows.cuh"

struct moved_rows {
    const moved_value *from;
    const uint32_t *from_rows;
    moved_value *to;
    const uint32_t *to_rows;
    int shift;

    struct place {
        uint32_t from, to;
    };

    __device__ place find(uint64_t value) const
    {
        uint32_t row = (uint32_t)(value >> shift);
        return {from_rows != nullptr ? from_rows[row] : row,
                to_rows != nullptr ? to_rows[row] : row};
    }
    __device__ const moved_value *source(place place, uint64_t value) const
    {
        return from + row_value(place.from, value, shift);
    }
    __device__ moved_value *target(place place, uint64_t value) const
    {
        return to + row_value(place.to, value, shift);
    }
};

static __global__ void __launch_bounds__(MOVE_THREADS)
    move_rows(const moved_rows rows, uint64_t values)
{
    move_values<moved_value, MOVE_LOADS>(rows, values);
}

bool kernel_move_rows(const void *from, const uint32_t *from_rows, void *to,
                      const uint32_t *to_rows, uint32_t count, uint32_t row_bytes, uint32_t ctas,
                      void *stream, struct error *why)
{
    int shift;
    if (!moved_shift(row_bytes, ctas, &shift, why)) {
        return false;
    }
    const moved_rows rows = {(const moved_value *)from, from_rows, (moved_value *)to, to_rows,
                             shift};
    return count == 0 || launch(move_rows, dim3(ctas), MOVE_THREADS, 0, stream, why, rows,
                                (uint64_t)count << shift);
}
