/* What every group that uses the GPU stands on.
 *
 *     checked calls     no status of the runtime is dropped: `GPU_TRY(cudaX(...), why)` is a bool,
 *                       and the error names call, file and line
 *     owned memory      destructors free, so that a path that fails frees too
 *     waits that end    the host waits for GPU_PATIENCE_NS at most; a kernel that polls gives up
 *                       after GPU_DEADLINE_NS and says so: no destructor waits for ever
 *     intervals         between two events on one stream. For what is shorter than its launch, a
 *                       gate holds the stream until everything stands in its queue
 *     no cache          an arena several times the L2 that is walked through, so that what is read
 *                       has left the cache when its turn comes again
 *     no zeros          memory is filled with random bits: HBM and links compress and save power
 *                       on zeros
 *
 * Plain cudaMalloc and cudaHostAlloc only. Nothing here changes a setting of the machine.
 */
#ifndef CALIBRATE_DEVICE_DEVICE_H
#define CALIBRATE_DEVICE_DEVICE_H

extern "C" {
#include "base/error.h"
#include "base/units.h"
}
#include "calibrate/device/ptx.cuh"
#include "calibrate/measure/group.h"

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#define MiB ((size_t)1 << 20)

#define GPU_DEADLINE_NS 2000000000ull
#define GPU_PATIENCE_NS 20000000000.0

bool gpu_ok(cudaError_t status, const char *call, const char *file, int line, struct error *why);
#define GPU_TRY(call, why) gpu_ok((call), #call, __FILE__, __LINE__, (why))
/* Behind every <<<>>>. */
#define GPU_LAUNCHED(why) gpu_ok(cudaGetLastError(), "a launch", __FILE__, __LINE__, (why))

struct gpu_memory {
    char *data = nullptr;
    size_t bytes = 0;

    gpu_memory() = default;
    gpu_memory(const gpu_memory &) = delete;
    gpu_memory &operator=(const gpu_memory &) = delete;
    ~gpu_memory();
    /* Once; contents undefined. */
    bool take(size_t size, struct error *why);
};

/* Pinned and mapped host memory; `seen` is where the GPU sees it. */
struct pinned_memory {
    char *data = nullptr, *seen = nullptr;
    size_t bytes = 0;

    pinned_memory() = default;
    pinned_memory(const pinned_memory &) = delete;
    pinned_memory &operator=(const pinned_memory &) = delete;
    ~pinned_memory();
    /* Once; every page written, with random bits from `seed`. */
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
    /* Until all that was put there is done; polls, so that it can give up. */
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

/* A kernel that holds a stream until the host lets it go, so that an interval holds no launch:
 *
 *     gate.close(stream) && timer.start(stream) && ...launches... && timer.stop(stream) &&
 *     gate.open() && timer.read(&ns)
 *
 * Put at most 512 launches behind it: a full queue blocks the host. Allocate nothing and load no
 * kernel for the first time between close and open. It gives up by itself, and open() fails then:
 * the interval was not what was meant. */
struct gpu_gate {
    pinned_memory flags;

    gpu_gate() = default;
    gpu_gate(const gpu_gate &) = delete;
    gpu_gate &operator=(const gpu_gate &) = delete;
    /* Opens it where it is still closed, and waits for the kernel to end. */
    ~gpu_gate();
    bool create(struct error *why);
    bool close(cudaStream_t stream, struct error *why);
    bool open(struct error *why);
};

/* Hold a stream for so long: a kernel of one thread. At most GPU_DEADLINE_NS. */
bool gpu_pause(uint64_t ns, cudaStream_t stream, struct error *why);

/* Memory walked through in turn. */
struct gpu_arena {
    gpu_memory memory;
    size_t next = 0;

    /* At least `largest` bytes and four times the L2, random bits; fails where no half of the free
     * memory is so large. */
    bool create(size_t largest, uint64_t seed, struct error *why);
    /* The next `size` bytes, size <= memory.bytes, aligned to 512. */
    char *turn(size_t size);
};

/* Random bits, no 32-bit word of them 0. `bytes` is a multiple of 4. Done when it returns. */
bool gpu_fill(void *data, size_t bytes, uint64_t seed, struct error *why);

/* Values of bfloat16, uniform in [-1, 1) but for zeros. `bytes` is a multiple of 4. */
bool gpu_fill_bf16(void *data, size_t bytes, uint64_t seed, struct error *why);

/* Bytes that a buffer may have: `wanted`, halved until it is at most a half of what is free. */
bool gpu_room(size_t wanted, size_t *bytes, struct error *why);

/* An attribute of the current device. */
bool gpu_attribute(enum cudaDeviceAttr attribute, int *value, struct error *why);

/* Peak of the memory as the driver states it: clock x width x 2; 0 where it states none. */
bool gpu_memory_peak(double *bytes_per_s, struct error *why);

/* Words, from a place and a seed: splitmix64. */
__host__ __device__ inline uint64_t random_word(uint64_t seed, uint64_t place)
{
    uint64_t word = seed + (place + 1) * 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

#endif
