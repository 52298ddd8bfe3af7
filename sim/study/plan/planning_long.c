/* A search whose made-up workload is long enough for its answer (lengthen.h): it is made again with
 * as many requests as the answer needs, until that suffices.
 */
#include "study/plan/planning.h"

#include "predict/server/serving_load.h"
#include "study/plan/lengthen.h"

enum { ROUNDS = 6 };

/* Of sessions: as many as show the next higher rate that was tried. The highest rate may be far
 * above it, so that they are doubled at least. */
static uint64_t sessions_wanted(const struct planning *planning, const struct search *winner)
{
    uint32_t miss = search_next_miss(winner);
    if (planning->requests == 0) {
        return LENGTHEN_SESSIONS;
    }
    if (miss == PLANNING_NONE || planning->requests >= LENGTHEN_SESSIONS_MOST ||
        !serving_sessions_lack(&winner->results[miss])) {
        return 0;
    }
    double rate = search_value(winner, planning->maximise, miss)->number;
    double session = serving_session_s(&winner->results[miss], rate);
    uint64_t more = lengthen_spare(serving_lasting(rate, session));
    more = more > 2 * planning->requests ? more : 2 * planning->requests;
    return more < LENGTHEN_SESSIONS_MOST ? more : LENGTHEN_SESSIONS_MOST;
}

/* Requests that the answer needs; 0: it has enough, or there is none. */
static uint64_t wanted(const struct scenario *scenario, const struct planning *planning)
{
    if (planning->winner == PLANNING_NONE) {
        return 0;
    }
    const struct search *winner = &planning->searches[planning->winner];
    if (lengthen_has_sessions(scenario)) {
        return sessions_wanted(planning, winner);
    }
    return lengthen_spare(serving_requests_wanted(&winner->results[winner->found]));
}

/* The scenario has `more` requests. */
static bool run_longer(const struct scenario *scenario, const struct planning_options *options,
                       uint64_t more, struct planning *out, bool *interrupted, struct error *why)
{
    struct scenario longer;
    bool good = scenario_copy(scenario, &longer, why) && lengthen_set(&longer, more, why);
    planning_release(out);
    good = good && planning_run(&longer, options, out, interrupted, why);
    out->requests = more;
    scenario_release(&longer);
    return good;
}

bool planning_run_long(const struct scenario *scenario, const struct planning_options *options,
                       struct planning *out, bool *interrupted, struct error *why)
{
    struct planning_options with = *options;
    with.may_lengthen = lengthen_may(scenario);
    bool good = planning_run(scenario, &with, out, interrupted, why);
    for (int round = 0; good && !*interrupted && round < ROUNDS && with.may_lengthen; round++) {
        uint64_t more = wanted(scenario, out);
        if (more == 0 || more > LENGTHEN_MOST) {
            break;
        }
        good = run_longer(scenario, options, more, out, interrupted, why);
    }
    return good;
}
