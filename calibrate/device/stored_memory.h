/* GPU memory that is both sides': the CPU stores into it, kernels read it.
 *
 * Where CPU and GPU share a coherent address space it is memory of the GPU's NUMA node, elsewhere
 * memory of cudaMalloc() in a window of GDRCopy's (gpu_window.h). Its mapping is write-combining:
 * see store_rows.h for who may write how.
 */
#ifndef CALIBRATE_DEVICE_STORED_MEMORY_H
#define CALIBRATE_DEVICE_STORED_MEMORY_H

#include "calibrate/device/device.h"
#include "calibrate/device/window.h"

struct stored_memory {
    gpu_memory gpu; /* empty of a node's memory */
    struct window window = {nullptr, 0, nullptr, nullptr, 0};
    char *seen = nullptr; /* by the GPU */

    stored_memory() = default;
    stored_memory(const stored_memory &) = delete;
    stored_memory &operator=(const stored_memory &) = delete;
    ~stored_memory();
    /* Once; contents undefined. Fails, with the reason, where the CPU cannot store. */
    bool take(size_t size, struct error *why);
    char *at() const
    {
        return window.at;
    }
};

/* Do CPU and GPU share a coherent address space? */
bool gpu_is_coherent(bool *coherent, struct error *why);

#endif
