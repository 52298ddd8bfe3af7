/* Turns and answers wait in calendars, the earliest first. A server whose turn was brought forward
 * by a request has an entry that is too late; it is recognised, because the server is not due then.
 */
#include "serve/fleet.h"

#include "base/array.h"
#include "engine/calendar.h"

#include <stdlib.h>

struct course {
    const struct fleet *fleet;
    struct calendar turns;     /* items: servers */
    struct calendar answers;   /* times at which clients have their answers */
    struct server_load *loads; /* [server_count] scratch */
    uint32_t sent;
};

static bool push(struct calendar *calendar, int64_t at_ns, uint32_t item, struct error *why)
{
    if (!calendar_reserve(calendar, calendar->count + 1, why)) {
        return false;
    }
    calendar_push(calendar, at_ns, item);
    return true;
}

/* When the next request is sent; INT64_MAX if none is left, or all clients wait. */
static int64_t next_send(const struct course *course)
{
    const struct fleet *fleet = course->fleet;
    if (course->sent == fleet->count) {
        return INT64_MAX;
    }
    uint32_t index = fleet->indices != NULL ? fleet->indices[course->sent] : course->sent;
    return fleet->clients > 0 ? calendar_next_ns(&course->answers)
                              : fleet->requests->all[index].arrival_ns;
}

/* When the next turn begins. Forgets entries that are too late. */
static int64_t next_turn(struct course *course)
{
    while (course->turns.count > 0) {
        const struct calendar_event event = course->turns.events[0];
        if (server_due(course->fleet->servers[calendar_item(event)]) == event.at_ns) {
            return event.at_ns;
        }
        calendar_pop(&course->turns);
    }
    return INT64_MAX;
}

static bool expect_turn(struct course *course, uint32_t server, struct error *why)
{
    int64_t due = server_due(course->fleet->servers[server]);
    return due == INT64_MAX || push(&course->turns, due, server, why);
}

static bool send(struct course *course, int64_t at_ns, struct error *why)
{
    const struct fleet *fleet = course->fleet;
    uint32_t index = fleet->indices != NULL ? fleet->indices[course->sent] : course->sent;
    uint32_t server = 0;
    if (fleet->balancer != NULL) {
        for (uint32_t i = 0; i < fleet->server_count; i++) {
            course->loads[i] = server_load(fleet->servers[i], at_ns);
        }
        server = balancer_choose(fleet->balancer, index, course->loads);
    }
    course->sent++;
    if (fleet->clients > 0) {
        calendar_pop(&course->answers);
    }
    int64_t due = server_due(fleet->servers[server]);
    return server_send(fleet->servers[server], index, at_ns, why) &&
           (server_due(fleet->servers[server]) == due || expect_turn(course, server, why));
}

/* The clients of these requests have their answers. */
static bool answer(struct course *course, uint32_t count, int64_t at_ns, struct error *why)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < count && course->fleet->clients > 0; i++) {
        ok = push(&course->answers, at_ns, 0, why);
    }
    return ok;
}

static bool turn(struct course *course, struct error *why)
{
    uint32_t server = calendar_item(calendar_pop(&course->turns));
    struct server_ends ends = {.refused = 0};
    return server_turn(course->fleet->servers[server], &ends, why) &&
           answer(course, ends.refused, ends.refused_ns, why) &&
           answer(course, ends.answered, ends.answered_ns, why) && expect_turn(course, server, why);
}

static bool run(struct course *course, struct error *why)
{
    for (;;) {
        int64_t send_ns = next_send(course), turn_ns = next_turn(course);
        if (send_ns == INT64_MAX && turn_ns == INT64_MAX) {
            return true;
        }
        if (!stop_flag_check(course->fleet->stop, why) ||
            !(send_ns <= turn_ns ? send(course, send_ns, why) : turn(course, why))) {
            return false;
        }
    }
}

bool fleet_run(const struct fleet *fleet, struct error *why)
{
    struct course course = {.fleet = fleet};
    course.loads = array_zeroed(fleet->server_count, sizeof *course.loads, why);
    bool ok = course.loads != NULL && answer(&course, fleet->clients, 0, why) && run(&course, why);
    for (uint32_t i = 0; ok && i < fleet->server_count; i++) {
        ok = server_finish(fleet->servers[i], why);
    }
    free(course.loads);
    calendar_release(&course.turns);
    calendar_release(&course.answers);
    return ok;
}
