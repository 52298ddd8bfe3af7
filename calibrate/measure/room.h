/* Room: how large a buffer may be. It is halved where memory is short, and the notes of the figures
 * that were measured with it then say so. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "calibrate/measure/finding.h"

/* A memory that is to hold the buffer, or a copy of it. */
struct room_memory {
    const char *name; /* "the GPU"; outlives the room */
    size_t free;      /* bytes */
};

struct room {
    size_t wanted, bytes;     /* bytes: `wanted`, or a half, a quarter, ... of it */
    struct room_memory tight; /* the memory with the least room */
};

/* Find the room in all `memories`, count > 0: `wanted`, halved until it is at most one of `parts`
 * parts of what is free, but not below `least`. Fails if `least`, or the halved buffer, is more
 * than half of what is free. */
bool room_find(size_t wanted, size_t least, size_t parts, const struct room_memory *memories,
               uint32_t count, struct room *out, struct error *why);

/* If the buffer was halved, add to the notes of all findings from number `first` on how much was
 * wanted, and what memory was short. */
void room_note(const struct room *room, struct findings *findings, uint32_t first);

#ifdef __cplusplus
}
#endif
