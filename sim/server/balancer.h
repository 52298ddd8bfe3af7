/* A router that sees the load of the servers behind it (fleet.h): which one gets a request.
 *
 *   least-requests   fewest requests in flight; among equals the next in turn. nginx's least_conn.
 *   two-choices      the less loaded of two servers drawn at random (M. Mitzenmacher, "The Power of
 *                    Two Choices in Randomized Load Balancing", 2001); power_of_two of the routers
 *                    of SGLang and vLLM.
 *   prefix-load      cache_aware of SGLang's router, which is also vLLM's. If the most requests in
 *                    flight on a server exceed the fewest by more than `balance_abs` and by more
 *                    than `balance_rel` times, as least-requests. Else, if more than the share
 *                    `cache_threshold` of the prompt was sent to a server before, to the server
 *                    that was sent most of it. Else to the server that was sent fewest tokens.
 *   scores           llm-d's endpoint picker with its default scorers: the highest sum of 3 times
 *                    the share of the prompt that the server was sent before, 2 times its place
 *                    between the longest and the shortest queue (1: the shortest), and 2 times the
 *                    share of its KV memory that is free. Equals are drawn at random.
 *
 * Both of the last two know what they sent, not what a server still holds, and here they forget
 * nothing: real ones forget the oldest when their memory is full. Nothing is known of a prompt
 * without hashes. Where several servers were sent equally much, cache_aware takes any of them; here
 * it is the one with the fewest requests. Real routers see loads of up to 50 ms ago.
 */
#pragma once

#include "server/requests/requests.h"
#include "server/server.h"
#include "server/workload.h"

struct balancer;

/* For these requests and so many servers, by the routing of `workload`. NULL on failure. */
struct balancer *balancer_create(const struct workload *workload, uint32_t servers,
                                 const struct requests *requests, uint64_t seed, struct error *why);
void balancer_destroy(struct balancer *balancer); /* NULL is fine */

/* Which server gets request `index`. loads: [servers] */
uint32_t balancer_choose(struct balancer *balancer, uint32_t index,
                         const struct server_load *loads);
