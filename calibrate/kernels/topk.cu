/* The k largest of each row of scores, by radix selection.
 *
 * As in Alabi et al. (2012), RAFT's select_k and AIR Top-K (Zhang et al., 2023): floats become
 * unsigned numbers of the same order. Counts of their upper 11 bits tell which bin contains the
 * k-th largest; inside that bin, counts of the next 11 bits and then of the last 10 do. All numbers
 * above the k-th are taken, then as many equal ones as are missing.
 *
 * A thread loads all its scores of a tile before it uses the first. A row of one tile has one CTA,
 * which keeps it in registers for all passes: more CTAs could only meet between kernels. A longer
 * row is spread over as many CTAs as the GPU runs at once, with a kernel for each pass: every CTA
 * adds its counts to the row's, and the last one to do so finds the bin. A fourth kernel writes.
 */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#define THREADS 1024
#define WARPS (THREADS / WARP)
#define DIGIT_BITS 11
#define BINS (1 << DIGIT_BITS)
#define BINS_EACH (BINS / THREADS)
#define PASSES 3

#define HELD 8 /* scores of a tile that a thread holds */
#define TILE (THREADS * HELD)

/* CTAs of a launch for each multiprocessor; a CTA takes several tiles where there are more. */
#define SM_CTAS 2

/* What a tile has behind the end of its row: the number of a NaN, below those of all scores. */
#define ABSENT 0

/* The state of the selection in a row. */
struct selection {
    uint32_t prefix; /* the k-th largest number, as far as it is known */
    uint32_t wanted; /* how many numbers with that prefix are among the k */
};

/* The state of a long row. Every call leaves zeros in `bins` and `done`. */
struct row_state {
    uint32_t bins[BINS];
    struct selection selection; /* after the last pass */
    uint32_t done;              /* CTAs that have finished this pass */
    uint32_t above, equal;      /* written so far */
};

/* The state of a CTA. */
struct cta_state {
    uint32_t bins[BINS];
    uint32_t sums[WARPS];
    struct selection selection;
    uint32_t above, equal; /* written before this tile */
    bool last;
};

/* ---- numbers ---- */

/* An unsigned number for a float, in the same order; -0 counts as 0. */
static __device__ uint32_t topk_number_of(uint32_t bits)
{
    bits = bits == 0x80000000U ? 0 : bits;
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
}

/* The place in the row of a thread's i-th number of the tile that begins at `begin`. */
static __device__ uint32_t topk_place_of(uint32_t begin, uint32_t i)
{
    return begin + i * THREADS + threadIdx.x;
}

/* All loads are under way before the first number is made. */
static __device__ void load_tile(const uint32_t *row, uint32_t begin, uint32_t count,
                                 uint32_t (&numbers)[HELD])
{
    uint32_t first = topk_place_of(begin, 0), left = first < count ? count - first : 0;
    const uint32_t *from = row + first;
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        numbers[i] = ~ABSENT;
        if (i * THREADS < left) {
            numbers[i] = from[i * THREADS];
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        numbers[i] = topk_number_of(numbers[i]);
    }
}

/* ---- passes ---- */

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

/* Count the digits of those numbers that have the prefix. */
static __device__ void count_digits(struct cta_state &cta, const uint32_t (&numbers)[HELD],
                                    int pass, uint32_t prefix)
{
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        if (numbers[i] != ABSENT && settled(numbers[i], pass) == prefix) {
            atomicAdd(&cta.bins[digit_of(numbers[i], pass)], 1U);
        }
    }
}

/* Write the bin of the wanted-th largest number to cta.selection. Each thread has BINS_EACH bins;
 * the first thread has the largest. */
static __device__ void find_bin(struct cta_state &cta, int pass, struct selection before)
{
    uint32_t top = BINS - 1 - threadIdx.x * BINS_EACH, own = 0, all;
    for (uint32_t i = 0; i < BINS_EACH; i++) {
        own += cta.bins[top - i];
    }
    uint32_t above = cta_sum_before<WARPS>(own, cta.sums, &all);
    if (above < before.wanted && before.wanted <= above + own) { /* one thread */
        for (uint32_t i = 0; i < BINS_EACH; i++) {
            uint32_t here = cta.bins[top - i];
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

/* ---- writing ---- */

/* How many of a thread's numbers are above the k-th, plus 65536 for each equal one: a tile has
 * fewer of either. */
#define EQUAL_ONE 65536U
static_assert(TILE < EQUAL_ONE, "counts of a tile overlap");

static __device__ uint32_t count_chosen(const uint32_t (&numbers)[HELD], uint32_t kth)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        sum += numbers[i] > kth ? 1U : numbers[i] == kth ? EQUAL_ONE : 0U;
    }
    return sum;
}

/* Write the chosen ones of a tile: numbers above the k-th from the front, equal ones from the back.
 * `above` and `equal` are the thread's first places among them. */
static __device__ void write_chosen(const uint32_t (&numbers)[HELD], uint32_t begin, uint32_t k,
                                    struct selection selection, uint32_t above, uint32_t equal,
                                    uint32_t *chosen)
{
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        if (numbers[i] > selection.prefix) {
            chosen[above++] = topk_place_of(begin, i);
        } else if (numbers[i] == selection.prefix) {
            if (equal < selection.wanted) {
                chosen[k - 1 - equal] = topk_place_of(begin, i);
            }
            equal++;
        }
    }
}

/* ---- a row of one tile ---- */

static __global__ void __launch_bounds__(THREADS)
    select_tile(const uint32_t *scores, uint32_t count, uint32_t k, uint32_t *chosen)
{
    struct cta_state &cta = *(struct cta_state *)launch_shared;
    uint32_t numbers[HELD], all;
    load_tile(scores + (uint64_t)blockIdx.x * count, 0, count, numbers);
    struct selection selection = {0, k};
    for (int pass = 0; pass < PASSES; pass++) {
        clear_bins(cta);
        count_digits(cta, numbers, pass, selection.prefix);
        __syncthreads();
        find_bin(cta, pass, selection);
        selection = cta.selection;
    }
    uint32_t before =
        cta_sum_before<WARPS>(count_chosen(numbers, selection.prefix), cta.sums, &all);
    write_chosen(numbers, 0, k, selection, before % EQUAL_ONE, before / EQUAL_ONE,
                 chosen + (uint64_t)blockIdx.x * k);
}

/* ---- a row of several tiles: blockIdx.y is the row ---- */

/* Add the CTA's counts to the row's. True in the last CTA of the row to do so, which takes the
 * row's counts and leaves zeros. */
static __device__ bool merge_bins(struct cta_state &cta, struct row_state *state)
{
    for (uint32_t bin = threadIdx.x; bin < BINS; bin += THREADS) {
        if (cta.bins[bin] > 0) {
            atomicAdd(&state->bins[bin], cta.bins[bin]);
        }
    }
    __threadfence(); /* its counts are visible before this CTA counts as done */
    __syncthreads();
    if (threadIdx.x == 0) {
        cta.last = atomicAdd(&state->done, 1U) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    for (uint32_t bin = threadIdx.x; cta.last && bin < BINS; bin += THREADS) {
        cta.bins[bin] = *(volatile uint32_t *)&state->bins[bin];
        state->bins[bin] = 0;
    }
    __syncthreads();
    return cta.last;
}

static __global__ void __launch_bounds__(THREADS)
    count_tiles(const uint32_t *scores, uint32_t count, uint32_t k, int pass,
                struct row_state *states)
{
    struct cta_state &cta = *(struct cta_state *)launch_shared;
    struct row_state *state = &states[blockIdx.y];
    struct selection before = {0, k};
    if (pass > 0) {
        before = state->selection;
    }
    clear_bins(cta);
    uint32_t tiles = divide_up(count, (uint32_t)TILE);
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t numbers[HELD];
        load_tile(scores + (uint64_t)blockIdx.y * count, tile * TILE, count, numbers);
        count_digits(cta, numbers, pass, before.prefix);
    }
    __syncthreads();
    if (!merge_bins(cta, state)) {
        return;
    }
    find_bin(cta, pass, before);
    if (threadIdx.x == 0) {
        state->selection = cta.selection;
        state->done = state->above = state->equal = 0;
    }
}

static __global__ void __launch_bounds__(THREADS)
    write_tiles(const uint32_t *scores, uint32_t count, uint32_t k, struct row_state *states,
                uint32_t *chosen)
{
    struct cta_state &cta = *(struct cta_state *)launch_shared;
    struct row_state *state = &states[blockIdx.y];
    struct selection selection = state->selection;
    uint32_t tiles = divide_up(count, (uint32_t)TILE);
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t numbers[HELD], all;
        load_tile(scores + (uint64_t)blockIdx.y * count, tile * TILE, count, numbers);
        uint32_t mine = count_chosen(numbers, selection.prefix);
        uint32_t before = cta_sum_before<WARPS>(mine, cta.sums, &all);
        if (threadIdx.x == 0) {
            cta.above = atomicAdd(&state->above, all % EQUAL_ONE);
            cta.equal = atomicAdd(&state->equal, all / EQUAL_ONE);
        }
        __syncthreads();
        write_chosen(numbers, tile * TILE, k, selection, cta.above + before % EQUAL_ONE,
                     cta.equal + before / EQUAL_ONE, chosen + (uint64_t)blockIdx.y * k);
    }
}

size_t kernel_topk_scratch(uint32_t rows)
{
    return rows * sizeof(struct row_state);
}

static bool select_tiles(const uint32_t *scores, uint32_t rows, uint32_t count, uint32_t k,
                         uint32_t *chosen, struct row_state *states, void *stream,
                         struct error *why)
{
    uint32_t tiles = divide_up(count, (uint32_t)TILE);
    int sms;
    bool ok = gpu_attribute(cudaDevAttrMultiProcessorCount, &sms, why);
    uint32_t ctas = ok ? divide_up((uint32_t)sms * SM_CTAS, rows) : 0;
    dim3 grid(ctas < tiles ? ctas : tiles, rows);
    for (int pass = 0; ok && pass < PASSES; pass++) {
        ok = launch(count_tiles, grid, THREADS, sizeof(struct cta_state), stream, why, scores,
                    count, k, pass, states);
    }
    return ok && launch(write_tiles, grid, THREADS, sizeof(struct cta_state), stream, why, scores,
                        count, k, states, chosen);
}

bool kernel_topk(const float *scores, uint32_t rows, uint32_t count, uint32_t k, uint32_t *chosen,
                 void *scratch, void *stream, struct error *why)
{
    const uint32_t *bits = (const uint32_t *)scores;
    if (k > count || count > UINT32_MAX - TILE) {
        return error_set(why, NULL, 0, "the %u largest of %u scores", k, count);
    }
    if (rows == 0 || k == 0) {
        return true;
    }
    if (count <= TILE) {
        return launch(select_tile, dim3(rows), THREADS, sizeof(struct cta_state), stream, why, bits,
                      count, k, chosen);
    }
    return select_tiles(bits, rows, count, k, chosen, (struct row_state *)scratch, stream, why);
}
