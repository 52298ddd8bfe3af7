/* Is a server asked for more than it can answer?
 *
 * Above a server's capacity requests pile up for as long as they arrive. Two signs show it; one is
 * enough.
 *
 * The queue. The share of arrived requests that wait depends on the load, not on the length of the
 * observation. So the queue is checked twice, at half the time of the arrivals and at their end. It
 * grows without bound if at both times more than a twentieth of the requests so far has not begun.
 * (The share is assumed, from a range of 2 % to 10 %: a smaller share reports queues of few
 * requests, a larger one misses servers that fall behind.) A single waiting request is not a queue,
 * however few have arrived: it waits for the end of a step. A burst shows at one of the two times
 * only, unless the server is too slow to work it off within half of the time.
 *
 * The trend. A server with room for many sequences begins all requests at once, and falls behind
 * nevertheless: what is in the server, waiting or not, grows. The time from the middle of the
 * arrivals to their end is halved, and the mean number of requests in the server compared. It grows
 * if the second half holds more, by two requests at least, by over a twentieth of the requests that
 * came in a half, and by over twice the noise. If N requests are in the server and A come in a
 * half, the difference of the means has a variance of 2 N^2 / A where a request is there for less
 * than a half, and of 4 A / 3 where it is there for longer and arrivals and ends are independent
 * (M/G/infinity). Requests that come faster, by more than chance, may be more in proportion.
 * Filling up is no trend: the time begins later if the first requests took longer than half of the
 * arrivals, and too short a rest says nothing.
 */
#ifndef SERVING_BACKLOG_H
#define SERVING_BACKLOG_H

#include "serve/server.h"

/* Do these `count` requests pile up without bound? Requests that are too long for any server are
 * ignored. The last request arrived at `last_ns`. */
bool backlog_grows(const struct served *all, size_t count, int64_t last_ns);

/* The first of the two signs alone, for requests that come ever more often as sessions begin. */
bool backlog_waits(const struct served *all, size_t count, int64_t last_ns);

#endif
