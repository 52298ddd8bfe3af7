/* What a miniature has to come out with: attention to the same tokens in double precision.
 *
 * Of each KV head one query head is checked, another one each layer and step. Which tokens these
 * are is found without the runtime: what is wanted; what was wanted when the policy, played once
 * more, last fetched a set; or all, of which some are made. What gathers only is held against the
 * rows themselves.
 */
#ifndef CALIBRATE_MINI_CHECK_H
#define CALIBRATE_MINI_CHECK_H

#include "calibrate/mini/mini.h"

/* Tokens that a mechanism attends to. */
enum mini_tokens { MINI_WANTED, MINI_REUSED, MINI_WHOLE, MINI_MADE, MINI_TOKENS };

struct mini_check {
    const struct mini *mini;
    const struct policy_env *env;
    double *expected[MINI_TOKENS]; /* [steps][layers][kv_heads][head_dim], owned; NULL: not yet */
    double *products;              /* of made_products(), the same */
};

/* Hold what the last mini_play() left against what it should be. `worst`: largest difference of a
 * number of an output, as a share of the largest that values have; 0 of a mechanism that attends to
 * nothing. Fails where something is wrong, and names it. */
bool mini_check(struct mini_check *check, enum miniature_id id, double *worst, struct error *why);
void mini_check_release(struct mini_check *check);

#endif
