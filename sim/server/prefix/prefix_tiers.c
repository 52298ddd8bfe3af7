#include "server/prefix/prefix_tiers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers -------------------------------------------------------------------------- */

/* Is the block of this number nowhere in these tiers, and on no way? */
static bool tiers_lack(const struct prefix_tiers *tiers, uint32_t id)
{
    bool gone = !block_pool_knows(tiers->gpu, id);
    for (uint32_t k = 1; gone && k < tiers->count; k++) {
        const struct prefix_lower *lower = &tiers->lower[k];
        gone = !block_store_knows(lower->store, id) &&
               (lower->saving == NULL || lower->saving[id] == 0);
    }
    return gone;
}

/* Another block may get a number that is nowhere in any of the caches that share it. */
static bool is_gone(uint32_t id, void *context)
{
    struct prefix_tiers *const first = context, *tiers = first;
    bool gone = true;
    do {
        gone = tiers_lack(tiers, id);
        tiers = tiers->next;
    } while (gone && tiers != first);
    for (bool more = gone; more; more = tiers != first) {
        if (tiers->asked != NULL) {
            tiers->asked[id] = 0;
        }
        tiers = tiers->next;
    }
    return gone;
}

/* Are numbers of requests that held a block counted? */
static bool asks(const struct prefix_options *options)
{
    bool some = false;
    for (uint32_t k = 0; k < options->lower_count; k++) {
        some = some || options->lower[k].least_asked > 1;
    }
    return some;
}

/* A policy may remember what it has evicted. A chunk that was asked for counts wherever it is. */
struct block_owners prefix_tiers_owners(const struct prefix_options *options,
                                        const struct requests *requests)
{
    bool recycled = options->recycles;
    for (uint32_t k = 0; k < options->lower_count; k++) {
        recycled = recycled && block_store_forgets(options->lower[k].policy);
    }
    return (struct block_owners){
        .requests = requests,
        .block_tokens = options->block_tokens,
        .runs = options->recycles && options->gpu_keeps && options->lower_count == 0,
        .recycled = recycled,
        .chunks_recycled = recycled && !asks(options),
    };
}

/* ---- copies --------------------------------------------------------------------------- */

static bool tier_has(const struct prefix_lower *lower, uint32_t id)
{
    return block_store_knows(lower->store, id) && (lower->saving == NULL || lower->saving[id] == 0);
}

uint32_t prefix_tiers_find(const struct prefix_tiers *tiers, uint32_t id)
{
    uint32_t k = 1;
    while (k < tiers->count && !tier_has(&tiers->lower[k], id)) {
        k++;
    }
    k = k < tiers->count ? k : 0;
    if (tiers->source != NULL) {
        tiers->source[id] = (uint8_t)k;
    }
    return k;
}

uint32_t prefix_tiers_source(const struct prefix_tiers *tiers, uint32_t id)
{
    return tiers->source != NULL ? tiers->source[id] : 1;
}

static void tier_hold(struct prefix_tiers *tiers, uint32_t k, uint32_t id)
{
    if (k == 0) {
        block_pool_refer(tiers->gpu, id);
    } else {
        block_store_hold(tiers->lower[k].store, id);
    }
}

static void tier_let_go(struct prefix_tiers *tiers, uint32_t k, uint32_t id)
{
    if (k == 0) {
        block_pool_release(tiers->gpu, id);
    } else {
        block_store_let_go(tiers->lower[k].store, id);
    }
}

/* Queue a copy, which refers to its block until it is done. */
static void begin_copy(struct prefix_lower *lower, struct block_queue *queue,
                       const struct block_copy *copy)
{
    if (queue->first > queue->count / 2) {
        queue->count -= queue->first;
        memmove(queue->items, queue->items + queue->first, queue->count * sizeof *queue->items);
        queue->first = 0;
    }
    if (queue->count == queue->capacity &&
        !array_reserve(&queue->items, &queue->capacity, queue->count + 1, sizeof *queue->items,
                       ERROR_UNSEEN)) {
        lower->tiers->failed = true;
        return;
    }
    queue->items[queue->count++] = *copy;
    queue->crossing += copy->crosses;
    queue->upper += copy->upper;
    queue->lower += copy->lower;
    if (copy->upper) {
        tier_hold(lower->tiers, lower->number - 1, copy->id);
    }
    if (copy->lower) {
        tier_hold(lower->tiers, lower->number, copy->id);
    }
}

static struct block_copy end_copy(struct prefix_lower *lower, struct block_queue *queue)
{
    const struct block_copy copy = queue->items[queue->first++];
    queue->crossing -= copy.crosses;
    queue->upper -= copy.upper;
    queue->lower -= copy.lower;
    if (copy.upper) {
        tier_let_go(lower->tiers, lower->number - 1, copy.id);
    }
    if (copy.lower) {
        tier_let_go(lower->tiers, lower->number, copy.id);
    }
    return copy;
}

/* The GPU keeps what is being saved, unless it frees early; of other tiers only one with pins does. */
static void begin_save(struct prefix_lower *lower, uint32_t id, bool crosses)
{
    const struct prefix_tiers *tiers = lower->tiers;
    struct block_copy copy = {.id = id, .crosses = crosses};
    copy.lower = crosses && tiers->options->pins;
    if (lower->number == 1) {
        copy.upper = !tiers->options->frees_early && block_pool_knows(tiers->gpu, id);
    } else if (tiers->options->pins) {
        copy.upper = block_store_knows(lower[-1].store, id);
    }
    begin_copy(lower, &lower->saves, &copy);
    lower->saving[id] += crosses;
}

void prefix_tiers_wait(struct prefix_tiers *tiers, uint32_t id)
{
    begin_save(&tiers->lower[1], id, false);
}

static enum prefix_write write_of(const struct prefix_tiers *tiers, uint32_t k)
{
    return tiers->options->lower[k - 1].write;
}

/* Did too few requests hold the block for tier k? */
static bool is_rare(const struct prefix_tiers *tiers, uint32_t k, uint32_t id)
{
    return tiers->asked != NULL && tiers->asked[id] < tiers->options->lower[k - 1].least_asked;
}

static void arrive(struct prefix_lower *lower, uint32_t id)
{
    struct prefix_tiers *tiers = lower->tiers;
    uint32_t below = lower->number + 1;
    if (below < tiers->count && write_of(tiers, below) != PREFIX_WRITE_EVICT &&
        block_store_knows(lower->store, id)) {
        prefix_tiers_offer(tiers, below, id);
    }
}

/* Touch a block that the tier has, or save one that it lacks. It is offered to the tier below, too,
 * if that wants all that has arrived here. */
static void offer(struct prefix_lower *lower, uint32_t id)
{
    if (!block_store_offer(lower->store, id)) {
        if (tier_has(lower, id)) {
            arrive(lower, id);
        }
        return;
    }
    lower->counts.saved++;
    lower->tiers->saves++;
    if (lower->saving != NULL && !lower->tiers->past) {
        begin_save(lower, id, true);
    } else {
        arrive(lower, id);
    }
}

void prefix_tiers_offer(struct prefix_tiers *tiers, uint32_t tier, uint32_t id)
{
    bool untouched = tiers->options->lower[tier - 1].used_by_loads &&
                     block_store_knows(tiers->lower[tier].store, id);
    if (!untouched && !is_rare(tiers, tier, id)) {
        offer(&tiers->lower[tier], id);
    }
}

void prefix_tiers_use(struct prefix_tiers *tiers, uint32_t id)
{
    if (block_pool_knows(tiers->gpu, id)) {
        block_pool_refer(tiers->gpu, id);
    } else if (tiers->options->pins) {
        struct prefix_lower *from = &tiers->lower[prefix_tiers_source(tiers, id)];
        begin_copy(from, &from->loads, &(struct block_copy){.id = id, .lower = true});
    }
}

void prefix_tiers_touch(struct prefix_tiers *tiers, uint32_t id)
{
    for (uint32_t k = 1; k < tiers->count; k++) {
        bool loads = prefix_tiers_source(tiers, id) == k && !block_pool_knows(tiers->gpu, id);
        bool counts = (loads || !tiers->options->lower[k - 1].used_by_loads) &&
                      (k > 1 || !is_rare(tiers, 1, id));
        if (counts && tier_has(&tiers->lower[k], id)) {
            block_store_offer(tiers->lower[k].store, id);
        }
    }
}

void prefix_tiers_pass(struct prefix_tiers *tiers, uint32_t id)
{
    for (uint32_t k = prefix_tiers_source(tiers, id); k > 1; k--) {
        if (tiers->options->lower[k - 2].takes_loads) {
            block_store_offer(tiers->lower[k - 1].store, id);
        }
    }
}

void prefix_tiers_saved(struct prefix_tiers *tiers, uint32_t tier, uint64_t count)
{
    struct prefix_lower *lower = &tiers->lower[tier];
    const struct block_queue *saves = &lower->saves;
    while (saves->first < saves->count && (count > 0 || !saves->items[saves->first].crosses)) {
        const struct block_copy done = end_copy(lower, &lower->saves);
        count -= done.crosses;
        lower->saving[done.id] -= done.crosses;
        if (done.crosses && lower->saving[done.id] == 0) {
            arrive(lower, done.id);
        }
    }
    assert(count == 0 || tiers->failed);
}

void prefix_tiers_loaded(struct prefix_tiers *tiers, uint32_t tier, uint64_t count)
{
    struct prefix_lower *lower = &tiers->lower[tier];
    for (; count > 0 && lower->loads.first < lower->loads.count; count--) {
        end_copy(lower, &lower->loads);
    }
}

void prefix_tiers_count(struct prefix_tiers *tiers, uint32_t id)
{
    if (tiers->asked != NULL && tiers->asked[id] < UINT8_MAX) {
        tiers->asked[id]++;
    }
}

void prefix_tiers_name(struct prefix_tiers *tiers, uint32_t id, uint64_t load)
{
    if (!tiers->options->gpu_keeps) {
        return;
    }
    if (tiers->brought_by != NULL && !block_pool_knows(tiers->gpu, id)) {
        tiers->brought_by[id] = load;
    }
    block_pool_name(tiers->gpu, id);
}

/* ---- init, release -------------------------------------------------------------------- */

/* Tier `below` - 1 has evicted the block. */
static void hand_on(struct prefix_tiers *tiers, uint32_t below, uint32_t id)
{
    if (below < tiers->count && write_of(tiers, below) == PREFIX_WRITE_EVICT) {
        struct prefix_counts *counts = &tiers->lower[below].counts;
        uint64_t before = counts->saved;
        prefix_tiers_offer(tiers, below, id);
        counts->taken = counts->saved > before ? counts->saved : counts->taken;
    }
}

/* The GPU gives the block's room away. If it is being saved, that must end before others write there. */
static void take_unsaved(struct prefix_lower *lower, uint32_t id)
{
    const struct block_queue *saves = &lower->saves;
    uint64_t number = lower->counts.saved - saves->crossing;
    bool pends = lower->saving != NULL && lower->saving[id] > 0;
    for (size_t i = saves->first; pends && i < saves->count; i++) {
        number += saves->items[i].crosses;
        if (saves->items[i].id == id) {
            lower->counts.taken = number > lower->counts.taken ? number : lower->counts.taken;
            pends = false;
        }
    }
}

static void on_pool_evict(uint32_t id, void *context)
{
    struct prefix_tiers *tiers = context;
    if (tiers->options->frees_early && tiers->count > 1) {
        take_unsaved(&tiers->lower[1], id);
    }
    hand_on(tiers, 1, id);
}

static void on_lower_evict(uint32_t id, void *context)
{
    struct prefix_lower *lower = context;
    hand_on(lower->tiers, lower->number + 1, id);
}

static bool create_gpu(struct prefix_tiers *tiers, struct error *why)
{
    const struct prefix_options *options = tiers->options;
    const struct block_numbers *numbers = tiers->numbers;
    size_t runs = numbers->of.runs ? numbers->of.requests->count : 0;
    if (options->gpu_keeps && tiers->count > 1) {
        tiers->brought_by = array_sparse(numbers->most, sizeof *tiers->brought_by, why);
    }
    tiers->gpu = block_pool_create(numbers->most, (uint32_t)runs, options->gpu_blocks,
                                   on_pool_evict, tiers, why);
    return tiers->gpu != NULL &&
           (tiers->brought_by != NULL || !options->gpu_keeps || tiers->count == 1);
}

/* A policy that is no LRU does not say what it evicts. */
static bool check_hands_on(const struct prefix_tier *tier, const struct prefix_tier *below,
                           struct error *why)
{
    if (below->write != PREFIX_WRITE_EVICT || block_store_forgets(tier->policy)) {
        return true;
    }
    error_usage(why, NULL, 0, "a tier under policy '%s' hands on nothing that it evicts",
                tier->policy->name);
    return error_expect(why, "lru, or a tier below it that is written otherwise");
}

static bool create_lower(struct prefix_tiers *tiers, uint32_t k, struct error *why)
{
    const struct prefix_options *options = tiers->options;
    const struct prefix_tier *tier = &options->lower[k - 1];
    struct prefix_lower *lower = &tiers->lower[k];
    uint32_t most = tiers->numbers->most;
    lower->tiers = tiers;
    lower->number = k;
    lower->shared = options->pool != NULL && k == options->lower_count;
    if (lower->shared) {
        lower->store = options->pool->store;
        lower->saving = options->pool->saving;
        return k == 1 || check_hands_on(tier - 1, tier, why);
    }
    if (options->saves_wait) {
        lower->saving = array_sparse(most, sizeof *lower->saving, why);
    }
    lower->store = block_store_create(most, tier->blocks, tier->policy, tier->values, options->pins,
                                      options->seed, on_lower_evict, lower, why);
    return lower->store != NULL && (lower->saving != NULL || !options->saves_wait) &&
           (k == 1 || check_hands_on(tier - 1, tier, why));
}

static bool create_all(struct prefix_tiers *tiers, struct error *why)
{
    uint32_t most = tiers->numbers->most;
    bool counts = asks(tiers->options), deep = tiers->count > 2;
    tiers->asked = counts ? array_sparse(most, sizeof *tiers->asked, why) : NULL;
    tiers->source = deep ? array_sparse(most, sizeof *tiers->source, why) : NULL;
    bool ok = create_gpu(tiers, why) && (tiers->asked != NULL || !counts) &&
              (tiers->source != NULL || !deep);
    for (uint32_t k = 1; ok && k < tiers->count; k++) {
        ok = create_lower(tiers, k, why);
    }
    return ok;
}

bool prefix_tiers_init(struct prefix_tiers *tiers, const struct prefix_options *options,
                       struct block_numbers *numbers, struct error *why)
{
    struct prefix_tiers *other = numbers->context;
    *tiers = (struct prefix_tiers){.options = options,
                                   .numbers = numbers,
                                   .count = options->lower_count + 1,
                                   .next = other != NULL ? other->next : tiers};
    if (other != NULL) {
        other->next = tiers;
    }
    numbers->gone = is_gone;
    numbers->context = tiers;
    return create_all(tiers, why);
}

void prefix_tiers_release(struct prefix_tiers *tiers)
{
    struct prefix_tiers *before = tiers->next;
    while (before != NULL && before->next != tiers) {
        before = before->next;
    }
    if (before != NULL) {
        before->next = tiers->next;
        tiers->numbers->context = before != tiers ? before : NULL;
    }
    block_pool_destroy(tiers->gpu);
    for (uint32_t k = 1; k < tiers->count; k++) {
        struct prefix_lower *lower = &tiers->lower[k];
        free(lower->saves.items);
        free(lower->loads.items);
        if (!lower->shared) {
            block_store_destroy(lower->store);
            array_sparse_free(lower->saving);
        }
    }
    array_sparse_free(tiers->asked);
    array_sparse_free(tiers->source);
    array_sparse_free(tiers->brought_by);
    *tiers = (struct prefix_tiers){.gpu = NULL};
}

/* ---- the pool ------------------------------------------------------------------------- */

struct prefix_pool *prefix_pool_create(const struct prefix_options *options,
                                       const struct requests *requests, struct error *why)
{
    struct prefix_pool *pool = array_zeroed(1, sizeof *pool, why);
    const struct prefix_tier *tier = &options->lower[options->lower_count - 1];
    const struct block_owners owners = prefix_tiers_owners(options, requests);
    if (pool == NULL) {
        return NULL;
    }
    bool ok = block_numbers_init(&pool->numbers, &owners, why);
    uint32_t most = pool->numbers.most;
    if (ok && options->saves_wait) {
        pool->saving = array_sparse(most, sizeof *pool->saving, why);
        ok = pool->saving != NULL;
    }
    pool->store = ok ? block_store_create(most, tier->blocks, tier->policy, tier->values,
                                          options->pins, options->seed, NULL, NULL, why)
                     : NULL;
    if (pool->store == NULL) {
        prefix_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void prefix_pool_destroy(struct prefix_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    block_store_destroy(pool->store);
    block_numbers_release(&pool->numbers);
    array_sparse_free(pool->saving);
    free(pool);
}

uint64_t prefix_tiers_held(const struct prefix_tiers *tiers, uint32_t tier)
{
    const struct prefix_tiers *of = tiers;
    uint64_t held = 0;
    do {
        held += of->lower[tier].saves.lower + of->lower[tier].loads.lower;
        of = of->next;
    } while (of != tiers && tiers->lower[tier].shared);
    return held;
}
