/* QSAC's sets between GPU and CPU. A CTA for each pair writes the tokens that it asks for; the last
 * CTA to finish sets a flag. A kernel of one warp holds the stream until the CPU has answered.
 *
 * A flag is a word in mapped host memory. The writer first writes all data that the flag announces,
 * with a fence for the whole system; a reader that sees the flag may then read the data. Only the
 * holding kernel polls: it needs one warp of one SM, and ends at its deadline.
 */
#include "calibrate/device/ptx.cuh"
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#define ASK_THREADS 256
#define POLL_PAUSE_NS 100

static __device__ void sets_ask_for(const struct kernel_sets &sets, uint32_t pair, uint32_t count)
{
    const uint32_t *wanted = sets.wanted + (uint64_t)pair * sets.most;
    uint32_t *asked = sets.asked + (uint64_t)pair * sets.most;
    for (uint32_t i = threadIdx.x; i < count; i += ASK_THREADS) {
        asked[i] = wanted[i];
    }
    if (threadIdx.x == 0) {
        sets.counts[pair] = count;
    }
}

static __global__ void __launch_bounds__(ASK_THREADS) ask_sets(const struct kernel_sets sets)
{
    uint32_t pair = blockIdx.x;
    uint32_t count = sets.reuse[pair] != 0 ? 0 : sets.wanted_counts[pair];
    if (count > 0) {
        sets_ask_for(sets, pair, count);
    }
    if (threadIdx.x == 0) {
        sets.asked_counts[pair] = count;
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(sets.asking, 1U) == gridDim.x - 1) {
        *sets.asking = 0;
        __threadfence_system();
        *(volatile uint32_t *)sets.flag = sets.value;
    }
}

bool kernel_ask_sets(const struct kernel_sets *sets, uint32_t pairs, void *stream,
                     struct error *why)
{
    return pairs == 0 || launch(ask_sets, dim3(pairs), ASK_THREADS, 0, stream, why, *sets);
}

struct await_task {
    const uint32_t *flag;
    uint32_t value;
    uint64_t deadline_ns;
    uint32_t *given_up;
};

static __global__ void __launch_bounds__(WARP) await_flag(const struct await_task task)
{
    uint64_t since = ptx_clock_ns();
    while (threadIdx.x == 0 && *(const volatile uint32_t *)task.flag < task.value) {
        if (ptx_clock_ns() - since > task.deadline_ns) {
            *(volatile uint32_t *)task.given_up = task.value;
            break;
        }
        __nanosleep(POLL_PAUSE_NS);
    }
    __threadfence_system();
}

bool kernel_await_flag(const uint32_t *flag, uint32_t value, uint64_t deadline_ns,
                       uint32_t *given_up, void *stream, struct error *why)
{
    const struct await_task task = {flag, value, deadline_ns, given_up};
    return launch(await_flag, dim3(1), WARP, 0, stream, why, task);
}
