/* Room that admission leaves for outputs to come, as SGLang does it (server_path.h, `reserves`), or
 * as TensorRT-LLM does (`reserves_all`), which leaves room for all of them: its policy
 * GUARANTEED_NO_EVICT.
 *
 * SGLang admits a request only if its prompt and its whole output fit beside a share of what the
 * running requests may still generate; at most 4096 tokens of each output count. The share falls
 * from 0.7 to 0.14 times that in 600 decode steps. When requests had to be put back, it is what the
 * remaining ones have generated, 20 tokens more each, over their whole outputs. It begins again
 * when nothing runs.
 *
 * SGLang 0.5.9: managers/schedule_policy.py (PrefillAdder), managers/schedule_batch.py
 * (retract_decode), environ.py. An output's limit is taken to be its length.
 */
#pragma once

#include "server/server_state.h"

/* Tokens for which admission leaves room now: the rest of running prompts, and the share of
 * outputs. Begins again if nothing runs. 0 if the engine reserves nothing. */
double reserve_begin(struct server *server);

/* Does the front of the queue fit beside `*reserved` tokens? If so, adds its output to them. Where
 * nothing runs it always fits, so that a request which takes the whole memory can run. */
bool reserve_fits(const struct server *server, const struct sequence *front, double *reserved);

/* A step decodes; sequences were put back for it, or not. */
void reserve_decode(struct server *server, bool put_back);
