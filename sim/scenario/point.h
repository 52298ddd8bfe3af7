/* A resolved point of a scenario: the input of a run.
 *
 * Every run needs the setup, which decode reads. A server needs the workload as well. The canonical
 * text and the error band are for the result, not for the computation.
 */
#ifndef SCENARIO_POINT_H
#define SCENARIO_POINT_H

#include "decode/error_band.h"
#include "decode/setup.h"
#include "serve/requests/requests.h"
#include "serve/workload.h"

struct sources;

struct point {
    struct setup setup;
    struct workload workload;
    const struct requests *requests; /* as in the workload's file; owned by `sources`. NULL: no
                                        workload */
    struct sources *sources;         /* a reference; NULL: none */

    /* How far published figures of such systems or servers lie from predicted ones, as shares:
     * -0.1, 0.3. */
    bool band_known[BAND_FIGURE_COUNT];
    double band[BAND_FIGURE_COUNT][2];

    char *scenario; /* canonical text of everything that the point was resolved from, owned */
    /* The same text without the keys that change only when requests arrive and what is kept of
     * them, owned: points with equal texts take the same time for each step. NULL if there is no
     * workload. */
    char *decode_scenario;
};

void point_init(struct point *point);
void point_release(struct point *point);

/* Does the point simulate a server, rather than steps of one batch? */
bool point_serves(const struct point *point);

/* Servers that run alone, each behind the router: the replicas, and data-parallel ranks that share
 * nothing. Ranks that share experts are one server, which computes several passes in a step; so are
 * the stages of a pipeline (model/parallel.h). */
uint64_t point_servers(const struct point *point);

/* Passes of a step of such a server; and of these, ranks that share experts. */
uint32_t point_passes(const struct point *point);
uint32_t point_joined_ranks(const struct point *point);

/* The curves that the point reads; as pipeline_curves(). */
size_t point_curves(const struct point *point, enum curve_id *ids);

#endif
