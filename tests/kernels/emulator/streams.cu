/* Streams, events, graphs and copies of the emulator. All work is postponed for as long as a GPU
 * might postpone it. With EMULATOR_REVERSE=1, copies run as early as possible instead: as soon as
 * nothing precedes them on their stream.
 *
 * A stream has a time: that at which its last work ended. A work begins then, or when it was
 * queued. */
#include "emulator.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#define POLL_NS 1000              /* of a query, and between two looks of a host that waits */
#define PATIENCE_NS 3600000000000 /* no kernel polls for an hour */
#define HURRY_NS 1000000000       /* and in a hurry for no second, so that a closed gate shows */

/* What a work takes: a us to begin, and a rate; a kernel what its threads do. */
#define BEGIN_NS 1000
#define LINK_BYTES_A_NS 50
#define MEMORY_BYTES_A_NS 1000

/* A place in a stream, behind which an event is over. */
struct mark {
    emulator_stream *stream;
    bool over;
    uint64_t ns;
};

struct work {
    std::function<void()> act; /* one of these four */
    std::shared_ptr<const emulator_launch> launch;
    std::shared_ptr<mark> record, wait;
    uint64_t ns;  /* that `act` takes */
    uint64_t key; /* the same for equal works; 0: unlike all others */
    uint64_t queued;
    bool skipped; /* only its time passes */
};

struct emulator_stream {
    std::deque<work> queue;
    uint64_t ns = 0;                       /* when its last work ended */
    emulator_kernel *kernel = nullptr;     /* of the first work, if it has begun */
    uint64_t begun = 0;                    /* when that began to run */
    bool busy = false;                     /* is being advanced */
    std::vector<work> *recorded = nullptr; /* the graph that records, or NULL */
};

struct emulator_event {
    std::shared_ptr<mark> at; /* null before it is recorded */
};

struct emulator_graph {
    std::vector<work> works;
};

static std::set<emulator_stream *> streams;
static int handles; /* events and graphs */
static emulator_stream default_stream;

__attribute__((weak)) bool emulator_hurries()
{
    return false;
}

/* ---- doing work ---- */

static std::map<uint64_t, uint64_t> kernel_ns; /* by key: what equal kernels took */
static std::set<const void *> pollers;         /* kernels that were suspended */
static std::set<uint64_t> done;                /* keys of works */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A kernel that is suspended takes as long as its polling; all others take their time. */
static bool run_kernel(emulator_stream *stream, const work &what, uint64_t begin)
{
    if (what.skipped) {
        stream->ns = begin + kernel_ns[what.key];
        return true;
    }
    if (stream->kernel == nullptr) {
        stream->kernel = emulator_start(*what.launch, begin);
        stream->begun = emulator_now();
    }
    if (!emulator_continue(stream->kernel)) {
        pollers.insert(what.launch->kernel);
        return false;
    }
    if (emulator_was_suspended(stream->kernel)) {
        if (emulator_hurries() && emulator_now() - stream->begun > HURRY_NS) {
            emulator_fail("a kernel that nobody released");
        }
        stream->ns = later(begin + BEGIN_NS, emulator_now());
    } else {
        uint64_t ns = BEGIN_NS + emulator_kernel_factor() * emulator_kernel_ns(stream->kernel);
        kernel_ns[what.key] = ns;
        stream->ns = begin + ns;
    }
    emulator_end(stream->kernel);
    stream->kernel = nullptr;
    return true;
}

static bool advance_to(const mark &place);

/* Returns false if the work has to wait. */
static bool run(emulator_stream *stream, const work &what)
{
    uint64_t begin = later(stream->ns, what.queued);
    if (what.launch) {
        return run_kernel(stream, what, begin);
    }
    if (what.wait) {
        if (!advance_to(*what.wait)) {
            return false;
        }
        stream->ns = later(begin, what.wait->ns);
    } else if (what.record) {
        what.record->over = true;
        what.record->ns = stream->ns = begin;
    } else {
        if (!what.skipped) {
            what.act();
        }
        stream->ns = begin + what.ns;
    }
    return true;
}

/* Do the first work, and record the events behind it. Returns false if it has to wait. */
static bool advance(emulator_stream *stream)
{
    if (stream->queue.empty() || stream->busy) {
        return stream->queue.empty();
    }
    stream->busy = true;
    bool over = run(stream, stream->queue.front());
    while (over) {
        done.insert(stream->queue.front().key);
        stream->queue.pop_front();
        if (stream->queue.empty() || !stream->queue.front().record) {
            break;
        }
        run(stream, stream->queue.front());
    }
    stream->busy = false;
    return over;
}

static bool advance_to(const mark &place)
{
    while (!place.over && advance(place.stream)) {
    }
    return place.over;
}

/* The work of a stream has to wait: let the others do one each. */
static void give_turns(const emulator_stream *waiting)
{
    const std::set<emulator_stream *> all = streams;
    for (emulator_stream *stream : all) {
        if (stream != waiting) {
            advance(stream);
        }
    }
}

void emulator_give_turns()
{
    for (emulator_stream *stream : streams) {
        if (!stream->queue.empty()) {
            give_turns(nullptr);
            emulator_pass(POLL_NS);
            return;
        }
    }
}

/* The host waits until `over` is true. */
template <typename Over> static void wait_for(emulator_stream *stream, Over over)
{
    uint64_t since = emulator_now();
    while (!over()) {
        if (!advance(stream)) {
            give_turns(stream);
            emulator_pass(POLL_NS);
            if (emulator_now() - since > PATIENCE_NS) {
                emulator_fail("a kernel that polls for ever");
            }
        }
    }
    emulator_pass_until(stream->ns);
}

/* The host asks whether `over` is true. */
template <typename Over> static cudaError_t look_at(emulator_stream *stream, Over over)
{
    if (!over() && !advance(stream)) {
        give_turns(stream);
    }
    if (!over()) {
        emulator_pass(POLL_NS);
        return emulator_return(cudaErrorNotReady);
    }
    emulator_pass_until(stream->ns);
    return cudaSuccess;
}

/* ---- queueing ---- */

static void put(cudaStream_t at, work what)
{
    emulator_stream *stream = at != nullptr ? at : &default_stream;
    what.queued = emulator_now();
    if (stream->recorded != nullptr) {
        stream->recorded->push_back(std::move(what));
        return;
    }
    stream->queue.push_back(std::move(what));
    if (at == nullptr) {
        wait_for(stream, [=] { return stream->queue.empty(); });
    }
}

void emulator_put(cudaStream_t stream, std::function<void()> act, uint64_t ns, uint64_t key)
{
    work what = {};
    what.act = std::move(act);
    what.ns = ns;
    what.key = key;
    put(stream, std::move(what));
}

static uint64_t key_of(const std::string &text)
{
    uint64_t key = std::hash<std::string>()(text);
    return key != 0 ? key : 1;
}

/* Equal launches differ at most in where within their memory they work. */
static uint64_t key_of_launch(const emulator_launch &launch)
{
    std::string text((const char *)&launch.kernel, sizeof launch.kernel);
    text.append((const char *)&launch.config, offsetof(cudaLaunchConfig_t, stream));
    size_t at = 0;
    for (; at + sizeof(void *) <= launch.arguments.size(); at += sizeof(void *)) {
        const void *word;
        memcpy(&word, launch.arguments.data() + at, sizeof word);
        const void *start = emulator_start_of(word);
        word = start != nullptr ? start : word;
        text.append((const char *)&word, sizeof word);
    }
    return key_of(text.append(launch.arguments, at));
}

cudaError_t emulator_queue(const cudaLaunchConfig_t &config, const void *kernel,
                           emulator_body *body, const void *arguments, size_t bytes)
{
    emulator_launch launch = {config, kernel, std::unique_ptr<const emulator_body>(body),
                              std::string((const char *)arguments, bytes)};
    EMULATOR_CALL();
    work what = {};
    cudaStream_t stream = config.stream;
    what.key = emulator_hurries() ? key_of_launch(launch) : 0;
    what.launch = std::make_shared<const emulator_launch>(std::move(launch));
    put(stream, std::move(what));
    return cudaSuccess;
}

/* ---- rows of equal works ---- */

/* The works behind the last event that is still queued; false if there is none, or if one of them
 * is unlike all others. */
static bool find_row(emulator_stream *stream, size_t *first)
{
    size_t at = stream->queue.size();
    while (at > 0 && !stream->queue[at - 1].record) {
        const work &what = stream->queue[at - 1];
        if (what.key == 0 || (what.launch && pollers.count(what.launch->kernel) > 0)) {
            return false;
        }
        at--;
    }
    *first = at;
    return at > 0 && at < stream->queue.size();
}

/* After how many works does the row repeat itself? */
static size_t period_of(const std::deque<work> &queue, size_t first)
{
    for (size_t period = 1;; period++) {
        size_t at = first + period;
        while (at < queue.size() && queue[at].key == queue[at - period].key) {
            at++;
        }
        if (at >= queue.size()) {
            return period;
        }
    }
}

/* How many repetitions are to be done? */
static size_t repetitions(const std::deque<work> &queue, size_t first, size_t period)
{
    bool all_done = true;
    for (size_t at = first; at < first + period && at < queue.size(); at++) {
        all_done = all_done && done.count(queue[at].key) > 0;
    }
    return all_done ? 0 : 1;
}

/* An event ends a row: mark what need not be done. */
static void hurry(emulator_stream *stream)
{
    size_t first;
    if (!find_row(stream, &first)) {
        return;
    }
    size_t period = period_of(stream->queue, first);
    size_t needed = repetitions(stream->queue, first, period) * period;
    for (size_t at = first + needed; at < stream->queue.size(); at++) {
        stream->queue[at].skipped = true;
    }
}

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    EMULATOR_CALL();
    *stream = new emulator_stream;
    streams.insert(*stream);
    return cudaSuccess;
}

static void wait_for_all(emulator_stream *stream)
{
    wait_for(stream, [=] { return stream->queue.empty(); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    EMULATOR_CALL();
    wait_for_all(stream);
    streams.erase(stream);
    delete stream->recorded;
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    EMULATOR_CALL();
    wait_for_all(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    EMULATOR_CALL();
    return look_at(stream, [=] { return stream->queue.empty(); });
}

cudaError_t cudaDeviceSynchronize()
{
    EMULATOR_CALL();
    for (emulator_stream *stream : streams) {
        wait_for_all(stream);
    }
    return cudaSuccess;
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    EMULATOR_CALL();
    *event = new emulator_event;
    handles++;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    EMULATOR_CALL();
    delete event;
    handles--;
    return cudaSuccess;
}

/* Each record is a new mark, because what waits for the last one must not wait for this one. */
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    EMULATOR_CALL();
    if (stream->recorded != nullptr) {
        emulator_fail("an event in a graph");
    }
    if (emulator_hurries()) {
        hurry(stream);
    }
    event->at = std::make_shared<mark>(mark{stream, false, 0});
    work what = {};
    what.record = event->at;
    put(stream, std::move(what));
    if (stream->queue.size() == 1) {
        advance(stream); /* nothing precedes it */
    }
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    EMULATOR_CALL();
    const std::shared_ptr<mark> at = event->at;
    if (at && !at->over) {
        wait_for(at->stream, [=] { return at->over; });
    }
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    EMULATOR_CALL();
    const std::shared_ptr<mark> at = event->at;
    return !at || at->over ? cudaSuccess : look_at(at->stream, [=] { return at->over; });
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    EMULATOR_CALL();
    if (!begin->at || !end->at) {
        return emulator_return(cudaErrorInvalidValue);
    }
    if (!begin->at->over || !end->at->over) {
        return emulator_return(cudaErrorNotReady);
    }
    double ns = (double)(int64_t)(end->at->ns - begin->at->ns);
    *ms = (float)(ns / 1e6 * emulator_slowness());
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    EMULATOR_CALL();
    if (event->at) {
        work what = {};
        what.wait = event->at;
        what.key = 1;
        put(stream, std::move(what));
    }
    return cudaSuccess;
}

/* ---- copies ---- */

static uint64_t ns_of_copy(emulator_memory to, emulator_memory from, size_t bytes)
{
    bool inside = to == EMULATOR_GPU && from == EMULATOR_GPU;
    return BEGIN_NS + bytes / (inside ? MEMORY_BYTES_A_NS : LINK_BYTES_A_NS);
}

static const bool copies_run_ahead = getenv("EMULATOR_REVERSE") != nullptr;

/* `width` bytes of `height` rows, each `pitch` apart. */
static void put_copy(cudaStream_t stream, void *to, size_t to_pitch, const void *from,
                     size_t from_pitch, size_t width, size_t height)
{
    emulator_memory target = emulator_memory_at(to, 1), source = emulator_memory_at(from, 1);
    uint64_t ns = ns_of_copy(target, source, width * height);
    const void *starts[] = {emulator_start_of(to), emulator_start_of(from)};
    const size_t sizes[] = {width, height, to_pitch, from_pitch};
    uint64_t key = key_of(
        std::string((const char *)starts, sizeof starts).append((const char *)sizes, sizeof sizes));
    auto act = [=] {
        for (size_t row = 0; row < height; row++) {
            memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
        }
    };
    emulator_put(stream, act, ns, key);
    if (copies_run_ahead && stream->recorded == nullptr && stream->queue.size() == 1) {
        advance(stream);
    }
}

/* Memory at `data` that is not pageable has these bytes. */
static bool is_whole(const void *data, size_t bytes)
{
    return emulator_start_of(data) == nullptr ||
           emulator_memory_at(data, bytes) != EMULATOR_PAGEABLE;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream)
{
    EMULATOR_CALL();
    if (!is_whole(to, bytes) || !is_whole(from, bytes)) {
        return emulator_return(cudaErrorInvalidValue);
    }
    emulator_memory target = emulator_memory_at(to, bytes);
    if (target == EMULATOR_PAGEABLE) {
        wait_for_all(stream);
        memcpy(to, from, bytes);
        emulator_pass(ns_of_copy(target, EMULATOR_GPU, bytes));
    } else if (emulator_memory_at(from, bytes) == EMULATOR_PAGEABLE) {
        const std::vector<char> block((const char *)from, (const char *)from + bytes);
        emulator_put(
            stream, [=] { memcpy(to, block.data(), bytes); },
            ns_of_copy(target, EMULATOR_PAGEABLE, bytes), 0);
    } else {
        put_copy(stream, to, bytes, from, bytes, bytes, 1);
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream)
{
    EMULATOR_CALL();
    if (emulator_memory_at(from, (height - 1) * from_pitch + width) == EMULATOR_PAGEABLE ||
        emulator_memory_at(to, (height - 1) * to_pitch + width) == EMULATOR_PAGEABLE ||
        width > to_pitch || width > from_pitch) {
        return emulator_return(cudaErrorInvalidValue);
    }
    put_copy(stream, to, to_pitch, from, from_pitch, width, height);
    return cudaSuccess;
}

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes,
                                 size_t count, cudaMemcpyAttributes *, size_t *, size_t,
                                 cudaStream_t stream)
{
    cudaError_t status =
        stream != nullptr && count > 0 ? cudaSuccess : emulator_return(cudaErrorInvalidValue);
    for (size_t i = 0; status == cudaSuccess && i < count; i++) {
        status = cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, stream);
    }
    return status;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    EMULATOR_CALL();
    if (!is_whole(to, bytes) || !is_whole(from, bytes)) {
        return emulator_return(cudaErrorInvalidValue);
    }
    if (bytes > 0) {
        memcpy(to, from, bytes);
        emulator_pass(ns_of_copy(emulator_memory_at(to, 1), emulator_memory_at(from, 1), bytes));
    }
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *data, int value, size_t bytes, cudaStream_t stream)
{
    EMULATOR_CALL();
    if (emulator_memory_at(data, bytes) == EMULATOR_PAGEABLE) {
        return emulator_return(cudaErrorInvalidValue);
    }
    const uint64_t parts[] = {(uint64_t)emulator_start_of(data), (uint64_t)value, bytes};
    uint64_t key = key_of(std::string((const char *)parts, sizeof parts));
    emulator_put(
        stream, [=] { memset(data, value, bytes); }, BEGIN_NS + bytes / MEMORY_BYTES_A_NS, key);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *data, int value, size_t bytes)
{
    return cudaMemsetAsync(data, value, bytes, nullptr);
}

/* ---- graphs ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    EMULATOR_CALL();
    stream->recorded = new std::vector<work>;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    EMULATOR_CALL();
    *graph = new emulator_graph{std::move(*stream->recorded)};
    handles++;
    delete stream->recorded;
    stream->recorded = nullptr;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    EMULATOR_CALL();
    *exec = new emulator_graph(*graph);
    handles++;
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t)
{
    EMULATOR_CALL();
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    EMULATOR_CALL();
    for (const work &what : exec->works) {
        put(stream, what);
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    EMULATOR_CALL();
    delete graph;
    handles--;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    EMULATOR_CALL();
    delete exec;
    handles--;
    return cudaSuccess;
}

/* ---- what is not released ---- */

void emulator_check_released()
{
    if (emulator_holds_memory()) {
        emulator_fail("memory that is not released");
    }
    if (!streams.empty() || handles != 0) {
        emulator_fail("a stream, event or graph that is not released");
    }
}
