/* Room for the frames that generated traces remember (trace_remember()). Not for C++, which does
 * not know the atomics of C. */
#ifndef TRACE_FORMAT_ROOM_H
#define TRACE_FORMAT_ROOM_H

#include <stdatomic.h>

/* Bytes that frames may still take; of all traces that share it. */
struct trace_room {
    atomic_size_t bytes;
};

#endif
