/* GPU memory that the CPU stores into: a window to it in this process's addresses.
 *
 * Two ways: GDRCopy (github.com/NVIDIA/gdrcopy: libgdrapi and its kernel module), loaded when asked
 * for, which maps memory of cudaMalloc() over PCI Express; and, on machines where CPU and GPU share
 * a coherent address space and the GPU's memory is a NUMA node, memory of that node.
 */
#ifndef CALIBRATE_DEVICE_WINDOW_H
#define CALIBRATE_DEVICE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

/* What a buffer for window_map() is aligned to, and its size a multiple of. */
#define WINDOW_PAGE ((size_t)65536)

struct window {
    char *at; /* where the CPU stores */
    size_t bytes;
    struct gdr *gdr; /* owned; NULL of a node's memory */
    void *library;   /* owned; NULL of a node's memory */
    unsigned long handle;
};

/* Map `bytes` of GPU memory. Fails, with the reason, where GDRCopy is not installed or refuses. */
bool window_map(void *gpu, size_t bytes, struct window *window, struct error *why);

/* Take `bytes` of the memory of a NUMA node; the GPU sees them at the same address. */
bool window_take(int node, size_t bytes, struct window *window, struct error *why);

void window_release(struct window *window); /* of a zeroed struct is fine */

#ifdef __cplusplus
}
#endif
#endif
