#include "calibrate/link/pieces.h"

#include "calibrate/device/gather.h"
#include "calibrate/link/groups.h"

#include <string.h>

#include <initializer_list>

#define APART 1000003 /* a prime: its multiples modulo a smaller number visit every place */
#define GATHER_WIDTH 16
#define GATHER_LOADS 8

/* The place of piece `turn` of the order, in pieces. */
static size_t pieces_place(const struct pieces *pieces, size_t turn)
{
    size_t places = pieces->buffers->bytes / pieces->bytes;
    return turn * APART % places;
}

/* A gather's rows are powers of two: a piece of another size is several of them. */
static size_t pieces_row_bytes(const struct pieces *pieces)
{
    return pieces->bytes & -pieces->bytes;
}

bool pieces::create(struct link_buffers *pools, size_t piece_bytes, struct error *why)
{
    buffers = pools;
    bytes = piece_bytes;
    size_t places = pools->bytes / bytes, each = bytes / pieces_row_bytes(this);
    most = (uint32_t)(places / 2);
    std::vector<uint32_t> ids(places * each);
    for (size_t i = 0; i < ids.size(); i++) {
        ids[i] = (uint32_t)(pieces_place(this, i / each) * each + i % each);
    }
    size_t size = ids.size() * sizeof ids[0];
    return row_ids.take(size, why) &&
           GPU_TRY(cudaMemcpy(row_ids.data, ids.data(), size, cudaMemcpyHostToDevice), why) &&
           GPU_TRY(cudaDeviceSynchronize(), why);
}

/* They go to the places half of the order further on, which no copy has touched for as long. */
void pieces::choose(uint32_t count, cudaMemcpyKind kind)
{
    bool in = kind == cudaMemcpyHostToDevice;
    char *gpu = buffers->gpu.data, *host = buffers->host.data;
    turn = turn + count <= 2 * most ? turn : 0;
    to.resize(count);
    from.resize(count);
    sizes.assign(count, bytes);
    for (uint32_t i = 0; i < count; i++) {
        from[i] = (in ? host : gpu) + pieces_place(this, turn + i) * bytes;
        to[i] = (in ? gpu : host) + pieces_place(this, turn + i + most) * bytes;
    }
    turn += count;
}

static bool put_calls(const struct pieces *pieces, cudaMemcpyKind kind, cudaStream_t stream,
                      struct error *why)
{
    bool ok = true;
    for (size_t i = 0; ok && i < pieces->to.size(); i++) {
        ok = GPU_TRY(cudaMemcpyAsync(pieces->to[i], pieces->from[i], pieces->bytes, kind, stream),
                     why);
    }
    return ok;
}

#if CUDART_VERSION >= 12080

/* The signature of toolkit 13, or that of 12.8, which also returns the copy that failed. */
static bool pieces_put_batch(struct pieces *pieces, cudaStream_t stream, struct error *why)
{
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t first = 0, count = pieces->to.size();
#if CUDART_VERSION >= 13000
    return GPU_TRY(cudaMemcpyBatchAsync(pieces->to.data(), pieces->from.data(),
                                        pieces->sizes.data(), count, &attributes, &first, 1,
                                        stream),
                   why);
#else
    size_t failed;
    return GPU_TRY(cudaMemcpyBatchAsync(pieces->to.data(), (void **)pieces->from.data(),
                                        pieces->sizes.data(), count, &attributes, &first, 1,
                                        &failed, stream),
                   why);
#endif
}

static bool knows_batches(struct error *why)
{
    int driver;
    return GPU_TRY(cudaDriverGetVersion(&driver), why) &&
           (driver >= 12080 || error_set(why, NULL, 0, "the driver supports CUDA %d.%d, not 12.8",
                                         driver / 1000, driver % 1000 / 10));
}

#else

static bool pieces_put_batch(struct pieces *, cudaStream_t, struct error *why)
{
    return error_set(why, NULL, 0, "built with a toolkit older than 12.8");
}

static bool knows_batches(struct error *why)
{
    return pieces_put_batch(NULL, NULL, why);
}

#endif

bool pieces::can_batch(const gpu_stream *stream, struct error *why)
{
    choose(1, cudaMemcpyHostToDevice);
    return knows_batches(why) && pieces_put_batch(this, stream->at, why) && stream->wait(why);
}

/* Into a dense row of pieces that begins at the first one's target. */
static bool put_kernel(struct pieces *pieces, cudaMemcpyKind kind, uint32_t ctas,
                       cudaStream_t stream, struct error *why)
{
    bool in = kind == cudaMemcpyHostToDevice;
    struct link_buffers *buffers = pieces->buffers;
    size_t count = pieces->to.size(), each = pieces->bytes / pieces_row_bytes(pieces);
    size_t to = buffers->turn(count * pieces->bytes);
    struct gpu_gather gather = {};
    gather.from = in ? buffers->host.seen : buffers->gpu.data;
    gather.to = (in ? buffers->gpu.data : buffers->host.seen) + to;
    gather.ids = (const uint32_t *)pieces->row_ids.data + (pieces->turn - count) * each;
    gather.rows = (uint32_t)(count * each);
    gather.row_bytes = (uint32_t)pieces_row_bytes(pieces);
    gather.ctas = ctas;
    gather.width = GATHER_WIDTH;
    gather.loads = GATHER_LOADS;
    for (size_t i = 0; i < count; i++) {
        pieces->to[i] = (in ? buffers->gpu.data : buffers->host.data) + to + i * pieces->bytes;
    }
    return gpu_gather_launch(&gather, stream, why);
}

bool pieces::put(enum pieces_way way, cudaMemcpyKind kind, uint32_t ctas, cudaStream_t stream,
                 struct error *why)
{
    switch (way) {
    case PIECES_BY_CALLS:
        return put_calls(this, kind, stream, why);
    case PIECES_BY_BATCH:
        return pieces_put_batch(this, stream, why);
    default:
        return put_kernel(this, kind, ctas, stream, why);
    }
}

/* ---- a check ---- */

#define CHECKED_POOL (16 * MiB)
#define CHECKED_PIECES 61 /* a prime, so that CTAs get unequal shares */

/* Copy into memory whose bits are new, and compare what arrived with its source. */
static bool check_way(struct pieces *pieces, enum pieces_way way, cudaMemcpyKind kind,
                      const gpu_stream *stream, uint64_t seed, struct error *why)
{
    bool in = kind == cudaMemcpyHostToDevice;
    struct link_buffers *buffers = pieces->buffers;
    std::vector<char> gpu(buffers->bytes);
    pieces->choose(CHECKED_PIECES, kind);
    if (!gpu_fill(buffers->gpu.data, buffers->bytes, seed, why) ||
        !pieces->put(way, kind, PIECES_CTAS, stream->at, why) || !stream->wait(why) ||
        !GPU_TRY(cudaMemcpy(gpu.data(), buffers->gpu.data, gpu.size(), cudaMemcpyDeviceToHost),
                 why)) {
        return false;
    }
    for (size_t i = 0; i < CHECKED_PIECES; i++) {
        const char *from = (const char *)pieces->from[i], *to = (const char *)pieces->to[i];
        from = in ? from : gpu.data() + (from - buffers->gpu.data);
        to = in ? gpu.data() + (to - buffers->gpu.data) : to;
        if (memcmp(from, to, pieces->bytes) != 0) {
            return error_set(why, NULL, 0, "piece %zu of %zu bytes, way %d %s, is another", i,
                             pieces->bytes, (int)way, in ? "in" : "out");
        }
    }
    return true;
}

bool pieces_arrive(struct error *why)
{
    struct link_buffers buffers;
    gpu_stream stream;
    struct error without;
    bool ok = buffers.take(CHECKED_POOL, 1, why) && stream.create(why);
    uint64_t seed = 2;
    for (size_t bytes : {(size_t)256, (size_t)18432, (size_t)65536}) {
        struct pieces pieces;
        ok = ok && pieces.create(&buffers, bytes, why);
        bool batch = ok && pieces.can_batch(&stream, &without);
        for (int way = 0; ok && way < PIECES_WAYS; way++) {
            for (cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost}) {
                ok = ok && ((way == PIECES_BY_BATCH && !batch) ||
                            check_way(&pieces, (enum pieces_way)way, kind, &stream, seed++, why));
            }
        }
    }
    return ok;
}
