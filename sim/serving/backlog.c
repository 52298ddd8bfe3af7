#include "serving/backlog.h"

enum {
    SHARE = 20, /* one in 20 */
    QUEUE = 2,  /* a single request waits for the running step */
};

/* Do enough requests wait to be a queue, and more than their share of those that arrived? */
static bool is_behind(const struct served *all, size_t count, int64_t at_ns)
{
    uint64_t came = 0, waiting = 0;
    for (size_t i = 0; i < count; i++) {
        bool here = !all[i].too_long && all[i].arrived_ns <= at_ns;
        came += here;
        waiting += here && all[i].scheduled_ns > at_ns;
    }
    return waiting >= QUEUE && SHARE * waiting > came;
}

bool backlog_grows(const struct served *all, size_t count, int64_t last_ns)
{
    return is_behind(all, count, last_ns / 2) && is_behind(all, count, last_ns);
}
