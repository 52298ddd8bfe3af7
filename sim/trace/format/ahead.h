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

/* Room for the frames that generated traces remember (trace_remember()). Not for C++, which does
 * not know the atomics of C. */

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

/* Frames of a generated trace that were made before, so that reading one again costs a copy.
 * Internal to this folder.
 *
 * Frames are kept in the order in which they are made until the room is full; none is evicted,
 * because a replay reads all frames in turn, and evicting would lose each just before it is wanted.
 * Safe from several threads.
 */

struct memo;

/* For a trace of `frames` frames; `left` outlives memo_put(). */
struct memo *memo_create(uint64_t frames, struct trace_room *left, struct error *why);
void memo_destroy(struct memo *memo); /* NULL is fine */

/* Copy frame `number` into `frame`, whose place is set. `*found` says whether it is kept. */
bool memo_get(struct memo *memo, const struct trace_header *header, uint64_t number,
              struct trace_frame *frame, bool *found, struct error *why);

/* Keep a copy of `frame`, if there is room. */
void memo_put(struct memo *memo, const struct trace_header *header, uint64_t number,
              const struct trace_frame *frame);
