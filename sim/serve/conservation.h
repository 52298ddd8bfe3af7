/* What no event may change: a server's blocks, bytes and requests go from place to place, and none
 * is lost or there twice. conservation.c has the list of laws.
 *
 * Every amount of a law is counted on its own where it is kept (block_census, copies, the server's
 * lists), so that a slip in any of them shows at the next event, and at every later one. The server
 * looks in the build with the address sanitizer only: at every event of its first
 * CONSERVATION_STEPS steps, then at every 64th step. At every one tests against queueing theory,
 * which have millions of steps that compute nothing, took 1.6 times as long.
 */
#ifndef SERVE_CONSERVATION_H
#define SERVE_CONSERVATION_H

#include "serve/server_state.h"

#if defined(__SANITIZE_ADDRESS__) /* gcc */
#define CONSERVATION_IS_CHECKED 1
#elif defined(__has_feature) /* clang */
#define CONSERVATION_IS_CHECKED __has_feature(address_sanitizer)
#else
#define CONSERVATION_IS_CHECKED 0
#endif

enum { CONSERVATION_STEPS = 1 << 14 };

/* Abort, and name the law, where the server breaks one. Between events only: within one, blocks can
 * be in nobody's books. */
void conservation_assert(const struct server *server);

static inline void conservation_check(const struct server *server)
{
    uint64_t steps = server->totals->steps;
    if (CONSERVATION_IS_CHECKED && (steps < CONSERVATION_STEPS || steps % 64 == 0)) {
        conservation_assert(server);
    }
}

#endif
