/* Graphs: work that is recorded once, and then launched as a whole. */
#pragma once

#include "calibrate/device/device.h"

#include <functional>

struct gpu_graph {
    cudaGraphExec_t at = nullptr;

    gpu_graph() = default;
    gpu_graph(const gpu_graph &) = delete;
    gpu_graph &operator=(const gpu_graph &) = delete;
    ~gpu_graph();
    /* Record what `put` queues on `stream`, and place it on the GPU. At most once. Kernels must
     * have run before: what a kernel does at its first launch cannot be recorded. */
    bool record(const gpu_stream *stream, const std::function<bool()> &put, struct error *why);
    bool launch(const gpu_stream *stream, struct error *why) const;
};
