/* In place of calibrate/device/window.c: GDRCopy's mapping of the emulated GPU's memory, which is
 * host memory. Only the tests of kernels have it; in the emulated harness GDRCopy is absent. */
#include "calibrate/device/window.h"

bool window_map(void *gpu, size_t bytes, struct window *window, struct error *)
{
    *window = {(char *)gpu, bytes, nullptr, nullptr, 0};
    return true;
}

bool window_take(int, size_t, struct window *, struct error *why)
{
    return error_set(why, NULL, 0, "the emulated GPU's memory is not a NUMA node");
}

void window_release(struct window *window)
{
    *window = {};
}
