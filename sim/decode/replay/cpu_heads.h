/* How a CPU pool shares the heads of a layer that it attends to.
 *
 * HGCA deals the (sequence, KV head) pairs of a layer in order, ceil(pairs /
 * threads) to each thread: a task of adjacent heads, which runs as one batched product, padded to
 * the longest head in it:
 *
 *     heads      5 2 | 3 7 | 1 1       two heads a task
 *     padded     5 5 | 7 7 | 1 1       26 tokens for 19; the longest task has 14
 *
 * Here a task holds heads of one sequence. Where a sequence has fewer heads than a thread is due,
 * its sequences are taken to be alike (in a batch, neighbours read neighbouring rows), so that
 * nothing has to be reckoned a sequence at a time.
 */
#ifndef DECODE_REPLAY_CPU_HEADS_H
#define DECODE_REPLAY_CPU_HEADS_H

#include <stdint.h>

/* Pairs that each of `threads` threads is due; at least 1. */
uint64_t cpu_heads_each(uint64_t pairs, uint64_t threads);

/* What `heads` heads of one sequence with these tokens come to in tasks of `each`: all of them,
 * padded, and the longest task. */
void cpu_heads_pad(const uint64_t *tokens, uint32_t heads, uint64_t each, uint64_t *padded,
                   uint64_t *worst);

#endif
