/* Made-up requests whose number nobody stated: there can be more of them.
 *
 * If requests arrive for less than ten times as long as one takes, the server may not sustain the
 * rate that was found (serving/serving_outcome.h). Then a search takes more requests. */
#ifndef STUDY_PLAN_LENGTHEN_H
#define STUDY_PLAN_LENGTHEN_H

#include "scenario/scenario.h"

/* Each search has at least half as many requests again as its answer needs. A rate that needs more
 * than LENGTHEN_MOST is left with its note; a hire serves as many as that. */
enum { LENGTHEN_MOST = 100000 };

/* While the first sessions go on and the last ones end, fewer requests come than were asked for.
 * Assumed: among so many requests this counts little. */
enum { LENGTHEN_SESSIONS = 20000 };

/* Are the requests made up, as many as there are by default? */
bool lengthen_may(const struct scenario *scenario);

bool lengthen_has_sessions(const struct scenario *scenario);

/* `needed` requests and the spare ones. */
uint64_t lengthen_spare(uint64_t needed);

/* Give the scenario so many requests. */
bool lengthen_lay(struct scenario *scenario, uint64_t requests, struct error *why);

#endif
