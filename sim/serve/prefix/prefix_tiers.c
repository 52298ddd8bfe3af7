#include "serve/prefix/prefix_tiers.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

/* ---- orphans -------------------------------------------------------------------------- */

/* Is the block of this number nowhere, and on no way? */
static bool is_gone(const struct prefix_tiers *tiers, uint32_t id)
{
    bool gone = !block_pool_knows(tiers->gpu, id);
    for (uint32_t k = 1; gone && k < tiers->count; k++) {
        const struct prefix_lower *lower = &tiers->lower[k];
        gone = !block_store_knows(lower->store, id) &&
               (lower->saving == NULL || lower->saving[id] == 0);
    }
    return gone;
}

/* A tier may have lost its last copy of the block. */
static void bury(struct prefix_tiers *tiers, uint32_t id)
{
    if (!block_numbers_is_orphan(tiers->numbers, id) || !is_gone(tiers, id)) {
        return;
    }
    if (tiers->asked != NULL) {
        tiers->asked[id] = 0;
    }
    block_numbers_spare(tiers->numbers, id);
}

static void on_orphan(uint32_t id, void *context)
{
    bury(context, id);
}

void prefix_tiers_leave(struct prefix_tiers *tiers, size_t index)
{
    block_numbers_leave(tiers->numbers, index, on_orphan, tiers);
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
    struct error unseen;
    if (!block_queue_push(queue, *copy, &unseen)) {
        lower->tiers->failed = true;
        return;
    }
    if (copy->upper) {
        tier_hold(lower->tiers, lower->number - 1, copy->id);
    }
    if (copy->lower) {
        tier_hold(lower->tiers, lower->number, copy->id);
    }
}

static struct block_copy end_copy(struct prefix_lower *lower, struct block_queue *queue)
{
    const struct block_copy copy = *block_queue_front(queue);
    block_queue_pop(queue);
    if (copy.upper) {
        tier_let_go(lower->tiers, lower->number - 1, copy.id);
    }
    if (copy.lower) {
        tier_let_go(lower->tiers, lower->number, copy.id);
    }
    return copy;
}

/* The GPU keeps what is being saved; of other tiers only one with pins does. */
static void begin_save(struct prefix_lower *lower, uint32_t id, bool crosses)
{
    const struct prefix_tiers *tiers = lower->tiers;
    struct block_copy copy = {.id = id, .crosses = crosses};
    copy.lower = crosses && tiers->options->pins;
    if (lower->number == 1) {
        copy.upper = block_pool_knows(tiers->gpu, id);
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

/* Touch a block that the tier has, or save one that it lacks. It is offered to the tier below, too,
 * if that wants all that has arrived here. */
static void offer(struct prefix_lower *lower, uint32_t id);

static void arrive(struct prefix_lower *lower, uint32_t id)
{
    struct prefix_tiers *tiers = lower->tiers;
    uint32_t below = lower->number + 1;
    if (below < tiers->count && write_of(tiers, below) != PREFIX_WRITE_EVICT &&
        block_store_knows(lower->store, id)) {
        offer(&tiers->lower[below], id);
    }
}

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
    if (lower->saving != NULL) {
        begin_save(lower, id, true);
    } else {
        arrive(lower, id);
    }
}

void prefix_tiers_offer(struct prefix_tiers *tiers, uint32_t id)
{
    if (tiers->asked == NULL || tiers->asked[id] >= tiers->options->least_asked) {
        offer(&tiers->lower[1], id);
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
        bool rare =
            k == 1 && tiers->asked != NULL && tiers->asked[id] < tiers->options->least_asked;
        if (!rare && tier_has(&tiers->lower[k], id)) {
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
    const struct block_copy *save;
    while ((save = block_queue_front(&lower->saves)) != NULL && (count > 0 || !save->crosses)) {
        const struct block_copy done = end_copy(lower, &lower->saves);
        count -= done.crosses;
        lower->saving[done.id] -= done.crosses;
        if (done.crosses && lower->saving[done.id] == 0) {
            arrive(lower, done.id);
        }
        bury(tiers, done.id);
    }
    assert(count == 0 || tiers->failed);
}

void prefix_tiers_loaded(struct prefix_tiers *tiers, uint32_t tier, uint64_t count)
{
    struct prefix_lower *lower = &tiers->lower[tier];
    for (; count > 0 && block_queue_front(&lower->loads) != NULL; count--) {
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
    if (!block_pool_knows(tiers->gpu, id)) {
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
        if (below == 1) {
            prefix_tiers_offer(tiers, id);
        } else {
            offer(&tiers->lower[below], id);
        }
        counts->evicted += counts->saved - before;
    }
    bury(tiers, id);
}

static void on_pool_evict(uint32_t id, void *context)
{
    hand_on(context, 1, id);
}

static void on_lower_evict(uint32_t id, void *context)
{
    struct prefix_lower *lower = context;
    hand_on(lower->tiers, lower->number + 1, id);
}

bool prefix_tiers_runs(const struct prefix_options *options)
{
    return options->recycles && options->gpu_keeps && options->lower_count == 0;
}

static bool create_gpu(struct prefix_tiers *tiers, struct error *why)
{
    const struct prefix_options *options = tiers->options;
    const struct block_numbers *numbers = tiers->numbers;
    size_t runs = numbers->of.runs ? numbers->of.requests->count : 0;
    if (options->gpu_keeps) {
        tiers->brought_by = array_zeroed(numbers->most, sizeof *tiers->brought_by, why);
    }
    if (numbers->of.runs) {
        tiers->loads_of_own = array_zeroed(runs, sizeof *tiers->loads_of_own, why);
    }
    tiers->gpu = block_pool_create(numbers->most, (uint32_t)runs, options->gpu_blocks,
                                   on_pool_evict, tiers, why);
    return tiers->gpu != NULL && (tiers->brought_by != NULL || !options->gpu_keeps) &&
           (tiers->loads_of_own != NULL || !numbers->of.runs);
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
    if (options->saves_wait) {
        lower->saving = array_zeroed(most, sizeof *lower->saving, why);
    }
    lower->store = block_store_create(most, tier->blocks, tier->policy, tier->values, options->pins,
                                      options->seed, on_lower_evict, lower, why);
    return lower->store != NULL && (lower->saving != NULL || !options->saves_wait) &&
           (k == 1 || check_hands_on(tier - 1, tier, why));
}

static bool create_all(struct prefix_tiers *tiers, struct error *why)
{
    uint32_t most = tiers->numbers->most;
    bool asks = tiers->count > 1 && tiers->options->least_asked > 1, deep = tiers->count > 2;
    tiers->asked = asks ? array_zeroed(most, sizeof *tiers->asked, why) : NULL;
    tiers->source = deep ? array_zeroed(most, sizeof *tiers->source, why) : NULL;
    bool ok = create_gpu(tiers, why) && (tiers->asked != NULL || !asks) &&
              (tiers->source != NULL || !deep);
    for (uint32_t k = 1; ok && k < tiers->count; k++) {
        ok = create_lower(tiers, k, why);
    }
    return ok;
}

bool prefix_tiers_init(struct prefix_tiers *tiers, const struct prefix_options *options,
                       struct block_numbers *numbers, struct error *why)
{
    *tiers = (struct prefix_tiers){
        .options = options, .numbers = numbers, .count = options->lower_count + 1};
    bool forgets = true;
    for (uint32_t k = 1; k < tiers->count; k++) {
        forgets = forgets && block_store_forgets(options->lower[k - 1].policy);
    }
    if (options->recycles && forgets && !numbers->of.runs && !block_numbers_recycle(numbers, why)) {
        return false;
    }
    return create_all(tiers, why);
}

void prefix_tiers_release(struct prefix_tiers *tiers)
{
    block_pool_destroy(tiers->gpu);
    for (uint32_t k = 1; k < tiers->count; k++) {
        block_store_destroy(tiers->lower[k].store);
        block_queue_release(&tiers->lower[k].saves);
        block_queue_release(&tiers->lower[k].loads);
        free(tiers->lower[k].saving);
    }
    free(tiers->asked);
    free(tiers->source);
    free(tiers->brought_by);
    free(tiers->loads_of_own);
    *tiers = (struct prefix_tiers){.gpu = NULL};
}
