/* Frames of one layer that several readers want one after the other.
 *
 * To rank the units of a generated head takes far longer than to copy the best. So when the first
 * reader asks for a frame, the frames of the same place for all later readers are made, too, and kept
 * until they ask. Their traces are of one stream (trace_stream()): they may keep different numbers of
 * units. Each frame is what trace_read() gives; without room, it is made when it is asked for.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "trace/format/trace.h"

/* Bytes that frames may still take; of all that share it, on several threads. */
struct trace_room {
    atomic_size_t bytes;
};

enum { AHEAD_MOST = 16 }; /* readers */

struct trace_ahead;

/* For layer `layer` of `count` traces (at most AHEAD_MOST), one a reader, which outlive it. The bytes
 * of kept frames are taken from `*left` and given back by trace_ahead_destroy(). For one thread. */
struct trace_ahead *trace_ahead_create(const struct trace *const *traces, uint32_t count,
                                       uint32_t layer, struct trace_room *left, struct error *why);
void trace_ahead_destroy(struct trace_ahead *ahead); /* NULL is fine */

/* trace_read() for reader number `reader`. It exchanges the memory of `frame`. */
bool trace_ahead_read(struct trace_ahead *ahead, uint32_t reader, uint32_t sequence, uint32_t tile,
                      struct trace_frame *frame, struct error *why);
