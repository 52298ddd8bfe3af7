/* The manager on the CPU: a pool of threads that looks up what a layer wants, and then updates the
 * cache. The threads sleep on a condition variable between hand-offs.
 *
 * A look-up has a job for each (sequence, head), but no more jobs than threads. The launch thread
 * queues the jobs, wakes every thread of the pool one after the other, and only then waits, for the
 * jobs. It does not wait for threads that find no job left. If it sleeps by then, the last job
 * wakes it:
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
 * synchronises (`sync: gpu`), a thread of its own does the launch thread's part.
 */
#pragma once

#include "decode/time/pipe.h"

/* The launch thread wakes the whole pool, after `after`. `first` becomes the time from which jobs
 * run, `all` the end of the waking. */
bool manager_hand_over(struct pipe *pipe, engine_task_id after, engine_task_id *first,
                       engine_task_id *all, struct error *why);

/* Look up what `layer` wants, after `after`. `out` becomes the end of all jobs and of the waking;
 * the launch thread waits for it. */
bool manager_look_up(struct pipe *pipe, uint32_t layer, engine_task_id after, engine_task_id *out,
                     struct error *why);

/* The launch thread itself updates what `layer` wants, and goes on afterwards: nobody is woken. */
bool manager_insert(struct pipe *pipe, uint32_t layer, struct error *why);

/* Start the update behind the look-up that ended with `after`. `out` becomes the end of all jobs
 * and of the waking; nothing waits for it yet. */
bool manager_update(struct pipe *pipe, uint32_t layer, engine_task_id after, engine_task_id *out,
                    struct error *why);
