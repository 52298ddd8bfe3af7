/* The base of the groups that time kernels: memory that gives them new data each time, a graph in
 * which several kernels run back to back between two events, as in a server's decode step, and the
 * way from a table of works to findings. */
#pragma once

#include "calibrate/device/device.h"

#include <vector>

struct kernel_bench {
    gpu_arena arena; /* bf16 in [-1, 1), no zeros */
    gpu_stream stream;
    gpu_timer timer;
    struct room room; /* of the arena */
    double peak;      /* of the memory, bytes/s; 0: the driver states none */

    /* Create it with an arena of `wanted` bytes, or less if the GPU lacks room; at least
     * `least`. */
    bool create(size_t wanted, size_t least, uint64_t seed, struct error *why);
};

/* One point of a figure: an operation, and the value that is made of its time. */
struct bench_work {
    const char *figure;
    double size; /* on its axis */
    /* Queue it on the bench's stream, as at most 4 kernels. It is recorded in a graph. */
    bool (*put)(const struct bench_work *work, struct error *why);
    void *group;         /* the group's buffers */
    uint32_t rows, each; /* for the group's use */
    /* The value is `amount` a second over `per`; amount 0: the time in ns over `per`. */
    double amount, per;
    uint32_t repeats = 1; /* between two events; bench_time() raises it */
};

/* An interval contains some time of its two events, about 1 to 2 us (launch.empty_interval measures
 * it). It is at least this long, so that about 1 % of it is theirs; nothing is subtracted. */
#define BENCH_INTERVAL_NS 200e3

/* The time of one `work` in ns: the mean of as many in a graph as fill BENCH_INTERVAL_NS. They are
 * as many as the intervals before have shown, so the first is for warming up. Each interval has a
 * new graph, because a graph records addresses, and what it reads must have left the L2. */
bool bench_time(struct kernel_bench *bench, struct bench_work *work, double *ns, struct error *why);

/* Run all once, so that no kernel's first launch is timed, then measure them. */
bool bench_measure(struct kernel_bench *bench, std::vector<struct bench_work> &works,
                   const struct effort *effort, uint64_t seed, struct findings *findings,
                   struct error *why);

/* Add an observation with its note, still without points. */
bool bench_observe(struct findings *findings, const char *name, const char *axis, enum unit unit,
                   const char *note, struct error *why);
