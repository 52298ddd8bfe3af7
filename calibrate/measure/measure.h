/* Timing things so that the figures can be trusted.
 *
 * A probe is one point of a figure: a way to take one sample of it. measure_probes() warms all
 * probes of a group up, then takes samples in rounds, each round in an order shuffled anew, so that
 * what drifts (clocks, neighbours) spreads over all of them; a probe is done when the interval of
 * its median (95 %, by order statistics) is within the wanted precision, or at the cap. What it
 * found is added to the findings (finding.h).
 *
 * Usable from C++: the CUDA sources fill in probes as the C ones do.
 */
#ifndef CALIBRATE_MEASURE_MEASURE_H
#define CALIBRATE_MEASURE_MEASURE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"
#include "calibrate/measure/finding.h"

struct probe {
    const char *figure; /* name in curves.def ("host.gather"), or of an observation that was added
                         * to the findings before (findings_add()) */
    double size;        /* on the figure's axis; 0 for a single figure */
    void *state;        /* the group's own */
    /* Take one sample, in the unit of the figure (ns, bytes/s, ...), long enough for the clock
     * (about 20 us or more: repeat inside where one event is shorter). */
    bool (*sample)(void *state, double *value, struct error *why);
};

struct effort {
    const char *name;     /* "quick" */
    uint32_t warmup;      /* samples of each probe that are thrown away */
    uint32_t least, most; /* samples of each probe */
    double precision;     /* half width of the median's interval, as a share of it */
    double seconds;       /* of a whole call of measure_probes(); reached: what there is is kept,
                           * at least one sample of each probe */
};

/* 90 seconds or 8 minutes for everything, shared among the groups. */
extern const struct effort effort_quick, effort_full;

/* Sample all `probes` and add what was found, points of one figure together and ascending by
 * size. A probe whose sample() fails ends the call. */
bool measure_probes(const struct probe *probes, uint32_t count, const struct effort *effort,
                    uint64_t seed, struct findings *findings, struct error *why);

/* Set from a signal handler: measure_probes() then fails at its next sample, so that groups clean
 * up behind themselves. */
extern volatile sig_atomic_t measure_interrupted;

/* A monotonic clock, in ns. */
double clock_ns(void);

#ifdef __cplusplus
}
#endif
#endif
