/* An LRU cache without the CPU, as in HiSparse (SGLang): for each cache, a CTA looks up all wanted
 * tokens, chooses the slots to evict, and updates the tables; then other CTAs load the misses from
 * pinned memory. HiSparse has both in one kernel, with a CTA for each request.
 *
 * A cache's slots stand in one list, the one touched longest ago first. A batch of wanted tokens
 * changes the list like this, as sim/policy/lru.c changes its log:
 *
 *     before   a  b  c  d  e  f      wanted, best first: e, x, b  (x is missed)
 *              |     |  |     |      e and b stay; a, the oldest of the others, takes x
 *     after    c  d  f  b  x  e      the others in their order, then the wanted ones, worst first
 *
 * The list is read from its front, a round of all threads at a time, and written over the part that
 * was read, so that it is updated in place.
 */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#define LRU_THREADS 1024
#define LRU_WARPS (LRU_THREADS / WARP)
#define LRU_EACH 4 /* list entries for each thread in a round */
#define LRU_ROUND (LRU_THREADS * LRU_EACH)

/* ---- lookup and eviction ---- */

/* A CTA's view of its cache. */
struct lru_cache {
    const uint32_t *wanted; /* [count] */
    uint32_t count, capacity, first;
    uint32_t *slot_of, *token_of, *order, *slots, *missed;
    uint32_t *sums;    /* shared: [LRU_WARPS] */
    uint32_t *touched; /* shared: a bit for each slot that was hit */
};

static __device__ struct lru_cache cache_of(const struct kernel_lru &lru)
{
    uint64_t pair = blockIdx.x, cache = lru.caches[pair];
    struct lru_cache mine = {};
    mine.wanted = lru.wanted + pair * lru.most;
    mine.count = lru.counts[pair];
    mine.capacity = lru.capacity;
    mine.first = (uint32_t)cache * lru.capacity;
    mine.slot_of = lru.slot_of + cache * lru.tokens;
    mine.token_of = lru.token_of + cache * lru.capacity;
    mine.order = lru.order + cache * lru.capacity;
    mine.slots = lru.slots + pair * lru.most;
    mine.missed = lru.missed + pair * lru.most;
    mine.sums = (uint32_t *)launch_shared;
    mine.touched = mine.sums + LRU_WARPS;
    return mine;
}

static __device__ void forget_touches(const struct lru_cache &cache)
{
    uint32_t words = divide_up(cache.capacity, (uint32_t)WARP);
    for (uint32_t i = threadIdx.x; i < words; i += LRU_THREADS) {
        cache.touched[i] = 0;
    }
    __syncthreads();
}

/* Find the slots of the wanted tokens, and list the misses as indices into `wanted`. Returns the
 * number of misses. */
static __device__ uint32_t look_up(const struct lru_cache &cache)
{
    uint32_t misses = 0, all;
    for (uint32_t begin = 0; begin < cache.count; begin += LRU_ROUND) {
        uint32_t at = begin + threadIdx.x * LRU_EACH, mine = 0, slots[LRU_EACH];
#pragma unroll
        for (uint32_t i = 0; i < LRU_EACH; i++) {
            slots[i] = at + i < cache.count ? cache.slot_of[cache.wanted[at + i]] : 0;
            mine += slots[i] == KERNEL_NOWHERE;
        }
        uint32_t place = misses + cta_sum_before<LRU_WARPS>(mine, cache.sums, &all);
#pragma unroll
        for (uint32_t i = 0; i < LRU_EACH; i++) {
            if (slots[i] == KERNEL_NOWHERE) {
                cache.missed[place++] = at + i;
            } else if (at + i < cache.count) {
                cache.slots[at + i] = cache.first + slots[i];
                atomicOr(&cache.touched[slots[i] / WARP], 1U << slots[i] % WARP);
            }
        }
        misses += all;
    }
    __syncthreads();
    return misses;
}

/* Replace the token in `slot` by wanted token number `place`. */
static __device__ void replace(const struct lru_cache &cache, uint32_t slot, uint32_t place)
{
    uint32_t token = cache.wanted[place], before = cache.token_of[slot];
    if (before != KERNEL_NOWHERE) {
        cache.slot_of[before] = KERNEL_NOWHERE;
    }
    cache.token_of[slot] = token;
    cache.slot_of[token] = slot;
    cache.slots[place] = cache.first + slot;
}

/* Of the slots that were not hit, the first ones take the missed tokens, the others move up. */
static __device__ void turn_order(const struct lru_cache &cache, uint32_t misses)
{
    uint32_t passed = 0, all;
    for (uint32_t begin = 0; begin < cache.capacity; begin += LRU_ROUND) {
        uint32_t at = begin + threadIdx.x * LRU_EACH, mine = 0, slots[LRU_EACH];
        bool stays[LRU_EACH];
#pragma unroll
        for (uint32_t i = 0; i < LRU_EACH; i++) {
            slots[i] = at + i < cache.capacity ? cache.order[at + i] : 0;
            stays[i] = at + i < cache.capacity &&
                       (cache.touched[slots[i] / WARP] >> slots[i] % WARP & 1) == 0;
            mine += stays[i];
        }
        uint32_t place = passed + cta_sum_before<LRU_WARPS>(mine, cache.sums, &all);
#pragma unroll
        for (uint32_t i = 0; i < LRU_EACH; i++) {
            if (stays[i] && place < misses) {
                replace(cache, slots[i], cache.missed[place]);
            } else if (stays[i]) {
                cache.order[place - misses] = slots[i];
            }
            place += stays[i];
        }
        passed += all;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < cache.count; i += LRU_THREADS) {
        cache.order[cache.capacity - 1 - i] = cache.slots[i] - cache.first;
    }
}

static __global__ void __launch_bounds__(LRU_THREADS) touch_lru(const struct kernel_lru lru)
{
    const struct lru_cache cache = cache_of(lru);
    forget_touches(cache);
    uint32_t misses = look_up(cache);
    turn_order(cache, misses);
    if (threadIdx.x == 0) {
        lru.miss_counts[blockIdx.x] = misses;
    }
}

bool kernel_lru_touch(const struct kernel_lru *lru, void *stream, struct error *why)
{
    size_t shared = (LRU_WARPS + divide_up(lru->capacity, (uint32_t)WARP)) * sizeof(uint32_t);
    if (lru->capacity == 0 || shared > SHARED_UNASKED) {
        return error_set(why, NULL, 0, "no cache of %u slots", lru->capacity);
    }
    return lru->pairs == 0 ||
           launch(touch_lru, dim3(lru->pairs), LRU_THREADS, shared, stream, why, *lru);
}

/* ---- fetching the misses ---- */

#define FETCH_THREADS 256

struct fetch_task {
    struct kernel_lru lru;
    const uint2 *keys, *values;
    uint2 *keys_to, *values_to;
    uint32_t row_words;
};

static __global__ void __launch_bounds__(FETCH_THREADS) fetch_missed(const struct fetch_task task)
{
    const struct kernel_lru &lru = task.lru;
    uint64_t pair = blockIdx.y, lists = pair * lru.most;
    uint64_t half = (uint64_t)lru.miss_counts[pair] * task.row_words;
    uint64_t step = (uint64_t)gridDim.x * FETCH_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * FETCH_THREADS + threadIdx.x; i < 2 * half; i += step) {
        bool key = i < half;
        uint64_t word = key ? i : i - half, within = word % task.row_words;
        uint64_t place = lists + lru.missed[lists + word / task.row_words];
        uint64_t from = pair * lru.tokens + lru.wanted[place], to = lru.slots[place];
        (key ? task.keys_to : task.values_to)[to * task.row_words + within] =
            (key ? task.keys : task.values)[from * task.row_words + within];
    }
}

bool kernel_lru_fetch(const struct kernel_lru *lru, const void *keys, const void *values,
                      void *keys_to, void *values_to, uint32_t row_bytes, uint32_t ctas,
                      void *stream, struct error *why)
{
    if (row_bytes == 0 || row_bytes % sizeof(uint2) != 0 || ctas == 0) {
        return error_set(why, NULL, 0, "no rows of %u bytes are fetched by %u CTAs", row_bytes,
                         ctas);
    }
    const struct fetch_task task = {*lru,
                                    (const uint2 *)keys,
                                    (const uint2 *)values,
                                    (uint2 *)keys_to,
                                    (uint2 *)values_to,
                                    row_bytes / (uint32_t)sizeof(uint2)};
    return lru->pairs == 0 ||
           launch(fetch_missed, dim3(ctas, lru->pairs), FETCH_THREADS, 0, stream, why, task);
}
