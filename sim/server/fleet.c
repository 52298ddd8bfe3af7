/* Iterations and answers wait in calendars. An entry of a server that was brought forward is too late. */
#include "server/fleet.h"

#include "core/engine/calendar.h"
#include "server/requests/stream.h"

#include <string.h>

struct fleet_state {
    const struct fleet *fleet;
    struct calendar iterations; /* items: servers */
    struct calendar answers;    /* times at which clients have their answers */
    struct calendar follow;     /* later turns that will be sent; items: requests */
    uint32_t *flying;           /* requests of sessions that have not ended */
    size_t flying_count, flying_capacity;
    struct server_load *loads; /* [server_count] scratch */
    uint32_t sent;             /* first turns, and later ones passed over */
    uint32_t begun;            /* clients that have begun */
    uint32_t looks;            /* of a stream, that are to come before its end */
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
static void pass_turns(struct fleet_state *state)
{
    const struct fleet *fleet = state->fleet;
    while (state->sent < fleet->count &&
           !stream_begins(fleet->requests, index_at(fleet, state->sent))) {
        state->sent++;
    }
}

/* When the next session begins; INT64_MAX if none is left, or all clients wait. */
static int64_t next_session(const struct fleet_state *state)
{
    const struct fleet *fleet = state->fleet;
    if (state->sent == fleet->count) {
        return INT64_MAX;
    }
    return fleet->clients > 0 ? calendar_next_ns(&state->answers)
                              : fleet->requests->all[index_at(fleet, state->sent)].arrival_ns;
}

/* When the next iteration begins. Forgets entries that are too late. */
static int64_t next_iteration(struct fleet_state *state)
{
    while (state->iterations.count > 0) {
        const struct calendar_event event = state->iterations.events[0];
        if (server_due(state->fleet->servers[calendar_item(event)]) == event.at_ns) {
            return event.at_ns;
        }
        calendar_pop(&state->iterations);
    }
    return INT64_MAX;
}

static bool expect_iteration(struct fleet_state *state, uint32_t server, struct error *why)
{
    int64_t due = server_due(state->fleet->servers[server]);
    return due == INT64_MAX || push(&state->iterations, due, server, why);
}

static uint32_t fleet_choose(struct fleet_state *state, uint32_t index, int64_t at_ns)
{
    const struct fleet *fleet = state->fleet;
    if (fleet->balancer == NULL) {
        return fleet->server_of != NULL ? fleet->server_of[index] : 0;
    }
    for (uint32_t i = 0; i < fleet->server_count; i++) {
        state->loads[i] = server_load(fleet->servers[i], at_ns);
    }
    return balancer_choose(fleet->balancer, index, state->loads);
}

static bool note_flying(struct fleet_state *state, uint32_t index, struct error *why)
{
    if (!state->fleet->requests->sessions) {
        return true;
    }
    if (!array_reserve(&state->flying, &state->flying_capacity, state->flying_count + 1,
                       sizeof *state->flying, why)) {
        return false;
    }
    state->flying[state->flying_count++] = index;
    return true;
}

/* A later turn comes before a session that begins at the same time. */
static uint32_t take_next(struct fleet_state *state)
{
    const struct fleet *fleet = state->fleet;
    if (calendar_next_ns(&state->follow) <= next_session(state)) {
        return calendar_item(calendar_pop(&state->follow));
    }
    uint32_t index = index_at(fleet, state->sent++);
    pass_turns(state);
    if (fleet->clients > 0) {
        calendar_pop(&state->answers);
    }
    return index;
}

/* Once all that warm are sent, the other clients begin. */
static bool join_clients(struct fleet_state *state, int64_t at_ns, struct error *why)
{
    const struct fleet *fleet = state->fleet;
    bool joins = state->sent == fleet->count || index_at(fleet, state->sent) >= fleet->warm,
         ok = true;
    for (; ok && joins && state->begun < fleet->clients; state->begun++) {
        ok = push(&state->answers, at_ns, 0, why);
    }
    return ok;
}

static bool send(struct fleet_state *state, int64_t at_ns, struct error *why)
{
    uint32_t index = take_next(state), server = fleet_choose(state, index, at_ns);
    struct server *to = state->fleet->servers[server];
    int64_t due = server_due(to);
    return join_clients(state, at_ns, why) && server_send(to, index, at_ns, why) &&
           note_flying(state, index, why) &&
           (server_due(to) == due || expect_iteration(state, server, why));
}

/* The clients of these requests have their answers. */
static bool fleet_answer(struct fleet_state *state, uint32_t count, int64_t at_ns,
                         struct error *why)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < count && state->fleet->clients > 0; i++) {
        ok = push(&state->answers, at_ns, 0, why);
    }
    return ok;
}

/* fleet_answer() with sessions: those that ended are among the first in flight, where the search ends. */
static bool answer_sessions(struct fleet_state *state, const struct server_ends *ends,
                            struct error *why)
{
    const struct requests *requests = state->fleet->requests;
    uint32_t *flying = state->flying, left = ends->refused + ends->answered;
    size_t kept = 0, seen = 0;
    bool ok = true;
    for (; ok && left > 0 && seen < state->flying_count; seen++) {
        const struct served *served = &state->fleet->served[flying[seen]];
        if (served->end_ns < 0 && !served->too_long) {
            flying[kept++] = flying[seen];
        } else {
            int64_t at_ns = served->too_long ? ends->refused_ns : served->end_ns;
            uint32_t next = flying[seen] + 1; /* its user thinks, or the session is over */
            ok = next < requests->count && requests->all[next].turn > 0
                     ? push(&state->follow, at_ns + requests->all[next].think_ns, next, why)
                     : fleet_answer(state, 1, at_ns, why);
            left--;
        }
    }
    if (kept < seen) {
        memmove(flying + kept, flying + seen, (state->flying_count - seen) * sizeof *flying);
    }
    state->flying_count -= seen - kept;
    return ok;
}

static bool fleet_iterate(struct fleet_state *state, struct error *why)
{
    uint32_t server = calendar_item(calendar_pop(&state->iterations));
    struct server_ends ends = {.refused = 0};
    if (!server_iterate(state->fleet->servers[server], &ends, why)) {
        return false;
    }
    bool ok = state->fleet->requests->sessions
                  ? answer_sessions(state, &ends, why)
                  : fleet_answer(state, ends.refused, ends.refused_ns, why) &&
                        fleet_answer(state, ends.answered, ends.answered_ns, why);
    return ok && expect_iteration(state, server, why);
}

/* Is a stream, of which so much was sent, over? */
static bool look(struct fleet_state *state, int64_t now_ns, bool *enough, struct error *why)
{
    const struct fleet *fleet = state->fleet;
    *enough = fleet->is_stream && state->sent == fleet->count;
    if (*enough || state->looks == 0 || state->sent < stream_look(fleet->count, state->looks)) {
        return true;
    }
    return fleet->look(state->looks--, now_ns, enough, fleet->context, why);
}

static bool fleet_run_iterations(struct fleet_state *state, int64_t *end_ns, struct error *why)
{
    for (;;) {
        int64_t session_ns = next_session(state), follow_ns = calendar_next_ns(&state->follow);
        int64_t send_ns = follow_ns < session_ns ? follow_ns : session_ns;
        int64_t iterate_ns = next_iteration(state);
        bool enough = false;
        if (!look(state, *end_ns, &enough, why)) {
            return false;
        }
        if (enough || (send_ns == INT64_MAX && iterate_ns == INT64_MAX)) {
            return true;
        }
        *end_ns = send_ns <= iterate_ns ? send_ns : *end_ns;
        if (!stop_flag_check(state->fleet->stop, why) ||
            !(send_ns <= iterate_ns ? send(state, send_ns, why) : fleet_iterate(state, why))) {
            return false;
        }
    }
}

/* Clients begin together; those of a stream when their first requests come. */
static bool begin_clients(struct fleet_state *state, struct error *why)
{
    const struct fleet *fleet = state->fleet;
    bool ok = true, fewer = fleet->warm_clients > 0 && fleet->warm_clients < fleet->clients;
    state->begun = fewer ? fleet->warm_clients : fleet->clients;
    for (uint32_t i = 0; ok && i < state->begun; i++) {
        bool comes = fleet->is_stream && i < fleet->count;
        ok = push(&state->answers, comes ? fleet->requests->all[index_at(fleet, i)].arrival_ns : 0,
                  0, why);
    }
    return ok;
}

bool fleet_run(const struct fleet *fleet, int64_t *end_ns, struct error *why)
{
    struct fleet_state state = {
        .fleet = fleet, .looks = fleet->is_stream && fleet->look != NULL ? STREAM_LOOKS : 0};
    *end_ns = 0;
    state.loads = array_zeroed(fleet->server_count, sizeof *state.loads, why);
    pass_turns(&state);
    bool ok = state.loads != NULL && begin_clients(&state, why) &&
              fleet_run_iterations(&state, end_ns, why);
    for (uint32_t i = 0; ok && i < fleet->server_count; i++) {
        ok = server_finish(fleet->servers[i], fleet->is_stream, why);
    }
    free(state.loads);
    calendar_release(&state.iterations);
    calendar_release(&state.answers);
    calendar_release(&state.follow);
    free(state.flying);
    return ok;
}
