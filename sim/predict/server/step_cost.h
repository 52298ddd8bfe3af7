/* The time of a server's step: the decode pipeline, and what prompts add to it.
 *
 * For a step with B decoding sequences, which attend to K tokens in total, and chunks of P prompt
 * tokens in total:
 *
 *     gpu = decode(B, K) + products(B + P) - products(B) + attention of the chunks
 *     step = gpu + what the GPU waits for the CPU (decode/time/engine_step.h)
 *
 * decode() is a run of the pipeline with that batch and the mean context, read off a surface
 * (decode_surface.h) that is within 1 % of it. products() are the matrix products of the model's
 * layers for that number of rows, and what several GPUs exchange for them; weights are thus read
 * once for both, and a step has one all-reduce for all its rows. A step without decoding
 * sequences has the fixed costs of a step that decodes one short sequence.
 *
 * A server of several passes (point_passes) computes them side by side, and the fullest decides:
 * the decoding sequences are divided evenly, and each chunk goes to the pass with fewest rows so far.
 * Where ranks share experts, these compute the rows of all ranks.
 *
 * Loads and saves beside a step share the link with the system's fetches, max-min fair (machine/places.h).
 * The step takes the time for its share of the link, read off two surfaces, of a whole link and of half a
 * link; the copies get the rest. KV of prompts that is kept on the host (`written_bytes`) leaves while the
 * step computes: it takes the bandwidth at which it would leave within the time of the step without it. */
#pragma once

#include "server/server.h"
#include "predict/server/decode_surface.h"

struct step_cost;

/* For steps within `range`. `point` and `context` must outlive it. Returns NULL on failure. */
struct step_cost *step_cost_create(const struct point *point, const struct decode_range *range,
                                   const struct run_context *context, struct error *why);
void step_cost_destroy(struct step_cost *cost); /* NULL is fine */

/* The clock of a server. */
struct step_clock step_cost_clock(struct step_cost *cost);

/* What steps so far rest on, including the link if prefixes were `loaded` over it. */
struct step_about {
    struct trust trust;        /* the worst */
    double basis[BASIS_COUNT]; /* shares of their time; all 0 if there was no step */
    /* The share of the KV in HBM, if offloaded under pressure only: the mean over decode time; or 0. */
    double resident_share;
    bool asks_trace; /* hits depend on the trace */
};
void step_cost_about(const struct step_cost *cost, bool loaded, struct step_about *out);
