/* The way of KV and weights between a drive and host memory:
 *
 *     disk ──── read ───▶ host memory, a pinned buffer ──── transfer ───▶ gpu
 *     disk ◀─── write ─── host memory ◀──────────────────── copy ──────── gpu
 *
 * The transfer of a part starts when all of it is in host memory, and a part is written when all of
 * it is there: FlexGen's copy threads do so (general_copy() and copy_worker_func() of its code).
 * There are two buffers, so the next part is read while this one crosses the link. Reads follow one
 * another, and so do writes; a read and a write run at the same time.
 */
#ifndef DECODE_TIME_DISK_H
#define DECODE_TIME_DISK_H

#include "decode/time/pipe.h"

/* Read `bytes` in blocks of `block`, after `after` and once the buffer is free, by whoever copies
 * or stores: it takes no time of the launch thread, but starts after what that thread did before. */
bool disk_put_read(struct pipe *pipe, double bytes, double block, engine_task_id after,
                   engine_task_id freed, engine_task_id *out, struct error *why);

/* Copy `bytes` of KV out of the GPU; `*left` brings them to host memory. Then the disk's share of
 * them is written. */
bool disk_put_leaving(struct pipe *pipe, double bytes, engine_task_id *left, struct error *why);

/* A stage of the table in stages.c: read what the layer's query asks for and misses. With
 * `sync: cpu` the launch thread waits for it. */
bool disk_read_misses(struct pipe *pipe, uint32_t layer, struct error *why);

#endif
