/* The base of every group that uses the GPU.
 *
 *     checked calls     every status of the CUDA runtime is checked: `GPU_TRY(cudaX(...), why)` is
 *                       a bool, and the error names call, file and line
 *     owned memory      destructors free memory, on failing paths too
 *     waits that end    the host waits for at most GPU_PATIENCE_NS; a kernel that polls gives up
 *                       after GPU_DEADLINE_NS and reports it; no destructor waits for ever
 *     intervals         are taken between two events on one stream. For work that is shorter than
 *                       its launch, a gate holds the stream until all of it is queued
 *     no cache          groups walk through an arena several times as large as the L2, so that
 *                       data have left the cache when they are read again
 *     no zeros          memory is filled with random bits, because HBM and links compress zeros
 *                       and save power on them
 *
 * Memory comes from plain cudaMalloc and cudaHostAlloc. Nothing here changes a setting of the
 * machine.
 */
#pragma once

extern "C" {
#include "core/error.h"
#include "core/units.h"
}
#include "calibrate/device/ptx.cuh"
#include "calibrate/measure/group.h"
#include "calibrate/measure/room.h"

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#define MiB ((size_t)1 << 20)

#define GPU_DEADLINE_NS 2000000000ull
#define GPU_PATIENCE_NS 20000000000.0

bool gpu_ok(cudaError_t status, const char *call, const char *file, int line, struct error *why);
#define GPU_TRY(call, why) gpu_ok((call), #call, __FILE__, __LINE__, (why))

struct gpu_memory {
    char *data = nullptr;
    size_t bytes = 0;

    gpu_memory() = default;
    gpu_memory(const gpu_memory &) = delete;
    gpu_memory &operator=(const gpu_memory &) = delete;
    ~gpu_memory();
    /* Allocate `size` bytes, undefined. At most once. */
    bool take(size_t size, struct error *why);
};

/* Pinned and mapped host memory; `seen` is its address on the GPU. */
struct pinned_memory {
    char *data = nullptr, *seen = nullptr;
    size_t bytes = 0;

    pinned_memory() = default;
    pinned_memory(const pinned_memory &) = delete;
    pinned_memory &operator=(const pinned_memory &) = delete;
    ~pinned_memory();
    /* Allocate `size` bytes and fill them with random bits from `seed`. At most once. */
    bool take(size_t size, uint64_t seed, struct error *why);
};

/* A stream that does not wait for the default one. */
struct gpu_stream {
    cudaStream_t at = nullptr;

    gpu_stream() = default;
    gpu_stream(const gpu_stream &) = delete;
    gpu_stream &operator=(const gpu_stream &) = delete;
    ~gpu_stream();
    bool create(struct error *why);
    /* Wait until all work on the stream is done. Polls, so that it can give up. */
    bool wait(struct error *why) const;
};

struct gpu_timer {
    cudaEvent_t begin = nullptr, end = nullptr;

    gpu_timer() = default;
    gpu_timer(const gpu_timer &) = delete;
    gpu_timer &operator=(const gpu_timer &) = delete;
    ~gpu_timer();
    bool create(struct error *why);
    bool start(cudaStream_t stream, struct error *why) const;
    bool stop(cudaStream_t stream, struct error *why) const;
    /* Waits for the end of the interval. */
    bool read(double *ns, struct error *why) const;
};

/* A kernel that holds a stream until the host releases it, so that an interval contains no launch:
 *
 *     gate.close(stream) && timer.start(stream) && ...launches... && timer.stop(stream) &&
 *     gate.open() && timer.read(&ns)
 *
 * Queue at most 512 launches behind it: a full queue blocks the host. Between close and open,
 * allocate no memory and launch no kernel for the first time. The kernel gives up after
 * GPU_DEADLINE_NS; open() then fails, because the interval contains launches. */
struct gpu_gate {
    pinned_memory flags;

    gpu_gate() = default;
    gpu_gate(const gpu_gate &) = delete;
    gpu_gate &operator=(const gpu_gate &) = delete;
    /* Opens the gate if it is still closed, and waits for the kernel to end. */
    ~gpu_gate();
    bool create(struct error *why);
    bool close(cudaStream_t stream, struct error *why);
    bool open(struct error *why);
};

/* Hold a stream for `ns`, at most GPU_DEADLINE_NS, by a kernel of one thread. */
bool gpu_pause(uint64_t ns, cudaStream_t stream, struct error *why);

/* Memory that is handed out piece after piece, from the start again at its end. */
struct gpu_arena {
    gpu_memory memory;
    size_t next = 0;

    /* Allocate at least `largest` bytes and at least four times the L2, with random bits. Fails if
     * that is more than half of the free memory. */
    bool create(size_t largest, uint64_t seed, struct error *why);
    /* The next `size` bytes, aligned to 512. size <= memory.bytes, which the caller made sure
     * of. */
    char *turn(size_t size);
};

/* Fill with random bits, no 32-bit word 0. `bytes` is a multiple of 4. Returns when it is done. */
bool gpu_fill(void *data, size_t bytes, uint64_t seed, struct error *why);

/* Fill with bfloat16 values, uniform in [-1, 1) without zeros. `bytes` is a multiple of 4. */
bool gpu_fill_bf16(void *data, size_t bytes, uint64_t seed, struct error *why);

/* The room for a buffer: `wanted` bytes, halved until they are at most half of the free memory.
 * Fails if that is less than `least`. */
bool gpu_room(size_t wanted, size_t least, struct room *room, struct error *why);

/* An attribute of the current device. */
bool gpu_attribute(enum cudaDeviceAttr attribute, int *value, struct error *why);

/* The memory's peak rate from the driver's figures: clock x width x 2; 0 if it states none. */
bool gpu_memory_peak(double *bytes_per_s, struct error *why);

/* The random word at index `place` of the sequence of `seed` (splitmix64). */
__host__ __device__ inline uint64_t random_word(uint64_t seed, uint64_t place)
{
    uint64_t word = seed + (place + 1) * 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}
