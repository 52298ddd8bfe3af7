/* Is a server asked for more than it can answer?
 *
 * Requests above a server's capacity pile up for as long as they arrive. The share of arrived
 * requests that wait then depends on the load, not on the length of the observation. So the queue
 * is checked twice, at half the time of the arrivals and at their end. It grows without bound if at
 * both times more than a twentieth of the requests so far has not begun. (The share is assumed,
 * from a range of 2 % to 10 %: a smaller share reports queues of few requests, a larger one misses
 * servers that fall behind.) A single waiting request is not a queue, however few have arrived: it
 * waits for the end of a step. A burst shows at one of the two times only, unless the server is too
 * slow to work it off within half of the time.
 */
#ifndef SERVING_BACKLOG_H
#define SERVING_BACKLOG_H

#include "serve/server.h"

/* Does the queue of these `count` requests grow without bound? Requests that are too long for any
 * server are ignored. The last request arrived at `last_ns`. */
bool backlog_grows(const struct served *all, size_t count, int64_t last_ns);

#endif
