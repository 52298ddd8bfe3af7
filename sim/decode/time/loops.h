/* Loops: how the resources keep step with the kernels while equal micro-batches pass a layer.
 *
 * A loop is a run of equal micro-batches in one layer, or in one half of it. It begins and ends on
 * the main stream. For each loop and resource there are two figures:
 *
 *   idle   the loop's time less that of the resource's tasks for the loop; it may be negative, as a
 *          task for the loop may run before it or after it
 *   lag    from the end of the resource's last task to the end of the loop; 0 if none of its tasks
 *          belongs to the last two micro-batches
 *
 * Where the schedule repeats with each micro-batch, a longer run has the same lags. The launch
 * thread alone may run ahead further with each micro-batch, because its tasks share no channel with
 * others: its lag stands among the idle times. */
#ifndef DECODE_TIME_LOOPS_H
#define DECODE_TIME_LOOPS_H

#include "decode/time/pipe.h"

enum { LOOP_IDLES = PIPE_RESOURCE_COUNT + 1, LOOP_LAGS = PIPE_RESOURCE_COUNT };

/* The loops of a step. */
size_t loops_count(const struct setup *setup, const struct plan *plan);

/* Add the figures of the steps [from, to) of a finished schedule to idle_ns[loops * LOOP_IDLES] and
 * to lag_ns[loops * LOOP_LAGS]. */
void loops_read(const struct pipe *pipe, uint32_t from, uint32_t to, int64_t *idle_ns,
                int64_t *lag_ns);

#endif
