/* The host's memory, as Linux states it in /proc/meminfo, or as the limit of a cgroup. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

struct host_memory {
    uint64_t all;  /* bytes */
    uint64_t free; /* bytes that a program can get: unused memory and caches that can be dropped */
};

/* Read the files below `root`; "" is this machine. Fails if they state no memory. */
bool host_memory_read(const char *root, struct host_memory *out, struct error *why);

#ifdef __cplusplus
}
#endif
