/* Lanes: several kinds of work that start together, each on a stream of its own. Measures the rate
 * of each lane while all of them run.
 *
 * A lane's work is cut into equal pieces with an event after each, so that the time after the first
 * lane has ended does not count.
 */
#pragma once

#include "calibrate/device/device.h"

#define LANES_MOST 3
#define LANES_PIECES 32

struct lane {
    /* Queue one piece. */
    bool (*put)(void *state, cudaStream_t stream, struct error *why);
    void *state;
    double bytes; /* moved by a piece */
    double rate;  /* out: bytes/s while all lanes ran */
};

struct lanes {
    gpu_stream streams[LANES_MOST];
    cudaEvent_t begin = nullptr, ends[LANES_MOST][LANES_PIECES] = {};
    gpu_gate gate;

    lanes() = default;
    lanes(const lanes &) = delete;
    lanes &operator=(const lanes &) = delete;
    ~lanes();
    bool create(struct error *why);
    /* Run `count` lanes and fill in their rates. */
    bool run(struct lane *all, uint32_t count, struct error *why);
};
