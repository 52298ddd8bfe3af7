/* Conservation laws: a server's blocks, bytes and requests move from place to place, and none is
 * lost or counted twice. conservation.c has the list of laws.
 *
 * Each amount in a law is counted separately where it is kept (block_census, copies, the server's
 * lists), so that an error in any of them shows at the next event. The laws are checked only in a
 * build with the address sanitizer: at every event of the first CONSERVATION_STEPS steps, then at
 * every 64th step. Checking every step made tests against queueing theory, with their millions of
 * steps that compute nothing, 1.6 times as slow.
 */
#pragma once

#include "server/server_state.h"

#if defined(__SANITIZE_ADDRESS__) /* gcc */
#define CONSERVATION_IS_CHECKED 1
#elif defined(__has_feature) /* clang */
#define CONSERVATION_IS_CHECKED __has_feature(address_sanitizer)
#else
#define CONSERVATION_IS_CHECKED 0
#endif

enum { CONSERVATION_STEPS = 1 << 14 };

/* Abort, and name the law, if the server breaks one. Call it between events only: during an event
 * blocks may be counted nowhere. */
void conservation_assert(const struct server *server);

static inline void conservation_check(const struct server *server)
{
    uint64_t steps = server->totals->steps;
    if (CONSERVATION_IS_CHECKED && (steps < CONSERVATION_STEPS || steps % 64 == 0)) {
        conservation_assert(server);
    }
}
