/* Attention on both sides of the link: the GPU attends to its window, and meanwhile the CPU
 * attends, in host memory, to the entries outside the window that the policy keeps. In one layer:
 *
 *     launch thread |pre|copy|att|avg| |..sync..|..........................|combine|post|
 *     main stream   |    pre     |  window  |avg|                          |combine|post|
 *     out engine                 |Q|
 *     CPU pool                                  | hand-off | kept entries  |
 *
 * One thread of the pool is woken for each task: a few adjacent heads, padded to the longest (ledger.h). It
 * reads their K and V once for all query heads of a group, so memory bounds it: all padded bytes at the rate
 * of the threads at work, or the longest task at one thread's rate. Then the GPU reads the CPU's output and
 * its log-sum-exp from pinned memory and merges both parts. HGCA works this way.
 *
 * With `sync: gpu` the launch thread takes no part: kernels store Q and poll for the output. One
 * more kernel averages the attention weights while the CPU computes. In a layer in which no head
 * keeps anything outside the window, only this kernel runs.
 *
 * A selection is attended to in the same way (`attention: cpu` without `prefetch: whole-layer`): the
 * GPU finds it, and tells the CPU; or it sends the code of each query, and the pool searches an index
 * in host memory first, as MagicPIG's does its hash tables. The GPU attends to what HBM has. */
#pragma once

#include "decode/cost/attention.h"
#include "decode/time/pipe.h"

/* Put the CPU's share of attention in a layer, after at[layer].selected. Sets at[layer].answered. */
bool hybrid_put_attention(struct pipe *pipe, uint32_t layer, const struct ledger_row *row,
                          uint32_t most_threads, struct error *why);

/* Stages, in program order. The GPU's own attention follows the first. */
bool hybrid_ask(struct pipe *pipe, uint32_t layer, struct error *why);
bool hybrid_average(struct pipe *pipe, uint32_t layer, struct error *why);
bool hybrid_attend(struct pipe *pipe, uint32_t layer, struct error *why);
bool hybrid_combine(struct pipe *pipe, uint32_t layer, struct error *why);

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
 * the same buffers. Threads and rate are those of the CPU cache manager (below). */

/* Attention of the current pass in its layer, in place of the GPU's. */
bool cpu_whole_attend(struct pipe *pipe, uint32_t layer, struct error *why);

/* With `micro_batch: alternating` the answer is fetched later, before the FFN: between the two passes
 * the other half of the batch passes its FFN and its next layer's projections, while the pool attends
 * (FastDecode). A and B are the halves, l the layer:
 *
 *     main stream   |pre A.l|post B.l-1|pre B.l|post A.l|pre A.l+1|post B.l|
 *     CPU pool              |------ A.l -------|------- B.l ------|
 */
bool cpu_whole_answer(struct pipe *pipe, uint32_t layer, struct error *why);

/* With `weights_at: cpu` the pool multiplies by its weights of the layer, while the GPU computes its part. */
bool hybrid_multiply(struct pipe *pipe, uint32_t layer, engine_task_id *out, struct error *why);
bool hybrid_add_products(struct pipe *pipe, engine_task_id products, struct error *why);

/* The manager on the CPU: a pool of threads that looks up what a layer wants, and then updates the
 * cache. The threads sleep on a condition variable between hand-offs.
 *
 * A look-up has a job for each (sequence, head), but no more jobs than threads. The launch thread queues the
 * jobs, wakes every thread of the pool one after the other, and only then waits, for the jobs. It does not
 * wait for threads that find no job left. If it sleeps by then, the last job wakes it:
 *
 *     launch  |..wake all: threads x wake..|......|    |  max(threads x wake, 2 x wake + job)
 *     pool    |wake|............jobs..............|wake|
 *
 * An update begins with one job. The launch thread wakes one thread for it and goes on. That thread
 * queues the others' jobs and wakes all others, which sleep again by then:
 *
 *     launch  |wake|..launches.....................|.until it waits for both
 *     pool         |..wake others: (threads-1) x wake..|
 *                  |wake|............jobs..........|wake|
 *
 * RetroInfer's public code does this (wave_buffer_cpu.cpp, thread_pool.hpp). If the GPU
 * synchronises (`sync: gpu`), a thread of its own does the launch thread's part. */

/* The launch thread wakes the pool. Jobs run from `first` on; `all` is the end of the waking. */
bool manager_hand_over(struct pipe *pipe, engine_task_id after, engine_task_id *first,
                       engine_task_id *all, struct error *why);

/* Look up what `layer` wants. The launch thread waits for `out`, the end of all jobs and of the waking. */
bool manager_look_up(struct pipe *pipe, uint32_t layer, engine_task_id after, engine_task_id *out,
                     struct error *why);

/* The launch thread itself updates what `layer` wants, and goes on afterwards: nobody is woken. */
bool manager_insert(struct pipe *pipe, uint32_t layer, struct error *why);

/* Start the update behind the look-up that ended with `after`. Nothing waits yet for its end, `out`. */
bool manager_update(struct pipe *pipe, uint32_t layer, engine_task_id after, engine_task_id *out,
                    struct error *why);
