/* The emulated GPU: its attributes, its memory, errors. It has an odd number of SMs, a small L2 and
 * little memory, which is host memory: 128 MiB, or EMULATOR_MEMORY MiB. "640,products=3500" says that a
 * process of the name 'products' sees another GPU (the harness names it so). */
#include "emulator.h"

#include <stdio.h>
#include <sys/prctl.h>

#include <map>

#define CONTEXT_BYTES ((size_t)2 << 20) /* never free */
#define ALIGNED ((size_t)256)
#define UNDEFINED 0xff                    /* bytes of new memory: NaNs */
#define UNDEFINED_MOST ((size_t)64 << 20) /* more memory is not touched */

/* ---- errors ---- */

static cudaError_t last;

cudaError_t emulator_return(cudaError_t error)
{
    last = error != cudaSuccess ? error : last;
    return error;
}

cudaError_t cudaGetLastError()
{
    cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &row : errors) {
        if (row.error == error) {
            return row.name;
        }
    }
    return "cudaSuccess";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &row : errors) {
        if (row.error == error) {
            return row.text;
        }
    }
    return "no error";
}

/* ---- attributes ---- */

/* A program's first call: later, the environment no longer matters. */
cudaError_t cudaGetDeviceCount(int *count)
{
    EMULATOR_CALL();
    const char *loading = getenv("CUDA_MODULE_LOADING");
    if (loading == nullptr || strcmp(loading, "EAGER") != 0) {
        emulator_fail("kernels are loaded late, perhaps beside a kernel that polls");
    }
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int)
{
    EMULATOR_CALL();
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    EMULATOR_CALL();
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    EMULATOR_CALL();
    *properties = {"an emulated GPU"};
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    EMULATOR_CALL();
    switch (attribute) {
    case cudaDevAttrClockRate:
        *value = 1500000; /* kHz */
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = 3;
        break;
    case cudaDevAttrMemoryClockRate:
        *value = 2500000; /* kHz */
        break;
    case cudaDevAttrGlobalMemoryBusWidth:
        *value = 5120;
        break;
    case cudaDevAttrL2CacheSize:
        *value = 1 << 20;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = 1536;
        break;
    case cudaDevAttrAsyncEngineCount:
        *value = 2;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = 8;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = 6;
        break;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
        *value = 0;
        break;
    case cudaDevAttrNumaId:
    case cudaDevAttrHostNumaId:
        *value = -1; /* none */
        break;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *bus, int size, int)
{
    EMULATOR_CALL();
    snprintf(bus, (size_t)size, "EEEE:00:00.0");
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    EMULATOR_CALL();
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* ---- memory ---- */

struct allocation {
    size_t bytes;
    emulator_memory kind;
    bool registered; /* not allocated here */
};

static size_t memory_bytes()
{
    const char *asked = getenv("EMULATOR_MEMORY");
    char name[20] = ",";
    if (asked == nullptr) {
        return (size_t)192 << 20;
    }
    prctl(PR_GET_NAME, name + 1);
    const char *own = strstr(asked, strcat(name, "="));
    return (size_t)strtoul(own != nullptr ? own + strlen(name) : asked, nullptr, 10) << 20;
}

static std::map<const char *, allocation> allocations; /* by start */
static size_t gpu_bytes = CONTEXT_BYTES;               /* in use */

static std::map<const char *, allocation>::iterator find(const void *data)
{
    auto after = allocations.upper_bound((const char *)data);
    if (after == allocations.begin()) {
        return allocations.end();
    }
    auto found = std::prev(after);
    return (const char *)data < found->first + found->second.bytes ? found : allocations.end();
}

emulator_memory emulator_memory_at(const void *data, size_t bytes)
{
    auto found = find(data);
    if (found == allocations.end() ||
        (const char *)data + bytes > found->first + found->second.bytes) {
        return EMULATOR_PAGEABLE;
    }
    return found->second.kind;
}

const void *emulator_start_of(const void *data)
{
    auto found = find(data);
    return found != allocations.end() ? found->first : nullptr;
}

/* An address sanitizer finds accesses past the memory, and of freed memory. */
static cudaError_t allocate(void **data, size_t bytes, emulator_memory kind)
{
    size_t whole = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    *data = nullptr;
    if (kind == EMULATOR_GPU && whole > memory_bytes() - gpu_bytes) {
        return emulator_return(cudaErrorMemoryAllocation);
    }
    *data = aligned_alloc(ALIGNED, whole > 0 ? whole : ALIGNED);
    if (*data == nullptr) {
        return emulator_return(cudaErrorMemoryAllocation);
    }
    memset(*data, UNDEFINED, bytes < UNDEFINED_MOST ? bytes : UNDEFINED_MOST);
    gpu_bytes += kind == EMULATOR_GPU ? whole : 0;
    allocations[(const char *)*data] = {bytes, kind, false};
    return cudaSuccess;
}

bool emulator_holds_memory()
{
    return !allocations.empty();
}

static cudaError_t release(void *data, emulator_memory kind)
{
    if (data == nullptr) {
        return cudaSuccess;
    }
    cudaDeviceSynchronize();
    auto found = allocations.find((const char *)data);
    if (found == allocations.end() || found->second.kind != kind || found->second.registered) {
        return emulator_return(cudaErrorInvalidValue);
    }
    size_t whole = (found->second.bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    gpu_bytes -= kind == EMULATOR_GPU ? whole : 0;
    allocations.erase(found);
    free(data);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *all)
{
    EMULATOR_CALL();
    *free = memory_bytes() - gpu_bytes;
    *all = memory_bytes();
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **data, size_t bytes)
{
    EMULATOR_CALL();
    return allocate(data, bytes, EMULATOR_GPU);
}

cudaError_t cudaHostAlloc(void **data, size_t bytes, unsigned)
{
    EMULATOR_CALL();
    return allocate(data, bytes, EMULATOR_PINNED);
}

cudaError_t cudaFree(void *data)
{
    EMULATOR_CALL();
    return release(data, EMULATOR_GPU);
}

cudaError_t cudaFreeHost(void *data)
{
    EMULATOR_CALL();
    return release(data, EMULATOR_PINNED);
}

cudaError_t cudaHostRegister(void *data, size_t bytes, unsigned)
{
    EMULATOR_CALL();
    allocations[(const char *)data] = {bytes, EMULATOR_PINNED, true};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *data)
{
    EMULATOR_CALL();
    auto found = allocations.find((const char *)data);
    if (found == allocations.end() || !found->second.registered) {
        return emulator_return(cudaErrorInvalidValue);
    }
    allocations.erase(found);
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **seen, void *data, unsigned)
{
    EMULATOR_CALL();
    *seen = data;
    return emulator_memory_at(data, 1) == EMULATOR_PINNED ? cudaSuccess
                                                          : emulator_return(cudaErrorInvalidValue);
}
