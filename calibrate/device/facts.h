/* Facts about the measured GPU and its state, for a profile's provenance. Usable from C. */
#pragma once

#include "calibrate/device/nvml.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

struct gpu_facts {
    char name[256];      /* "NVIDIA H200" */
    char bus[32];        /* "0000:17:00.0" */
    char toolkit[32];    /* "13.0", the CUDA version that the harness was built with */
    char supports[32];   /* "13.0", the newest CUDA version that the driver runs */
    uint32_t capability; /* 90 */
    uint32_t sms;
    uint32_t copy_engines;
    int32_t numa_node; /* the host's nearest node; -1: unknown */
    uint64_t l2_bytes, memory_bytes, free_bytes;
    struct nvml_state state; /* driver, link under load, clocks; zeros if NVML does not say */
    char unsaid[256];        /* why NVML does not say; else "" */
};

/* Select the first GPU. To be called before any other call of the CUDA runtime. The error says what
 * is missing, and that the host can be measured without a GPU. */
bool gpu_find(struct error *why);

/* Read the facts while memory is copied over the link: an idle link slows down to save power. */
bool gpu_facts_read(struct gpu_facts *facts, struct error *why);

#ifdef __cplusplus
}
#endif
