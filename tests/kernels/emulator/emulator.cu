/* Kernels: the threads of a CTA, shared memory, and the instructions of ptx.cuh. */
#include "emulator.h"

#include "calibrate/device/ptx.cuh"
#include "calibrate/kernels/small_floats.h"
#include "fibers.h"

#include <stdio.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#define SHARED_MOST (99U << 10) /* for a CTA on sm_86 and sm_89; all others have more */
#define SHARED_UNASKED (48U << 10)
#define SHARED_GUARD 4096
#define GUARD 0x5a
#define SHOWN_BYTES 64
#define THREADS_MOST 1024

/* What threads do takes time: to run up to the next place where they meet, and to load. A GPU does
 * that of so many threads at a time. */
#define RUN_NS 2
#define LOAD_NS 8
#define THREADS_AT_A_TIME 512

#define HURRIED_CTAS 1

dim3 blockIdx, gridDim, blockDim, threadIdx;

alignas(256) uint4 launch_shared[(SHARED_MOST + SHARED_GUARD) / sizeof(uint4)];

void emulator_fail(const char *what)
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
    struct fiber *fiber; /* that runs it */
    bool done;
    std::vector<std::vector<copy>> groups; /* of copies; the last group is not committed */
};

/* A barrier: the last thread to arrive opens it for all. */
struct meeting {
    unsigned here, turn;
};

/* Where a CTA runs. A suspended kernel keeps its place, and the next kernel gets another. A fiber
 * runs one thread after the other, until one has to wait; the next threads need another fiber. */
struct place {
    std::vector<thread> threads;
    std::deque<fiber> fibers; /* which may not move */
    std::vector<fiber *> idle;
    fiber *fresh;   /* that begins */
    unsigned begun; /* threads that have begun */
    const emulator_body *body;
    meeting warps[THREADS_MOST / EMULATOR_WARP], cta;
    unsigned char shown[2][THREADS_MOST / EMULATOR_WARP][EMULATOR_WARP * SHOWN_BYTES];
    unsigned showing[THREADS_MOST];
    std::vector<unsigned char> shared; /* of a suspended CTA */
};

struct emulator_kernel {
    const emulator_launch *launch;
    std::unique_ptr<struct place> place;
    unsigned ctas;  /* that have run; the next runs or is suspended */
    uint64_t begin; /* when it began */
    bool within;    /* the CTA has begun */
    bool suspended; /* once or more */
    unsigned run;   /* CTAs that ran */
    uint64_t runs, loads;
};

static place *here;             /* of the running kernel */
static emulator_kernel *kernel; /* the running one */
static bool moved;              /* a thread made progress since the scheduler last checked */
static bool waited;             /* a thread waited for time to pass */
static const bool reverse = getenv("EMULATOR_REVERSE") != nullptr;

static void change_over()
{
    fiber_leave(here->threads[threadIdx.x].fiber);
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
    unsigned warp = threadIdx.x / EMULATOR_WARP, left = blockDim.x - warp * EMULATOR_WARP;
    meet(here->warps[warp], left < EMULATOR_WARP ? left : EMULATOR_WARP);
}

void __syncthreads()
{
    meet(here->cta, blockDim.x);
}

/* Two buffers by turns: when a lane writes again, all lanes have read the buffer before last. */
const void *emulator_show(const void *mine, size_t bytes)
{
    if (bytes > SHOWN_BYTES) {
        emulator_fail("more shown than there is room for");
    }
    unsigned warp = threadIdx.x / EMULATOR_WARP;
    unsigned char *place = here->shown[here->showing[threadIdx.x]++ & 1][warp];
    memcpy(place + threadIdx.x % EMULATOR_WARP * bytes, mine, bytes);
    emulator_meet_warp();
    return place;
}

/* The thread waits: for time to pass, or for memory that others write. */
static void wait_here()
{
    waited = true;
    change_over();
}

uint64_t ptx_clock_ns()
{
    wait_here();
    uint64_t now = emulator_now();
    return now > kernel->begin ? now : kernel->begin;
}

void __nanosleep(unsigned)
{
    wait_here();
}

static unsigned in_order(unsigned i)
{
    return reverse ? blockDim.x - 1 - i : i;
}

/* What each fiber does: run threads as long as there are fresh ones. */
static void run_threads()
{
    fiber *self = here->fresh;
    for (;;) {
        while (here->begun < blockDim.x) {
            unsigned at = in_order(here->begun++);
            threadIdx.x = at;
            here->threads[at].fiber = self;
            kernel->runs++;
            here->body->run();
            here->threads[threadIdx.x].done = true;
            moved = true;
        }
        fiber_leave(self);
    }
}

static struct fiber *take_fiber()
{
    if (here->idle.empty()) {
        here->fibers.push_back({});
        here->idle.push_back(&here->fibers.back());
        fiber_begin(here->idle.back(), run_threads);
    }
    struct fiber *taken = here->idle.back();
    here->idle.pop_back();
    return taken;
}

/* Let a fiber go on, which then has to wait, or is idle. */
static void run_fiber(struct fiber *fiber)
{
    kernel->runs++;
    fiber_run(fiber);
    if (here->threads[threadIdx.x].done) {
        here->idle.push_back(fiber);
    }
}

static void begin_cta(unsigned count)
{
    memset(here->warps, 0, sizeof here->warps);
    here->cta = {};
    here->begun = 0;
    if (here->threads.size() < count) {
        here->threads.resize(count);
    }
    for (unsigned i = 0; i < count; i++) {
        here->threads[i].done = false;
        here->threads[i].groups.resize(1);
        here->threads[i].groups[0].clear();
    }
}

/* Run threads by turns until all are done. In a round without progress, those that wait have to go
 * on waiting, and the CTA is suspended: false. If none waits, it is a deadlock. */
static bool run_cta(unsigned count)
{
    moved = waited = false;
    while (here->begun < count) {
        here->fresh = take_fiber();
        run_fiber(here->fresh);
    }
    for (;;) {
        unsigned left = 0;
        for (unsigned i = 0; i < count; i++) {
            unsigned at = in_order(i);
            if (!here->threads[at].done) {
                threadIdx.x = at;
                run_fiber(here->threads[at].fiber);
                left += !here->threads[at].done;
            }
        }
        if (left == 0) {
            break;
        }
        if (!moved) {
            if (waited) {
                return false;
            }
            emulator_fail("a barrier that not all threads reach");
        }
        moved = waited = false;
    }
    for (unsigned i = 0; i < count; i++) {
        const std::vector<std::vector<copy>> &groups = here->threads[i].groups;
        if (groups.size() > 1 || !groups[0].empty()) {
            emulator_fail("a copy that nobody waits for");
        }
    }
    return true;
}

static std::map<const void *, size_t> allowed;

void emulator_allow(const void *kernel, size_t bytes)
{
    if (bytes > SHARED_MOST) {
        emulator_fail("more shared memory than an sm_86 has");
    }
    allowed[kernel] = bytes;
}

/* ---- kernels ---- */

static std::vector<std::unique_ptr<place>> free_places; /* kept: a fiber is slow to create */

static void check_launch(const emulator_launch &launch)
{
    const cudaLaunchConfig_t &config = launch.config;
    auto most = allowed.find(launch.kernel);
    if (config.blockDim.x == 0 || config.blockDim.x > THREADS_MOST || config.gridDim.x == 0 ||
        config.gridDim.y == 0 ||
        config.dynamicSmemBytes > (most != allowed.end() ? most->second : SHARED_UNASKED)) {
        emulator_fail("a launch that a GPU would refuse");
    }
}

emulator_kernel *emulator_start(const emulator_launch &launch, uint64_t begin)
{
    check_launch(launch);
    if (free_places.empty()) {
        free_places.emplace_back(new place());
    }
    std::unique_ptr<place> taken = std::move(free_places.back());
    free_places.pop_back();
    taken->body = launch.body.get();
    return new emulator_kernel{&launch, std::move(taken), 0, begin, false, false, 0, 0, 0};
}

static unsigned ctas_of(const emulator_kernel *of)
{
    return of->launch->config.gridDim.x * of->launch->config.gridDim.y;
}

/* In a hurry, of a large grid only the first CTAs and the last are run. */
static bool is_left_out(unsigned cta, unsigned all)
{
    return emulator_hurries() && cta >= HURRIED_CTAS && cta + HURRIED_CTAS < all;
}

uint64_t emulator_kernel_ns(const emulator_kernel *ended)
{
    const cudaLaunchConfig_t &config = ended->launch->config;
    uint64_t threads = (uint64_t)config.gridDim.x * config.gridDim.y * config.blockDim.x;
    uint64_t all = (ended->runs * RUN_NS + ended->loads * LOAD_NS) * ctas_of(ended) / ended->run;
    return all / (threads < THREADS_AT_A_TIME ? threads : THREADS_AT_A_TIME);
}

void emulator_count_load()
{
    kernel->loads++;
}

bool emulator_was_suspended(const emulator_kernel *ended)
{
    return ended->suspended;
}

void emulator_end(emulator_kernel *ended)
{
    free_places.push_back(std::move(ended->place));
    delete ended;
}

static void begin_shared(size_t bytes)
{
    memset(launch_shared, 0xff, bytes);
    memset((unsigned char *)launch_shared + bytes, GUARD, SHARED_GUARD);
}

static void check_guard(size_t bytes)
{
    for (size_t i = 0; i < SHARED_GUARD; i++) {
        if (((unsigned char *)launch_shared)[bytes + i] != GUARD) {
            emulator_fail("a write behind shared memory");
        }
    }
}

/* Run the kernel's current CTA; false if it is suspended. */
static bool go_on()
{
    const cudaLaunchConfig_t &config = kernel->launch->config;
    size_t shared = config.dynamicSmemBytes + SHARED_GUARD;
    if (kernel->within) {
        memcpy(launch_shared, here->shared.data(), shared);
    } else {
        begin_shared(config.dynamicSmemBytes);
        begin_cta(config.blockDim.x);
    }
    kernel->within = !run_cta(config.blockDim.x);
    if (kernel->within) {
        const unsigned char *bytes = (const unsigned char *)launch_shared;
        here->shared.assign(bytes, bytes + shared);
        return false;
    }
    check_guard(config.dynamicSmemBytes);
    return true;
}

bool emulator_continue(emulator_kernel *next)
{
    kernel = next;
    here = kernel->place.get();
    gridDim = kernel->launch->config.gridDim;
    blockDim = kernel->launch->config.blockDim;
    for (unsigned all = ctas_of(kernel); kernel->ctas < all; kernel->ctas++) {
        if (is_left_out(kernel->ctas, all)) {
            continue;
        }
        unsigned at = reverse ? all - 1 - kernel->ctas : kernel->ctas;
        blockIdx = dim3(at % gridDim.x, at / gridDim.x);
        if (!go_on()) {
            kernel->suspended = true;
            return false;
        }
        kernel->run++;
    }
    return true;
}

/* ---- instructions ---- */

void ptx_copy(void *shared, const void *global, bool there)
{
    if ((uintptr_t)shared % 16 != 0 || (uintptr_t)global % 16 != 0) {
        emulator_fail("a copy from or to where 16 bytes do not begin");
    }
    emulator_count_load();
    here->threads[threadIdx.x].groups.back().push_back({shared, there ? global : nullptr});
}

void ptx_copy_commit()
{
    here->threads[threadIdx.x].groups.push_back({});
}

void emulator_copy_wait(int pending)
{
    std::vector<std::vector<copy>> &groups = here->threads[threadIdx.x].groups;
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
        emulator_fail("a row of a matrix where 16 bytes do not begin");
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
    return __uint_as_float(second == 0 ? pair << 16 : pair & 0xffff0000U);
}

/* Most of the time of attention is spent here. */
void ptx_multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
    const uint32_t(*all)[6] = (const uint32_t(*)[6])emulator_show(mine, sizeof mine);
    unsigned row = threadIdx.x % EMULATOR_WARP / 4, column = threadIdx.x % 4 * 2;
    for (unsigned k = 0; k < 16; k += 2) {
        unsigned pair = k % 8 / 2, far = k / 8;
        const uint32_t *upper = &all[row * 4 + pair][2 * far];
        uint32_t left = all[column * 4 + pair][4 + far],
                 right = all[column * 4 + 4 + pair][4 + far];
        for (unsigned half = 0; half < 2; half++) {
            sum[0] += half_of(upper[0], half) * half_of(left, half);
            sum[1] += half_of(upper[0], half) * half_of(right, half);
            sum[2] += half_of(upper[1], half) * half_of(left, half);
            sum[3] += half_of(upper[1], half) * half_of(right, half);
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
