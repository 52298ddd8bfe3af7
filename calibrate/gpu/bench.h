/* What the groups that time kernels share: memory in which they find other data each time, a stream
 * that holds several of them back to back between two events, and the way from a table of works to
 * findings. */
#ifndef CALIBRATE_GPU_BENCH_H
#define CALIBRATE_GPU_BENCH_H

#include "calibrate/device/device.h"

#include <vector>

struct kernel_bench {
    gpu_arena arena; /* bf16 in [-1, 1), no zeros */
    gpu_stream stream;
    gpu_timer timer;
    gpu_gate gate;
    double peak; /* of the memory, bytes/s; 0: the driver states none */

    /* With an arena of `wanted` bytes, or less where the GPU lacks room. */
    bool create(size_t wanted, uint64_t seed, struct error *why);
};

/* One point of a figure: an operation, and what is timed of it. */
struct bench_work {
    const char *figure;
    double size; /* on its axis */
    /* Queue it on the bench's stream, 4 kernels at most. */
    bool (*put)(const struct bench_work *work, struct error *why);
    void *group;         /* the buffers that its group has */
    uint32_t rows, each; /* as the group means them */
    double bytes;        /* that it moves: how often it is repeated between two events */
    double amount, per;  /* the value is `amount` a second over `per`; amount 0: its time in ns */
};

/* Time of one `work` among as many as events can time. */
bool bench_time(struct kernel_bench *bench, const struct bench_work *work, double *ns,
                struct error *why);

/* Run all once, so that the first launch of no kernel is timed, then measure them. */
bool bench_measure(struct kernel_bench *bench, const std::vector<struct bench_work> &works,
                   const struct effort *effort, uint64_t seed, struct findings *findings,
                   struct error *why);

/* Add an observation with its note; its points are to come. */
bool bench_observe(struct findings *findings, const char *name, const char *axis, enum unit unit,
                   const char *note, struct error *why);

#endif
