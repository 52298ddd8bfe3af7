/* Writes the outcome of a server's requests into a result's columns. */
#ifndef SERVING_SERVING_OUTCOME_H
#define SERVING_SERVING_OUTCOME_H

#include "result/result.h"
#include "scenario/point.h"
#include "serve/prefix/prefix_replay.h"
#include "serve/server.h"
#include "serving/serving_memory.h"

/* Totals of all servers. */
struct serving_totals {
    uint64_t blocks;         /* of KV, in HBM */
    uint64_t crossed_blocks; /* loaded, saved and swapped; without the fetches of steps */
    int64_t busy_ns, end_ns; /* sum over the servers; end of the last one */
    struct prefix_moved moved[PREFIX_MOST_TIERS]; /* by tier of serving_tiers() */
    struct series series;                         /* owned */
    struct gaps gaps;                             /* between tokens */
    struct trust trust;
    double basis[BASIS_COUNT]; /* shares of busy_ns */
    double resident_share;     /* of the KV, over the time of decode steps */
    char trace_source[256];    /* the trace that decode's hits depend on; "": none */
    enum basis trace_basis;
};

/* The requests, and the prefixes that could be found in them. */
void serving_write_requests(const struct point *point, const struct requests *requests,
                            const struct prefix_bound *bound, struct result *result);

/* The server refused so many requests because of their length. Before the functions below, which
 * add those that it has no memory for. */
void serving_write_refused(const struct point *point, size_t refused, struct result *result);

/* Add a note if HBM holds less than kv_pool_tokens asks for, or one of the requests at a time. */
void serving_note_pool(const struct point *point, const struct prefix_options *memory,
                       const struct requests *requests, struct result *result);

/* Prefixes found without a clock; and that the run is done. */
bool serving_write_found(const struct point *point, const struct serving_memory *memory,
                         const struct prefix_totals *found, struct result *result,
                         struct error *why);

/* Times, rates and prefixes found with a clock. */
bool serving_write_times(const struct point *point, const struct serving_memory *memory,
                         const struct requests *requests, const struct served *served,
                         const struct serving_totals *totals, struct result *result,
                         struct error *why);

/* Does the server hold requests back? It does if the median wait in the queue is more than half of
 * the median TTFT, and more than four times the median TPOT: then TTFT is the length of a queue.
 * (Four, assumed: a request that finds room waits for the step under way, and perhaps for one or
 * two that are scheduled already.) False for a result without these times. */
bool serving_saturated(const struct result *result);

/* Are the run's sessions too few to bring the rate that was asked for, and are they served? Then it
 * is unknown whether the queue grows at that rate. */
bool serving_sessions_lack(const struct result *result);

/* Seconds that sessions go on after the last of them began, of a run with requests at `rate` a
 * second: by so much longer the requests took to come. 0 if they came as fast; NaN without rates. */
double serving_session_s(const struct result *result, double rate);

/* Requests that arrive at this rate for ten times as long as one takes (of sessions: as a session
 * takes, so that 10 of 11 come at the rate): fewer do not show what a server sustains. */
uint64_t serving_lasting(double rate, double taken_s);

/* The same at the rate of a result. 0: it has as many, or the result has no times. Not for clients,
 * who set the rate themselves. */
uint64_t serving_requests_wanted(const struct result *result);

#endif
