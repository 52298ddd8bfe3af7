/* A server that is asked endlessly: how long it is watched until its figures are known.
 *
 * A first short run tells how long requests take and how long the warm-up lasts. The next one is laid as long
 * as is worth it, or as its question needs, and is looked at now and then: it ends once the intervals of the
 * figures are narrow enough (stationary.h), or the question is answered. Where it does not last, a longer one
 * begins anew, with what this one told, so that nothing of the warm-up is in any figure. */
#pragma once

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
};

/* What a run has told so far. */
struct stream_finding {
    double taken_ns;             /* by a request */
    double lasts_ns, lasting_ns; /* how long requests count, and at least have to */
    uint64_t come, most;         /* requests that came; and of the longest run that is worth it */
    bool enough;                 /* the figures are known, or are not to be known */
};

/* The first run. Where a question is asked of single arrivals, it need not tell how long requests take. */
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

/* Judge the run up to totals->window.to_ns, when so many looks were to come: set the window in which
 * requests count, and what is known of the figures. It is enough once the server is overloaded beyond
 * doubt, or the question, which may be NULL, is answered. */
bool stream_stage_judge(const struct point *point, const struct stream_question *question,
                        const struct requests *requests, const struct served *served,
                        const struct stream_stage *stage, uint32_t looks,
                        struct serving_totals *totals, struct stream_finding *out,
                        struct error *why);

/* The next run, after one that was not enough. */
void stream_stage_next(const struct point *point, const struct stream_question *question,
                       const struct stream_finding *finding, const struct serving_window *window,
                       struct stream_stage *stage);
