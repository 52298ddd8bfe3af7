/* The scheduler of a server: who waits, who is admitted, and which tokens a step computes.
 *
 * Running sequences come first, each with one token or the next chunk of its prompt; then waiting
 * requests are admitted in order, preempted ones first (server.h). So does vLLM. SGLang computes
 * prompts alone (server_path.h): chunks and new requests first, and a step of decodes only when
 * there are none, or no room for them.
 *
 * vLLM 0.19.0: v1/core/sched/scheduler.py, with long_prefill_token_threshold 0, its default. SGLang
 * 0.5.9: managers/scheduler.py (get_next_batch_to_run), without --enable-mixed-chunk. Here a
 * request that ends frees its blocks for the next step; engines that overlap steps free them a step
 * later.
 */
#pragma once

#include "server/server_state.h"

/* Tokens of the prompt, and those generated so far. */
uint64_t sequence_known_tokens(const struct server *server, const struct sequence *sequence);

/* The next request that was sent, if there is one, enters the API process. Call it when a request
 * is sent and none is before it. */
void schedule_notice(struct server *server);

/* When the engine has the next request that was sent; INT64_MAX if there is none. */
int64_t schedule_next_arrival(const struct server *server);

/* Put the requests that the engine has at `until_ns` into the queue. */
void schedule_arrive(struct server *server, int64_t until_ns);

/* Requests in the queue, preempted ones too. */
uint32_t schedule_waiting(const struct server *server);

/* Give the next step its tokens: sets the chunk of each running sequence, and admits others. */
void schedule_step(struct server *server);
