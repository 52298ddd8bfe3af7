#include "calibrate/device/stored_memory.h"

/* The window is released before the memory that it maps. */
stored_memory::~stored_memory()
{
    window_release(&window);
}

bool gpu_is_coherent(bool *coherent, struct error *why)
{
    int value = 0;
    bool ok = gpu_attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables, &value, why);
    *coherent = value != 0;
    return ok;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + WINDOW_PAGE - 1) / WINDOW_PAGE * WINDOW_PAGE;
}

bool stored_memory::take(size_t size, struct error *why)
{
    bool coherent;
    int node;
    if (!gpu_is_coherent(&coherent, why)) {
        return false;
    }
    if (coherent) {
        bool ok = gpu_attribute(cudaDevAttrNumaId, &node, why) &&
                  window_take(node, whole_pages(size), &window, why);
        seen = window.at;
        return ok;
    }
    if (!gpu.take(whole_pages(size) + WINDOW_PAGE, why)) {
        return false;
    }
    size_t past = (size_t)((uintptr_t)gpu.data % WINDOW_PAGE);
    seen = gpu.data + (past > 0 ? WINDOW_PAGE - past : 0);
    return window_map(seen, whole_pages(size), &window, why);
}
