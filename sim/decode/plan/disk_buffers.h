/* Host memory into which a disk is read, or pageable KV is copied for attention on the CPU, for one
 * GPU: two buffers for weights and two for KV, as one is filled while the other is in use
 * (decode/time/disk.h, cpu_whole.h). */
#ifndef DECODE_PLAN_DISK_BUFFERS_H
#define DECODE_PLAN_DISK_BUFFERS_H

#include "decode/plan/plan.h"

/* Bytes of these buffers for the plan's batch; 0 where nothing lies on a disk. Each is as large as
 * the largest part that is read at a time: of a layer or half of one, of a micro-batch's KV, or of
 * what all heads of a layer select. */
double disk_buffer_bytes(const struct setup *setup, const struct plan *plan);

#endif
