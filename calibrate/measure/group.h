/* A group: figures that are measured together, in a process of their own, and saved together. An
 * interrupted session resumes after the last complete group. Each group has its own file and a row
 * in the table of its part (host/groups.c, harness/gpu_groups.cu). */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "calibrate/measure/measure.h"

struct group {
    const char *name; /* "host-gather" */
    const char *what; /* one line for --help and progress */
    double share;     /* its share of the seconds of all groups of the part */
    /* Set up, call measure_probes() once or more, note how it was done, tear down.
     * effort->seconds is the time of this group alone. */
    bool (*run)(const struct effort *effort, uint64_t seed, struct findings *findings,
                struct error *why);
};

#ifdef __cplusplus
}
#endif
