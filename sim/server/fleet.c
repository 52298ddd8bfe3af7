/* Iterations and answers wait in calendars, the earliest first. A server whose iteration was
 * brought forward by a request has an entry that is too late; it is recognised, because the server
 * is not due then. */
#include "server/fleet.h"

#include "core/array.h"
#include "core/engine/calendar.h"

#include <stdlib.h>
#include <string.h>

struct fleet_course {
    const struct fleet *fleet;
    struct calendar iterations; /* items: servers */
    struct calendar answers;    /* times at which clients have their answers */
    struct calendar follow;     /* later turns that will be sent; items: requests */
    uint32_t *flying;           /* requests of sessions that have not ended */
    size_t flying_count, flying_capacity;
    struct server_load *loads; /* [server_count] scratch */
    uint32_t sent;             /* first turns, and later ones passed over */
};

static bool push(struct calendar *calendar, int64_t at_ns, uint32_t item, struct error *why)
{
    if (!calendar_reserve(calendar, calendar->count + 1, why)) {
        return false;
    }
    calendar_push(calendar, at_ns, item);
    return true;
}

static uint32_t index_at(const struct fleet *fleet, uint32_t place)
{
    return fleet->indices != NULL ? fleet->indices[place] : place;
}

/* Later turns are sent after the turn before. */
static void pass_turns(struct fleet_course *course)
{
    const struct fleet *fleet = course->fleet;
    while (course->sent < fleet->count &&
           fleet->requests->all[index_at(fleet, course->sent)].turn > 0) {
        course->sent++;
    }
}

/* When the next session begins; INT64_MAX if none is left, or all clients wait. */
static int64_t next_session(const struct fleet_course *course)
{
    const struct fleet *fleet = course->fleet;
    if (course->sent == fleet->count) {
        return INT64_MAX;
    }
    return fleet->clients > 0 ? calendar_next_ns(&course->answers)
                              : fleet->requests->all[index_at(fleet, course->sent)].arrival_ns;
}

/* When the next request is sent; INT64_MAX: none before another has ended. */
static int64_t next_send(const struct fleet_course *course)
{
    int64_t session = next_session(course), follow = calendar_next_ns(&course->follow);
    return follow < session ? follow : session;
}

/* When the next iteration begins. Forgets entries that are too late. */
static int64_t next_iteration(struct fleet_course *course)
{
    while (course->iterations.count > 0) {
        const struct calendar_event event = course->iterations.events[0];
        if (server_due(course->fleet->servers[calendar_item(event)]) == event.at_ns) {
            return event.at_ns;
        }
        calendar_pop(&course->iterations);
    }
    return INT64_MAX;
}

static bool expect_iteration(struct fleet_course *course, uint32_t server, struct error *why)
{
    int64_t due = server_due(course->fleet->servers[server]);
    return due == INT64_MAX || push(&course->iterations, due, server, why);
}

static uint32_t fleet_choose(struct fleet_course *course, uint32_t index, int64_t at_ns)
{
    const struct fleet *fleet = course->fleet;
    if (fleet->balancer == NULL) {
        return fleet->server_of != NULL ? fleet->server_of[index] : 0;
    }
    for (uint32_t i = 0; i < fleet->server_count; i++) {
        course->loads[i] = server_load(fleet->servers[i], at_ns);
    }
    return balancer_choose(fleet->balancer, index, course->loads);
}

static bool note_flying(struct fleet_course *course, uint32_t index, struct error *why)
{
    if (!course->fleet->requests->sessions) {
        return true;
    }
    if (!array_reserve(&course->flying, &course->flying_capacity, course->flying_count + 1,
                       sizeof *course->flying, why)) {
        return false;
    }
    course->flying[course->flying_count++] = index;
    return true;
}

/* A later turn comes before a session that begins at the same time. */
static uint32_t take_next(struct fleet_course *course)
{
    const struct fleet *fleet = course->fleet;
    if (calendar_next_ns(&course->follow) <= next_session(course)) {
        return calendar_item(calendar_pop(&course->follow));
    }
    uint32_t index = index_at(fleet, course->sent++);
    pass_turns(course);
    if (fleet->clients > 0) {
        calendar_pop(&course->answers);
    }
    return index;
}

static bool send(struct fleet_course *course, int64_t at_ns, struct error *why)
{
    uint32_t index = take_next(course), server = fleet_choose(course, index, at_ns);
    struct server *to = course->fleet->servers[server];
    int64_t due = server_due(to);
    return server_send(to, index, at_ns, why) && note_flying(course, index, why) &&
           (server_due(to) == due || expect_iteration(course, server, why));
}

/* The clients of these requests have their answers. */
static bool fleet_answer(struct fleet_course *course, uint32_t count, int64_t at_ns,
                         struct error *why)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < count && course->fleet->clients > 0; i++) {
        ok = push(&course->answers, at_ns, 0, why);
    }
    return ok;
}

/* A request of a session has ended: its user thinks, or the session is over. */
static bool fleet_follow(struct fleet_course *course, uint32_t index, int64_t at_ns,
                         struct error *why)
{
    const struct requests *requests = course->fleet->requests;
    uint32_t next = index + 1;
    if (next < requests->count && requests->all[next].turn > 0) {
        return push(&course->follow, at_ns + requests->all[next].think_ns, next, why);
    }
    return fleet_answer(course, 1, at_ns, why);
}

/* fleet_answer() where requests belong to sessions. Those that ended are among the first in flight:
 * the search ends with the last of them, or a long queue would be walked at every iteration. */
static bool answer_sessions(struct fleet_course *course, const struct server_ends *ends,
                            struct error *why)
{
    uint32_t *flying = course->flying, left = ends->refused + ends->answered;
    size_t kept = 0, seen = 0;
    bool ok = true;
    for (; ok && left > 0 && seen < course->flying_count; seen++) {
        const struct served *served = &course->fleet->served[flying[seen]];
        if (served->end_ns < 0 && !served->too_long) {
            flying[kept++] = flying[seen];
        } else {
            ok = fleet_follow(course, flying[seen],
                              served->too_long ? ends->refused_ns : served->end_ns, why);
            left--;
        }
    }
    if (kept < seen) {
        memmove(flying + kept, flying + seen, (course->flying_count - seen) * sizeof *flying);
    }
    course->flying_count -= seen - kept;
    return ok;
}

static bool answer_all(struct fleet_course *course, const struct server_ends *ends,
                       struct error *why)
{
    if (course->fleet->requests->sessions) {
        return answer_sessions(course, ends, why);
    }
    return fleet_answer(course, ends->refused, ends->refused_ns, why) &&
           fleet_answer(course, ends->answered, ends->answered_ns, why);
}

static bool fleet_iterate(struct fleet_course *course, struct error *why)
{
    uint32_t server = calendar_item(calendar_pop(&course->iterations));
    struct server_ends ends = {.refused = 0};
    return server_iterate(course->fleet->servers[server], &ends, why) &&
           answer_all(course, &ends, why) && expect_iteration(course, server, why);
}

static bool fleet_run_iterations(struct fleet_course *course, struct error *why)
{
    for (;;) {
        int64_t send_ns = next_send(course), iterate_ns = next_iteration(course);
        if (send_ns == INT64_MAX && iterate_ns == INT64_MAX) {
            return true;
        }
        if (!stop_flag_check(course->fleet->stop, why) ||
            !(send_ns <= iterate_ns ? send(course, send_ns, why) : fleet_iterate(course, why))) {
            return false;
        }
    }
}

bool fleet_run(const struct fleet *fleet, struct error *why)
{
    struct fleet_course course = {.fleet = fleet};
    course.loads = array_zeroed(fleet->server_count, sizeof *course.loads, why);
    pass_turns(&course);
    bool ok = course.loads != NULL && fleet_answer(&course, fleet->clients, 0, why) &&
              fleet_run_iterations(&course, why);
    for (uint32_t i = 0; ok && i < fleet->server_count; i++) {
        ok = server_finish(fleet->servers[i], why);
    }
    free(course.loads);
    calendar_release(&course.iterations);
    calendar_release(&course.answers);
    calendar_release(&course.follow);
    free(course.flying);
    return ok;
}
