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
#include "calibrate/kernels/moved_rows.cuh"

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
static __device__ uint32_t lru_look_up(const struct lru_cache &cache)
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
    uint32_t misses = lru_look_up(cache);
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

/* The keys of a pair's missed tokens, then their values: `misses` rows of each. Finding a row takes
 * two loads, one after the other; both hide behind the rows under way. */
struct missed_rows {
    const struct kernel_lru &lru;
    const moved_value *keys, *values;
    moved_value *keys_to, *values_to;
    int shift;
    uint64_t pair, misses;

    struct place {
        uint64_t from;
        uint32_t to;
    };

    __device__ bool is_key(uint64_t value) const
    {
        return value >> shift < misses;
    }
    __device__ place find(uint64_t value) const
    {
        uint64_t row = value >> shift, first = pair * lru.most;
        uint64_t at = first + lru.missed[first + row - (is_key(value) ? 0 : misses)];
        return {pair * lru.tokens + lru.wanted[at], lru.slots[at]};
    }
    __device__ const moved_value *source(place place, uint64_t value) const
    {
        return (is_key(value) ? keys : values) + row_value(place.from, value, shift);
    }
    __device__ moved_value *target(place place, uint64_t value) const
    {
        return (is_key(value) ? keys_to : values_to) + row_value(place.to, value, shift);
    }
};

struct fetch_task {
    struct kernel_lru lru;
    const moved_value *keys, *values;
    moved_value *keys_to, *values_to;
    int shift;
};

static __global__ void __launch_bounds__(MOVE_THREADS) fetch_missed(const struct fetch_task task)
{
    uint64_t pair = blockIdx.y, misses = task.lru.miss_counts[pair];
    const missed_rows rows = {task.lru,       task.keys,  task.values, task.keys_to,
                              task.values_to, task.shift, pair,        misses};
    move_values<moved_value, MOVE_LOADS>(rows, 2 * misses << task.shift);
}

bool kernel_lru_fetch(const struct kernel_lru *lru, const void *keys, const void *values,
                      void *keys_to, void *values_to, uint32_t row_bytes, uint32_t ctas,
                      void *stream, struct error *why)
{
    int shift;
    if (!moved_shift(row_bytes, ctas, &shift, why)) {
        return false;
    }
    const struct fetch_task task = {*lru,
                                    (const moved_value *)keys,
                                    (const moved_value *)values,
                                    (moved_value *)keys_to,
                                    (moved_value *)values_to,
                                    shift};
    return lru->pairs == 0 ||
           launch(fetch_missed, dim3(ctas, lru->pairs), MOVE_THREADS, 0, stream, why, task);
}
