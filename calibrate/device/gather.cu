#include "calibrate/device/device.h"

#include "calibrate/device/gather.h"

/* `shift`: a row has 2^shift values. The loop over turns is not unrolled: a turn ends with its
 * stores, so that no load of the next turn is in flight at the same time. */
template <typename Value, int LOADS>
static __global__ void __launch_bounds__(GATHER_THREADS)
    gather_rows(const Value *from, Value *to, const uint32_t *ids, uint64_t values, int shift)
{
    uint64_t share = (values + gridDim.x - 1) / gridDim.x;
    uint64_t at = share * blockIdx.x + threadIdx.x;
    uint64_t end = min(values, share * (blockIdx.x + 1));
    uint64_t within = ((uint64_t)1 << shift) - 1;
    uint64_t row[LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        uint64_t value = at + load * GATHER_THREADS;
        row[load] = value < end ? ids[value >> shift] : 0;
    }
#pragma unroll 1
    for (; at < end; at += LOADS * GATHER_THREADS) {
        Value loaded[LOADS];
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            uint64_t value = at + load * GATHER_THREADS;
            if (value < end) {
                loaded[load] = __ldcs(from + (row[load] << shift) + (value & within));
            }
        }
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            uint64_t value = at + (LOADS + load) * GATHER_THREADS;
            row[load] = value < end ? ids[value >> shift] : 0;
        }
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            uint64_t value = at + load * GATHER_THREADS;
            if (value < end) {
                to[value] = loaded[load];
            }
        }
    }
}

template <typename Value>
static bool launch(const struct gpu_gather *gather, int shift, cudaStream_t stream,
                   struct error *why)
{
    static const struct {
        uint32_t loads;
        void (*kernel)(const Value *, Value *, const uint32_t *, uint64_t, int);
    } kernels[] = {
        {1, gather_rows<Value, 1>},
        {2, gather_rows<Value, 2>},
        {4, gather_rows<Value, 4>},
        {8, gather_rows<Value, 8>},
    };
    for (const auto &kind : kernels) {
        if (kind.loads == gather->loads) {
            kind.kernel<<<gather->ctas, GATHER_THREADS, 0, stream>>>(
                (const Value *)gather->from, (Value *)gather->to, gather->ids,
                (uint64_t)gather->rows << shift, shift);
            return GPU_LAUNCHED(why);
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
               ? launch<uint2>(gather, shift, (cudaStream_t)stream, why)
               : launch<uint4>(gather, shift, (cudaStream_t)stream, why);
}
