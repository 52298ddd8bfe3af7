#include "calibrate/device/nvml.h"

#include "core/array.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NVML API reference: status 0 is success; clock domains 1 (SM) and 2 (memory); sensor 0 (GPU). */
#define DONE 0
#define DOMAIN_SM 1
#define DOMAIN_MEMORY 2
#define SENSOR_GPU 0

struct device;

struct nvml {
    void *handle;
    struct device *device;
    bool begun; /* it has to be shut down */
    int (*init)(void);
    int (*shutdown)(void);
    int (*find)(const char *bus, struct device **device);
    /* NULL where a driver has it no more. */
    int (*driver)(char *text, unsigned size);
    int (*generation)(struct device *device, unsigned *value);
    int (*most_generation)(struct device *device, unsigned *value);
    int (*lanes)(struct device *device, unsigned *value);
    int (*most_lanes)(struct device *device, unsigned *value);
    int (*clock)(struct device *device, int domain, unsigned *mhz);
    int (*most_clock)(struct device *device, int domain, unsigned *mhz);
    int (*heat)(struct device *device, int sensor, unsigned *celsius);
    int (*reasons)(struct device *device, unsigned long long *reasons);
};

/* ISO C has no cast from an object pointer to a function pointer; its bytes can be copied. */
static bool nvml_load_symbol(const struct nvml *nvml, const char *name, void *function)
{
    void *symbol = dlsym(nvml->handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool nvml_load_all(struct nvml *nvml)
{
    nvml_load_symbol(nvml, "nvmlSystemGetDriverVersion", &nvml->driver);
    nvml_load_symbol(nvml, "nvmlDeviceGetCurrPcieLinkGeneration", &nvml->generation);
    nvml_load_symbol(nvml, "nvmlDeviceGetMaxPcieLinkGeneration", &nvml->most_generation);
    nvml_load_symbol(nvml, "nvmlDeviceGetCurrPcieLinkWidth", &nvml->lanes);
    nvml_load_symbol(nvml, "nvmlDeviceGetMaxPcieLinkWidth", &nvml->most_lanes);
    nvml_load_symbol(nvml, "nvmlDeviceGetClockInfo", &nvml->clock);
    nvml_load_symbol(nvml, "nvmlDeviceGetMaxClockInfo", &nvml->most_clock);
    nvml_load_symbol(nvml, "nvmlDeviceGetTemperature", &nvml->heat);
    (void)(nvml_load_symbol(nvml, "nvmlDeviceGetCurrentClocksEventReasons", &nvml->reasons) ||
           nvml_load_symbol(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml->reasons));
    return nvml_load_symbol(nvml, "nvmlInit_v2", &nvml->init) &&
           nvml_load_symbol(nvml, "nvmlShutdown", &nvml->shutdown) &&
           nvml_load_symbol(nvml, "nvmlDeviceGetHandleByPciBusId_v2", &nvml->find);
}

/* A call that failed may have left anything in its value. */
#define NVML_SAYS(call, value, ...)                                                                \
    (nvml->call != NULL && nvml->call(nvml->device, __VA_ARGS__) == DONE ? (value) : 0)

void nvml_read(const struct nvml *nvml, struct nvml_state *state)
{
    unsigned value = 0;
    unsigned long long reasons = 0;
    memset(state, 0, sizeof *state);
    if (nvml->driver == NULL || nvml->driver(state->driver, sizeof state->driver) != DONE) {
        state->driver[0] = '\0';
    }
    state->now.generation = NVML_SAYS(generation, value, &value);
    state->now.lanes = NVML_SAYS(lanes, value, &value);
    state->most.generation = NVML_SAYS(most_generation, value, &value);
    state->most.lanes = NVML_SAYS(most_lanes, value, &value);
    state->sm_mhz = NVML_SAYS(clock, value, DOMAIN_SM, &value);
    state->memory_mhz = NVML_SAYS(clock, value, DOMAIN_MEMORY, &value);
    state->most_sm_mhz = NVML_SAYS(most_clock, value, DOMAIN_SM, &value);
    state->most_memory_mhz = NVML_SAYS(most_clock, value, DOMAIN_MEMORY, &value);
    state->celsius = NVML_SAYS(heat, value, SENSOR_GPU, &value);
    state->held_back = NVML_SAYS(reasons, reasons, &reasons);
}

/* Load the library and find the GPU. */
static bool nvml_begin(struct nvml *nvml, const char *bus, struct error *why)
{
    nvml->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml->handle == NULL) {
        return error_set(why, NULL, 0, "no NVML: %s", dlerror());
    }
    if (!nvml_load_all(nvml)) {
        return error_set(why, "libnvidia-ml.so.1", 0, "a function is missing");
    }
    int status = nvml->init();
    nvml->begun = status == DONE;
    if (!nvml->begun) {
        return error_set(why, NULL, 0, "NVML does not start (status %d)", status);
    }
    status = nvml->find(bus, &nvml->device);
    return status == DONE ||
           error_set(why, NULL, 0, "NVML knows no GPU at '%s' (status %d)", bus, status);
}

struct nvml *nvml_open(const char *bus, struct error *why)
{
    struct nvml *nvml = array_zeroed(1, sizeof *nvml, why);
    if (nvml != NULL && !nvml_begin(nvml, bus, why)) {
        nvml_close(nvml);
        return NULL;
    }
    return nvml;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml != NULL && nvml->handle != NULL) {
        if (nvml->begun) {
            nvml->shutdown();
        }
        dlclose(nvml->handle);
    }
    free(nvml);
}

/* NVML API reference, "clocks event reasons". */
static const struct {
    uint64_t bit;
    const char *name;
} reasons[] = {
    {0x2, "application clocks"},
    {0x4, "power cap"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "heat"},
    {0x40, "heat (hardware)"},
    {0x80, "power brake"},
    {0x100, "display clocks"},
};

char *nvml_reasons(uint64_t held_back, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "nothing");
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if ((held_back & reasons[i].bit) != 0 && used < size) {
            int wrote =
                snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", reasons[i].name);
            used += wrote > 0 ? (size_t)wrote : 0;
        }
    }
    return text;
}
