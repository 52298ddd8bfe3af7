/* An emulator of the part of CUDA that Spillway uses, so that a machine without a GPU can run the
 * kernels and the harness. With this folder first on the include path, g++ compiles them unchanged.
 *
 * The CTAs of a grid run one after another. The threads of a CTA are fibers, which switch only at
 * barriers and at operations of a whole warp. So a missing barrier shows: a thread sees no results
 * of threads that run after it; EMULATOR_REVERSE=1 reverses the order of threads and of CTAs.
 * Shared memory starts as NaNs and ends in a guard. The program ends at a write past shared memory,
 * at a barrier that not all threads reach, and at a launch that a GPU would refuse. CTAs never run
 * at the same time.
 *
 * Work on a stream is done as late as possible: when the host waits for it, or for an event after
 * it (streams.cu). So a missing wait shows, too: data were not copied yet, or were overwritten. On
 * the default stream work is done at once.
 *
 * A kernel that looks at the clock or sleeps is suspended there: it polls, or waits for time to
 * pass. It goes on when the host next looks at its stream, and then, as long as it polls in vain,
 * the other streams each do one work. The same happens if the host itself polls: if it looks at the
 * clock again and again and calls nothing else.
 *
 * Time is modelled (clock.cu): kernels, copies and products take a time that follows from the work
 * alone, so that measured figures are plausible, mean nothing, and are the same everywhere. The GPU
 * is small (device.cu).
 */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __shared__
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
};
struct uint4 {
    unsigned x, y, z, w;
} __attribute__((aligned(16)));
struct uint2 {
    unsigned x, y;
} __attribute__((aligned(8)));
struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16)));
struct float2 {
    float x, y;
} __attribute__((aligned(8)));

extern dim3 blockIdx, gridDim, blockDim, threadIdx;

/* ---- what threads do together ---- */

#define EMULATOR_WARP 32

/* Wait for all threads of the warp, or of the CTA. */
void emulator_meet_warp();
void __syncthreads();
/* Show `mine` to the warp, and return the values of all lanes, which are read-only and valid until
 * the next call. */
const void *emulator_show(const void *mine, size_t bytes);

template <typename Value> Value emulator_from(Value value, unsigned lane)
{
    Value all[EMULATOR_WARP];
    memcpy(all, emulator_show(&value, sizeof value), sizeof all);
    return all[lane % EMULATOR_WARP];
}

template <typename Value> Value __shfl_sync(unsigned, Value value, unsigned lane)
{
    return emulator_from(value, lane);
}

template <typename Value> Value __shfl_xor_sync(unsigned, Value value, unsigned mask)
{
    return emulator_from(value, threadIdx.x % EMULATOR_WARP ^ mask);
}

template <typename Value> Value __shfl_up_sync(unsigned, Value value, unsigned by)
{
    unsigned lane = threadIdx.x % EMULATOR_WARP;
    return emulator_from(value, lane >= by ? lane - by : lane);
}

template <typename Value> Value __shfl_down_sync(unsigned, Value value, unsigned by)
{
    unsigned lane = threadIdx.x % EMULATOR_WARP;
    return emulator_from(value, lane + by < EMULATOR_WARP ? lane + by : lane);
}

inline unsigned __ballot_sync(unsigned, int predicate)
{
    const int *all = (const int *)emulator_show(&predicate, sizeof predicate);
    unsigned votes = 0;
    for (unsigned lane = 0; lane < EMULATOR_WARP; lane++) {
        votes |= (all[lane] != 0 ? 1U : 0U) << lane;
    }
    return votes;
}

inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

inline unsigned __reduce_xor_sync(unsigned, unsigned value)
{
    const unsigned *all = (const unsigned *)emulator_show(&value, sizeof value);
    unsigned sum = 0;
    for (unsigned lane = 0; lane < EMULATOR_WARP; lane++) {
        sum ^= all[lane];
    }
    return sum;
}

inline void __syncwarp(unsigned = 0xffffffffU)
{
    emulator_meet_warp();
}

/* ---- what a thread does alone ---- */

inline float __uint_as_float(unsigned bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

inline unsigned __float_as_uint(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned chosen = 0;
    for (int i = 0; i < 4; i++) {
        chosen |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    }
    return chosen;
}

inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}

inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

template <typename Value> Value atomicAdd(Value *at, Value value)
{
    Value before = *at;
    *at += value;
    return before;
}

template <typename Value> Value atomicOr(Value *at, Value value)
{
    Value before = *at;
    *at |= value;
    return before;
}

inline void __threadfence()
{
}

inline void __threadfence_system()
{
}

inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

void emulator_count_load(); /* which takes time */

template <typename Value> Value __ldcs(const Value *at)
{
    emulator_count_load();
    return *at;
}

template <typename Value> Value min(Value a, Value b)
{
    return b < a ? b : a;
}

void __nanosleep(unsigned ns);

/* ---- the host's side ---- */

#define CUDART_VERSION 13000

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNotReady = 600,
    cudaErrorLaunchFailure = 719,
};
enum cudaDeviceAttr {
    cudaDevAttrClockRate,
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMemoryClockRate,
    cudaDevAttrGlobalMemoryBusWidth,
    cudaDevAttrL2CacheSize,
    cudaDevAttrMaxThreadsPerMultiProcessor,
    cudaDevAttrAsyncEngineCount,
    cudaDevAttrComputeCapabilityMajor,
    cudaDevAttrComputeCapabilityMinor,
    cudaDevAttrPageableMemoryAccessUsesHostPageTables,
    cudaDevAttrNumaId,
    cudaDevAttrHostNumaId,
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
#define cudaEventDisableTiming 2
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostRegisterMapped 2
#define cudaStreamNonBlocking 1
typedef struct emulator_stream *cudaStream_t;
typedef struct emulator_event *cudaEvent_t;
typedef struct emulator_graph *cudaGraph_t, *cudaGraphExec_t;

struct cudaDeviceProp {
    char name[256];
};

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
};

const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char *bus, int size, int device);
cudaError_t cudaDriverGetVersion(int *version);

/* Freeing waits for all work, as in CUDA. */
cudaError_t cudaMemGetInfo(size_t *free, size_t *all);
cudaError_t cudaMalloc(void **data, size_t bytes);
cudaError_t cudaFree(void *data);
cudaError_t cudaHostAlloc(void **data, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *data);
cudaError_t cudaHostRegister(void *data, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *data);
cudaError_t cudaHostGetDevicePointer(void **seen, void *data, unsigned flags);

inline cudaError_t cudaMalloc(char **data, size_t bytes)
{
    return cudaMalloc((void **)data, bytes);
}

inline cudaError_t cudaHostAlloc(char **data, size_t bytes, unsigned flags)
{
    return cudaHostAlloc((void **)data, bytes, flags);
}

inline cudaError_t cudaHostGetDevicePointer(char **seen, void *data, unsigned flags)
{
    return cudaHostGetDevicePointer((void **)seen, data, flags);
}

/* An asynchronous copy from memory that is not pinned has read it when the call returns. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *data, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *data, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);

enum cudaMemcpySrcAccessOrder { cudaMemcpySrcAccessOrderStream = 1 };
struct cudaMemcpyAttributes {
    cudaMemcpySrcAccessOrder srcAccessOrder;
};
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes,
                                 size_t count, cudaMemcpyAttributes *attributes, size_t *first,
                                 size_t attribute_count, cudaStream_t stream);

/* Each query of a stream, or of an event, does one work of the stream. */
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int, size_t)
{
    *blocks = 1;
    return cudaSuccess;
}

/* ---- launches ---- */

/* What one thread of a launch does. No class of the standard library, here or above: their headers
 * would be half of what is compiled. */
struct emulator_body {
    virtual void run() const = 0;
    virtual ~emulator_body()
    {
    }
};

template <typename Act> struct emulator_body_of final : emulator_body {
    Act act;
    explicit emulator_body_of(const Act &act) : act(act)
    {
    }
    void run() const override
    {
        act();
    }
};

/* Queue a kernel. `body` is taken over; `arguments` are bytes, each from a multiple of 8 on. */
cudaError_t emulator_queue(const cudaLaunchConfig_t &config, const void *kernel,
                           emulator_body *body, const void *arguments, size_t bytes);

constexpr size_t emulator_rounded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* The dynamic shared memory of a launch; its size is the largest of an sm_86. */
void emulator_allow(const void *kernel, size_t bytes);

template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel *kernel, cudaFuncAttribute, int bytes)
{
    emulator_allow((const void *)kernel, (size_t)bytes);
    return cudaSuccess;
}

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments... arguments)
{
    unsigned char bytes[(8 + ... + emulator_rounded(sizeof arguments))] = {0};
    size_t end = 0;
    ((memcpy(bytes + end, &arguments, sizeof arguments), end += emulator_rounded(sizeof arguments)),
     ...);
    auto act = [=] { kernel(arguments...); };
    return emulator_queue(*config, (const void *)kernel, new emulator_body_of<decltype(act)>(act),
                          bytes, end);
}
