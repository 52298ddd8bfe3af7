/* Plain streams of ids as cache simulators exchange them: 32-bit little-endian numbers and nothing
 * else. Each is one access, in order.
 */
#ifndef TRACE_IMPORT_IDS_H
#define TRACE_IMPORT_IDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A stream with its ids numbered: blocks 0 ... blocks-1 in the order of their first access. */
struct ids {
    uint32_t *block; /* [count] */
    uint32_t count, blocks;
};

void ids_init(struct ids *ids);
void ids_release(struct ids *ids);

/* Read a file. Fails when it is empty, ends within an id or has 2^32 ids. On failure `ids` is
 * released. */
bool ids_read(const char *path, struct ids *ids, struct error *why);

#endif
