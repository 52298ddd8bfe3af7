/* NVML, the driver's management library: link, clocks, temperature and throttle reasons of one GPU.
 * The library (libnvidia-ml.so.1) is loaded when it is needed, so that nothing has to be linked.
 * Read only. */
#pragma once

#include "calibrate/device/pcie.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

struct nvml_state {
    char driver[80];             /* "580.82.07" */
    struct pcie_link now, most;  /* most: the best that GPU and slot both support */
    uint32_t sm_mhz, memory_mhz; /* now; 0: unknown, here and below */
    uint32_t most_sm_mhz, most_memory_mhz;
    uint32_t celsius;
    uint64_t held_back; /* why the clocks are reduced, a reason a bit: nvml_reasons() */
};

/* Start NVML for the GPU at PCI address `bus` ("0000:17:00.0"), which may take half a second: do it
 * before the work begins during which the GPU is looked at. NULL if there is no library or no such
 * GPU. */
struct nvml;
struct nvml *nvml_open(const char *bus, struct error *why);
void nvml_close(struct nvml *nvml); /* accepts NULL */

/* Read the GPU's state. A value that NVML does not provide is 0. */
void nvml_read(const struct nvml *nvml, struct nvml_state *state);

/* Write the reasons of `held_back`: "power cap, heat", or "nothing". Idling is no reason. Returns
 * `text`. */
char *nvml_reasons(uint64_t held_back, char *text, size_t size);

#ifdef __cplusplus
}
#endif
