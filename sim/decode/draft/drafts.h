/* Speculative decoding: a step verifies drafted tokens, and yields those that the model accepts.
 *
 *     step      |..draft's passes..|..one verification of n + 1 rows a sequence..|
 *     yields    the accepted drafts, in order up to the first rejected one, and one token more
 *
 * Of `count` = n drafts a step accepts a, 0 ... n, with the probability accepted[a]; it yields
 * a + 1 tokens. Drafts are a chain: the second one can be accepted only after the first. Trees of
 * drafts are not modelled.
 *
 * Y. Leviathan, M. Kalman, Y. Matias, "Fast Inference from Transformers via Speculative Decoding",
 * ICML 2023 (arXiv:2211.17192): equation 1 is drafts_tokens() of one rate.
 *
 * The method says what drafts cost (draft_method.h).
 */
#pragma once

#include "core/error.h"
#include "decode/draft/draft_method.h"

#include <stdbool.h>
#include <stdint.h>

enum { DRAFTS_MOST = 32 };

/* Demands of rejected drafts are in no recording. They lie between two bounds. */
enum drafts_rejected {
    REJECTED_ADJACENT, /* those of the recorded steps that follow, as of accepted drafts */
    REJECTED_BEFORE,   /* those of the step before: nothing beyond them */
};
extern const char *const drafts_rejected_names[]; /* ends with NULL */

struct drafts {
    uint32_t count;                   /* drafted tokens of a sequence in a step; 0: none */
    double accepted[DRAFTS_MOST + 1]; /* probabilities, which add up to 1 */
    enum draft_method method;
    struct model *model; /* of DRAFT_MODEL; owned. NULL: another method */
    uint64_t overhead;   /* ns of CPU time a drafted token, which the GPU waits for */
    enum drafts_rejected rejected;
    char source[256]; /* of published lengths, with its configuration; "": the user's */
};

/* Each of `count` drafts is accepted with probability `rate`, if those before it were. */
void drafts_set_rate(struct drafts *drafts, uint32_t count, double rate);

/* Draft i is accepted in the share shares[i] of steps, as vLLM prints it by position. Shares fall
 * from position to position; `count` of them are read. */
void drafts_set_positions(struct drafts *drafts, uint32_t count, const double *shares);

/* The rate at which `count` drafts yield `tokens` tokens a step, 1 ... count + 1. */
double drafts_rate_of(uint32_t count, double tokens);

/* Tokens that a step yields on average, 1 ... count + 1. */
double drafts_tokens(const struct drafts *drafts);

/* Drafts that step `step` accepts, 0 ... count: the quantile of the distribution at a number which
 * `seed` and `step` alone decide. So equal steps of two setups compare: better drafts are never
 * accepted less often. Numbers of successive steps lie evenly: a short run accepts its share. */
uint32_t drafts_accepted(const struct drafts *drafts, uint64_t seed, uint64_t step);

void drafts_release(struct drafts *drafts);
