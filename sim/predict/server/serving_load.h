/* Does a server sustain the load of a run? */
#pragma once

#include "predict/server/serving_result.h"

/* Write the rate at which requests came, and whether the queue grows. The result has its times already. */
bool serving_write_load(const struct point *point, const struct requests *requests,
                        const struct served *all, struct result *result, struct error *why);

/* The same of a stream, whose requests count in a window: `counted` of them. With its figures' intervals. */
void serving_write_steady(const struct requests *requests, const struct served *all,
                          const struct serving_window *window, uint64_t counted,
                          struct result *result);

/* Does the work that a stream's servers owe grow without bound?
 *
 * Two signs show it; one is enough.
 *
 * A queue that stands. The queue of a server that keeps up is empty again and again. It stands if it was not
 * empty in the last twentieth of the time that is judged. Its server is full then, and begins as many requests as
 * it can, whoever comes. So those that begin are compared with those that are asked for in the mean. Those that
 * came say less: they are drawn, and sessions that wait bring their next turns later. What is left of chance is
 * how long requests take; how many begin in each of 20 parts of the time tells how much that is (stationary.h).
 *
 *   grows   Fewer begin than are asked for, by one and a half times the interval's half.
 *   open    Nothing shows that more begin, by a hundredth and by half of that half, in a quarter of the time.
 *
 * Owed turns. A server with room for many sequences falls behind without a queue. It owes the requests in it, and
 * the later turns of the sessions that have begun. Nine tenths of the time it owes more than its usual number, to
 * which a server that keeps up returns. A server that breaks down does not, and it may hold for thousands of
 * requests before. So only the time since the usual number was last owed is judged, however short it is.
 *
 *   grows   More came than ended, by a hundredth of what came and by three deviations of chance. And the rise is
 *           more than twice as high as any before, which the server worked off.
 *   open    The same, but the rise is only the highest so far.
 *
 * A longer run tells what is open. The longest that is worth it counts as one that grows: that a server keeps up
 * has to be shown. The shares and the multiples are assumed. Of 64 000 drawn requests 1 % above what a server
 * answers, 98 runs in 100 grow or are open; 3 % below it, one in 100. */
struct stream_growth {
    bool grows, open;
};

/* Judge the time between the warm-up and the end of the run; `asked` requests a second are asked for. False: out
 * of memory. */
bool serving_stream_growth(const struct requests *requests, const struct served *all,
                           size_t servers, double asked, int64_t from_ns, int64_t to_ns,
                           struct stream_growth *out, struct error *why);

/* Does its queue grow without bound? Then times to a first token are only as long as the run. */
static inline bool serving_grows(const struct result *result)
{
    return result_cell(result, COLUMN(queue_grows))->integer > 0;
}

/* Does the server hold requests back? It does if the median wait in the queue is more than half of
 * the median TTFT, and more than four times the median TPOT: then TTFT is the length of a queue.
 * (Four, assumed: a request that finds room waits for the step under way, and perhaps for one or
 * two that are scheduled already.) False for a result without these times. */
bool serving_saturated(const struct result *result);
bool serving_waits_for_room(double queue_ns, double ttft_ns, double tpot_ns);

enum band_load serving_band_load(const struct result *result); /* whose error bands it has */

/* Are the run's sessions too few for the rate that was asked for, and served? Then growth is unknown. */
bool serving_sessions_lack(const struct result *result);

/* Is a server asked for more than it can answer?
 *
 * Above a server's capacity requests pile up for as long as they arrive. Two signs show it; one is enough.
 *
 * The queue. A stable server's queue empties again and again, and after a burst the server answers more
 * requests than come in the mean. So servers are looked at whose queue is never empty in the second half of
 * the arrivals: they are full then, and what they answer hardly depends on chance. Since such a queue was
 * last empty, and the server had the time to fill, as many requests are expected to end as come in the mean
 * of the whole run. The queue grows without bound if over all servers fewer end, by at least two and by more
 * than a fiftieth of half of the requests. Where a rate was asked for and fewer came, they count; where more
 * came, by chance, the rate does. (The fiftieth is assumed. Less would report queues that grow by few
 * requests, more would miss a server that is asked for 3 % more than it answers.)
 *
 * The trend. A server with room for many sequences begins all requests at once, and falls behind
 * nevertheless: more and more of them run. The time from the middle of the arrivals to their end is halved,
 * and the mean number of running requests compared. It grows if the second half holds more, by two requests
 * at least, by over a twentieth of the requests that came in a half, and by over twice the noise. If N
 * requests run and A come in a half, the difference of the means has a variance of 2 N^2 / A where a request
 * is there for less than a half, and of 4 A / 3 where it is there for longer and arrivals and ends are
 * independent (M/G/infinity). Requests that come faster, by more than chance, may be more in proportion. And
 * what came beyond the first half does not count, by chance or not, as all of it may be there still: near its
 * capacity a server answers a few more requests so much later that its noise is far above the variance.
 * Filling up is no trend: the time begins later if the first requests took longer than half of the arrivals,
 * and too short a rest says nothing. */

/* Do these `count` requests pile up without bound? Requests that are too long for any server, and those
 * of a stream that were never sent, are ignored. The last request arrived at `last_ns`.
 *   rate    requests a second that were asked for; 0: as many as came
 *   grows   out
 * Returns false if memory runs out. */
bool backlog_grows(const struct served *all, size_t count, int64_t last_ns, double rate,
                   bool *grows, struct error *why);
