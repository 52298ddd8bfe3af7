#include "calibrate/device/graph.h"

gpu_graph::~gpu_graph()
{
    if (at != nullptr) {
        cudaGraphExecDestroy(at);
    }
}

bool gpu_graph::record(const gpu_stream *stream, const std::function<bool()> &put,
                       struct error *why)
{
    cudaGraph_t recorded = nullptr;
    bool ok = GPU_TRY(cudaStreamBeginCapture(stream->at, cudaStreamCaptureModeThreadLocal), why);
    ok = ok && put();
    struct error unseen; /* of clean-up after a failure that is reported already */
    ok = GPU_TRY(cudaStreamEndCapture(stream->at, &recorded), ok ? why : &unseen) && ok;
    ok = ok && GPU_TRY(cudaGraphInstantiate(&at, recorded, 0), why) &&
         GPU_TRY(cudaGraphUpload(at, stream->at), why);
    if (recorded != nullptr) {
        cudaGraphDestroy(recorded);
    }
    return ok;
}

bool gpu_graph::launch(const gpu_stream *stream, struct error *why) const
{
    return GPU_TRY(cudaGraphLaunch(at, stream->at), why);
}
