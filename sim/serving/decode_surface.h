/* How long the decode pipeline takes for a step of so many sequences of so long a context: answers
 * of run_step(), read off a surface (serve/surface.h) that is within 1 % of the step's time.
 *
 * What one surface computed serves those of other runs of a sweep (decode_points.h). Sequences of
 * several lengths are taken for as many of the mean one. Two kinds are as near as a
 * system says anything of:
 *
 *   - those so short that they lie in its window, select less than a token or hold less than a
 *     block, for the shortest of which it does;
 *   - those of which it selects more than the trace keeps of a row (a fixed number of tokens, of
 *     few; clusters, which are rounded up) attend to all they have: what hits is then what the
 *     cache holds, and no trace has to be asked.
 */
#ifndef SERVING_DECODE_SURFACE_H
#define SERVING_DECODE_SURFACE_H

#include "decode/time/pipeline.h"
#include "run/context.h"
#include "scenario/point.h"

/* What is asked for: sequences at most, and their mean contexts in tokens. */
struct decode_range {
    uint32_t sequences;
    uint64_t least_context, most_context;
};

/* A step. */
struct decode_step {
    double ns;
    double stall_ns[PART_COUNT];  /* of it: in which the GPU waits, by cause */
    double basis_ns[BASIS_COUNT]; /* of it, by what it rests on */
    double fetched_bytes;         /* on each GPU */
};

struct decode_surface;

/* For a machine whose link has `link_share` of its bandwidth. `point` is the server's and must
 * outlive the surface, as must `context`; what it says of memory is not asked: that is the server's affair. NULL on
 * failure, as where a system says nothing of any context. */
struct decode_surface *decode_surface_create(const struct point *point,
                                             const struct decode_range *range, double link_share,
                                             const struct run_context *context, struct error *why);
void decode_surface_destroy(struct decode_surface *surface); /* NULL is fine */

/* A step of `sequences` that have `tokens` in all. */
bool decode_surface_read(struct decode_surface *surface, uint32_t sequences, uint64_t tokens,
                         struct decode_step *step, struct error *why);

/* A step of one sequence, the shortest of which the system says anything. */
bool decode_surface_least(struct decode_surface *surface, struct decode_step *step,
                          struct error *why);

/* The worst that any step read so far rested on. */
struct trust decode_surface_trust(const struct decode_surface *surface);

/* The trace that steps' hits rest on, and its basis; "" where they rest on none. Lasts as long as
 * the surface. */
const char *decode_surface_trace(const struct decode_surface *surface, enum basis *basis);

#endif
