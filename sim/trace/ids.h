/* Plain streams of ids: 32-bit little-endian numbers and nothing else, as cache simulators exchange
 * them. One access each, in order.
 */
#ifndef TRACE_IDS_H
#define TRACE_IDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A stream whose ids are numbered: blocks 0 ... blocks-1 are its different ids, ascending. */
struct ids {
    uint32_t *block; /* [count] */
    uint32_t count, blocks;
};

void ids_init(struct ids *ids);
void ids_release(struct ids *ids);

/* Read a file. Time and memory are linear in its size whatever the ids are. Fails when the file is
 * empty or ends within a number, or has 2^32 of them. `ids` is released on failure. */
bool ids_read(const char *path, struct ids *ids, struct error *why);

/* Number the `count` ids in `id`, in their place; returns how many differ, 0 with `why` when memory
 * is out. */
uint32_t ids_number(uint32_t *id, uint32_t count, struct error *why);

#endif
