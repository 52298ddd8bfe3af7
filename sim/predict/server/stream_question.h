/* The times of requests, as columns; and of a stream's requests that count, in the order of their ends, how
 * far the figures that follow from them are known (stationary.h). */
#pragma once

#include "predict/result/result.h"
#include "predict/server/serving_result.h"
#include "predict/server/stationary.h"

enum served_time { SERVED_TTFT, SERVED_TPOT, SERVED_E2E, SERVED_QUEUE, SERVED_TIMES };
enum { SERVED_GAPS = SERVED_TIMES }; /* between tokens: with columns, but no one time a request */

/* The time of an answered request, in ns; 0 for each token after the first if there is none. */
int64_t served_time_ns(enum served_time time, const struct request *request,
                       const struct served *served);

/* Columns of a time: its mean, and its quantiles of these shares. */
enum { SERVED_FIGURES = 5 };
extern const double served_shares[SERVED_FIGURES]; /* of the mean 0 */
const struct column *served_column(int time, int figure);

struct stream_time {
    int64_t end_ns;
    double ns[SERVED_TIMES];
};

struct stream_times {
    struct stream_time *all; /* [count] owned */
    size_t count;
    double *values, *scratch; /* [count] owned */
};

/* Of the requests that count in the window. The caller releases `out`, on failure too. */
bool stream_times_read(const struct requests *requests, const struct served *served,
                       const struct serving_window *window, struct stream_times *out,
                       struct error *why);
void stream_times_release(struct stream_times *times);

/* The figure of a column, in its stored unit, ns. False if the column is no mean or quantile of a time. */
bool stream_times_of(struct stream_times *times, const struct column *column, struct estimate *out);

/* The mean of a time, which a column names, such as e2e_ms; 0 without requests. */
double stream_times_mean(struct stream_times *times, const struct column *column);

/* Requests that end per second in the window. */
struct estimate stream_times_rate(const struct stream_times *times,
                                  const struct serving_window *window);

/* A question to a server that is asked endlessly: on which side of each bound do its figures lie? Often few
 * requests tell: a queue that grows by a fifth of what comes shows in the first thousand, and a time that is
 * a fraction of its limit is so with any luck. A bound is answered once the figure's interval (stationary.h),
 * and half of it again, is on one side: several looks at one run are wrong more often than one. Few requests
 * tell by three times the interval: their batches are so short that they depend on each other. So a load far
 * off the limits takes few requests, and one that is near them as many as make all figures known. */

enum { STREAM_BOUNDS = 16 };

struct stream_question {
    struct stream_bound {
        const struct column *column;
        bool at_most;
        double value; /* in the column's unit */
    } all[STREAM_BOUNDS];
    uint32_t count;
    uint64_t most; /* requests of a run for it; of many servers more (serving_stream.c) */
};

/* Requests that are no longer few, of the usual question, and of the longest run that is worth it. */
enum { STREAM_FEWEST = 2500, STREAM_USUAL = 8000, STREAM_MOST = 64000 };

/* Names the question in the identity of a run, which is a shorter one for it; not 0. */
uint64_t stream_question_hash(const struct stream_question *question);

/* What the run has told so far of the server's load. */
struct stream_load {
    bool few; /* fewer than STREAM_FEWEST requests have come, or as many to each of many servers */
    bool grows;      /* the queue does, by serving_load.h */
    bool overloaded; /* by so much that it is beyond doubt */
    bool settled;    /* sessions take as long as was thought when they were laid, or nearly */
    bool calm;       /* the queue does not: requests hardly wait for room, or as many end as come */
};

/* Is the question answered: is one bound missed, or are all met? Without bounds: are requests not few? */
bool stream_question_answered(const struct stream_question *question,
                              const struct stream_load *load, struct stream_times *times);
