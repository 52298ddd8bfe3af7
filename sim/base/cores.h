/* Processors that several threads share: as many threads compute at once as there are cores.
 *
 * A thread takes a core before it computes and gives it back while it waits for another thread. So
 * a core that one piece of work leaves idle is free for another one (parallel_for_on()).
 * Every function accepts NULL and then does nothing: nobody counts.
 */
#ifndef BASE_CORES_H
#define BASE_CORES_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cores;

struct cores *cores_create(uint32_t count, struct error *why);
void cores_destroy(struct cores *cores);
uint32_t cores_count(const struct cores *cores);

/* Wait for a free core and take it; give it back. */
void cores_take(struct cores *cores);
void cores_give(struct cores *cores);

/* cores_take(), unless *ended holds before a core is free. Whoever sets *ended calls cores_wake()
 * afterwards. Returns whether a core was taken. */
bool cores_take_unless(struct cores *cores, const atomic_bool *ended);
void cores_wake(struct cores *cores);

#endif
