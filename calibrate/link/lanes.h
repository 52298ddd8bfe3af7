/* Several kinds of work side by side, each on a stream of its own, begun together: what each gets
 * while all of them run.
 *
 * A lane's work is cut into equal pieces with an event behind each, so that what happens after the
 * first lane has ended does not count.
 */
#ifndef CALIBRATE_LINK_LANES_H
#define CALIBRATE_LINK_LANES_H

#include "calibrate/device/device.h"

#define LANES_MOST 3
#define LANES_PIECES 32

struct lane {
    /* Queue one piece. */
    bool (*put)(void *state, cudaStream_t stream, struct error *why);
    void *state;
    double bytes; /* that a piece moves */
    double rate;  /* found: bytes/s while all lanes ran */
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

#endif
