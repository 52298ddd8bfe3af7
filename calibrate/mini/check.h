/* Checks the output of a miniature against attention to the same tokens in double precision.
 *
 * Of each KV head one query head is checked, a different one in each layer and step. The tokens are
 * found without the runtime: the wanted tokens; or the tokens of the policy's last fetch, found by
 * running the policy again; or all tokens, of which some have K and V made from activations. If a
 * mechanism only gathers, the gathered rows are compared.
 */
#pragma once

#include "calibrate/mini/mini.h"

/* Tokens that a mechanism attends to. */
enum mini_tokens { MINI_WANTED, MINI_REUSED, MINI_WHOLE, MINI_MADE, MINI_TOKENS };

struct mini_check {
    const struct mini *mini;
    const struct policy_env *env;
    double *expected[MINI_TOKENS]; /* [steps][layers][kv_heads][head_dim], owned; NULL: not yet */
    double *products;              /* from made_products(), owned; NULL: not yet */
};

/* Check the results of the last mini_play(). `worst` becomes the largest difference in an output,
 * as a share of the largest value; 0 for a mechanism that attends to nothing. Fails at a wrong
 * result, and names it. */
bool mini_check(struct mini_check *check, enum miniature_id id, double *worst, struct error *why);
void mini_check_release(struct mini_check *check);
