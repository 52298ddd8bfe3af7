/* Made-up requests whose number nobody stated: there can be more of them.
 *
 * If requests arrive for less than ten times as long as one takes, the server may not sustain the
 * rate that was found (predict/server/serving_load.h). Then a search takes more requests. */
#pragma once

#include "predict/scenario/scenario.h"

/* Each search has at least half as many requests again as its answer needs. A rate that needs more
 * than LENGTHEN_MOST is left with its note; a fleet serves as many as that. */
enum { LENGTHEN_MOST = 100000 };

/* While the first sessions go on and the last ones end, fewer requests come than were asked for. So
 * a search of sessions has at least LENGTHEN_SESSIONS requests; of a highest rate at most
 * LENGTHEN_SESSIONS_MOST, for it tries many rates, and the answer says which rate these do not
 * show. */
enum { LENGTHEN_SESSIONS = 2500, LENGTHEN_SESSIONS_MOST = 10000 };

/* Are the requests made up, as many as there are by default? */
bool lengthen_may(const struct scenario *scenario);

bool lengthen_has_sessions(const struct scenario *scenario);

/* `needed` requests and the spare ones. */
uint64_t lengthen_spare(uint64_t needed);

/* Give the scenario so many requests. */
bool lengthen_set(struct scenario *scenario, uint64_t requests, struct error *why);
