/* Progressive filling: every round stops at least one flow, so there are at most as many rounds as
 * flows. */
#include "serve/link_share.h"

#include <math.h>
#include <stdbool.h>

/* The flows of each limit: in, out, and both directions together. */
static const bool crosses[][LINK_FLOWS] = {
    {[LINK_LOADED] = true, [LINK_FETCHED] = true},
    {[LINK_SAVED] = true},
    {[LINK_LOADED] = true, [LINK_FETCHED] = true, [LINK_SAVED] = true},
};
enum { WAYS = sizeof crosses / sizeof *crosses };

/* By how much all growing flows can still grow, equally; INFINITY if none grows. */
static double next_stop(const double room[WAYS], const double most[LINK_FLOWS],
                        const double rate[LINK_FLOWS], const bool grows[LINK_FLOWS])
{
    double by = INFINITY;
    for (int way = 0; way < WAYS; way++) {
        int growing = 0;
        for (int flow = 0; flow < LINK_FLOWS; flow++) {
            growing += crosses[way][flow] && grows[flow];
        }
        by = growing > 0 ? fmin(by, room[way] / growing) : by;
    }
    for (int flow = 0; flow < LINK_FLOWS; flow++) {
        by = grows[flow] ? fmin(by, most[flow] - rate[flow]) : by;
    }
    return by;
}

void link_share(const struct link *link, const double most[LINK_FLOWS], double rate[LINK_FLOWS])
{
    const double least = 1e-9 * link->both; /* less room counts as none */
    double room[WAYS] = {link->in, link->out, link->both};
    bool grows[LINK_FLOWS];
    for (int flow = 0; flow < LINK_FLOWS; flow++) {
        rate[flow] = 0;
        grows[flow] = most[flow] > 0;
    }
    for (int round = 0; round < LINK_FLOWS + WAYS; round++) {
        double by = next_stop(room, most, rate, grows);
        if (!isfinite(by)) {
            return;
        }
        for (int flow = 0; flow < LINK_FLOWS; flow++) {
            rate[flow] += grows[flow] ? by : 0;
            for (int way = 0; way < WAYS; way++) {
                room[way] -= grows[flow] && crosses[way][flow] ? by : 0;
            }
        }
        for (int flow = 0; flow < LINK_FLOWS; flow++) {
            for (int way = 0; way < WAYS; way++) {
                grows[flow] = grows[flow] && !(crosses[way][flow] && room[way] <= least);
            }
            grows[flow] = grows[flow] && most[flow] - rate[flow] > least;
        }
    }
}
