/* How the threads of a CPU pool share the heads of a layer.
 *
 * HGCA deals the (sequence, KV head) pairs of a layer in order, ceil(pairs / threads) to each
 * thread. They are a task: one batched product of adjacent heads, padded to the longest of them:
 *
 *     heads      5 2 | 3 7 | 1 1       two heads a task
 *     padded     5 5 | 7 7 | 1 1       26 tokens for 19; the longest task has 14
 *
 * Here a task has heads of one sequence only. If a thread is due more heads than a sequence has,
 * the task's other sequences are taken to be like this one (neighbours in a batch read neighbouring
 * rows), so that one sequence gives the result for all.
 */
#ifndef DECODE_REPLAY_CPU_HEADS_H
#define DECODE_REPLAY_CPU_HEADS_H

#include <stdint.h>

/* Pairs for each of `threads` threads; at least 1. */
uint64_t cpu_heads_each(uint64_t pairs, uint64_t threads);

/* Deal `heads` heads of one sequence, with `tokens` [heads] each, in tasks of `each` heads.
 *   padded  out: tokens of all heads, padding included
 *   worst   out: tokens of the longest task */
void cpu_heads_pad(const uint64_t *tokens, uint32_t heads, uint64_t each, uint64_t *padded,
                   uint64_t *worst);

#endif
