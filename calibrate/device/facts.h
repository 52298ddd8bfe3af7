/* Which GPU was measured and in what state: the provenance of a profile. Usable from C. */
#ifndef CALIBRATE_DEVICE_FACTS_H
#define CALIBRATE_DEVICE_FACTS_H

#include "calibrate/device/nvml.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

struct gpu_facts {
    char name[256];      /* "NVIDIA H200" */
    char bus[32];        /* "0000:17:00.0" */
    char toolkit[32];    /* "13.0", that the harness was built with */
    char supports[32];   /* "13.0", the newest that the driver runs */
    uint32_t capability; /* 90 */
    uint32_t sms;
    uint32_t copy_engines;
    int32_t numa_node; /* of the host, nearest; -1: not known */
    uint64_t l2_bytes, memory_bytes, free_bytes;
    struct nvml_state state; /* driver, link while it is used, clocks; zeros where NVML says none */
    char unsaid[256];        /* why it does not; "" where it does */
};

/* Make the first GPU the one that is measured. Fails with one message that says what is missing,
 * and that the host can be measured without. Before any other call of the runtime. */
bool gpu_find(struct error *why);

/* Copies some memory meanwhile: an idle link slows down to save power. */
bool gpu_facts_read(struct gpu_facts *facts, struct error *why);

#ifdef __cplusplus
}
#endif
#endif
