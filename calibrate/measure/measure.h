/* Sampling: how every figure is timed.
 *
 * A probe is one point of a figure: a function that takes one sample of it. measure_probes() warms
 * up all probes of a group, then takes samples in rounds. Each round has a new random order, so
 * that drift (clocks, neighbours) spreads over all probes. A probe is done when the 95 % interval
 * of its median (statistics.h) is within the requested precision, or when it has the largest number
 * of samples. Results are added to the findings (finding.h).
 *
 * Usable from C++: CUDA sources fill in probes as C sources do.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"
#include "calibrate/measure/finding.h"

struct probe {
    const char *figure; /* a name in curves.def ("host.gather"), or an observation that was added
                         * to the findings before (findings_add()) */
    double size;        /* on the figure's axis; 0 for a single figure */
    void *state;        /* belongs to the group */
    /* Take one sample, in the unit of the figure (ns, bytes/s, ...). A sample must take about 20 us
     * or more, for the clock's sake: repeat a shorter event inside. */
    bool (*sample)(void *state, double *value, struct error *why);
};

struct effort {
    const char *name;     /* "quick" */
    uint32_t warmup;      /* samples of each probe that are discarded */
    uint32_t least, most; /* samples of each probe */
    double precision;     /* half width of the median's interval, as a share of the median */
    double seconds;       /* for a whole call of measure_probes(); when they are over, the samples
                           * so far are kept, at least one of each probe */
};

/* 90 seconds or 8 minutes for all groups together. */
extern const struct effort effort_quick, effort_full;

/* Sample all `probes` and add the results: the points of a figure together, ascending by size.
 * Fails at the first sample() that fails, and if a median is 0, which no machine can have. */
bool measure_probes(const struct probe *probes, uint32_t count, const struct effort *effort,
                    uint64_t seed, struct findings *findings, struct error *why);

/* Begin the message of `why` with the figure that was being measured. Returns false. */
bool measure_name_failed(const char *figure, double size, struct error *why);

/* The signal that a handler caught, or 0. measure_probes() then fails at its next sample, so that groups release
 * what they hold. */
extern volatile sig_atomic_t measure_interrupted;

/* A monotonic clock, in ns. */
double clock_ns(void);

#ifdef __cplusplus
}
#endif
