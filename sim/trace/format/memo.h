/* Frames of a generated trace that were made before, so that reading one again costs a copy.
 * Internal to this folder.
 *
 * Frames are kept in the order in which they are made until the room is full; none is evicted,
 * because a replay reads all frames in turn, and evicting would lose each just before it is wanted.
 * Safe from several threads.
 */
#pragma once

#include "trace/format/room.h"
#include "trace/format/trace.h"

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
