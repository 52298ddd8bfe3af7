/* What a system's time hangs on, by its mechanisms: predictions of one class go wrong in the same
 * way, so their errors are counted together.
 *
 *   cpu-managed      launch thread or CPU pool stand between the GPU and the KV that it waits for:
 *                    host costs decide, which no datasheet says
 *   gpu-managed      a cache or a selection, and nothing waits for a thread of the CPU
 *   bandwidth-bound  everything is read, from HBM or over the link
 */
#ifndef DECODE_SYSTEM_CLASS_H
#define DECODE_SYSTEM_CLASS_H

#include "decode/mechanisms.h"

enum system_class {
    CLASS_BANDWIDTH_BOUND,
    CLASS_GPU_MANAGED,
    CLASS_CPU_MANAGED,
    SYSTEM_CLASS_COUNT
};
extern const char *const system_class_names[SYSTEM_CLASS_COUNT + 1]; /* ends with NULL */

enum system_class system_class_of(const struct mechanisms *mechanisms);

#endif
