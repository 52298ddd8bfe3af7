/* What a server misses, in words and units: "TTFT p99 4.2 s instead of 2s, and it falls behind". */
#ifndef CLI_ADVISE_ADVISE_MISS_H
#define CLI_ADVISE_ADVISE_MISS_H

#include "cli/advise/advise_words.h"
#include "study/plan/planning.h"

/* The limits that a run misses; "" if it meets all. A run without figures says why. Returns
 * `text`. */
const char *advise_misses(const struct targets *targets, const struct result *result,
                          char text[ADVISE_PHRASE]);

/* The figures that the limits bound: "TTFT p99 1.7 s of 2s, TPOT p99 38 ms of 50ms"; "" if nothing
 * is bounded but the queue. Returns `text`. */
const char *advise_meets(const struct targets *targets, const struct result *result,
                         char text[ADVISE_PHRASE]);

/* The lowest value tried above the one found that misses a limit, of a quest that searched the
 * highest rate; PLANNING_NONE if the search ended at its highest rate. */
uint32_t advise_next_miss(const struct quest *quest);

#endif
