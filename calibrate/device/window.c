#include "calibrate/device/window.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- GDRCopy 2: gdrapi.h ---- */

struct gdr;

struct gdr_handle {
    unsigned long number;
};

struct functions {
    struct gdr *(*open)(void);
    int (*close)(struct gdr *gdr);
    int (*pin)(struct gdr *gdr, unsigned long address, size_t size, uint64_t token, uint32_t space,
               struct gdr_handle *handle);
    int (*unpin)(struct gdr *gdr, struct gdr_handle handle);
    int (*map)(struct gdr *gdr, struct gdr_handle handle, void **at, size_t size);
    int (*unmap)(struct gdr *gdr, struct gdr_handle handle, void *at, size_t size);
};

/* ISO C has no cast from an object pointer to a function pointer; its bytes can be copied. */
static bool window_load_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool window_load_all(void *library, struct functions *functions)
{
    return window_load_symbol(library, "gdr_open", &functions->open) &&
           window_load_symbol(library, "gdr_close", &functions->close) &&
           window_load_symbol(library, "gdr_pin_buffer", &functions->pin) &&
           window_load_symbol(library, "gdr_unpin_buffer", &functions->unpin) &&
           window_load_symbol(library, "gdr_map", &functions->map) &&
           window_load_symbol(library, "gdr_unmap", &functions->unmap);
}

static bool map(const struct functions *functions, void *gpu, size_t bytes, struct window *window,
                struct error *why)
{
    struct gdr_handle handle = {0};
    void *at = NULL;
    window->gdr = functions->open();
    if (window->gdr == NULL) {
        return error_set(why, NULL, 0, "GDRCopy does not open: is its module gdrdrv loaded?");
    }
    int status = functions->pin(window->gdr, (unsigned long)(uintptr_t)gpu, bytes, 0, 0, &handle);
    if (status != 0) {
        return error_set(why, NULL, 0, "GDRCopy does not pin %zu bytes: %s", bytes,
                         strerror(status));
    }
    status = functions->map(window->gdr, handle, &at, bytes);
    if (status != 0) {
        functions->unpin(window->gdr, handle);
        return error_set(why, NULL, 0, "GDRCopy does not map %zu bytes: %s", bytes,
                         strerror(status));
    }
    window->at = at;
    window->handle = handle.number;
    return true;
}

bool window_map(void *gpu, size_t bytes, struct window *window, struct error *why)
{
    struct functions functions;
    *window = (struct window){.bytes = bytes};
    window->library = dlopen("libgdrapi.so.2", RTLD_NOW | RTLD_LOCAL);
    if (window->library == NULL) {
        window->library = dlopen("libgdrapi.so", RTLD_NOW | RTLD_LOCAL);
    }
    if (window->library == NULL) {
        return error_set(why, NULL, 0, "GDRCopy is not installed: %s", dlerror());
    }
    bool ok = window_load_all(window->library, &functions)
                  ? map(&functions, gpu, bytes, window, why)
                  : error_set(why, "libgdrapi.so", 0, "a function of GDRCopy 2 is missing");
    if (!ok) {
        window_release(window);
    }
    return ok;
}

/* ---- a node's memory ---- */

#define MPOL_BIND 2 /* linux/mempolicy.h */
#define MOST_NODES 1024
#define WORD_BITS (8 * sizeof(unsigned long))

bool window_take(int node, size_t bytes, struct window *window, struct error *why)
{
    unsigned long nodes[MOST_NODES / WORD_BITS] = {0};
    *window = (struct window){.bytes = bytes};
    if (node < 0 || node >= MOST_NODES) {
        return error_set(why, NULL, 0, "the GPU's memory is not a NUMA node");
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return error_set(why, NULL, 0, "no %zu bytes of memory: %s", bytes, strerror(errno));
    }
    window->at = at;
    nodes[(size_t)node / WORD_BITS] = 1UL << ((size_t)node % WORD_BITS);
    if (syscall(SYS_mbind, at, bytes, MPOL_BIND, nodes, (unsigned long)MOST_NODES, 0U) != 0) {
        error_set(why, NULL, 0, "no memory of node %d: %s", node, strerror(errno));
        window_release(window);
        return false;
    }
    memset(at, 1, bytes);
    return true;
}

void window_release(struct window *window)
{
    struct functions functions;
    if (window->library == NULL && window->at != NULL) {
        munmap(window->at, window->bytes);
    }
    if (window->gdr != NULL && window_load_all(window->library, &functions)) {
        struct gdr_handle handle = {window->handle};
        if (window->at != NULL) {
            functions.unmap(window->gdr, handle, window->at, window->bytes);
            functions.unpin(window->gdr, handle);
        }
        functions.close(window->gdr);
    }
    if (window->library != NULL) {
        dlclose(window->library);
    }
    *window = (struct window){.at = NULL};
}
