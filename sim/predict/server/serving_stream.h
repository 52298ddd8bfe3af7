/* A server that is asked endlessly: how long it is watched until its figures are known.
 *
 * It serves the beginning of the stream (server/requests/stream.h), first a short one, which tells how long
 * requests take and how long the warm-up lasts; then longer ones, until the intervals of the figures are
 * narrow enough (stationary.h), or the run has become too long. Each begins anew with what the last one
 * told, so that nothing of the warm-up is in any figure. */
#pragma once

#include "predict/scenario/point.h"
#include "predict/server/decode_surface.h"
#include "predict/server/serving_memory.h"
#include "predict/server/serving_result.h"
#include "predict/server/stream_question.h"
#include "server/requests/stream.h"

/* Is the point's server watched in its steady state? A list that somebody counted (`requests`, `limit`,
 * `warm_requests`), that comes at once, or that a file holds, is served as it is. */
bool serving_is_stream(const struct point *point);

/* The next run. */
struct stream_stage {
    uint32_t number;
    uint64_t requests; /* after time 0 */
    int64_t answer_ns; /* how long they take */
    int64_t warm_ns;   /* how long the warm-up lasts */
    uint64_t most;     /* requests of any run */
    bool enough;       /* there is none: the figures are known, or are not to be known */
};

/* The first run. It need not tell how long requests take where a question is asked of requests that arrive
 * one by one. */
void stream_stage_first(const struct point *point, const struct stream_question *question,
                        struct stream_stage *out);

/* The requests of the run, which the point's sources keep: `requests` becomes a view with their arrivals,
 * whose `all` is the caller's, and `stream` the order of them, which the caller releases. On failure there
 * is nothing to release. */
bool stream_stage_take(const struct point *point, const struct serving_memory *memory,
                       const struct stream_stage *stage, struct requests *requests, size_t *refused,
                       struct request_stream *stream, struct error *why);

/* Contexts of the stream's steps: powers of two, so that all points of a question read the same. */
struct decode_range stream_step_range(const struct point *point,
                                      const struct serving_memory *memory);

/* Judge the run, which ended at totals->window.to_ns: set the window in which requests count, what is known
 * of the figures, and the next stage. There is none once the server is overloaded beyond doubt, or the
 * question, which may be NULL, is answered. */
bool stream_stage_judge(const struct point *point, const struct stream_question *question,
                        const struct requests *requests, const struct served *served,
                        struct serving_totals *totals, struct stream_stage *stage,
                        struct error *why);
