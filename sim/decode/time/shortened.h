/* The timing of a batch with many micro-batches, from schedules with few (steady.h) and of few
 * steps.
 *
 * Where whole layers are loaded, the ledger wants the same in each step. If the third reported step
 * then adds to every figure what the second added, and all resources keep step (loops.h), all later
 * steps do so, too, and are not built. */
#ifndef DECODE_TIME_SHORTENED_H
#define DECODE_TIME_SHORTENED_H

#include "decode/time/pipeline.h"

/* A schedule with at most so many passes of a micro-batch through a layer, some 30 MB of tasks, is
 * built whole unless it has a long run. */
enum { SHORTENED_PASSES = 1 << 13 };

/* Is it worth while to leave out micro-batches or steps of this plan? */
bool shortened_pays(const struct plan *plan);

/* As pipeline_run(). */
bool shortened_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                   const struct stop_flag *stop, struct timing *out, struct error *why);

#endif
