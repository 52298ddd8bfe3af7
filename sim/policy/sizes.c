#include "policy/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "policy/stack.h"

/* A log of touches as in lru.c, with a mark at each block's last touch. A cache of c blocks holds
 * the blocks of the last c marks: its boundary is the place of the first of them.
 *
 *     log    |  b  a  c  a  d  b  |        boundary of 1: place 6
 *     marks     0  0  1  1  1  1                       3: place 4
 *     place     1  2  3  4  5  6                4 or more: place 1, for nothing else was touched
 *
 * A demand is looked up against the boundaries before it: a block touched at a place is in every
 * cache whose boundary is at or before that place. Hits are counted by the smallest such cache, and
 * summed up afterwards. A cache smaller than the demand touches only the demand's best blocks, and
 * promotes those of them that it held. Later marks belong to better blocks, so here too its own
 * blocks have the last marks. Then the boundaries are found anew: marks are counted from the end of
 * the log, 64 at a time.
 *
 * When the log is full, the marked blocks are written to its start, in order.
 */

enum { LOG_PER_BLOCK = 4, WORD = 64, MIXED = UINT8_MAX };

struct lru_sizes {
    uint32_t blocks, count;
    uint32_t *capacity; /* [count] ascending */
    uint32_t *boundary; /* [count] descending; places */
    uint8_t *holding;   /* [words] smallest cache that holds all of a word, or MIXED */
    uint32_t *held;     /* [count] */
    uint32_t *stamp;    /* [blocks] place of a block's last touch; 0: never touched */
    uint32_t *log;      /* [length] blocks; place 0 is not used */
    uint64_t *marks;    /* [words] */
    uint32_t length, end, words, marked;
    uint32_t *hits;     /* [count + 1] of a demand, by the smallest cache that hits; scratch */
    uint32_t *promoted; /* [count + 1] the same for touched blocks that are held */
};

/* ---- marks ---- */

static void mark(struct lru_sizes *lru, uint32_t place)
{
    lru->marks[place / WORD] |= (uint64_t)1 << place % WORD;
}

/* Write the marked blocks to the start of the log. */
static void clean(struct lru_sizes *lru)
{
    uint32_t kept = 1;
    for (uint32_t place = 1; place < lru->end; place++) {
        if (lru->marks[place / WORD] >> place % WORD & 1) {
            uint32_t block = lru->log[place];
            lru->log[kept] = block;
            lru->stamp[block] = kept++;
        }
    }
    memset(lru->marks, 0, lru->words * sizeof *lru->marks);
    for (uint32_t place = 1; place < kept; place++) {
        mark(lru, place);
    }
    lru->end = kept;
}

/* The place of the mark in `word` that has `above` marks above it in that word. */
static uint32_t lru_sizes_place_of(const struct lru_sizes *lru, uint32_t word, uint32_t above)
{
    uint64_t marks = lru->marks[word];
    for (uint32_t below = bits_set(marks) - 1 - above; below > 0; below--) {
        marks &= marks - 1;
    }
    return word * WORD + (uint32_t)__builtin_ctzll(marks);
}

/* Note for each word between two boundaries which is the smallest cache that holds it. */
static void sum_up_words(struct lru_sizes *lru)
{
    uint32_t from = lru->words; /* the lowest word that is summed up */
    for (uint32_t i = 0; i < lru->count; i++) {
        uint32_t word = lru->boundary[i] / WORD;
        if (word < from) {
            memset(lru->holding + word + 1, (int)i, from - word - 1);
            lru->holding[word] = MIXED;
            from = word;
        }
    }
    memset(lru->holding, (int)lru->count, from);
}

/* Find the boundary of each capacity; the smallest capacity has the last one. */
static void find_boundaries(struct lru_sizes *lru)
{
    uint32_t behind = 0, i = 0; /* marks behind the word */
    for (; i < lru->count && lru->capacity[i] == 0; i++) {
        lru->boundary[i] = lru->end;
    }
    for (uint32_t word = lru->end / WORD + 1; word-- > 0 && i < lru->count;) {
        uint32_t marks = bits_set(lru->marks[word]);
        for (; i < lru->count && lru->capacity[i] <= behind + marks; i++) {
            lru->boundary[i] = lru_sizes_place_of(lru, word, lru->capacity[i] - behind - 1);
        }
        behind += marks;
    }
    for (; i < lru->count; i++) {
        lru->boundary[i] = 1;
    }
    sum_up_words(lru);
}

struct lru_sizes *lru_sizes_create(uint32_t blocks, const uint32_t *capacities, uint32_t count,
                                   struct error *why)
{
    if (blocks >= UINT32_MAX / LOG_PER_BLOCK - WORD) {
        error_set(why, NULL, 0, "%u blocks are too many for a cache", blocks);
        return NULL;
    }
    struct lru_sizes *lru = array_zeroed(1, sizeof *lru, why);
    if (lru == NULL) {
        return NULL;
    }
    lru->blocks = blocks;
    lru->count = count;
    lru->length = blocks * LOG_PER_BLOCK + 1;
    lru->words = lru->length / WORD + 1;
    lru->end = 1;
    if (!(lru->capacity = array_zeroed(count, sizeof *lru->capacity, why)) ||
        !(lru->boundary = array_zeroed(count, sizeof *lru->boundary, why)) ||
        !(lru->held = array_zeroed(count, sizeof *lru->held, why)) ||
        !(lru->stamp = array_zeroed(blocks, sizeof *lru->stamp, why)) ||
        !(lru->log = array_zeroed(lru->length, sizeof *lru->log, why)) ||
        !(lru->marks = array_zeroed(lru->words, sizeof *lru->marks, why)) ||
        !(lru->holding = array_zeroed(lru->words, sizeof *lru->holding, why)) ||
        !(lru->hits = array_zeroed((size_t)count + 1, sizeof *lru->hits, why)) ||
        !(lru->promoted = array_zeroed((size_t)count + 1, sizeof *lru->promoted, why))) {
        lru_sizes_destroy(lru);
        return NULL;
    }
    memcpy(lru->capacity, capacities, count * sizeof *capacities);
    find_boundaries(lru);
    return lru;
}

void lru_sizes_destroy(struct lru_sizes *lru)
{
    if (lru != NULL) {
        free(lru->capacity);
        free(lru->boundary);
        free(lru->held);
        free(lru->stamp);
        free(lru->log);
        free(lru->marks);
        free(lru->holding);
        free(lru->hits);
        free(lru->promoted);
        free(lru);
    }
}

/* ---- accesses ---- */

/* The smallest cache that holds a block touched at `place`; `count` if none does. Places are as
 * good as random, so most lookups avoid a branch that depends on them. */
static inline uint32_t smallest_holding(const struct lru_sizes *lru, uint32_t place)
{
    uint32_t size = lru->holding[place / WORD];
    if (size == MIXED) {
        for (size = 0; size < lru->count && lru->boundary[size] > place;) {
            size++;
        }
    }
    return size;
}

/* Look up and touch the demand's blocks [from, to), best first; the caches from number `first` on
 * touch all of them. `last` is the place of the demand's first block. */
static void lru_sizes_touch(struct lru_sizes *lru, const uint32_t *units, uint32_t from,
                            uint32_t to, uint32_t first, uint32_t last)
{
    for (uint32_t i = from; i < to; i++) {
        uint32_t block = units[i], place = lru->stamp[block];
        uint32_t size = smallest_holding(lru, place);
        lru->hits[size]++;
        lru->promoted[size > first ? size : first]++;
        lru->marks[place / WORD] &= ~((uint64_t)1 << place % WORD); /* place 0 has no mark */
        lru->marked += place == 0;
        lru->stamp[block] = last - i;
        lru->log[last - i] = block;
    }
}

/* Touch the demand, in groups of blocks that the same caches touch. */
static void touch_all(struct lru_sizes *lru, const struct demand *demand)
{
    uint32_t last = lru->end + demand->wanted - 1, at = 0;
    for (uint32_t size = 0; at < demand->wanted; size++) {
        uint32_t most = size < lru->count ? lru->capacity[size] : demand->wanted;
        uint32_t to = most < demand->wanted ? most : demand->wanted;
        if (at < to) {
            lru_sizes_touch(lru, demand->units, at, to, size, last);
            at = to;
        }
    }
    for (uint32_t place = lru->end; place <= last; place++) {
        mark(lru, place);
    }
    lru->end += demand->wanted;
}

void lru_sizes_access(struct lru_sizes *lru, const struct demand *demand, struct outcome *outcomes)
{
    memset(lru->hits, 0, (lru->count + 1) * sizeof *lru->hits);
    memset(lru->promoted, 0, (lru->count + 1) * sizeof *lru->promoted);
    if (lru->length - lru->end < demand->wanted) {
        clean(lru);
        find_boundaries(lru);
    }
    touch_all(lru, demand);
    find_boundaries(lru);
    uint32_t hit = 0, promoted = 0;
    for (uint32_t i = 0; i < lru->count; i++) {
        uint32_t capacity = lru->capacity[i], before = lru->held[i];
        uint32_t touched = demand->wanted < capacity ? demand->wanted : capacity;
        hit += lru->hits[i];
        promoted += lru->promoted[i];
        lru->held[i] = lru->marked < capacity ? lru->marked : capacity;
        outcomes[i] = (struct outcome){
            .hit = hit,
            .missed = demand->wanted - hit,
            .admitted = touched - promoted,
            .evicted = before + touched - promoted - lru->held[i],
            .lookups = demand->wanted,
            .updates = promoted,
            .inserts = touched - promoted,
            .attended = demand_wanted(demand),
        };
    }
}

/* The number of blocks that the cache of capacity number `size` holds. */
static uint32_t lru_sizes_held(const struct lru_sizes *lru, uint32_t size)
{
    return lru->held[size];
}

/* From this many caches on, one pass is faster than separate policies. */
enum { WORTH_ONE_PASS = 3 };

struct policy_sizes {
    uint32_t count;
    struct lru_sizes *lru;    /* one pass for all sizes, or NULL */
    uint32_t policy_count;    /* 1 for all sizes, one each, or none */
    struct policy **policies; /* [policy_count] or NULL */
};

static bool create_each(struct policy_sizes *sizes, const struct policy_kind *kind,
                        const double *values, struct policy_env env, const uint32_t *capacities,
                        struct error *why)
{
    sizes->policy_count = kind->ignores_capacity && sizes->count > 0 ? 1 : sizes->count;
    sizes->policies = array_zeroed(sizes->policy_count, sizeof(struct policy *), why);
    bool good = sizes->policies != NULL;
    for (uint32_t i = 0; good && i < sizes->policy_count; i++) {
        env.capacity = capacities[i];
        sizes->policies[i] = policy_create(kind, values, &env, why);
        good = sizes->policies[i] != NULL;
    }
    return good;
}

struct policy_sizes *policy_sizes_create(const struct policy_kind *kind, const double *values,
                                         const struct policy_env *env, const uint32_t *capacities,
                                         uint32_t count, struct error *why)
{
    struct policy_sizes *sizes = array_zeroed(1, sizeof *sizes, why);
    if (sizes == NULL) {
        return NULL;
    }
    sizes->count = count;
    bool good;
    if (kind == &policy_lru && env->order == POLICY_BATCH && count >= WORTH_ONE_PASS &&
        count <= LRU_SIZES_MOST) {
        sizes->lru = lru_sizes_create(env->blocks, capacities, count, why);
        good = sizes->lru != NULL;
    } else {
        good = create_each(sizes, kind, values, *env, capacities, why);
    }
    if (!good) {
        policy_sizes_destroy(sizes);
        return NULL;
    }
    return sizes;
}

void policy_sizes_destroy(struct policy_sizes *sizes)
{
    if (sizes == NULL) {
        return;
    }
    lru_sizes_destroy(sizes->lru);
    for (uint32_t i = 0; sizes->policies != NULL && i < sizes->policy_count; i++) {
        policy_destroy(sizes->policies[i]);
    }
    free(sizes->policies);
    free(sizes);
}

void policy_sizes_access(struct policy_sizes *sizes, const struct demand *demand,
                         struct outcome *outcomes)
{
    if (sizes->lru != NULL) {
        lru_sizes_access(sizes->lru, demand, outcomes);
        return;
    }
    for (uint32_t i = 0; i < sizes->policy_count; i++) {
        policy_access(sizes->policies[i], demand, &outcomes[i]);
    }
    for (uint32_t i = sizes->policy_count; i < sizes->count; i++) {
        outcomes[i] = outcomes[0];
    }
}

uint32_t policy_sizes_held(const struct policy_sizes *sizes, uint32_t size)
{
    if (sizes->lru != NULL) {
        return lru_sizes_held(sizes->lru, size);
    }
    uint32_t held, most;
    policy_footprint(sizes->policies[sizes->policy_count > 1 ? size : 0], &held, &most);
    return held;
}

bool policy_sizes_check(const struct policy_sizes *sizes, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && sizes->policies != NULL && i < sizes->policy_count; i++) {
        good = policy_check(sizes->policies[i], why);
    }
    return good;
}
