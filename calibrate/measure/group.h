/* Groups: what is measured together, saved together, and resumed after. One file a group, one row
 * in the table of its part (host/groups.c, harness/gpu_groups.cu). */
#ifndef CALIBRATE_MEASURE_GROUP_H
#define CALIBRATE_MEASURE_GROUP_H

#ifdef __cplusplus
extern "C" {
#endif

#include "calibrate/measure/measure.h"

struct group {
    const char *name; /* "host-gather" */
    const char *what; /* one line for --help and progress */
    double share;     /* of the seconds that all groups of the part have */
    /* Set up, measure_probes() one or more times, note, tear down. The effort's seconds are this
     * group's. */
    bool (*run)(const struct effort *effort, uint64_t seed, struct findings *findings,
                struct error *why);
};

#ifdef __cplusplus
}
#endif
#endif
