#include "calibrate/device/launch.cuh"

#include <assert.h>
#include <cuda_bf16.h>

#include <initializer_list>

bool gpu_ok(cudaError_t status, const char *call, const char *file, int line, struct error *why)
{
    if (status == cudaSuccess) {
        return true;
    }
    /* The next launch would report it again. This clears the error of a call. That of a kernel that
     * failed stays: until its process ends, every call returns it. */
    (void)cudaGetLastError();
    return error_set(why, file, line, "%s: %s (%s)", call, cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

gpu_memory::~gpu_memory()
{
    cudaFree(data);
}

bool gpu_memory::take(size_t size, struct error *why)
{
    char text[32];
    bytes = size;
    cudaError_t status = cudaMalloc(&data, size);
    return gpu_ok(status, "cudaMalloc()", __FILE__, __LINE__, why) ||
           (status == cudaErrorMemoryAllocation &&
            error_expect(why, "%s of free GPU memory",
                         units_format((double)size, UNIT_BYTES, text, sizeof text)));
}

pinned_memory::~pinned_memory()
{
    cudaFreeHost(data);
}

bool pinned_memory::take(size_t size, uint64_t seed, struct error *why)
{
    bytes = size;
    if (!GPU_TRY(cudaHostAlloc(&data, size, cudaHostAllocMapped | cudaHostAllocPortable), why) ||
        !GPU_TRY(cudaHostGetDevicePointer(&seen, data, 0), why)) {
        return false;
    }
    uint64_t *words = (uint64_t *)data;
    for (size_t i = 0; i < size / sizeof *words; i++) {
        words[i] = random_word(seed, i);
    }
    for (size_t i = size / sizeof *words * sizeof *words; i < size; i++) {
        data[i] = (char)random_word(seed, i);
    }
    return true;
}

gpu_stream::~gpu_stream()
{
    if (at != nullptr) {
        cudaStreamDestroy(at);
    }
}

bool gpu_stream::create(struct error *why)
{
    return GPU_TRY(cudaStreamCreateWithFlags(&at, cudaStreamNonBlocking), why);
}

/* A query that returns cudaErrorNotReady leaves that as the last error; it has to be cleared. */
static bool is_pending(cudaError_t status)
{
    if (status == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return true;
    }
    return false;
}

static bool is_late(double since, struct error *why)
{
    return clock_ns() - since > GPU_PATIENCE_NS &&
           !error_set(why, NULL, 0, "the GPU was not done after %.0f s", GPU_PATIENCE_NS / 1e9);
}

bool gpu_stream::wait(struct error *why) const
{
    double since = clock_ns();
    cudaError_t status = cudaStreamQuery(at);
    while (is_pending(status)) {
        if (is_late(since, why)) {
            return false;
        }
        status = cudaStreamQuery(at);
    }
    return GPU_TRY(status, why);
}

gpu_timer::~gpu_timer()
{
    for (cudaEvent_t event : {begin, end}) {
        if (event != nullptr) {
            cudaEventDestroy(event);
        }
    }
}

bool gpu_timer::create(struct error *why)
{
    return GPU_TRY(cudaEventCreate(&begin), why) && GPU_TRY(cudaEventCreate(&end), why);
}

bool gpu_timer::start(cudaStream_t stream, struct error *why) const
{
    return GPU_TRY(cudaEventRecord(begin, stream), why);
}

bool gpu_timer::stop(cudaStream_t stream, struct error *why) const
{
    return GPU_TRY(cudaEventRecord(end, stream), why);
}

bool gpu_timer::read(double *ns, struct error *why) const
{
    double since = clock_ns();
    cudaError_t status = cudaEventQuery(end);
    while (is_pending(status)) {
        if (is_late(since, why)) {
            return false;
        }
        status = cudaEventQuery(end);
    }
    float ms = 0;
    if (!GPU_TRY(status, why) || !GPU_TRY(cudaEventElapsedTime(&ms, begin, end), why)) {
        return false;
    }
    *ns = (double)ms * 1e6;
    return true;
}

/* Flags of a gate, by the number of the closing: the last one that the host opened, and the last
 * one that the kernel gave up. They share no cache line. */
#define GATE_OPENED 0
#define GATE_GIVEN_UP 32
#define GATE_CLOSED 64 /* used by the host alone */
#define GATE_WORDS 96

static __global__ void gate_kernel(volatile uint32_t *flags, uint32_t turn)
{
    uint64_t since = ptx_clock_ns();
    while (flags[GATE_OPENED] != turn) {
        if (ptx_clock_ns() - since > GPU_DEADLINE_NS) {
            flags[GATE_GIVEN_UP] = turn;
            break;
        }
    }
}

gpu_gate::~gpu_gate()
{
    if (flags.data != nullptr) {
        volatile uint32_t *words = (volatile uint32_t *)flags.data;
        words[GATE_OPENED] = words[GATE_CLOSED];
        cudaDeviceSynchronize();
    }
}

bool gpu_gate::create(struct error *why)
{
    if (!flags.take(GATE_WORDS * sizeof(uint32_t), 0, why)) {
        return false;
    }
    volatile uint32_t *words = (volatile uint32_t *)flags.data;
    words[GATE_OPENED] = words[GATE_GIVEN_UP] = words[GATE_CLOSED] = 0;
    gpu_stream first; /* loads the kernel: at its first turn nothing may have to */
    return first.create(why) && close(first.at, why) && open(why) && first.wait(why);
}

bool gpu_gate::close(cudaStream_t stream, struct error *why)
{
    volatile uint32_t *words = (volatile uint32_t *)flags.data;
    uint32_t turn = words[GATE_CLOSED] + 1;
    words[GATE_CLOSED] = turn;
    return launch(gate_kernel, dim3(1), 1, 0, stream, why, (volatile uint32_t *)flags.seen, turn);
}

bool gpu_gate::open(struct error *why)
{
    volatile uint32_t *words = (volatile uint32_t *)flags.data;
    uint32_t turn = words[GATE_CLOSED];
    bool given_up = words[GATE_GIVEN_UP] == turn;
    words[GATE_OPENED] = turn;
    return !given_up || error_set(why, __FILE__, __LINE__,
                                  "what stands behind a gate was not queued within %.0f s",
                                  (double)GPU_DEADLINE_NS / 1e9);
}

static __global__ void pause_kernel(uint64_t ns)
{
    uint64_t since = ptx_clock_ns();
    while (ptx_clock_ns() - since < ns) {
    }
}

bool gpu_pause(uint64_t ns, cudaStream_t stream, struct error *why)
{
    return launch(pause_kernel, dim3(1), 1, 0, stream, why,
                  ns < GPU_DEADLINE_NS ? ns : GPU_DEADLINE_NS);
}

#define FILL_THREADS 256
#define FILL_BLOCKS 2048

static __global__ void fill_words(uint32_t *words, size_t count, uint64_t seed)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        uint32_t word = (uint32_t)random_word(seed, i);
        words[i] = word != 0 ? word : 1;
    }
}

static __device__ __nv_bfloat16 random_bf16(uint32_t bits)
{
    float value = (float)(bits & 0xffff) / 32768.0f - 1.0f;
    return __float2bfloat16(value != 0 ? value : 0.5f);
}

static __global__ void fill_bf16(__nv_bfloat16 *values, size_t pairs, uint64_t seed)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += step) {
        uint32_t word = (uint32_t)random_word(seed, i);
        values[2 * i] = random_bf16(word);
        values[2 * i + 1] = random_bf16(word >> 16);
    }
}

bool gpu_fill(void *data, size_t bytes, uint64_t seed, struct error *why)
{
    gpu_stream stream;
    return stream.create(why) &&
           launch(fill_words, dim3(FILL_BLOCKS), FILL_THREADS, 0, stream.at, why, (uint32_t *)data,
                  bytes / 4, seed) &&
           stream.wait(why);
}

bool gpu_fill_bf16(void *data, size_t bytes, uint64_t seed, struct error *why)
{
    gpu_stream stream;
    return stream.create(why) &&
           launch(fill_bf16, dim3(FILL_BLOCKS), FILL_THREADS, 0, stream.at, why,
                  (__nv_bfloat16 *)data, bytes / 4, seed) &&
           stream.wait(why);
}

bool gpu_room(size_t wanted, size_t least, struct room *room, struct error *why)
{
    size_t free = 0, all = 0;
    if (!GPU_TRY(cudaMemGetInfo(&free, &all), why)) {
        return false;
    }
    const struct room_memory memory = {"the GPU", free};
    return room_find(wanted, least, 2, &memory, 1, room, why);
}

#define ARENA_L2S 4
#define ARENA_ALIGNED ((size_t)512)

static size_t aligned(size_t bytes)
{
    return (bytes + ARENA_ALIGNED - 1) / ARENA_ALIGNED * ARENA_ALIGNED;
}

bool gpu_arena::create(size_t largest, uint64_t seed, struct error *why)
{
    int l2;
    if (!gpu_attribute(cudaDevAttrL2CacheSize, &l2, why)) {
        return false;
    }
    struct room room;
    size_t wanted = aligned((size_t)l2 * ARENA_L2S);
    wanted = wanted > aligned(largest) ? wanted : aligned(largest);
    return gpu_room(wanted, wanted, &room, why) && memory.take(wanted, why) &&
           gpu_fill(memory.data, wanted, seed, why);
}

char *gpu_arena::turn(size_t size)
{
    assert(size <= memory.bytes);
    if (size > memory.bytes - next) {
        next = 0;
    }
    char *data = memory.data + next;
    next = (next + aligned(size)) % memory.bytes;
    return data;
}

bool gpu_attribute(enum cudaDeviceAttr attribute, int *value, struct error *why)
{
    int device;
    return GPU_TRY(cudaGetDevice(&device), why) &&
           GPU_TRY(cudaDeviceGetAttribute(value, attribute, device), why);
}

bool gpu_memory_peak(double *bytes_per_s, struct error *why)
{
    int khz, bits;
    if (!gpu_attribute(cudaDevAttrMemoryClockRate, &khz, why) ||
        !gpu_attribute(cudaDevAttrGlobalMemoryBusWidth, &bits, why)) {
        return false;
    }
    *bytes_per_s = 2.0 * khz * 1e3 * bits / 8;
    return true;
}
