#include "../kernel_test.h"
#include "calibrate/device/device.h"
#include "calibrate/device/facts.h"
#include "calibrate/device/ptx.cuh"
#include "calibrate/kernels/small_floats.h"
#include "fibers.h"

#include <stdio.h>

#include <map>
#include <vector>

#define SHARED_MOST (99U << 10) /* for a CTA on sm_86 and sm_89; all others have more */
#define SHARED_UNASKED (48U << 10)
#define SHARED_GUARD 4096
#define GUARD 0x5a
#define SHOWN_BYTES 64
#define THREADS_MOST 1024

dim3 blockIdx, gridDim, blockDim, threadIdx;

alignas(256) uint4 launch_shared[(SHARED_MOST + SHARED_GUARD) / sizeof(uint4)];

[[noreturn]] static void fail(const char *what)
{
    fprintf(stderr, "emulator: %s (CTA %u %u, thread %u)\n", what, blockIdx.x, blockIdx.y,
            threadIdx.x);
    abort();
}

/* ---- threads ---- */

struct copy {
    void *to;
    const void *from;
};

struct thread {
    struct fiber fiber;
    bool ready, done;                      /* ready for the next kernel; done with this one */
    std::vector<std::vector<copy>> groups; /* of copies; the last group is not committed */
};

/* A barrier: the last thread to arrive opens it for all. */
struct meeting {
    unsigned here, turn;
};

static std::vector<thread> threads;
static const std::function<void()> *body;
static meeting warps[THREADS_MOST / EMULATOR_WARP], cta;
static unsigned char shown[2][THREADS_MOST / EMULATOR_WARP][EMULATOR_WARP * SHOWN_BYTES];
static unsigned showing[THREADS_MOST];
static bool moved; /* a thread made progress since the scheduler last checked */
static const bool reverse = getenv("EMULATOR_REVERSE") != nullptr;

static void change_over()
{
    fiber_leave(&threads[threadIdx.x].fiber);
}

static void meet(meeting &place, unsigned all)
{
    unsigned turn = place.turn;
    moved = true;
    if (++place.here == all) {
        place.here = 0;
        place.turn++;
        return;
    }
    while (place.turn == turn) {
        change_over();
    }
}

void emulator_meet_warp()
{
    meet(warps[threadIdx.x / EMULATOR_WARP], EMULATOR_WARP);
}

void __syncthreads()
{
    meet(cta, blockDim.x);
}

/* Two buffers by turns: when a lane writes again, all lanes have read the buffer before last. */
const void *emulator_show(const void *mine, size_t bytes)
{
    if (bytes > SHOWN_BYTES) {
        fail("more shown than there is room for");
    }
    unsigned warp = threadIdx.x / EMULATOR_WARP;
    unsigned char *place = shown[showing[threadIdx.x]++ & 1][warp];
    memcpy(place + threadIdx.x % EMULATOR_WARP * bytes, mine, bytes);
    emulator_meet_warp();
    return place;
}

static void end_thread(bool ready)
{
    threads[threadIdx.x].ready = ready;
    threads[threadIdx.x].done = true;
    moved = true;
    change_over();
}

/* A thread that polls in vain is abandoned where it is. */
void __nanosleep(unsigned)
{
    if (emulator_stall()) {
        end_thread(false);
    }
}

static void run_kernels()
{
    for (;;) {
        (*body)();
        end_thread(true);
    }
}

static void prepare(thread &thread)
{
    thread.done = false;
    thread.groups.assign(1, {});
    if (!thread.ready) {
        fiber_begin(&thread.fiber, run_kernels);
    }
}

/* Run threads by turns until all are done; a whole round without progress is a deadlock. */
static void run_cta(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        prepare(threads[i]);
    }
    memset(warps, 0, sizeof warps);
    cta = {};
    for (unsigned left = count; left > 0;) {
        left = 0;
        moved = false;
        for (unsigned i = 0; i < count; i++) {
            unsigned at = reverse ? count - 1 - i : i;
            if (!threads[at].done) {
                threadIdx.x = at;
                fiber_run(&threads[at].fiber);
                left += !threads[at].done;
            }
        }
        if (left > 0 && !moved) {
            fail("a barrier that not all threads reach");
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (threads[i].groups.size() > 1 || !threads[i].groups[0].empty()) {
            fail("a copy that nobody waits for");
        }
    }
}

static std::map<const void *, size_t> allowed;

void emulator_allow(const void *kernel, size_t bytes)
{
    if (bytes > SHARED_MOST) {
        fail("more shared memory than an sm_86 has");
    }
    allowed[kernel] = bytes;
}

void emulator_run(const cudaLaunchConfig_t &config, const void *kernel,
                  const std::function<void()> &thread)
{
    unsigned count = config.blockDim.x;
    size_t shared = config.dynamicSmemBytes;
    size_t most = allowed.count(kernel) > 0 ? allowed[kernel] : SHARED_UNASKED;
    if (count == 0 || count > THREADS_MOST || count % EMULATOR_WARP != 0 || shared > most ||
        config.gridDim.x == 0 || config.gridDim.y == 0) {
        fail("a launch that a GPU would refuse");
    }
    while (threads.size() < count) {
        threads.push_back({});
    }
    body = &thread;
    gridDim = config.gridDim;
    blockDim = config.blockDim;
    unsigned ctas = gridDim.x * gridDim.y;
    for (unsigned i = 0; i < ctas; i++) {
        unsigned at = reverse ? ctas - 1 - i : i;
        blockIdx = dim3(at % gridDim.x, at / gridDim.x);
        unsigned char *bytes = (unsigned char *)launch_shared;
        memset(bytes, 0xff, shared);
        memset(bytes + shared, GUARD, SHARED_GUARD);
        run_cta(count);
        for (size_t guard = 0; guard < SHARED_GUARD; guard++) {
            if (bytes[shared + guard] != GUARD) {
                fail("a write behind shared memory");
            }
        }
    }
}

/* ---- instructions ---- */

void ptx_copy(void *shared, const void *global, bool there)
{
    if ((uintptr_t)shared % 16 != 0 || (uintptr_t)global % 16 != 0) {
        fail("a copy from or to where 16 bytes do not begin");
    }
    threads[threadIdx.x].groups.back().push_back({shared, there ? global : nullptr});
}

void ptx_copy_commit()
{
    threads[threadIdx.x].groups.push_back({});
}

void emulator_copy_wait(int pending)
{
    std::vector<std::vector<copy>> &groups = threads[threadIdx.x].groups;
    while (groups.size() > (size_t)pending + 1) {
        for (const copy &copy : groups.front()) {
            copy.from != nullptr ? memcpy(copy.to, copy.from, 16) : memset(copy.to, 0, 16);
        }
        groups.erase(groups.begin());
    }
}

static void load(uint32_t (&matrix)[4], const void *row, bool transposed)
{
    const void *rows[EMULATOR_WARP];
    if ((uintptr_t)row % 16 != 0) {
        fail("a row of a matrix where 16 bytes do not begin");
    }
    memcpy(rows, emulator_show(&row, sizeof row), sizeof rows);
    unsigned lane = threadIdx.x % EMULATOR_WARP;
    for (unsigned m = 0; m < 4; m++) {
        uint16_t pair[2];
        for (unsigned i = 0; i < 2; i++) {
            unsigned down = lane / 4, across = lane % 4 * 2 + i;
            pair[i] = transposed ? ((const uint16_t *)rows[8 * m + across])[down]
                                 : ((const uint16_t *)rows[8 * m + down])[across];
        }
        memcpy(&matrix[m], pair, sizeof pair);
    }
    emulator_meet_warp(); /* read before it is written again */
}

void ptx_load_matrices(uint32_t (&matrix)[4], const void *row)
{
    load(matrix, row, false);
}

void ptx_load_transposed(uint32_t (&matrix)[4], const void *row)
{
    load(matrix, row, true);
}

static float half_of(uint32_t pair, unsigned second)
{
    return bf16_value((uint16_t)(pair >> 16 * second));
}

void ptx_multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    uint32_t mine[6] = {a[0], a[1], a[2], a[3], b0, b1}, all[EMULATOR_WARP][6];
    memcpy(all, emulator_show(mine, sizeof mine), sizeof all);
    unsigned lane = threadIdx.x % EMULATOR_WARP;
    for (unsigned value = 0; value < 4; value++) {
        unsigned row = lane / 4 + 8 * (value >> 1), column = lane % 4 * 2 + (value & 1);
        for (unsigned k = 0; k < 16; k++) {
            unsigned pair = k % 8 / 2, far = k / 8;
            sum[value] += half_of(all[row % 8 * 4 + pair][row / 8 + 2 * far], k & 1) *
                          half_of(all[column * 4 + pair][4 + far], k & 1);
        }
    }
}

uint32_t ptx_pack(float low, float high)
{
    return (uint32_t)bf16_of(high) << 16 | bf16_of(low);
}

uint32_t ptx_times(uint32_t a, uint32_t b)
{
    return ptx_pack(half_of(a, 0) * half_of(b, 0), half_of(a, 1) * half_of(b, 1));
}

/* ---- the functions of device.cu ---- */

bool gpu_ok(cudaError_t status, const char *call, const char *file, int line, struct error *why)
{
    return status == cudaSuccess || error_set(why, file, line, "%s: error %d", call, (int)status);
}

extern "C" bool gpu_find(struct error *)
{
    return true;
}

bool gpu_attribute(enum cudaDeviceAttr, int *value, struct error *)
{
    *value = 3; /* an odd number of SMs */
    return true;
}

/* ---- cases that need a real GPU: none ---- */

void gpu_cases(std::vector<kernel_case> &)
{
}
