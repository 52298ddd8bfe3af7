/* Attention on the CPU to all KV of a layer, a micro-batch at a time, as with FlexGen's --cpu:
 *
 *     launch thread |pre|copy|..sync..|....................|call|      the thread waits for the pool
 *     main stream   |    pre     |                              |post|
 *     out engine                 |Q|
 *     CPU pool                         | hand-off | attention |
 *     in                                                        |O|
 *
 * No KV crosses the link. What lies on a disk is read a micro-batch ahead into host memory
 * (stream.h), and with `transfer: pageable` the launch thread copies what lies in host memory into
 * the same buffers. Threads and rate are those of decode/time/hybrid.h.
 */
#ifndef DECODE_TIME_CPU_WHOLE_H
#define DECODE_TIME_CPU_WHOLE_H

#include "decode/time/pipe.h"

/* Attention of the current pass in its layer, in place of the GPU's. */
bool cpu_whole_attend(struct pipe *pipe, uint32_t layer, struct error *why);

#endif
