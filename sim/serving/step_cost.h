/* How long a step of a server takes: the decode pipeline's time, and what prompts add to it.
 *
 * Of a step with B sequences that decode, which attend to K tokens in all, and chunks of P tokens
 * of prompts:
 *
 *     step = decode(B, K) + products(B + P) - products(B) + attention of the chunks
 *
 * decode() is a run of the pipeline with that batch and the mean context, read off a surface
 * (decode_surface.h) that is within 1 % of it. Products are those of the model's layers at so many
 * rows, so that weights are read once for both. A step without sequences that decode has the fixed
 * costs of one that decodes a single short one.
 *
 * What is loaded and saved beside a step shares the link with what the system fetches, max-min fair
 * (serve/link_share.h): its steps are those of its share, read off two surfaces, of a whole link
 * and of half of one; and copies have what these leave. KV of prompts that is kept on the host
 * (`written_bytes`) leaves while the step computes: fetches share the link with as much a second of
 * it as the step without it would need.
 */
#ifndef SERVING_STEP_COST_H
#define SERVING_STEP_COST_H

#include "serve/server.h"
#include "serving/decode_surface.h"

struct step_cost;

/* For steps of `range`. `point` and `context` must outlive it. NULL on failure. */
struct step_cost *step_cost_create(const struct point *point, const struct decode_range *range,
                                   const struct run_context *context, struct error *why);
void step_cost_destroy(struct step_cost *cost); /* NULL is fine */

/* The clock of a server. */
struct step_clock step_cost_clock(struct step_cost *cost);

/* The worst that a step rested on so far; and the link, where prefixes were loaded over it. */
struct trust step_cost_trust(const struct step_cost *cost, bool loaded);

/* Shares of the steps' time so far by basis; all 0 where there was no step. */
void step_cost_basis(const struct step_cost *cost, double shares[BASIS_COUNT]);

/* The trace that steps' hits rest on, and its basis; "" where they rest on none. Lasts as long as
 * `cost`. */
const char *step_cost_trace(const struct step_cost *cost, enum basis *basis);

#endif
