/* What cheap runs of a server tell before a search: how many requests it answers at most, and how
 * few of them show whether a rate is met. Only guesses follow from it. */
#pragma once

#include "predict/result/result.h"

/* A limit on times is mostly met up to this share of what a server answers at most. */
#define ROUGH_USUAL 0.7

/* Requests of a cheap run, at least. */
enum { ROUGH_LEAST = 100 };

struct rough {
    double
        most; /* requests a second that the server answers when all come at once; 0: cannot run */
    double held; /* requests that it has in work then */
};

/* Read a run whose requests all come at once. */
void rough_read(const struct result *at_once, struct rough *out);

/* Requests of a cheap run at a rate of one server: they arrive for three times as long as one
 * takes. At least `least`, at most `there`. */
uint64_t rough_requests(const struct rough *rough, double rate, uint64_t least, uint64_t there);
