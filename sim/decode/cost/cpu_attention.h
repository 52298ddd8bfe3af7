/* Where the CPU attends to a part of the context, and with how many threads. decode/time/hybrid.h
 * shows how a step of such a layer runs.
 */
#ifndef DECODE_COST_CPU_ATTENTION_H
#define DECODE_COST_CPU_ATTENTION_H

#include "decode/setup.h"

#define CPU_AVERAGE_BYTES 4.0 /* the average attention of an entry, kept beside it: fp32 */

/* Does the CPU attend to a part of this layer? */
bool cpu_attends(const struct setup *setup, uint32_t layer);

/* Does the CPU attend to all KV of this layer, which is loaded whole (decode/time/cpu_whole.h)? And
 * with how many threads for one GPU? */
bool cpu_attends_whole(const struct setup *setup, uint32_t layer);
uint32_t cpu_whole_threads(const struct setup *setup, struct trust *trust);

/* Threads of the CPU pool that attend for one GPU; 0 if the CPU attends to nothing. Lowers `trust`
 * to that of the host figures it reads. */
uint32_t cpu_attention_threads(const struct setup *setup, struct trust *trust);

#endif
