/* The scheduler of a server: who waits, who is admitted, and which tokens a step computes.
 *
 * Running sequences come first, each with one token or the next chunk of its prompt; then waiting
 * requests are admitted in order, preempted ones first (server.h).
 */
#ifndef SERVE_SCHEDULE_H
#define SERVE_SCHEDULE_H

#include "serve/server_state.h"

/* Tokens of the prompt, and those generated so far. */
uint64_t sequence_known_tokens(const struct server *server, const struct sequence *sequence);

/* When the next request that was sent arrives; INT64_MAX if there is none. */
int64_t schedule_next_arrival(const struct server *server);

/* Put the requests that have arrived into the queue. */
void schedule_arrive(struct server *server);

/* Requests in the queue, preempted ones too. */
uint32_t schedule_waiting(const struct server *server);

/* Give the next step its tokens: sets the chunk of each running sequence, and admits others. */
void schedule_step(struct server *server);

#endif
