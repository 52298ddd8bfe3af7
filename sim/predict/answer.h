/* The answer to a point of a scenario: a run of decode steps or of a server, with its identity. Only this
 * file distinguishes the two kinds. Its callers ask for the answer to a point, whichever kind it is. Nor do
 * they distinguish points with one trace from points with several families of recordings: there the answer is
 * made of a run with each. */
#pragma once

#include "predict/result/result.h"
#include "predict/decode/run.h"
#include "predict/scenario/point.h"

/* An answered point, which can be timed again. */
struct answer;

/* Run the point. `point` and `context` outlive the answer; the caller releases the result. NULL: none. */
struct answer *answer_open(const struct point *point, const struct run_context *context,
                           struct result *result, struct error *why);
void answer_close(struct answer *answer); /* NULL is fine */

/* answer_open() and answer_close() in one. */
bool answer_run(const struct point *point, const struct run_context *context, struct result *result,
                struct error *why);

/* Write the hashes of a point into its result, which was computed or read back from a store. */
void answer_seal(const struct run_hashes *hashes, struct result *result);

/* Time the answer again, with a point_view() of this family that differs only in its machine's figures and,
 * of a server, the seed. Only times and hits are written. Several threads may call this at once. */
bool answer_again(const struct answer *answer, uint32_t family, const struct point *view,
                  struct result *result, struct error *why);

/* What the run with this family gave; NULL if that is the answer's own result. */
const struct result *answer_planned(const struct answer *answer, uint32_t family);

/* run_setup_ranges() of the point_view() whose result is the answer's; of a point with a workload,
 * which needs `by`, serving_ranges(). A result without an answer has none. */
bool answer_ranges(const struct point *point, double by, const struct run_context *context,
                   const struct result *result, struct run_ranges *ranges, struct error *why);

/* ---- families ----
 *
 * The result of a point that several families of recordings answer (predict/scenario/resolve.h) is
 * that of one family, the one in the middle by time, so that its parts and stalls add
 * up to its step. Each figure that depends on demands (RANGED in columns.def) is the median over
 * the families; beside it stand the least and the most, and `families` has every family's own. The
 * range is what these families span; it promises nothing about another model. */

/* The family in the middle by the time of a step (a server: by time per output token), of an even number the
 * slower one. One that does not fit in memory counts as slowest; equal ones keep their order. */
uint32_t families_middle(const struct result *results, uint32_t count);

/* The family whose run an answer's result is, of what families_write() wrote; 0 without families. */
uint32_t families_chosen(const struct result *result);

/* Write medians, ranges and families into `out`, a result of one of them; `names` [count] are the recordings.
 * Where a family lacks a figure, or their number is even, it stays that of `out`. A note names those that do
 * not fit in memory. */
void families_write(const struct result *results, const char *const *names, uint32_t count,
                    struct result *out);

/* Write the attention mass of each family by step into `out`. Steps whose mass is not known have none. */
bool families_write_masses(const struct result *results, uint32_t count, struct result *out,
                           struct error *why);
