/* The answer to a point of a scenario: a run of decode steps or of a server, with its identity.
 *
 * Only this file distinguishes the two kinds. Its callers ask for the answer to a point, whichever
 * kind it is. Nor do they distinguish points with one trace from points with several families of
 * recordings (predict/families.h): there the answer is made of a run with each.
 */
#pragma once

#include "decode/error_band.h"
#include "predict/result/result.h"
#include "predict/decode/run.h"
#include "predict/scenario/point.h"

/* An answered point, which can be timed again. */
struct answer;

/* Run the point. `point` and `context` outlive the answer. The caller releases the result. On
 * failure returns NULL, and there is no result. */
struct answer *answer_open(const struct point *point, const struct run_context *context,
                           struct result *result, struct error *why);
void answer_close(struct answer *answer); /* NULL is fine */

/* answer_open() and answer_close() in one. */
bool answer_run(const struct point *point, const struct run_context *context, struct result *result,
                struct error *why);

/* Write the hashes of a point into its result, which was computed or read back from a store. */
void answer_seal(const struct run_hashes *hashes, struct result *result);

/* Time the answer again. `view` is a point_view() of the point with this family; it may differ from
 * that only in the figures of its machine and, for a server, in its seed. Only times and hits are
 * written. The answer must have a time. Several threads may call this at once. */
bool answer_again(const struct answer *answer, uint32_t family, const struct point *view,
                  struct result *result, struct error *why);

/* What the run with this family gave; NULL if that is the answer's own result. */
const struct result *answer_planned(const struct answer *answer, uint32_t family);

/* run_setup_ranges() of the point_view() whose result is the answer's; of a point with a workload,
 * which needs `by`, serving_ranges(). A result without an answer has none. */
bool answer_ranges(const struct point *point, double by, const struct run_context *context,
                   const struct result *result, struct run_ranges *ranges, struct error *why);
