/* The sizes of caches, from the option --sizes. */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

struct curve_sizes {
    uint32_t *size; /* owned */
    size_t count, capacity;
    bool in_blocks; /* the list has blocks only, and not shares */
};

void curve_sizes_release(struct curve_sizes *sizes);

/* Append the sizes in a list: blocks, as 512, or shares of `blocks`, as 30%; a share above 0 is at
 * least one block. NULL: some shares that show a curve. */
bool curve_sizes_read(const char *list, uint32_t blocks, struct curve_sizes *sizes,
                      struct error *why);

/* Append every size from 1 to `blocks`. */
bool curve_sizes_all(uint32_t blocks, struct curve_sizes *sizes, struct error *why);

/* Leave out sizes below `least`. */
void curve_sizes_keep(struct curve_sizes *sizes, uint32_t least);
