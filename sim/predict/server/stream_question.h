/* A question to a server that is asked endlessly: on which side of each bound do its figures lie?
 *
 * Often few requests tell: a queue that grows by a fifth of what comes shows in the first thousand, and
 * a time that is a fraction of its limit is so with any luck. A bound is answered once the figure's
 * interval (stationary.h), and half of it again, is on one side: several looks at one run are wrong more
 * often than one. Few requests tell only what is missed, and by three times the interval: their batches are
 * so short that they depend on each other, and a queue may grow slowly. Then the server needs no longer
 * run. */
#pragma once

#include "predict/server/stream_times.h"

enum { STREAM_BOUNDS = 16 };

struct stream_question {
    struct stream_bound {
        const struct column *column;
        bool at_most;
        double value; /* in the column's unit */
    } all[STREAM_BOUNDS];
    uint32_t count;
    uint64_t
        most;     /* requests that a run may have for it; of many servers more (serving_stream.c) */
    bool figures; /* the figures are asked for as well, to their full precision */
};

/* Requests of the shortest run that answers, of the longest that is worth it, and of one that `simulate`
 * makes. */
enum { STREAM_FEWEST = 2500, STREAM_MOST = 8000, STREAM_WHOLE = 64000 };

/* Names the question in the identity of a run, which is a shorter one for it; not 0. */
uint64_t stream_question_hash(const struct stream_question *question);

/* What the run has told so far of the server's load. */
struct stream_load {
    bool few; /* fewer than STREAM_FEWEST requests have come, or as many to each of many servers */
    bool grows;      /* the queue does, by serving_load.h */
    bool overloaded; /* by so much that it is beyond doubt */
    bool calm;       /* the queue does not: requests hardly wait for room, or as many end as come */
};

/* Is the question answered: is one bound missed, or are all met? Else `wide` receives how many times as
 * wide the widest interval is as it may be, at least 1. */
bool stream_question_answered(const struct stream_question *question,
                              const struct stream_load *load, struct stream_times *times,
                              double *wide);
