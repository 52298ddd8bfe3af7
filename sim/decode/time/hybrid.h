/* Attention on both sides of the link: the GPU attends to its window while the CPU attends, where
 * they lie, to the entries outside it that the policy keeps. In one layer:
 *
 *     launch thread |pre|copy|att|avg| |..sync..|..........................|combine|post|
 *     main stream   |    pre     |  window  |avg|                          |combine|post|
 *     D2H engine                 |Q|
 *     CPU pool                                  | hand-off | kept entries  |
 *
 * A thread for each task is woken. A task is some adjacent heads, padded to the longest
 * (cpu_heads.h); their K and V are read once for all query heads of a group: bound by memory, never
 * by arithmetic. So the time is that of all padded bytes at the rate of the threads at work, or of
 * the longest task at one thread's rate. The GPU then reads the CPU's output and its log-sum-exp
 * from pinned memory and merges both. HGCA is such a system.
 *
 * With `sync: gpu` nothing of this takes the launch thread: kernels store Q and poll for the
 * output. What attention weighed is averaged by one more kernel, beside the CPU. A layer in which
 * no head keeps anything does none of this but the average.
 */
#ifndef DECODE_TIME_HYBRID_H
#define DECODE_TIME_HYBRID_H

#include "decode/cost/cpu_attention.h"
#include "decode/time/pipe.h"

/* Of so many (sequence, KV head) pairs: their queries, and what the CPU answers. */
double hybrid_query_bytes(const struct model *model, uint64_t pairs);
double hybrid_answer_bytes(const struct model *model, uint64_t pairs);

/* The CPU's share of attention in a layer whose row this is, behind at[layer].selected; leaves
 * at[layer].answered. */
bool hybrid_put_attention(struct pipe *pipe, uint32_t layer, const struct ledger_row *row,
                          struct error *why);

/* Stages, in program order; the GPU's attention stands behind the first. */
bool hybrid_ask(struct pipe *pipe, uint32_t layer, struct error *why);
bool hybrid_average(struct pipe *pipe, uint32_t layer, struct error *why);
bool hybrid_attend(struct pipe *pipe, uint32_t layer, struct error *why);
bool hybrid_combine(struct pipe *pipe, uint32_t layer, struct error *why);

#endif
