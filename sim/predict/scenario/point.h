/* A resolved point of a scenario: the input of a run. Every run needs the setup, a server the workload as
 * well. The canonical text and the error band are for the result. */
#pragma once

#include "decode/error_band.h"
#include "decode/setup.h"
#include "server/requests/requests.h"
#include "server/workload.h"

struct sources;

/* A recording, or a draw of heads, of several that a point is run with (predict/scenario/resolve.h). */
struct point_family {
    const char *name; /* static */
    struct trace *trace;
};
enum { POINT_MOST_FAMILIES = 8 };

/* How far measured figures of such systems or servers lie from predicted ones. */
struct point_bands {
    struct error_band figure[BAND_FIGURE_COUNT]; /* 0 figures: unknown */
};

struct point {
    struct setup setup;
    struct workload workload;
    struct server_engine engine;     /* that the user names, else the system's preset; or none */
    const struct requests *requests; /* as in the workload's file; owned by `sources`. NULL: no
                                        workload */
    uint64_t asked; /* the run only answers this question (stream_question_hash()); 0: none */
    struct sources *sources; /* a reference; NULL: none */

    /* Owned references, with each of which the point is answered; the first is the setup's own trace. */
    struct point_family families[POINT_MOST_FAMILIES];
    uint32_t family_count; /* 0: there is one trace, the setup's, or none */

    /* By the load that the result shows; low: also of decode. */
    struct point_bands bands[BAND_LOADS];

    char *scenario; /* canonical text of everything that the point was resolved from, owned */
    /* The same text without the keys that change only when requests arrive and what is kept of them, owned:
     * points with equal texts take the same time for each step. NULL if there is no workload. */
    char *decode_scenario;
};

void point_init(struct point *point);
void point_release(struct point *point);

/* Close the families' traces; the point has none any more. */
void point_close_families(struct point *point);

/* Are the families recordings, and not draws of heads for one trace? */
bool point_is_ensemble(const struct point *point);

/* The number of views of the point: its families, or 1. */
uint32_t point_views(const struct point *point);

/* A view of the point with a family's trace and draw of importances, or as it is without families. It borrows
 * all but its traces and cohorts. The caller calls point_view_release() after success. */
bool point_view(const struct point *point, uint32_t family, struct point *view, struct error *why);
void point_view_release(struct point *view);

/* Give a view another seed; if its traces are generated, they are generated anew. */
bool point_view_reseed(struct point *view, uint64_t seed, struct error *why);

/* Does the point simulate a server, rather than steps of one batch? */
bool point_serves(const struct point *point);

/* Servers that run alone behind the router: replicas, and data-parallel ranks that share nothing. Ranks that
 * share experts are one, with several passes in a step, and so are a pipeline's stages. */
uint64_t point_servers(const struct point *point);

/* Most tokens of a request that a server takes: as stated; an engine takes no made-up one beyond the length on
 * which the model was trained. 0: no limit. */
uint64_t point_taken_tokens(const struct point *point);

/* GPUs of a machine: as its profile says, else as machines are sold. */
uint64_t point_machine_gpus(const struct point *point);

/* Servers of one machine, which divide its memory and disks; of what is `stated` for a replica, its ranks. */
uint64_t point_sharers(const struct point *point, bool stated);

/* The share of host memory that a server may have, of what is stated or of its part of POINT_HOST_PERCENT of
 * the machine's: the operating system and the engine's processes need the rest. (Assumed.) */
#define POINT_HOST_PERCENT 90
double point_host_share(const struct point *point);

/* Passes of a step of such a server; and of these, ranks that share experts. */
uint32_t point_passes(const struct point *point);
uint32_t point_joined_ranks(const struct point *point);

/* Does the CPU launch the kernels of a server's step with prompts one by one, without a CUDA graph? */
bool point_launches_prompts(const struct point *point);

/* The curves that the point reads; as pipeline_curves(). */
size_t point_curves(const struct point *point, enum curve_id *ids);

/* The error bands of a point (decode/error_band.h): of an engine's server, or step, that keeps all KV
 * in HBM those of measured servers, by load and kind of model; of other steps, and of drafts, that
 * of systems, if a figure of the same system is behind it. */

/* Write the kind of server or system that the point is, with this load. */
void point_error_class(const struct point *point, enum band_load load, char out[ERROR_BAND_NAME]);

/* Read the bands of a resolved point into it. Fails if their file is invalid. */
bool resolve_bands(struct point *out, struct error *why);

/* The identity of a point: hashes of everything that decides its result, so that a stored run is read back.
 * Finding it replays nothing. */

/* 16 hex digits each: of the resolved text, the sizes that a GPU computes with, the machine's curves, a
 * recording (or ""), requests (or ""), and `run` of all of them and the program (core/version.h). No file
 * name is hashed, except where the scenario's text names one. */
struct run_hashes {
    char run[17], scenario[17], model[17], profile[17], trace[17], requests[17];
};

void profile_hash(const struct profile *profile, char text[17]);

bool run_hashes(const struct point *point, struct run_hashes *out, struct error *why);

/* Only the hash `run`, which is the run's name in results files. */
bool run_identity(const struct point *point, char run[17], struct error *why);
