#include "serving/backlog.h"

#include <math.h>

enum {
    SHARE = 20,    /* one in 20 */
    QUEUE = 2,     /* a single request waits for the running step */
    DEVIATIONS = 2 /* of the noise */
};

/* ---- the queue ------------------------------------------------------------------------ */

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

/* ---- the trend ------------------------------------------------------------------------ */

/* Requests in the server between two times: their mean number, and how many came. */
struct stay {
    double held, came;
};

static struct stay read_stay(const struct served *all, size_t count, int64_t from_ns, int64_t to_ns)
{
    struct stay stay = {0, 0};
    for (size_t i = 0; i < count; i++) {
        int64_t begin = all[i].arrived_ns > from_ns ? all[i].arrived_ns : from_ns;
        int64_t end = all[i].end_ns < to_ns ? all[i].end_ns : to_ns;
        if (!all[i].too_long) {
            stay.held += end > begin ? (double)(end - begin) : 0;
            stay.came += all[i].arrived_ns > from_ns && all[i].arrived_ns <= to_ns;
        }
    }
    stay.held /= (double)(to_ns - from_ns);
    return stay;
}

/* Of the difference of two stays, one after the other. */
static double variance(struct stay before, struct stay after)
{
    double held = (before.held + after.held) / 2, came = (before.came + after.came) / 2;
    return fmin(2 * held * held / came, 4 * came / 3);
}

/* The mean time in the server of the requests that came in the first quarter. */
static double first_times(const struct served *all, size_t count, int64_t last_ns)
{
    double sum = 0, came = 0;
    for (size_t i = 0; i < count; i++) {
        if (!all[i].too_long && all[i].arrived_ns <= last_ns / 4) {
            sum += (double)(all[i].end_ns - all[i].arrived_ns);
            came++;
        }
    }
    return came > 0 ? sum / came : 0;
}

static bool piles_up(const struct served *all, size_t count, int64_t last_ns)
{
    double filled = fmax((double)last_ns / 2, first_times(all, count, last_ns));
    if (filled > 0.75 * (double)last_ns) {
        return false;
    }
    int64_t from_ns = (int64_t)filled, middle_ns = from_ns + (last_ns - from_ns) / 2;
    if (middle_ns == from_ns || middle_ns == last_ns) {
        return false;
    }
    struct stay before = read_stay(all, count, from_ns, middle_ns);
    struct stay after = read_stay(all, count, middle_ns, last_ns);
    if (before.came <= 0 || after.came <= 0) {
        return false;
    }
    double came = (before.came + after.came) / 2, chance = DEVIATIONS * sqrt(2 * came);
    double faster = after.came - before.came > chance ? after.came / before.came : 1;
    double growth = after.held - before.held * faster;
    return growth >= QUEUE && SHARE * growth > came &&
           growth > DEVIATIONS * sqrt(variance(before, after));
}

bool backlog_waits(const struct served *all, size_t count, int64_t last_ns)
{
    return is_behind(all, count, last_ns / 2) && is_behind(all, count, last_ns);
}

bool backlog_grows(const struct served *all, size_t count, int64_t last_ns)
{
    return backlog_waits(all, count, last_ns) || piles_up(all, count, last_ns);
}
