/* A server's requests, prefixes found in them, and times, as columns of a result, notes and detail. */
#pragma once

#include "predict/result/result.h"
#include "predict/scenario/point.h"
#include "predict/server/serving_memory.h"
#include "predict/server/stationary.h"
#include "predict/server/step_cost.h"
#include "server/prefix/prefix_cache.h"
#include "server/prefix/prefix_replay.h"
#include "server/record.h"
#include "server/requests/requests.h"
#include "server/server.h"

/* Which requests count: those from `first` on that have ended in this time. Of a list, all that have. */
struct serving_window {
    bool is_stream;
    size_t first;
    int64_t from_ns, to_ns;
    /* of a stream */
    bool grows;                     /* its queue */
    bool known;                     /* the figures are, to the precision that is wanted */
    bool close;                     /* a figure's interval reaches a limit that was asked about */
    struct estimate rate, ttft_p99; /* requests a second that end; ns */
    double means_wide, tails_wide;  /* half-widths of the figures known least, as shares of them */
    double asked;                   /* requests a second; 0: of clients */
    bool brief;                     /* only a question is answered: how many come is hardly known */
};

/* Does a stream bring the rate asked for, but for chance? Then one that keeps up ends as many. */
bool serving_as_asked(const struct serving_window *window);

static inline bool serving_counts(const struct serving_window *window, size_t index,
                                  const struct served *served)
{
    return index >= window->first && served->end_ns > window->from_ns &&
           served->end_ns <= window->to_ns;
}

/* Totals of all servers. */
struct serving_totals {
    struct serving_window window;
    uint64_t steps;
    uint64_t blocks;         /* of KV, in HBM */
    uint64_t crossed_blocks; /* loaded and saved; without the fetches of steps */
    int64_t busy_ns, end_ns; /* sum over the servers; end of the last one */
    int64_t copies_ns[COPY_WAITS];
    uint64_t saved;  /* blocks copied to the first tier below the GPU, */
    double saves_ns; /* in so much time */
    int64_t warm_ns; /* what was before it is in no total */
    struct prefix_moved moved[PREFIX_MOST_TIERS]; /* by tier of serving_tiers() */
    struct series series;                         /* owned */
    struct gaps gaps;                             /* between tokens */
    struct step_about about;                      /* its basis: shares of busy_ns */
};

/* Times, rates, prefixes found, and the detail of a run by the clock. */
bool serving_write_times(const struct point *point, const struct serving_memory *memory,
                         const struct requests *requests, const struct served *served,
                         const struct serving_totals *totals, struct result *result,
                         struct error *why);

/* The requests, of which the server refused so many because of their length, the prefixes that could be found
 * in them, and notes about them and the room for them. Of a stream only those notes: which requests count,
 * serving_write_times() writes. To be called before the functions that write what was found: these add to
 * those refused. */
void serving_write_requests(const struct point *point, const struct serving_memory *memory,
                            const struct requests *requests, size_t refused, struct result *result);

/* The result of a server that does not start: `memory` says why. */
bool serving_write_lack(const struct point *point, const struct serving_memory *memory,
                        struct result *result, struct error *why);

/* Prefixes found without a clock; and that the run is done. */
bool serving_write_found(const struct point *point, const struct serving_memory *memory,
                         const struct prefix_totals *found, struct result *result,
                         struct error *why);
