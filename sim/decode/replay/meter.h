/* How much of the work of a question is done, counted by the threads that do it. */
#pragma once

#include <stdatomic.h>

/* Both in units that take equally long; those of replays are units of a trace's context, for each
 * step and head. */
struct meter {
    atomic_uint_fast64_t done;
    atomic_uint_fast64_t spared; /* need not be done: it was kept from an earlier question */
};
