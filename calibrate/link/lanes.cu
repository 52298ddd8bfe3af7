#include "calibrate/link/lanes.h"

#include "calibrate/measure/copy_fit.h"

#include <math.h>

lanes::~lanes()
{
    if (begin != nullptr) {
        cudaEventDestroy(begin);
    }
    for (auto &row : ends) {
        for (cudaEvent_t event : row) {
            if (event != nullptr) {
                cudaEventDestroy(event);
            }
        }
    }
}

bool lanes::create(struct error *why)
{
    bool ok = gate.create(why) && GPU_TRY(cudaEventCreate(&begin), why);
    for (uint32_t lane = 0; ok && lane < LANES_MOST; lane++) {
        ok = streams[lane].create(why);
        for (uint32_t piece = 0; ok && piece < LANES_PIECES; piece++) {
            ok = GPU_TRY(cudaEventCreate(&ends[lane][piece]), why);
        }
    }
    return ok;
}

/* Queue all pieces of a lane after the common beginning. */
static bool lanes_put(struct lanes *lanes, const struct lane *lane, uint32_t index,
                      struct error *why)
{
    cudaStream_t stream = lanes->streams[index].at;
    bool ok = index == 0 || GPU_TRY(cudaStreamWaitEvent(stream, lanes->begin, 0), why);
    for (uint32_t piece = 0; ok && piece < LANES_PIECES; piece++) {
        ok = lane->put(lane->state, stream, why) &&
             GPU_TRY(cudaEventRecord(lanes->ends[index][piece], stream), why);
    }
    return ok;
}

static bool read_ends(const struct lanes *lanes, uint32_t index, double *ends_ns, struct error *why)
{
    for (uint32_t piece = 0; piece < LANES_PIECES; piece++) {
        float ms;
        if (!GPU_TRY(cudaEventElapsedTime(&ms, lanes->begin, lanes->ends[index][piece]), why)) {
            return false;
        }
        ends_ns[piece] = (double)ms * 1e6;
    }
    return true;
}

bool lanes::run(struct lane *all, uint32_t count, struct error *why)
{
    double ends_ns[LANES_MOST][LANES_PIECES], overlap_ns = INFINITY;
    bool ok = gate.close(streams[0].at, why) && GPU_TRY(cudaEventRecord(begin, streams[0].at), why);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = lanes_put(this, &all[i], i, why);
    }
    ok = ok && gate.open(why);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = streams[i].wait(why);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = read_ends(this, i, ends_ns[i], why);
        overlap_ns = ok ? fmin(overlap_ns, ends_ns[i][LANES_PIECES - 1]) : overlap_ns;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        all[i].rate =
            all[i].bytes * pieces_done(ends_ns[i], LANES_PIECES, overlap_ns) * 1e9 / overlap_ns;
    }
    return ok;
}
