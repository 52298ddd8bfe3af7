/* The loop that moves scattered rows: measured by the gather of the link groups, and run by the
 * kernels that move rows (calibrate/kernels/move.cu, lru.cu).
 *
 * Rows consist of values of 8 or 16 bytes, a power of two in each, and are numbered through. A CTA
 * takes consecutive values. Each thread makes LOADS loads before its first store, so that a CTA has
 * at most its threads x sizeof(Value) x LOADS bytes in flight. Row numbers are loaded one turn
 * ahead, while the rows of this turn are under way.
 */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

/* The place in an array of rows of the value that stands in row `row` where `value` stands in its
 * own row; a row has 2^shift values. */
__device__ inline uint64_t row_value(uint64_t row, uint64_t value, int shift)
{
    return (row << shift) + (value & (((uint64_t)1 << shift) - 1));
}

/* Move values 0 ... values - 1, shared among the CTAs of grid.x. `Rows` has
 *
 *   place                  the numbers of a row where it comes from and where it goes
 *   place find(value)      loads those of the row of a value
 *   source(place, value)   const Value *
 *   target(place, value)   Value *
 *
 * The loop over turns is not unrolled: a turn ends with its stores, so that no load of the next turn
 * is in flight at the same time. */
template <typename Value, int LOADS, class Rows>
__device__ inline void move_values(const Rows &rows, uint64_t values)
{
    uint64_t share = (values + gridDim.x - 1) / gridDim.x, step = blockDim.x;
    uint64_t at = share * blockIdx.x + threadIdx.x, end = share * (blockIdx.x + 1);
    end = end < values ? end : values;
    typename Rows::place place[LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        uint64_t value = at + load * step;
        place[load] = value < end ? rows.find(value) : typename Rows::place();
    }
#pragma unroll 1
    for (; at < end; at += LOADS * step) {
        typename Rows::place now[LOADS];
        Value loaded[LOADS];
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            uint64_t value = at + load * step;
            now[load] = place[load];
            if (value < end) {
                loaded[load] = __ldcs(rows.source(now[load], value));
            }
        }
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            uint64_t value = at + (LOADS + load) * step;
            place[load] = value < end ? rows.find(value) : typename Rows::place();
        }
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            uint64_t value = at + load * step;
            if (value < end) {
                *rows.target(now[load], value) = loaded[load];
            }
        }
    }
}
