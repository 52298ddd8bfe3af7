/* What the driver's management library says of one GPU: its link, its clocks, and what holds it
 * back. Loaded when it is needed (libnvidia-ml.so.1), so that nothing has to be linked; read only.
 */
#ifndef CALIBRATE_DEVICE_NVML_H
#define CALIBRATE_DEVICE_NVML_H

#include "calibrate/device/pcie.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

struct nvml_state {
    char driver[80];             /* "580.82.07" */
    struct pcie_link now, most;  /* most: what GPU and slot can both do */
    uint32_t sm_mhz, memory_mhz; /* now; 0: not said, as with all that follow */
    uint32_t most_sm_mhz, most_memory_mhz;
    uint32_t celsius;
    uint64_t held_back; /* reasons, one a bit: nvml_reasons() */
};

/* Of the GPU at PCI address `bus` ("0000:17:00.0"). What one call does not say stays 0. Fails where
 * there is no library or no such GPU. */
bool nvml_read(const char *bus, struct nvml_state *state, struct error *why);

/* "power cap, heat", or "nothing". Idling counts as nothing. Returns `text`. */
char *nvml_reasons(uint64_t held_back, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
