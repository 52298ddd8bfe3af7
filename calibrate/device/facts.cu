#include "calibrate/device/device.h"

#include "calibrate/device/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool none(const char *reason, struct error *why)
{
    error_set(why, NULL, 0, "no GPU to measure: %s", reason);
    return error_expect(why, "an NVIDIA GPU, its driver, and permission to use both; without one, "
                             "'spillway calibrate --host' measures processor and memory");
}

static void format_version(int version, char *text, size_t size)
{
    snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
}

static bool old_driver(struct error *why)
{
    char built[32], supports[32];
    int version = 0;
    (void)cudaDriverGetVersion(&version); /* 0 without a driver */
    if (version == 0) {
        return none("no NVIDIA driver is loaded", why);
    }
    format_version(CUDART_VERSION, built, sizeof built);
    format_version(version, supports, sizeof supports);
    error_set(why, NULL, 0, "the driver is too old: it runs CUDA %s, and this needs %s", supports,
              built);
    return error_expect(why, "a newer driver; or a build with an older nvcc");
}

/* Kernels are loaded at the start, whatever the environment says. Loading one at its first launch may
 * wait for a running kernel, which may itself wait for the host. */
bool gpu_find(struct error *why)
{
    int devices = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    cudaError_t status = cudaGetDeviceCount(&devices);
    if (status == cudaErrorInsufficientDriver) {
        return old_driver(why);
    }
    if (status != cudaSuccess) {
        return none(cudaGetErrorString(status), why);
    }
    return devices > 0 ? GPU_TRY(cudaSetDevice(0), why) && GPU_TRY(cudaFree(NULL), why)
                       : none("the driver knows none", why);
}

static bool read_attributes(struct gpu_facts *facts, struct error *why)
{
    int major, minor, sms, engines, l2, node;
    if (!gpu_attribute(cudaDevAttrComputeCapabilityMajor, &major, why) ||
        !gpu_attribute(cudaDevAttrComputeCapabilityMinor, &minor, why) ||
        !gpu_attribute(cudaDevAttrMultiProcessorCount, &sms, why) ||
        !gpu_attribute(cudaDevAttrAsyncEngineCount, &engines, why) ||
        !gpu_attribute(cudaDevAttrL2CacheSize, &l2, why)) {
        return false;
    }
    struct error unsaid;
    facts->capability = (uint32_t)(10 * major + minor);
    facts->sms = (uint32_t)sms;
    facts->copy_engines = (uint32_t)engines;
    facts->l2_bytes = (uint64_t)l2;
    facts->numa_node = gpu_attribute(cudaDevAttrHostNumaId, &node, &unsaid) ? node : -1;
    return true;
}

static bool read_identity(struct gpu_facts *facts, struct error *why)
{
    int device, supports;
    struct cudaDeviceProp properties;
    if (!GPU_TRY(cudaGetDevice(&device), why) ||
        !GPU_TRY(cudaGetDeviceProperties(&properties, device), why) ||
        !GPU_TRY(cudaDeviceGetPCIBusId(facts->bus, sizeof facts->bus, device), why) ||
        !GPU_TRY(cudaDriverGetVersion(&supports), why)) {
        return false;
    }
    for (char *c = facts->bus; *c != '\0'; c++) { /* as sysfs writes it */
        *c = *c >= 'A' && *c <= 'F' ? (char)(*c - 'A' + 'a') : *c;
    }
    snprintf(facts->name, sizeof facts->name, "%s", properties.name);
    format_version(CUDART_VERSION, facts->toolkit, sizeof facts->toolkit);
    format_version(supports, facts->supports, sizeof facts->supports);
    size_t free, all;
    if (!GPU_TRY(cudaMemGetInfo(&free, &all), why)) {
        return false;
    }
    facts->free_bytes = free;
    facts->memory_bytes = all;
    return read_attributes(facts, why);
}

/* Some 20 ms of copies, on a link of 50 GB/s; less if little memory is free. */
#define BUSY_BYTES ((size_t)64 << 20)
#define BUSY_SHARE 4 /* at most a quarter of what is free */
#define BUSY_COPIES 16

static bool facts_read_state(struct gpu_facts *facts, const struct nvml *nvml, struct error *why)
{
    gpu_memory memory;
    pinned_memory pinned;
    gpu_stream stream;
    size_t most = facts->free_bytes / BUSY_SHARE, bytes = most < BUSY_BYTES ? most : BUSY_BYTES;
    if (!memory.take(bytes, why) || !pinned.take(bytes, 1, why) || !stream.create(why)) {
        return false;
    }
    for (int i = 0; i < BUSY_COPIES; i++) {
        if (!GPU_TRY(
                cudaMemcpyAsync(memory.data, pinned.data, bytes, cudaMemcpyHostToDevice, stream.at),
                why)) {
            return false;
        }
    }
    if (nvml != nullptr) {
        nvml_read(nvml, &facts->state);
    } else {
        pcie_read("/sys", facts->bus, &facts->state.now, &facts->state.most);
    }
    return stream.wait(why);
}

bool gpu_facts_read(struct gpu_facts *facts, struct error *why)
{
    struct error unsaid = {};
    memset(facts, 0, sizeof *facts);
    if (!read_identity(facts, why)) {
        return false;
    }
    struct nvml *nvml = nvml_open(facts->bus, &unsaid);
    snprintf(facts->unsaid, sizeof facts->unsaid, "%s", unsaid.found);
    bool ok = facts_read_state(facts, nvml, why);
    nvml_close(nvml);
    return ok;
}
