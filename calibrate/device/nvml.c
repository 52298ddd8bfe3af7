#include "calibrate/device/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* NVML API reference: status 0 is success; clock domains 1 (SM) and 2 (memory); sensor 0 (GPU). */
#define DONE 0
#define DOMAIN_SM 1
#define DOMAIN_MEMORY 2
#define SENSOR_GPU 0

struct device;

struct library {
    void *handle;
    int (*init)(void);
    int (*shutdown)(void);
    int (*find)(const char *bus, struct device **device);
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
static bool nvml_load_symbol(const struct library *library, const char *name, void *function)
{
    void *symbol = dlsym(library->handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool nvml_load_all(struct library *library)
{
    return nvml_load_symbol(library, "nvmlInit_v2", &library->init) &&
           nvml_load_symbol(library, "nvmlShutdown", &library->shutdown) &&
           nvml_load_symbol(library, "nvmlDeviceGetHandleByPciBusId_v2", &library->find) &&
           nvml_load_symbol(library, "nvmlSystemGetDriverVersion", &library->driver) &&
           nvml_load_symbol(library, "nvmlDeviceGetCurrPcieLinkGeneration", &library->generation) &&
           nvml_load_symbol(library, "nvmlDeviceGetMaxPcieLinkGeneration",
                            &library->most_generation) &&
           nvml_load_symbol(library, "nvmlDeviceGetCurrPcieLinkWidth", &library->lanes) &&
           nvml_load_symbol(library, "nvmlDeviceGetMaxPcieLinkWidth", &library->most_lanes) &&
           nvml_load_symbol(library, "nvmlDeviceGetClockInfo", &library->clock) &&
           nvml_load_symbol(library, "nvmlDeviceGetMaxClockInfo", &library->most_clock) &&
           nvml_load_symbol(library, "nvmlDeviceGetTemperature", &library->heat) &&
           nvml_load_symbol(library, "nvmlDeviceGetCurrentClocksThrottleReasons",
                            &library->reasons);
}

/* A call that failed may have left anything in its value. */
static uint32_t said(int status, unsigned value)
{
    return status == DONE ? value : 0;
}

static void nvml_read_state(const struct library *library, struct device *device,
                            struct nvml_state *state)
{
    unsigned value = 0;
    unsigned long long reasons = 0;
    if (library->driver(state->driver, sizeof state->driver) != DONE) {
        state->driver[0] = '\0';
    }
    state->now.generation = said(library->generation(device, &value), value);
    state->now.lanes = said(library->lanes(device, &value), value);
    state->most.generation = said(library->most_generation(device, &value), value);
    state->most.lanes = said(library->most_lanes(device, &value), value);
    state->sm_mhz = said(library->clock(device, DOMAIN_SM, &value), value);
    state->memory_mhz = said(library->clock(device, DOMAIN_MEMORY, &value), value);
    state->most_sm_mhz = said(library->most_clock(device, DOMAIN_SM, &value), value);
    state->most_memory_mhz = said(library->most_clock(device, DOMAIN_MEMORY, &value), value);
    state->celsius = said(library->heat(device, SENSOR_GPU, &value), value);
    state->held_back = library->reasons(device, &reasons) == DONE ? reasons : 0;
}

static bool read_with(const struct library *library, const char *bus, struct nvml_state *state,
                      struct error *why)
{
    struct device *device = NULL;
    int status = library->init();
    if (status != DONE) {
        return error_set(why, NULL, 0, "NVML does not start (status %d)", status);
    }
    status = library->find(bus, &device);
    if (status == DONE) {
        nvml_read_state(library, device, state);
    }
    library->shutdown();
    return status == DONE ||
           error_set(why, NULL, 0, "NVML knows no GPU at '%s' (status %d)", bus, status);
}

bool nvml_read(const char *bus, struct nvml_state *state, struct error *why)
{
    struct library library = {.handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
    memset(state, 0, sizeof *state);
    if (library.handle == NULL) {
        return error_set(why, NULL, 0, "no NVML: %s", dlerror());
    }
    bool ok = nvml_load_all(&library)
                  ? read_with(&library, bus, state, why)
                  : error_set(why, "libnvidia-ml.so.1", 0, "a function is missing");
    dlclose(library.handle);
    return ok;
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
