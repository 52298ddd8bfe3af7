/* A window: GPU memory mapped into this process's addresses, so that the CPU can store into it.
 *
 * There are two ways. GDRCopy (github.com/NVIDIA/gdrcopy: libgdrapi and its kernel module), loaded
 * when it is needed, maps memory of cudaMalloc() over PCI Express. If CPU and GPU share a coherent
 * address space and the GPU's memory is a NUMA node, the window is memory of that node.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

/* A buffer for window_map() is aligned to WINDOW_PAGE, and its size is a multiple of it. */
#define WINDOW_PAGE ((size_t)65536)

struct window {
    char *at; /* where the CPU stores */
    size_t bytes;
    struct gdr *gdr; /* owned; NULL for a node's memory */
    void *library;   /* owned; NULL for a node's memory */
    unsigned long handle;
};

/* Map `bytes` of GPU memory. Fails, with the reason, if GDRCopy is not installed or refuses. */
bool window_map(void *gpu, size_t bytes, struct window *window, struct error *why);

/* Allocate `bytes` in the memory of a NUMA node; the GPU sees them at the same address. */
bool window_take(int node, size_t bytes, struct window *window, struct error *why);

void window_release(struct window *window); /* accepts a zeroed struct */

#ifdef __cplusplus
}
#endif
