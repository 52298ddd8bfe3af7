/* The answer to a point of a scenario: a run of decode steps, or of a server; with its identity.
 *
 * This is the one place that tells both kinds apart. Everything above asks for the answer to a
 * point and does not care which kind it is.
 */
#ifndef SERVING_ANSWER_H
#define SERVING_ANSWER_H

#include "result/result.h"
#include "run/run.h"
#include "scenario/point.h"

/* A point that was answered, and can be timed again. */
struct answer;

/* Run the point. `point` and `context` outlive the answer. NULL on failure, and there is no result
 * then; else the caller releases the result. */
struct answer *answer_open(const struct point *point, const struct run_context *context,
                           struct result *result, struct error *why);
void answer_close(struct answer *answer); /* NULL is fine */

/* answer_open() and answer_close() in one. */
bool answer_run(const struct point *point, const struct run_context *context,
                struct result *result, struct error *why);

/* Time it again, as `point` says: the same one but for the figures of its machine; a server may
 * have another seed, too. Only times and hits are written. For an answer that has a time; several
 * threads may call it at once. */
bool answer_again(const struct answer *answer, const struct point *point, struct result *result,
                  struct error *why);

/* answer_run() of a point that does not serve, and run_setup_ranges() of it. */
bool answer_ranges(const struct point *point, double by, const struct run_context *context,
                   struct result *result, struct run_range **ranges, uint32_t *count,
                   struct error *why);

#endif
