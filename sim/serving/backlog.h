/* Is a server asked for more than it can answer?
 *
 * What comes beyond what it serves piles up in front of it for as long as that goes on: of the
 * requests that came a share waits that hangs on the load, not on how long one looks. So it is
 * looked at twice, at half the time of the arrivals and at their end: the queue grows without bound
 * where at both more than a twentieth of what came by then has not begun (assumed, of 2 % to 10 %:
 * less is a queue of few requests, more lets servers pass that fall behind). A single one is no
 * queue, however few came: who has just come waits for the end of a step. A burst is seen at one of
 * both alone, unless the server is too slow to work it off within half of that time.
 */
#ifndef SERVING_BACKLOG_H
#define SERVING_BACKLOG_H

#include "serve/server.h"

/* Of `count` requests, of which those that are too long for any server do not count; the last one
 * arrived at `last_ns`. */
bool backlog_grows(const struct served *all, size_t count, int64_t last_ns);

#endif
