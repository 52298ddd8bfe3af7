/* How often a piece of work runs within an interval, so that the clock's own time and its steps do
 * not matter. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The repetitions of the next interval: more of them, at most `most`, if `repeats` in `ns` did not
 * fill `enough_ns`; never fewer, because a slow interval may be a disturbed one. */
uint32_t interval_repeats(uint32_t repeats, double ns, double enough_ns, uint32_t most);

#ifdef __cplusplus
}
#endif
