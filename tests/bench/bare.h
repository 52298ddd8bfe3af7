/* Policies by hand: only the arrays that a policy needs, in one loop. The policies of sim/policy/
 * are compared with them. Each function returns its hits. */
#pragma once

#include "stream.h"

static inline uint64_t bare_lru(const struct request_stream *stream)
{
    static uint32_t stamp[UNITS], log[4 * UNITS + 1];
    uint32_t oldest = 1, end = 1, held = 0;
    uint64_t hits = 0;
    memset(stamp, 0, sizeof stamp);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t *units = stream->units[step];
        if (end + WANTED > 4 * UNITS + 1) {
            uint32_t kept = 1;
            for (uint32_t place = oldest; place < end; place++) {
                log[kept] = log[place];
                kept += stamp[log[place]] == place;
            }
            memset(stamp, 0, sizeof stamp);
            for (uint32_t place = 1; place < kept; place++) {
                stamp[log[place]] = place;
            }
            oldest = 1;
            end = kept;
        }
        uint32_t hit = 0;
        for (uint32_t i = 0; i < WANTED; i++) {
            uint32_t unit = units[i], place = end + WANTED - 1 - i;
            hit += stamp[unit] >= oldest;
            stamp[unit] = place;
            log[place] = unit;
        }
        end += WANTED;
        held += WANTED - hit;
        for (; held > CAPACITY; oldest++) {
            held -= stamp[log[oldest]] == oldest;
        }
        hits += hit;
    }
    return hits;
}

static inline uint64_t bare_fifo(const struct request_stream *stream)
{
    static uint32_t ring[CAPACITY], missed[WANTED];
    static uint8_t cached[UNITS + 1];
    uint32_t next = 0;
    uint64_t hits = 0;
    memset(cached, 0, sizeof cached);
    for (uint32_t i = 0; i < CAPACITY; i++) {
        ring[i] = UNITS;
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t count = 0;
        for (uint32_t i = WANTED; i-- > 0;) {
            missed[count] = stream->units[step][i];
            count += !cached[missed[count]];
        }
        for (uint32_t i = 0; i < count; i++) {
            cached[ring[next]] = 0;
            cached[ring[next] = missed[i]] = 1;
            next = next + 1 == CAPACITY ? 0 : next + 1;
        }
        hits += WANTED - count;
    }
    return hits;
}

static inline uint64_t bare_clock(const struct request_stream *stream)
{
    static uint32_t ring[CAPACITY], missed[WANTED];
    static uint8_t state[UNITS + 1]; /* 1 held, 2 marked */
    uint32_t hand = 0;
    uint64_t hits = 0;
    memset(state, 0, sizeof state);
    for (uint32_t i = 0; i < CAPACITY; i++) {
        ring[i] = UNITS;
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t count = 0;
        for (uint32_t i = WANTED; i-- > 0;) {
            uint32_t unit = stream->units[step][i];
            missed[count] = unit;
            count += state[unit] == 0;
            state[unit] = state[unit] ? 2 : 0;
        }
        for (uint32_t i = 0; i < count; i++) {
            while (state[ring[hand]] == 2) {
                state[ring[hand]] = 1;
                hand = hand + 1 == CAPACITY ? 0 : hand + 1;
            }
            state[ring[hand]] = 0;
            state[ring[hand] = missed[i]] = 1;
            hand = hand + 1 == CAPACITY ? 0 : hand + 1;
        }
        hits += WANTED - count;
    }
    return hits;
}

/* A list from old to new, linked by `next`; `before` is used to remove an entry. */
static inline uint64_t bare_sieve(const struct request_stream *stream)
{
    static uint32_t next[UNITS + 1], before[UNITS + 1], missed[WANTED];
    static uint8_t state[UNITS + 1];
    uint32_t hand = UNITS, held = 0;
    uint64_t hits = 0;
    memset(state, 0, sizeof state);
    next[UNITS] = before[UNITS] = UNITS; /* the ends */
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t count = 0;
        for (uint32_t i = WANTED; i-- > 0;) {
            uint32_t unit = stream->units[step][i];
            missed[count] = unit;
            count += state[unit] == 0;
            state[unit] = state[unit] ? 2 : 0;
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t unit = missed[i];
            if (held == CAPACITY) {
                hand = hand == UNITS ? next[UNITS] : hand;
                while (state[hand] == 2) {
                    state[hand] = 1;
                    hand = next[hand] == UNITS ? next[UNITS] : next[hand];
                }
                state[hand] = 0;
                next[before[hand]] = next[hand];
                before[next[hand]] = before[hand];
                hand = next[hand];
                held--;
            }
            next[before[UNITS]] = unit;
            before[unit] = before[UNITS];
            before[UNITS] = unit;
            next[unit] = UNITS;
            state[unit] = 1;
            held++;
        }
        hits += WANTED - count;
    }
    return hits;
}

/* Logs like that of LRU, several of them. An entry is stale if `place` points elsewhere. */
struct bare_logs {
    uint32_t place[UNITS]; /* log in the upper 2 bits; 2 and 3 are held; 0: in none */
    uint32_t log[4][2 * UNITS + 1];
    uint32_t oldest[4], end[4], count[4];
};

static inline void bare_reset(struct bare_logs *logs)
{
    memset(logs, 0, sizeof *logs);
    for (uint32_t l = 0; l < 4; l++) {
        logs->oldest[l] = logs->end[l] = 1;
    }
}

static inline void bare_push(struct bare_logs *logs, uint32_t l, uint32_t unit)
{
    if (logs->end[l] == 2 * UNITS + 1) {
        uint32_t kept = 1;
        for (uint32_t at = logs->oldest[l]; at < logs->end[l]; at++) {
            uint32_t own = logs->log[l][at];
            if (logs->place[own] == (l << 30 | at)) {
                logs->log[l][kept] = own;
                logs->place[own] = l << 30 | kept++;
            }
        }
        logs->oldest[l] = 1;
        logs->end[l] = kept;
    }
    logs->place[unit] = l << 30 | logs->end[l];
    logs->log[l][logs->end[l]++] = unit;
    logs->count[l]++;
}

static inline void bare_take(struct bare_logs *logs, uint32_t unit)
{
    logs->count[logs->place[unit] >> 30]--;
    logs->place[unit] = 0;
}

static inline uint32_t bare_pop(struct bare_logs *logs, uint32_t l)
{
    uint32_t at = logs->oldest[l];
    while (logs->place[logs->log[l][at]] != (l << 30 | at)) {
        at++;
    }
    logs->oldest[l] = at + 1;
    bare_take(logs, logs->log[l][at]);
    return logs->log[l][at];
}

static inline uint64_t bare_arc(const struct request_stream *stream)
{
    enum { B1, B2, T1, T2 };
    static struct bare_logs logs;
    static uint32_t missed[WANTED];
    const uint32_t *n = logs.count;
    double target = 0;
    uint64_t hits = 0;
    bare_reset(&logs);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t count = 0;
        for (uint32_t i = WANTED; i-- > 0;) {
            uint32_t unit = stream->units[step][i];
            if (logs.place[unit] >> 31) {
                bare_take(&logs, unit);
                bare_push(&logs, T2, unit);
            } else {
                missed[count++] = unit;
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t unit = missed[i], list = logs.place[unit] >> 30;
            bool ghost = logs.place[unit] != 0, in_b2 = ghost && list == B2;
            double r = (double)n[B1] / n[B2];
            if (ghost) {
                target = in_b2 ? target - (r > 1 ? r : 1) : target + (r < 1 ? 1 / r : 1);
                target = target < 0 ? 0 : target > CAPACITY ? CAPACITY : target;
                bare_take(&logs, unit);
            } else if (n[T1] + n[B1] == CAPACITY) {
                bare_pop(&logs, n[B1] > 0 ? B1 : T1);
            } else if (n[T1] + n[T2] + n[B1] + n[B2] == 2 * CAPACITY) {
                bare_pop(&logs, B2);
            }
            if (n[T1] + n[T2] == CAPACITY) {
                bool t1 = n[T1] > 0 && (n[T1] > target || (in_b2 && n[T1] == target));
                bare_push(&logs, t1 ? B1 : B2, bare_pop(&logs, t1 ? T1 : T2));
            }
            bare_push(&logs, ghost ? T2 : T1, unit);
        }
        hits += WANTED - count;
    }
    return hits;
}

static inline uint64_t bare_s3fifo(const struct request_stream *stream)
{
    enum { GHOST, NONE, SMALL, MAIN };
    static struct bare_logs logs;
    static uint32_t missed[WANTED];
    static uint8_t freq[UNITS];
    const uint32_t *n = logs.count;
    const uint32_t small = CAPACITY / 10, ghosts = CAPACITY * 9 / 10;
    bool evicted = false;
    uint64_t hits = 0;
    bare_reset(&logs);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t count = 0;
        for (uint32_t i = WANTED; i-- > 0;) {
            uint32_t unit = stream->units[step][i], held = logs.place[unit] >> 31;
            missed[count] = unit;
            count += !held;
            freq[unit] = (uint8_t)(freq[unit] + (held & (freq[unit] < 3)));
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t unit = missed[i];
            bool ghost = logs.place[unit] != 0;
            if (ghost) {
                bare_take(&logs, unit);
            }
            while (n[SMALL] + n[MAIN] == CAPACITY) {
                evicted = true;
                if (n[MAIN] > CAPACITY - small || n[SMALL] == 0) {
                    uint32_t old = bare_pop(&logs, MAIN);
                    for (; freq[old] > 0; old = bare_pop(&logs, MAIN)) {
                        freq[old]--;
                        bare_push(&logs, MAIN, old);
                    }
                    continue;
                }
                while (n[SMALL] > 0) {
                    uint32_t old = bare_pop(&logs, SMALL);
                    if (freq[old] < 2) {
                        if (n[GHOST] == ghosts) {
                            bare_pop(&logs, GHOST);
                        }
                        bare_push(&logs, GHOST, old);
                        break;
                    }
                    freq[old] = 0;
                    bare_push(&logs, MAIN, old);
                }
            }
            bare_push(&logs, ghost || (!evicted && n[SMALL] >= small) ? MAIN : SMALL, unit);
            freq[unit] = 0;
        }
        hits += WANTED - count;
    }
    return hits;
}

/* LFU on a heap by count, then by last touch, that knows where each unit is: a touch sifts down, an
 * eviction pops, an admission pushes. */
struct bare_heap {
    uint32_t unit[CAPACITY + 1], at[UNITS]; /* heap from 1; where each unit is, 0: not held */
    uint64_t key[UNITS];                    /* count in the upper half, last touch in the lower */
    uint32_t count;
};

static inline void bare_sift_down(struct bare_heap *heap, uint32_t at)
{
    uint32_t unit = heap->unit[at];
    for (uint32_t child; (child = 2 * at) <= heap->count; at = child) {
        child +=
            child < heap->count && heap->key[heap->unit[child + 1]] < heap->key[heap->unit[child]];
        if (heap->key[heap->unit[child]] >= heap->key[unit]) {
            break;
        }
        heap->unit[at] = heap->unit[child];
        heap->at[heap->unit[at]] = at;
    }
    heap->unit[at] = unit;
    heap->at[unit] = at;
}

static inline void bare_sift_up(struct bare_heap *heap, uint32_t at)
{
    uint32_t unit = heap->unit[at];
    for (; at > 1 && heap->key[heap->unit[at / 2]] > heap->key[unit]; at /= 2) {
        heap->unit[at] = heap->unit[at / 2];
        heap->at[heap->unit[at]] = at;
    }
    heap->unit[at] = unit;
    heap->at[unit] = at;
}

static inline uint64_t bare_lfu_heap(const struct request_stream *stream)
{
    static struct bare_heap heap;
    static uint32_t missed[WANTED];
    uint32_t now = 0;
    uint64_t hits = 0;
    memset(&heap, 0, sizeof heap);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t count = 0;
        for (uint32_t i = WANTED; i-- > 0;) {
            uint32_t unit = stream->units[step][i];
            if (heap.at[unit] != 0) {
                heap.key[unit] = ((heap.key[unit] >> 32) + 1) << 32 | ++now;
                bare_sift_down(&heap, heap.at[unit]);
            } else {
                missed[count++] = unit;
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            heap.key[missed[i]] = UINT64_C(1) << 32 | ++now;
            if (heap.count == CAPACITY) {
                heap.at[heap.unit[1]] = 0;
                heap.unit[1] = heap.unit[heap.count--];
                bare_sift_down(&heap, 1);
            }
            heap.unit[++heap.count] = missed[i];
            bare_sift_up(&heap, heap.count);
        }
        hits += WANTED - count;
    }
    return hits;
}
