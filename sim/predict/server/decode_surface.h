/* The time of a decode step for a number of sequences and a context: answers of run_step(), read
 * off a surface (server/surface.h) that is within 1 % of the step's time.
 *
 * In a rough context (predict/decode/context.h) it is within 20 %, and takes a tenth of the points.
 *
 * Points that one surface computed serve other runs of the question (below). Sequences of
 * several lengths are treated as equally many of the mean length. What the engine adds is not in it
 * (decode/time/engine_step.h). Some contexts cannot be planned and are approximated:
 *
 *   - Sequences so short that they lie in the window, select less than a token or hold less than a
 *     block take the time of the shortest context that the system can run.
 *   - If the system selects more tokens than the trace keeps of a row (a fixed number of tokens, of
 *     few; or clusters, which are rounded up), the sequences attend to all their tokens. Hits are
 *     then what the cache holds, and the trace is not needed. */
#pragma once

#include "decode/time/pipeline.h"
#include "machine/profile.h"
#include "predict/decode/context.h"
#include "predict/scenario/point.h"
#include "server/surface.h"

/* The range of a surface: most sequences, and their mean contexts in tokens. */
struct decode_range {
    uint32_t sequences;
    uint64_t least_context, most_context;
};

/* A step: the values of a surface, of which the first two are held to its tolerance. */
struct decode_step {
    double ns;
    double fetched; /* bytes on each GPU; on a surface, ns of them alone on a whole link */
    double stall_ns[PART_COUNT];  /* the part in which the GPU waits, by cause */
    double basis_ns[BASIS_COUNT]; /* the time, by basis */
    double resident_share;        /* of the KV, if it is offloaded under pressure only; else 0 */
};

struct decode_surface;

/* Create a surface for a machine whose link has `link_share` of its bandwidth. `point` and `context` outlive
 * it. Memory is not checked. NULL, for example, if the system cannot run at any context. */
struct decode_surface *decode_surface_create(const struct point *point,
                                             const struct decode_range *range, double link_share,
                                             const struct run_context *context, struct error *why);
void decode_surface_destroy(struct decode_surface *surface); /* NULL is fine */

/* Read a step of `sequences` sequences with `tokens` tokens in total. */
bool decode_surface_read(struct decode_surface *surface, uint32_t sequences, uint64_t tokens,
                         struct decode_step *step, struct error *why);

/* Read a step of one sequence of the shortest context that the system can run. */
bool decode_surface_least(struct decode_surface *surface, struct decode_step *step,
                          struct error *why);

/* What all steps read so far rest on. Valid as long as the surface. */
struct decode_sources {
    struct trust trust; /* the worst */
    bool asks_trace;    /* hits depend on the trace */
};
const struct decode_sources *decode_surface_sources(const struct decode_surface *surface);

/* Steps of the decode pipeline that were computed for a surface, kept for the surfaces of other runs. Servers
 * of one question that differ in their requests, in the arrival rate or in the memory for prefixes read the
 * same surface. A point is a pure function of the table's key and of its place, so it does not matter which
 * thread computes it. Points are computed one at a time: another thread may want the same one. */

struct cores;

struct decode_point {
    uint64_t sequences, context;
    struct decode_step step;
    struct trust trust;
    bool asks_trace; /* hits depend on the trace */
};

/* A table of points, created empty. A value of predict/decode/context.h. */
struct decode_points;
extern const struct shared_kind decode_points_kind;

/* Compute the point. Its place is set; all other fields are 0. */
typedef bool (*decode_point_compute)(void *context, struct decode_point *point, struct error *why);

/* Read the point at (point->sequences, point->context); compute it if the table does not have it. A failure
 * is not kept. A thread that waits for another one's point gives back one of `cores`, which may be NULL. */
bool decode_points_read(const struct decode_points *points, struct cores *cores,
                        decode_point_compute compute, void *context, struct decode_point *point,
                        struct error *why);
