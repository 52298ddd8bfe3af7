#include "server/prefix/prefix_tiers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers -------------------------------------------------------------------------- */

/* Is the piece of this number nowhere in these tiers? */
static bool tiers_lack(const struct prefix_tiers *tiers, uint32_t id)
{
    bool gone = !block_pool_knows(tiers->gpu, id);
    for (uint32_t k = 1; gone && k < tiers->count; k++) {
        gone = !block_store_knows(tiers->lower[k].store, id);
    }
    return gone;
}

/* Another piece may get a number that is nowhere in any of the caches that share it. */
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

static void cut_piece(uint32_t id, uint32_t rest, void *context)
{
    struct prefix_tiers *const first = context, *tiers = first;
    do {
        block_pool_cut(tiers->gpu, id, rest);
        for (uint32_t k = 1; k < tiers->count; k++) {
            const struct prefix_lower *lower = &tiers->lower[k];
            if (lower->shared && tiers != first) {
                continue;
            }
            block_pool_cut(lower->store->pool, id, rest);
            if (lower->saving != NULL) {
                lower->saving[rest] = lower->saving[id];
            }
        }
        if (tiers->asked != NULL) {
            tiers->asked[rest] = tiers->asked[id];
        }
        if (tiers->source != NULL) {
            tiers->source[rest] = tiers->source[id];
        }
        if (tiers->brought_by != NULL) {
            tiers->brought_by[rest] = tiers->brought_by[id];
        }
        tiers = tiers->next;
    } while (tiers != first);
}

/* Are both alike in these tiers? No copy of them is pending. */
static bool tiers_join(const struct prefix_tiers *tiers, uint32_t id, uint32_t rest)
{
    bool joins = block_pool_joins(tiers->gpu, id, rest) &&
                 (tiers->asked == NULL || tiers->asked[id] == tiers->asked[rest]) &&
                 (tiers->brought_by == NULL || !block_pool_knows(tiers->gpu, id) ||
                  tiers->brought_by[id] == tiers->brought_by[rest]);
    for (uint32_t k = 1; joins && k < tiers->count; k++) {
        joins = block_pool_joins(tiers->lower[k].store->pool, id, rest);
    }
    return joins;
}

static bool join_pieces(uint32_t id, uint32_t rest, void *context)
{
    struct prefix_tiers *const first = context, *tiers = first;
    bool joins = true;
    do {
        joins = tiers_join(tiers, id, rest);
        tiers = tiers->next;
    } while (joins && tiers != first);
    for (bool more = joins; more; more = tiers != first) {
        block_pool_join(tiers->gpu, id, rest);
        for (uint32_t k = 1; k < tiers->count; k++) {
            if (!tiers->lower[k].shared || tiers == first) {
                block_pool_join(tiers->lower[k].store->pool, id, rest);
            }
        }
        if (tiers->asked != NULL) {
            tiers->asked[rest] = 0;
        }
        tiers = tiers->next;
    }
    return joins;
}

static const struct block_pieces pieces = {.gone = is_gone, .cut = cut_piece, .join = join_pieces};

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
    bool forgets = true;
    for (uint32_t k = 0; k < options->lower_count; k++) {
        forgets = forgets && block_store_forgets(options->lower[k].policy);
    }
    bool recycled = options->recycles && forgets;
    return (struct block_owners){
        .requests = requests,
        .block_tokens = options->block_tokens,
        .recycled = recycled,
        .chunks_recycled = recycled && !asks(options),
        .single = !forgets,
        .ranks = options->ranks,
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

/* The pool of a tier that can hold blocks. */
static struct block_pool *pool_of(const struct prefix_tiers *tiers, uint32_t k)
{
    return k == 0 ? tiers->gpu : tiers->lower[k].store->pool;
}

/* Queue a copy of a piece, which refers to it until it is done. */
static void begin_copy(struct prefix_lower *lower, struct block_queue *queue,
                       const struct block_copy *copy)
{
    const struct prefix_tiers *tiers = lower->tiers;
    uint32_t id = copy->span.first, count = copy->span.count;
    if (queue->first > queue->count / 2) {
        queue->count -= queue->first;
        memmove(queue->items, queue->items + queue->first, queue->count * sizeof *queue->items);
        queue->first = 0;
    }
    if (!array_reserve(&queue->items, &queue->capacity, queue->count + 1, sizeof *queue->items,
                       ERROR_UNSEEN)) {
        lower->tiers->failed = true;
        return;
    }
    queue->items[queue->count++] = *copy;
    queue->crossing += copy->crosses ? count : 0;
    tiers->numbers->pieces[id].copies++;
    if (copy->upper) {
        queue->upper += count;
        block_pool_refer(pool_of(tiers, lower->number - 1), id);
    }
    if (copy->lower) {
        queue->lower += count;
        block_pool_refer(pool_of(tiers, lower->number), id);
    }
}

static void arrive(struct prefix_lower *lower, struct piece_span span, bool back);

/* Of the oldest copy, at most `most` blocks are done. Returns how many have crossed. */
static uint32_t end_copy(struct prefix_lower *lower, struct block_queue *queue, uint64_t most)
{
    const struct prefix_tiers *tiers = lower->tiers;
    struct piece_span *left = &queue->items[queue->first].span;
    const struct block_copy copy = queue->items[queue->first];
    uint32_t count = copy.crosses && most < left->count ? (uint32_t)most : left->count;
    struct piece_span span = piece_span_take(tiers->numbers, left, count, copy.back);
    queue->first += left->count == 0;
    queue->crossing -= copy.crosses ? count : 0;
    queue->upper -= copy.upper ? count : 0;
    queue->lower -= copy.lower ? count : 0;
    while (span.count > 0) {
        uint32_t id = piece_span_next(tiers->numbers, &span, copy.back);
        struct block_piece *piece = &tiers->numbers->pieces[id];
        piece->copies--;
        if (copy.upper) {
            block_pool_release(pool_of(tiers, lower->number - 1), id, copy.back);
        }
        if (copy.lower) {
            block_pool_release(pool_of(tiers, lower->number), id, copy.back);
        }
        if (queue == &lower->saves && copy.crosses && --lower->saving[id] == 0) {
            arrive(lower, (struct piece_span){id, piece->count}, copy.back);
        }
    }
    return copy.crosses ? count : 0;
}

/* The GPU keeps what is being saved, unless it frees early; of other tiers only one with pins does. */
static void begin_save(struct prefix_lower *lower, struct piece_span span, bool back, bool crosses)
{
    const struct prefix_tiers *tiers = lower->tiers;
    while (span.count > 0) {
        uint32_t id = piece_span_next(tiers->numbers, &span, back);
        struct block_copy copy = {
            {id, tiers->numbers->pieces[id].count}, .back = back, .crosses = crosses};
        copy.lower = crosses && tiers->options->pins;
        if (lower->number == 1) {
            copy.upper = !tiers->options->frees_early && block_pool_knows(tiers->gpu, id);
        } else if (tiers->options->pins) {
            copy.upper = block_store_knows(lower[-1].store, id);
        }
        begin_copy(lower, &lower->saves, &copy);
        lower->saving[id] += crosses;
    }
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

static void arrive(struct prefix_lower *lower, struct piece_span span, bool back)
{
    struct prefix_tiers *tiers = lower->tiers;
    uint32_t below = lower->number + 1;
    bool goes_on = below < tiers->count && write_of(tiers, below) != PREFIX_WRITE_EVICT;
    while (goes_on && span.count > 0) {
        uint32_t id = piece_span_next(tiers->numbers, &span, back);
        if (block_store_knows(lower->store, id)) {
            prefix_tiers_offer(tiers, below,
                               (struct piece_span){id, block_pool_count(tiers->gpu, id)}, back);
        }
    }
}

/* Touch what the tier has at the beginning of a span, or save what it lacks. It is offered to the tier below, too,
 * if that wants all that has arrived here. That part leaves the span. */
static struct piece_span offer_part(struct prefix_tiers *tiers, uint32_t tier,
                                    struct piece_span *span, bool back)
{
    struct prefix_lower *lower = &tiers->lower[tier];
    uint32_t id = piece_span_piece(tiers->numbers, span, back);
    bool knows = block_store_knows(lower->store, id), took;
    if ((tiers->options->lower[tier - 1].used_by_loads && knows) || is_rare(tiers, tier, id)) {
        return piece_span_take(tiers->numbers, span, block_pool_count(tiers->gpu, id), back);
    }
    const struct piece_span part = block_store_offer(lower->store, span, back, &took);
    if (!took) {
        if (tier_has(lower, id)) {
            arrive(lower, part, back);
        }
        return part;
    }
    lower->counts.saved += part.count;
    tiers->saves += part.count;
    if (lower->saving != NULL && !tiers->past) {
        begin_save(lower, part, back, true);
    } else {
        arrive(lower, part, back);
    }
    return part;
}

void prefix_tiers_offer(struct prefix_tiers *tiers, uint32_t tier, struct piece_span span,
                        bool back)
{
    while (span.count > 0) {
        offer_part(tiers, tier, &span, back);
    }
}

void prefix_tiers_use(struct prefix_tiers *tiers, uint32_t id)
{
    if (block_pool_knows(tiers->gpu, id)) {
        block_pool_refer(tiers->gpu, id);
    } else if (tiers->options->pins) {
        struct prefix_lower *from = &tiers->lower[prefix_tiers_source(tiers, id)];
        const struct block_copy copy = {
            {id, block_pool_count(tiers->gpu, id)}, .back = true, .crosses = true, .lower = true};
        begin_copy(from, &from->loads, &copy);
    }
}

void prefix_tiers_touch(struct prefix_tiers *tiers, uint32_t id)
{
    for (uint32_t k = 1; k < tiers->count; k++) {
        bool loads = prefix_tiers_source(tiers, id) == k && !block_pool_knows(tiers->gpu, id);
        bool counts = (loads || !tiers->options->lower[k - 1].used_by_loads) &&
                      (k > 1 || !is_rare(tiers, 1, id));
        if (counts && tier_has(&tiers->lower[k], id)) {
            block_store_touch(tiers->lower[k].store, id, true);
        }
    }
}

/* Where more than one tier takes loads, what one evicts goes between those that the next one takes. */
void prefix_tiers_pass(struct prefix_tiers *tiers, struct piece_span span)
{
    uint32_t source = prefix_tiers_source(tiers, span.first);
    bool took;
    while (source > 1 && span.count > 0) {
        uint32_t count = source > 2 ? 1 : span.count;
        const struct piece_span part = piece_span_take(tiers->numbers, &span, count, true);
        for (uint32_t k = source; k > 1; k--) {
            struct piece_span left = part;
            while (tiers->options->lower[k - 2].takes_loads && left.count > 0) {
                block_store_offer(tiers->lower[k - 1].store, &left, true, &took);
            }
        }
    }
}

void prefix_tiers_end(struct prefix_tiers *tiers, struct piece_span span, bool saves,
                      uint64_t before)
{
    bool waits = tiers->options->saves_wait && !tiers->past;
    const struct prefix_counts *counts = &tiers->lower[1].counts;
    struct piece_span all = span;
    while (tiers->count > 1 && span.count > 0) {
        uint64_t saved = counts->saved;
        const struct piece_span part =
            saves ? offer_part(tiers, 1, &span, true)
                  : piece_span_take(tiers->numbers, &span, span.count, true);
        if (waits && saved > before && counts->saved == saved) {
            begin_save(&tiers->lower[1], part, true, false);
        }
    }
    while (tiers->options->gpu_keeps && all.count > 0) {
        block_pool_release(tiers->gpu, piece_span_next(tiers->numbers, &all, true), true);
    }
}

void prefix_tiers_saved(struct prefix_tiers *tiers, uint32_t tier, uint64_t count)
{
    struct prefix_lower *lower = &tiers->lower[tier];
    struct block_queue *saves = &lower->saves;
    while (saves->first < saves->count && (count > 0 || !saves->items[saves->first].crosses)) {
        count -= end_copy(lower, saves, count);
    }
    assert(count == 0 || tiers->failed);
}

void prefix_tiers_loaded(struct prefix_tiers *tiers, uint32_t tier, uint64_t count)
{
    struct prefix_lower *lower = &tiers->lower[tier];
    while (count > 0 && lower->loads.first < lower->loads.count) {
        count -= end_copy(lower, &lower->loads, count);
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

bool prefix_tiers_grow(struct prefix_tiers *tiers, uint32_t id, uint32_t rest, uint32_t count)
{
    bool grows = tiers->options->gpu_keeps && tiers->next == tiers && tiers->asked == NULL &&
                 (tiers->brought_by == NULL || tiers->brought_by[id] == 0) &&
                 block_pool_is_alone(tiers->gpu, id) && !block_pool_knows(tiers->gpu, rest);
    for (uint32_t k = 1; grows && k < tiers->count; k++) {
        grows = !block_store_knows(tiers->lower[k].store, id) &&
                !block_store_knows(tiers->lower[k].store, rest);
    }
    if (grows) {
        block_numbers_grow(tiers->numbers, id, rest, count);
        block_pool_grow(tiers->gpu, count);
    }
    return grows;
}

/* ---- init, release -------------------------------------------------------------------- */

/* Tier `below` - 1 has evicted the piece. */
static void hand_on(struct prefix_tiers *tiers, uint32_t below, uint32_t id, bool back)
{
    if (below < tiers->count && write_of(tiers, below) == PREFIX_WRITE_EVICT) {
        struct prefix_counts *counts = &tiers->lower[below].counts;
        uint64_t before = counts->saved;
        prefix_tiers_offer(tiers, below, (struct piece_span){id, block_pool_count(tiers->gpu, id)},
                           back);
        counts->taken = counts->saved > before ? counts->saved : counts->taken;
    }
}

/* The GPU gives the piece's room away. If it is being saved, that must end before others write there. */
static void take_unsaved(struct prefix_lower *lower, uint32_t id)
{
    const struct block_piece *all = lower->tiers->numbers->pieces;
    const struct block_queue *saves = &lower->saves;
    uint64_t number = lower->counts.saved - saves->crossing;
    bool pends = lower->saving != NULL && lower->saving[id] > 0;
    for (size_t i = saves->first; pends && i < saves->count; i++) {
        const struct block_copy *copy = &saves->items[i];
        uint32_t at = 0, piece = copy->span.first, count = copy->span.count;
        for (; at < count && piece != id; piece = all[piece].next) {
            at += all[piece].count;
        }
        if (at < count) {
            uint64_t end = copy->back ? count - at : at + all[id].count;
            number += copy->crosses ? end : 0;
            lower->counts.taken = number > lower->counts.taken ? number : lower->counts.taken;
            pends = false;
        } else {
            number += copy->crosses ? count : 0;
        }
    }
}

static void on_pool_evict(uint32_t id, bool back, void *context)
{
    struct prefix_tiers *tiers = context;
    if (tiers->options->frees_early && tiers->count > 1) {
        take_unsaved(&tiers->lower[1], id);
    }
    hand_on(tiers, 1, id, back);
}

static void on_lower_evict(uint32_t id, bool back, void *context)
{
    struct prefix_lower *lower = context;
    hand_on(lower->tiers, lower->number + 1, id, back);
}

static bool create_gpu(struct prefix_tiers *tiers, struct error *why)
{
    const struct prefix_options *options = tiers->options;
    const struct block_numbers *numbers = tiers->numbers;
    if (options->gpu_keeps && tiers->count > 1) {
        tiers->brought_by = array_sparse(numbers->most, sizeof *tiers->brought_by, why);
    }
    tiers->gpu = block_pool_create(tiers->numbers, options->gpu_blocks, on_pool_evict, tiers, why);
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
    lower->store = block_store_create(tiers->numbers, tier->blocks, tier->policy, tier->values,
                                      options->pins, options->seed, on_lower_evict, lower, why);
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
    numbers->tiers = &pieces;
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
    pool->store = ok ? block_store_create(&pool->numbers, tier->blocks, tier->policy, tier->values,
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
