/* Sampled LRU: draws a few blocks at random and evicts the one touched longest ago.
 *
 * Redis does this in place of LRU (its `maxmemory-samples`, 5). It keeps no list, only a stamp per
 * block, which suits a manager that runs on the GPU. One sample is random replacement; many samples
 * approach Spillway's `lru`, because blocks are touched in the same order.
 *
 * Invariants: slot[0, held) are the held blocks; place[block] is a held block's slot, else NONE.
 */
#include <spillway_policy.h>

#include <stdbool.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct sampled {
    uint32_t capacity, held, samples;
    uint64_t random, now;
    uint32_t *slot;  /* [capacity] */
    uint32_t *place; /* [blocks] */
    uint64_t *stamp; /* [blocks] time of the block's last touch */
    bool *was_held;  /* [wanted] before this step */
};

static void sampled_destroy(void *instance)
{
    struct sampled *cache = instance;
    free(cache->slot);
    free(cache->place);
    free(cache->stamp);
    free(cache->was_held);
    free(cache);
}

static void *sampled_create(const struct spillway_env *env, char reason[SPILLWAY_MOST_REASON])
{
    (void)reason; /* only memory can run out */
    struct sampled *cache = calloc(1, sizeof *cache);
    if (cache == NULL) {
        return NULL;
    }
    cache->capacity = env->capacity;
    cache->samples = (uint32_t)env->values[0];
    cache->random = env->seed;
    cache->slot = calloc(env->capacity, sizeof *cache->slot);
    cache->place = calloc(env->blocks, sizeof *cache->place);
    cache->stamp = calloc(env->blocks, sizeof *cache->stamp);
    cache->was_held = calloc(env->wanted, sizeof *cache->was_held);
    if (cache->slot == NULL || cache->place == NULL || cache->stamp == NULL ||
        cache->was_held == NULL) {
        sampled_destroy(cache);
        return NULL;
    }
    for (uint32_t block = 0; block < env->blocks; block++) {
        cache->place[block] = NONE;
    }
    return cache;
}

/* SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014), scaled to 0 ... end - 1. */
static uint32_t draw(struct sampled *cache, uint32_t end)
{
    uint64_t mixed = cache->random += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(((mixed >> 32) * end) >> 32);
}

/* Of a few blocks drawn, the slot of the one touched longest ago. */
static uint32_t find_old(struct sampled *cache)
{
    uint32_t oldest = draw(cache, cache->held);
    for (uint32_t i = 1; i < cache->samples; i++) {
        uint32_t other = draw(cache, cache->held);
        if (cache->stamp[cache->slot[other]] < cache->stamp[cache->slot[oldest]]) {
            oldest = other;
        }
    }
    return oldest;
}

/* Admit a block that is touched already, unless the block to evict for it is younger. */
static void admit(struct sampled *cache, uint32_t block, struct spillway_answer *answer)
{
    uint32_t slot = cache->held;
    if (cache->held == cache->capacity) {
        slot = find_old(cache);
        if (cache->stamp[cache->slot[slot]] > cache->stamp[block]) {
            return;
        }
        answer->evict(answer->cache, cache->slot[slot]);
        cache->place[cache->slot[slot]] = NONE;
    } else {
        cache->held++;
    }
    answer->admit(answer->cache, block);
    cache->slot[slot] = block;
    cache->place[block] = slot;
}

/* As in Spillway's `lru`, hits and misses are touched in one order, worst first. Hits are marked
 * before anything is evicted, because an evicted hit still counts. */
static void sampled_access(void *instance, const struct spillway_demand *demand,
                           struct spillway_answer *answer)
{
    struct sampled *cache = instance;
    for (uint32_t i = demand->wanted; i-- > 0;) {
        uint32_t block = demand->blocks[i];
        cache->was_held[i] = cache->place[block] != NONE;
        cache->stamp[block] = ++cache->now;
        if (cache->was_held[i]) {
            answer->hit++;
        }
    }
    for (uint32_t i = demand->wanted; i-- > 0;) {
        if (!cache->was_held[i]) {
            admit(cache, demand->blocks[i], answer);
        }
    }
    answer->lookups = demand->wanted;
    answer->updates = answer->hit;
}

static const struct spillway_param params[] = {
    {"samples", 5, 1, 64, "blocks drawn to find one to evict"},
    {NULL, 0, 0, 0, NULL},
};

const struct spillway_policy spillway_policy = {
    .abi = SPILLWAY_POLICY_ABI,
    .name = "sampled-lru",
    .summary = "of a few random blocks, the one touched longest ago is evicted",
    .params = params,
    .create = sampled_create,
    .access = sampled_access,
    .destroy = sampled_destroy,
};
