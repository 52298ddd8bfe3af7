/* GPU memory that both sides use: the CPU stores into it, kernels read it.
 *
 * If CPU and GPU share a coherent address space, it is memory of the GPU's NUMA node; otherwise it
 * is memory of cudaMalloc(), mapped by GDRCopy (window.h). That mapping is write-combining:
 * host/store_rows.h says how to write to it.
 */
#pragma once

#include "calibrate/device/device.h"
#include "calibrate/device/window.h"

struct stored_memory {
    gpu_memory gpu; /* empty if a NUMA node has the memory */
    struct window window = {nullptr, 0, nullptr, nullptr, 0};
    char *seen = nullptr; /* its address on the GPU */

    stored_memory() = default;
    stored_memory(const stored_memory &) = delete;
    stored_memory &operator=(const stored_memory &) = delete;
    ~stored_memory();
    /* Allocate `size` bytes, undefined. At most once. Fails, with the reason, if the CPU cannot
     * store into GPU memory. */
    bool take(size_t size, struct error *why);
    char *at() const
    {
        return window.at;
    }
};

/* Do CPU and GPU share a coherent address space? */
bool gpu_is_coherent(bool *coherent, struct error *why);
