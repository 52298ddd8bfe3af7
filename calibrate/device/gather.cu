#include "calibrate/device/launch.cuh"

#include "calibrate/device/gather.h"
#include "calibrate/device/row_loop.cuh"

/* From scattered rows into a dense array. A row has 2^shift values. */
template <typename Value> struct gathered_rows {
    const Value *from;
    Value *to;
    const uint32_t *ids;
    int shift;

    typedef uint32_t place;

    __device__ place find(uint64_t value) const
    {
        return ids[value >> shift];
    }
    __device__ const Value *source(place id, uint64_t value) const
    {
        return from + row_value(id, value, shift);
    }
    __device__ Value *target(place, uint64_t value) const
    {
        return to + value;
    }
};

template <typename Value, int LOADS>
static __global__ void __launch_bounds__(GATHER_THREADS)
    gather_rows(const gathered_rows<Value> rows, uint64_t values)
{
    move_values<Value, LOADS>(rows, values);
}

template <typename Value>
static bool launch_kind(const struct gpu_gather *gather, int shift, cudaStream_t stream,
                        struct error *why)
{
    static const struct {
        uint32_t loads;
        void (*kernel)(const gathered_rows<Value>, uint64_t);
    } kernels[] = {
        {1, gather_rows<Value, 1>},
        {2, gather_rows<Value, 2>},
        {4, gather_rows<Value, 4>},
        {8, gather_rows<Value, 8>},
    };
    for (const auto &kind : kernels) {
        if (kind.loads == gather->loads) {
            const gathered_rows<Value> rows = {(const Value *)gather->from, (Value *)gather->to,
                                               gather->ids, shift};
            return launch(kind.kernel, dim3(gather->ctas), GATHER_THREADS, 0, stream, why, rows,
                          (uint64_t)gather->rows << shift);
        }
    }
    return error_set(why, NULL, 0, "no gather has %u loads in flight", gather->loads);
}

bool gpu_gather_launch(const struct gpu_gather *gather, void *stream, struct error *why)
{
    uint32_t values = gather->width > 0 ? gather->row_bytes / gather->width : 0;
    if ((gather->width != sizeof(uint2) && gather->width != sizeof(uint4)) || values == 0 ||
        (values & (values - 1)) != 0 || gather->row_bytes % gather->width != 0 ||
        gather->rows == 0 || gather->ctas == 0) {
        return error_set(why, NULL, 0, "no gather of %u rows of %u bytes by %u CTAs, %u at a time",
                         gather->rows, gather->row_bytes, gather->ctas, gather->width);
    }
    int shift = __builtin_ctz(values);
    return gather->width == sizeof(uint2)
               ? launch_kind<uint2>(gather, shift, (cudaStream_t)stream, why)
               : launch_kind<uint4>(gather, shift, (cudaStream_t)stream, why);
}
