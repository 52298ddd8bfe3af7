/* Times of single requests, as they are read, and the figures that follow from them. Private to this
 * folder. */
#pragma once

#include "study/papers/measured.h"

/* Times in ms. All 0 at first; owned by the reader of the file. */
struct request_times {
    struct times_list {
        double *ms;
        size_t count, capacity;
    } ttft, tpot, e2e, itl;
};

void request_times_release(struct request_times *times);

/* Add an answer of `tokens` tokens, 1 or more, by when the first and the last one came. An answer of
 * one token has no TPOT. */
bool request_times_add(struct request_times *times, double ttft_ms, double e2e_ms, double tokens,
                       struct error *why);

/* Add the time from one token to the next. */
bool request_times_add_gap(struct request_times *times, double ms, struct error *why);

/* Compute the figures that `out` does not have yet (NAN), and move TTFT and TPOT to it. */
void request_times_sum_up(struct request_times *times, struct measured *out);
