/* Streams, events and graphs of the emulator, and its versions of the objects of device.cu. All
 * work is postponed for as long as a GPU might postpone it. With EMULATOR_REVERSE=1, copies run as
 * early as possible instead: as soon as nothing precedes them on their stream. */
#include "calibrate/device/stored_memory.h"

#include <deque>
#include <map>
#include <set>
#include <vector>

typedef std::function<void()> work;

struct emulator_stream {
    std::deque<work> queue;
    uint64_t put = 0, done = 0;
    std::vector<work> *recorded = nullptr; /* the graph that records, or NULL */
};

struct emulator_event {
    emulator_stream *stream = nullptr;
    uint64_t behind = 0; /* the number of the stream's works that precede it */
};

struct emulator_graph {
    std::vector<work> works;
};

static std::set<emulator_stream *> streams;
static std::map<const char *, size_t> pinned; /* start and size */

/* ---- streams ---- */

static bool stalled; /* the last work that was started is not done */
static bool late;    /* all deadlines are over */

bool emulator_stall()
{
    stalled = !late;
    return stalled;
}

uint64_t ptx_clock_ns()
{
    const uint64_t hour_ns = 3600000000000;
    static uint64_t now;
    return late ? now += hour_ns : now;
}

/* Run works up to `until`, or up to a kernel that polls in vain. */
static bool advance(emulator_stream *stream, uint64_t until)
{
    while (stream->done < until) {
        work next = stream->queue.front();
        stalled = false;
        next();
        if (stalled) {
            return false;
        }
        stream->queue.pop_front();
        stream->done++;
    }
    return true;
}

static void wait_for(emulator_stream *stream, uint64_t until)
{
    late = !advance(stream, until);
    advance(stream, until);
    late = false;
}

/* Each query of a stream runs one of its works. */
static cudaError_t look_at(emulator_stream *stream, uint64_t until)
{
    if (stream->done < until) {
        advance(stream, stream->done + 1);
    }
    return stream->done >= until ? cudaSuccess : cudaErrorNotReady;
}

static const bool copies_run_ahead = getenv("EMULATOR_REVERSE") != nullptr;

static void put_copy(cudaStream_t stream, work what)
{
    if (copies_run_ahead && stream->recorded == nullptr && stream->queue.empty()) {
        what();
    } else {
        emulator_put(stream, what);
    }
}

void emulator_put(cudaStream_t stream, work what)
{
    if (stream == nullptr) {
        what();
    } else if (stream->recorded != nullptr) {
        stream->recorded->push_back(what);
    } else {
        stream->queue.push_back(what);
        stream->put++;
    }
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    wait_for(stream, stream->put);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return look_at(stream, stream->put);
}

cudaError_t cudaDeviceSynchronize()
{
    for (emulator_stream *stream : streams) {
        wait_for(stream, stream->put);
    }
    return cudaSuccess;
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new emulator_event;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    *event = {stream, stream->put};
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (event->stream != nullptr) {
        wait_for(event->stream, event->behind);
    }
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return event->stream != nullptr ? look_at(event->stream, event->behind) : cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    emulator_event now = *event; /* a copy, because a later record must not count */
    emulator_put(stream, [=] {
        if (now.stream != nullptr) {
            advance(now.stream, now.behind);
        }
    });
    return cudaSuccess;
}

/* ---- copies ---- */

cudaError_t cudaHostRegister(void *data, size_t bytes, unsigned)
{
    pinned[(const char *)data] = bytes;
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *data)
{
    return pinned.erase((const char *)data) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

static bool is_pinned(const void *data)
{
    auto after = pinned.upper_bound((const char *)data);
    return after != pinned.begin() &&
           (const char *)data < std::prev(after)->first + std::prev(after)->second;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    const void *host = kind == cudaMemcpyHostToDevice ? from : to;
    if (is_pinned(host)) {
        put_copy(stream, [=] { memcpy(to, from, bytes); });
        return cudaSuccess;
    }
    if (kind != cudaMemcpyHostToDevice) {
        cudaStreamSynchronize(stream);
        memcpy(to, from, bytes);
        return cudaSuccess;
    }
    std::vector<char> block((const char *)from, (const char *)from + bytes);
    put_copy(stream, [=] { memcpy(to, block.data(), bytes); });
    return cudaSuccess;
}

/* Only copies from pinned memory run ahead. */
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream)
{
    if (!is_pinned(from) || width > to_pitch || width > from_pitch) {
        return cudaErrorInvalidValue;
    }
    put_copy(stream, [=] {
        for (size_t row = 0; row < height; row++) {
            memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
        }
    });
    return cudaSuccess;
}

/* ---- graphs ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    stream->recorded = new std::vector<work>;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = new emulator_graph{std::move(*stream->recorded)};
    delete stream->recorded;
    stream->recorded = nullptr;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = new emulator_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    for (const work &what : exec->works) {
        emulator_put(stream, what);
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}

/* ---- the functions of device.cu and stored_memory.cu ---- */

stored_memory::~stored_memory()
{
}

bool stored_memory::take(size_t size, struct error *why)
{
    bool ok = gpu.take(size, why);
    window.at = seen = gpu.data;
    return ok;
}

gpu_memory::~gpu_memory()
{
    cudaFree(data);
}

bool gpu_memory::take(size_t size, struct error *why)
{
    bytes = size;
    return GPU_TRY(cudaMalloc((void **)&data, size), why);
}

pinned_memory::~pinned_memory()
{
    pinned.erase(data);
    free(data);
}

bool pinned_memory::take(size_t size, uint64_t, struct error *why)
{
    bytes = size;
    data = seen = (char *)aligned_alloc(256, (size + 255) / 256 * 256);
    return data != nullptr ? GPU_TRY(cudaHostRegister(data, size, 0), why)
                           : error_set(why, NULL, 0, "out of memory");
}

gpu_stream::~gpu_stream()
{
    streams.erase(at);
    delete at;
}

bool gpu_stream::create(struct error *)
{
    at = new emulator_stream;
    streams.insert(at);
    return true;
}

bool gpu_stream::wait(struct error *why) const
{
    return GPU_TRY(cudaStreamSynchronize(at), why);
}
