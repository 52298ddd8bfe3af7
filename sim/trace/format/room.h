/* Room for the frames that generated traces remember (trace_remember()). Not for C++, which does
 * not know the atomics of C. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes that frames may still take; of all traces that share it. */
struct trace_room {
    atomic_size_t bytes;
};

/* Take `size` bytes of what is left, if there are as many; give them back. Safe from several
 * threads. */
static inline bool room_take(struct trace_room *left, size_t size)
{
    size_t bytes = atomic_load(&left->bytes);
    while (size <= bytes) {
        if (atomic_compare_exchange_weak(&left->bytes, &bytes, bytes - size)) {
            return true;
        }
    }
    return false;
}

static inline void room_give(struct trace_room *left, size_t size)
{
    atomic_fetch_add(&left->bytes, size);
}
