/* The k largest of each row of scores, by radix selection.
 *
 * As in Alabi et al. (2012) and RAFT's select_k: floats become unsigned numbers of the same order.
 * Counts of their upper 11 bits tell which bin contains the k-th largest; inside that bin, counts
 * of the next 11 bits and then of the last 10 do. All numbers above the k-th are taken, then as
 * many equal ones as are missing. One CTA does all passes of a row of up to SHORT_ROW scores. A
 * longer row has many CTAs and a kernel for each pass: every CTA adds its counts to the row's, and
 * the last CTA finds the bin.
 */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#define THREADS 512
#define DIGIT_BITS 11
#define BINS (1 << DIGIT_BITS)
#define BINS_EACH (BINS / THREADS)
#define PASSES 3
#define SHORT_ROW 32768
#define CTA_SCORES (THREADS * 32)

/* The state of the selection in a row. */
struct selection {
    uint32_t prefix; /* the k-th largest number, as far as it is known */
    uint32_t wanted; /* how many numbers with that prefix are among the k */
};

/* The state of a long row. */
struct row_state {
    uint32_t bins[PASSES][BINS];
    struct selection selection[PASSES]; /* after each pass */
    uint32_t done[PASSES];              /* CTAs that have finished it */
    uint32_t above, equal;              /* written so far */
};

/* The state of a CTA. */
struct cta_state {
    uint32_t bins[BINS];
    uint32_t warps[THREADS / WARP];
    struct selection selection;
    uint32_t above, equal;
    bool last;
};

/* An unsigned number for a float, in the same order. */
static __device__ uint32_t number_of(float score)
{
    uint32_t bits = __float_as_uint(score + 0.0f); /* -0 becomes 0 */
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
}

/* The bits of a number that passes before `pass` have settled, and the digit of that pass. */
static __device__ uint32_t settled(uint32_t number, int pass)
{
    return pass == 0 ? 0 : pass == 1 ? number >> 21 : number >> 10;
}

static __device__ uint32_t digit_of(uint32_t number, int pass)
{
    return pass == 0 ? number >> 21 : pass == 1 ? number >> 10 & (BINS - 1) : number & 1023;
}

static __device__ void clear_bins(struct cta_state &cta)
{
    for (uint32_t bin = threadIdx.x; bin < BINS; bin += THREADS) {
        cta.bins[bin] = 0;
    }
    __syncthreads();
}

/* Count the digits of those scores[begin, end) that have the prefix. */
static __device__ void count_digits(struct cta_state &cta, const float *scores, uint32_t begin,
                                    uint32_t end, int pass, uint32_t prefix)
{
#pragma unroll 4
    for (uint32_t i = begin + threadIdx.x; i < end; i += THREADS) {
        uint32_t number = number_of(scores[i]);
        if (settled(number, pass) == prefix) {
            atomicAdd(&cta.bins[digit_of(number, pass)], 1U);
        }
    }
    __syncthreads();
}

/* Write the bin of the wanted-th largest number to cta.selection. Each thread has BINS_EACH bins;
 * the first thread has the largest. */
static __device__ void find_bin(struct cta_state &cta, const uint32_t *bins, int pass,
                                struct selection before)
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t top = BINS - 1 - threadIdx.x * BINS_EACH, own = 0;
    for (uint32_t i = 0; i < BINS_EACH; i++) {
        own += bins[top - i];
    }
    uint32_t through = own; /* sum up to this thread, inclusive */
    for (uint32_t apart = 1; apart < WARP; apart *= 2) {
        uint32_t other = __shfl_up_sync(WHOLE_WARP, through, apart);
        through += lane >= apart ? other : 0;
    }
    if (lane == WARP - 1) {
        cta.warps[warp] = through;
    }
    __syncthreads();
    for (uint32_t w = 0; w < warp; w++) {
        through += cta.warps[w];
    }
    uint32_t above = through - own;
    if (above < before.wanted && before.wanted <= through) { /* one thread */
        for (uint32_t i = 0; i < BINS_EACH; i++) {
            uint32_t here = bins[top - i];
            if (before.wanted - above <= here) {
                uint32_t bits = pass == PASSES - 1 ? 10 : DIGIT_BITS;
                cta.selection = {before.prefix << bits | (top - i), before.wanted - above};
                break;
            }
            above += here;
        }
    }
    __syncthreads();
}

/* Reserve one place for each thread that asks, with one atomic addition a warp. */
static __device__ uint32_t take_place(uint32_t *counter, bool asks)
{
    uint32_t lane = threadIdx.x % WARP, all = __ballot_sync(WHOLE_WARP, asks), first = 0;
    if (lane == 0 && all != 0) {
        first = atomicAdd(counter, (uint32_t)__popc(all));
    }
    return __shfl_sync(WHOLE_WARP, first, 0) + (uint32_t)__popc(all & ((1U << lane) - 1));
}

/* Write the chosen of scores[begin, end): numbers above the k-th from the front, equal ones from
 * the back. Whole warps stay in the loop. */
static __device__ void write_chosen(const float *scores, uint32_t begin, uint32_t end, uint32_t k,
                                    struct selection selection, uint32_t *above, uint32_t *equal,
                                    uint32_t *chosen)
{
    for (uint32_t base = begin; base < end; base += THREADS) {
        uint32_t i = base + threadIdx.x;
        uint32_t number = i < end ? number_of(scores[i]) : 0;
        bool is_above = i < end && number > selection.prefix;
        bool is_equal = i < end && number == selection.prefix;
        uint32_t place = take_place(above, is_above);
        if (is_above) {
            chosen[place] = i;
        }
        place = take_place(equal, is_equal);
        if (is_equal && place < selection.wanted) {
            chosen[k - 1 - place] = i;
        }
    }
}

static __global__ void __launch_bounds__(THREADS)
    select_short(const float *scores, uint32_t count, uint32_t k, uint32_t *chosen)
{
    struct cta_state &cta = *(struct cta_state *)launch_shared;
    const float *row = scores + (uint64_t)blockIdx.x * count;
    struct selection selection = {0, k};
    for (int pass = 0; pass < PASSES; pass++) {
        clear_bins(cta);
        count_digits(cta, row, 0, count, pass, selection.prefix);
        find_bin(cta, cta.bins, pass, selection);
        selection = cta.selection;
    }
    if (threadIdx.x == 0) {
        cta.above = cta.equal = 0;
    }
    __syncthreads();
    write_chosen(row, 0, count, k, selection, &cta.above, &cta.equal,
                 chosen + (uint64_t)blockIdx.x * k);
}

static __device__ uint32_t cta_end(uint32_t begin, uint32_t count)
{
    return count - begin > CTA_SCORES ? begin + CTA_SCORES : count;
}

static __global__ void __launch_bounds__(THREADS)
    count_long(const float *scores, uint32_t count, uint32_t k, int pass, struct row_state *states)
{
    struct cta_state &cta = *(struct cta_state *)launch_shared;
    struct row_state *state = &states[blockIdx.y];
    struct selection before = {0, k};
    if (pass > 0) {
        before = state->selection[pass - 1];
    }
    uint32_t begin = blockIdx.x * CTA_SCORES;
    clear_bins(cta);
    count_digits(cta, scores + (uint64_t)blockIdx.y * count, begin, cta_end(begin, count), pass,
                 before.prefix);
    for (uint32_t bin = threadIdx.x; bin < BINS; bin += THREADS) {
        if (cta.bins[bin] > 0) {
            atomicAdd(&state->bins[pass][bin], cta.bins[bin]);
        }
    }
    __threadfence(); /* its counts are visible before this CTA counts as done */
    __syncthreads();
    if (threadIdx.x == 0) {
        cta.last = atomicAdd(&state->done[pass], 1U) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!cta.last) {
        return;
    }
    for (uint32_t bin = threadIdx.x; bin < BINS; bin += THREADS) {
        cta.bins[bin] = *(volatile uint32_t *)&state->bins[pass][bin];
    }
    __syncthreads();
    find_bin(cta, cta.bins, pass, before);
    if (threadIdx.x == 0) {
        state->selection[pass] = cta.selection;
    }
}

/* A CTA first counts what it will write, then reserves the places at once: thousands of warps with
 * atomics on one word of memory would wait for each other. */
static __device__ void take_room(struct cta_state &cta, const float *scores, uint32_t begin,
                                 uint32_t end, uint32_t kth, struct row_state *state)
{
    uint32_t above = 0, equal = 0;
#pragma unroll 4
    for (uint32_t i = begin + threadIdx.x; i < end; i += THREADS) {
        uint32_t number = number_of(scores[i]);
        above += number > kth;
        equal += number == kth;
    }
    if (threadIdx.x == 0) {
        cta.above = cta.equal = 0;
    }
    __syncthreads();
    atomicAdd(&cta.above, above);
    atomicAdd(&cta.equal, equal);
    __syncthreads();
    if (threadIdx.x == 0) {
        cta.above = atomicAdd(&state->above, cta.above);
        cta.equal = atomicAdd(&state->equal, cta.equal);
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(THREADS)
    write_long(const float *scores, uint32_t count, uint32_t k, struct row_state *states,
               uint32_t *chosen)
{
    struct cta_state &cta = *(struct cta_state *)launch_shared;
    const float *row = scores + (uint64_t)blockIdx.y * count;
    struct selection selection = states[blockIdx.y].selection[PASSES - 1];
    uint32_t begin = blockIdx.x * CTA_SCORES, end = cta_end(begin, count);
    take_room(cta, row, begin, end, selection.prefix, &states[blockIdx.y]);
    write_chosen(row, begin, end, k, selection, &cta.above, &cta.equal,
                 chosen + (uint64_t)blockIdx.y * k);
}

size_t kernel_topk_scratch(uint32_t rows)
{
    return rows * sizeof(struct row_state);
}

bool kernel_topk(const float *scores, uint32_t rows, uint32_t count, uint32_t k, uint32_t *chosen,
                 void *scratch, void *stream, struct error *why)
{
    if (k > count || count > UINT32_MAX - CTA_SCORES) {
        return error_set(why, NULL, 0, "the %u largest of %u scores", k, count);
    }
    if (rows == 0 || k == 0) {
        return true;
    }
    if (count <= SHORT_ROW) {
        return launch(select_short, dim3(rows), THREADS, sizeof(struct cta_state), stream, why,
                      scores, count, k, chosen);
    }
    struct row_state *states = (struct row_state *)scratch;
    dim3 grid(divide_up(count, (uint32_t)CTA_SCORES), rows);
    bool ok =
        GPU_TRY(cudaMemsetAsync(states, 0, kernel_topk_scratch(rows), (cudaStream_t)stream), why);
    for (int pass = 0; ok && pass < PASSES; pass++) {
        ok = launch(count_long, grid, THREADS, sizeof(struct cta_state), stream, why, scores, count,
                    k, pass, states);
    }
    return ok && launch(write_long, grid, THREADS, sizeof(struct cta_state), stream, why, scores,
                        count, k, states, chosen);
}
