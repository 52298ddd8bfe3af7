/* What a server's settings mean together. Facts that are no key of a scenario become keys: kv_blocks of
 * block_tokens the KV pool, whole_experts the ranks of experts, shared_ranks and rank_count the ways in
 * which SGLang counts GPUs; and the program its preset. */
#pragma once

#include "predict/command/server_setting.h"

/* Fill in the keys that follow from everything that was said; the program is known. Fails if no
 * version of it is known. */
bool server_complete(struct server_text *said, struct error *why);
