/* A request's life in the cache: it begins with the blocks that it finds (prefix_found.h), fills
 * and takes more, and ends. Blocks have numbers (block_numbers.h) and lie in tiers
 * (prefix_tiers.h). */
#include "server/prefix/prefix_cache.h"

#include "core/array.h"
#include "server/prefix/block_numbers.h"
#include "server/prefix/prefix_found.h"
#include "server/prefix/prefix_refusal.h"
#include "server/prefix/prefix_tiers.h"

#include <assert.h>
#include <stdlib.h>

/* The blocks of a request on the GPU: the first ones are full, the others taken. If the GPU retains
 * blocks, full ones are known to the pool and have a reference; else they are taken, too. */
struct holding {
    uint64_t full, blocks;            /* full ones, and all */
    uint64_t offered;                 /* full ones that were offered to tier 1 as they filled */
    uint64_t load[PREFIX_MOST_TIERS]; /* number of the last load from each tier that brings some of
                                         them; 0: none */
};

struct prefix_cache {
    struct prefix_options options;
    struct block_numbers own;      /* used without a pool */
    struct block_numbers *numbers; /* these, or the pool's */
    struct prefix_tiers tiers;     /* points to those above */
    struct holding *holdings;      /* by request, owned */
    struct prefix_refusal refusal;
};

/* ---- create, destroy ------------------------------------------------------------------ */

struct prefix_cache *prefix_cache_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why)
{
    struct prefix_cache *cache = array_zeroed(1, sizeof *cache, why);
    struct block_owners owners = prefix_tiers_owners(options, requests);
    owners.server_of = options->server_of;
    owners.server = options->server;
    if (cache == NULL) {
        return NULL;
    }
    cache->options = *options;
    cache->options.unit_blocks = options->unit_blocks > 0 ? options->unit_blocks : 1;
    cache->numbers = options->pool != NULL ? &options->pool->numbers : &cache->own;
    cache->holdings = array_zeroed(requests->count, sizeof *cache->holdings, why);
    if (cache->holdings == NULL ||
        (options->pool == NULL && !block_numbers_init(&cache->own, &owners, why)) ||
        !prefix_tiers_init(&cache->tiers, &cache->options, cache->numbers, why)) {
        prefix_cache_destroy(cache);
        return NULL;
    }
    return cache;
}

void prefix_cache_destroy(struct prefix_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    prefix_tiers_release(&cache->tiers);
    block_numbers_release(&cache->own);
    free(cache->holdings);
    free(cache);
}

/* ---- what it holds -------------------------------------------------------------------- */

uint32_t prefix_id(const struct prefix_cache *cache, size_t index, uint64_t block)
{
    return block_numbers_read(cache->numbers, index, block);
}

void prefix_saved(struct prefix_cache *cache, uint32_t tier, uint64_t count)
{
    prefix_tiers_saved(&cache->tiers, tier, count);
}

void prefix_loaded(struct prefix_cache *cache, uint32_t tier, uint64_t count)
{
    prefix_tiers_loaded(&cache->tiers, tier, count);
}

struct prefix_counts prefix_counts(const struct prefix_cache *cache, uint32_t tier)
{
    return cache->tiers.lower[tier].counts;
}

uint64_t prefix_saves(const struct prefix_cache *cache)
{
    return cache->tiers.saves;
}

uint32_t prefix_ids(const struct prefix_cache *cache)
{
    return cache->numbers->most;
}

uint64_t prefix_load(const struct prefix_cache *cache, size_t index, uint32_t tier)
{
    return cache->holdings[index].load[tier];
}

uint64_t prefix_held(const struct prefix_cache *cache, size_t index)
{
    return cache->holdings[index].blocks;
}

uint64_t prefix_shared(const struct prefix_cache *cache, size_t index)
{
    return cache->options.gpu_keeps ? cache->holdings[index].full : 0;
}

struct prefix_census prefix_census(const struct prefix_cache *cache)
{
    const struct prefix_tiers *tiers = &cache->tiers;
    struct prefix_census census = {.count = tiers->count, .pins = cache->options.pins};
    census.of[0].blocks = block_pool_census(tiers->gpu);
    for (uint32_t k = 1; k < tiers->count; k++) {
        const struct prefix_lower *lower = &tiers->lower[k];
        bool keeps_all = cache->options.lower[k - 1].policy == NULL;
        census.of[k].blocks = block_store_census(lower->store);
        census.of[k].shared = lower->shared;
        census.of[k].saving = lower->saves.crossing;
        census.of[k].loading = lower->loads.lower;
        census.of[k].held +=
            prefix_tiers_held(tiers, k) + (keeps_all ? census.of[k].blocks.known : 0);
        census.of[k - 1].held += lower->saves.upper;
    }
    return census;
}

uint64_t prefix_room(const struct prefix_cache *cache)
{
    return block_pool_room(cache->tiers.gpu);
}

uint32_t prefix_block_tokens(const struct prefix_cache *cache)
{
    return cache->options.block_tokens;
}

bool prefix_check(const struct prefix_cache *cache, struct error *why)
{
    if (cache->tiers.failed) {
        return error_set(why, NULL, 0, "out of memory");
    }
    bool ok = true;
    for (uint32_t k = 1; ok && k < cache->tiers.count; k++) {
        ok = block_store_check(cache->tiers.lower[k].store, why);
    }
    return ok;
}

/* ---- a request begins ----------------------------------------------------------------- */

static uint64_t blocks_of(const struct prefix_cache *cache, uint64_t tokens)
{
    return (tokens + cache->options.block_tokens - 1) / cache->options.block_tokens;
}

/* The loads for which a request's first blocks wait. From a tier that gives it some, its own,
 * because that is the last in the queue; else the latest among the blocks found. */
static void begin_loads(struct prefix_cache *cache, const struct prefix_found *found,
                        const uint64_t from[PREFIX_MOST_TIERS], struct holding *holding)
{
    for (uint32_t k = 1; k < PREFIX_MOST_TIERS; k++) {
        struct prefix_counts *counts = &cache->tiers.lower[k].counts;
        counts->loads += from[k] > 0;
        holding->load[k] = from[k] > 0 ? counts->loads : found->load[k];
    }
}

/* Is tier 1 offered blocks at this time? */
static bool offers(const struct prefix_cache *cache, enum prefix_write write)
{
    return cache->tiers.count > 1 && cache->options.lower[0].write == write;
}

/* Offer tier 1 the full blocks that it was not offered yet: those that have just filled, earlier
 * ones whose unit is whole only now and, at first, those that the request found. */
static void save_filled(struct prefix_cache *cache, size_t index)
{
    struct holding *holding = &cache->holdings[index];
    uint64_t unit = cache->options.unit_blocks, first = holding->offered / unit * unit;
    if (holding->full == holding->offered || !offers(cache, PREFIX_WRITE_FILL)) {
        return;
    }
    for (uint64_t block = first; block < holding->full / unit * unit; block++) {
        prefix_tiers_offer(&cache->tiers, prefix_id(cache, index, block));
    }
    holding->offered = holding->full;
}

/* Number the blocks of a request that begins. */
static bool number_blocks(struct prefix_cache *cache, size_t index)
{
    bool ok = block_numbers_give(cache->numbers, index);
    cache->tiers.failed = cache->tiers.failed || !ok;
    return ok;
}

/* The blocks found, now referred to and taken, are on the GPU; loads bring those that were not. */
static void bring_found(struct prefix_cache *cache, size_t index, const struct prefix_found *found,
                        const struct holding *holding)
{
    struct prefix_tiers *tiers = &cache->tiers;
    for (uint64_t block = 0; block < found->blocks && tiers->count > 1; block++) {
        uint32_t id = prefix_id(cache, index, block);
        if (!block_pool_knows(tiers->gpu, id)) {
            uint32_t from = prefix_tiers_source(tiers, id);
            prefix_tiers_name(tiers, id, tier_load(holding->load[from], from));
        }
        prefix_tiers_count(tiers, id);
    }
    for (uint32_t k = 1; k < tiers->count; k++) {
        tiers->lower[k].counts.loaded += found->in[k];
    }
}

static void write_match(const struct prefix_cache *cache, const struct prefix_found *found,
                        uint64_t tokens, struct prefix_match *match)
{
    uint32_t block_tokens = cache->options.block_tokens;
    for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
        match->found[k] = (uint32_t)(found->in[k] * block_tokens);
    }
    match->compute_tokens = (uint32_t)(tokens - found->blocks * block_tokens);
}

bool prefix_begin(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t chunk,
                  struct prefix_match *match)
{
    struct prefix_tiers *tiers = &cache->tiers;
    uint32_t block_tokens = cache->options.block_tokens;
    uint64_t all = blocks_of(cache, tokens), most = (tokens - 1) / block_tokens;
    if (prefix_refusal_holds(&cache->refusal, tiers->gpu, index, tokens) ||
        !number_blocks(cache, index)) {
        return false;
    }
    struct prefix_found found = prefix_found_in_all(tiers, index, most);
    uint64_t have = found.blocks * block_tokens;
    uint64_t blocks = blocks_of(cache, tokens - have < chunk ? tokens : have + chunk);
    if (block_pool_room(tiers->gpu) - found.idle < all - found.in[0]) {
        uint64_t need = all - prefix_found_used(tiers, index, most);
        prefix_refusal_note(&cache->refusal, tiers->gpu, index, tokens, need);
        return false;
    }
    prefix_found_refer(tiers, index, &found);
    block_pool_take(tiers->gpu, blocks - found.in[0]);
    struct holding *holding = &cache->holdings[index];
    *holding = (struct holding){.full = found.blocks, .blocks = blocks};
    block_numbers_use(cache->numbers, index, 1);
    begin_loads(cache, &found, found.in, holding);
    bring_found(cache, index, &found, holding);
    write_match(cache, &found, tokens, match);
    return true;
}

/* ---- and goes on ---------------------------------------------------------------------- */

void prefix_fill(struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    struct holding *holding = &cache->holdings[index];
    uint64_t full = tokens / cache->options.block_tokens;
    uint64_t numbered = block_numbers_count(cache->numbers, index, full);
    assert(full <= holding->blocks);
    for (; holding->full < numbered; holding->full++) {
        uint32_t id = prefix_id(cache, index, holding->full);
        prefix_tiers_name(&cache->tiers, id, 0);
        prefix_tiers_count(&cache->tiers, id);
    }
    if (holding->full < full) {
        block_pool_run_name(cache->tiers.gpu, (uint32_t)index, full - holding->full);
        holding->full = full;
    }
    save_filled(cache, index);
}

/* Refer to the blocks found on the GPU. */
static void prefix_cache_refer_to(struct prefix_cache *cache, size_t index, uint64_t found,
                                  uint64_t numbered)
{
    for (uint64_t block = 0; block < found && block < numbered; block++) {
        block_pool_refer(cache->tiers.gpu, prefix_id(cache, index, block));
    }
    if (found > numbered) {
        block_pool_run_refer(cache->tiers.gpu, (uint32_t)index, found - numbered);
    }
}

/* The blocks from `found` to `full`, which were taken, are known now; `load` brings them. */
static void bring_kept(struct prefix_cache *cache, size_t index, uint64_t found, uint64_t full,
                       uint64_t load)
{
    uint64_t numbered = block_numbers_count(cache->numbers, index, full);
    for (uint64_t block = found; block < numbered; block++) {
        prefix_tiers_name(&cache->tiers, prefix_id(cache, index, block), tier_load(load, 1));
    }
    uint64_t own = found > numbered ? found : numbered;
    if (own < full) {
        block_pool_run_name(cache->tiers.gpu, (uint32_t)index, full - own);
        cache->tiers.loads_of_own[index] = (struct own_load){load, own - numbered};
    }
}

bool prefix_restore(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t kept,
                    uint64_t chunk, uint64_t *missing)
{
    struct block_pool *gpu = cache->tiers.gpu;
    uint32_t block_tokens = cache->options.block_tokens;
    uint64_t full = kept / block_tokens;
    uint64_t blocks = blocks_of(cache, tokens - kept < chunk ? tokens : kept + chunk);
    if (!number_blocks(cache, index)) {
        return false;
    }
    struct prefix_found found = prefix_found_in_first(&cache->tiers, index, full);
    if (block_pool_room(gpu) - found.idle < blocks_of(cache, tokens) - found.blocks) {
        return false;
    }
    prefix_cache_refer_to(cache, index, found.blocks,
                          block_numbers_count(cache->numbers, index, full));
    block_pool_take(gpu, blocks - found.blocks);
    *missing = kept - found.blocks * block_tokens;
    struct holding *holding = &cache->holdings[index];
    *holding = (struct holding){.full = full, .blocks = blocks};
    block_numbers_use(cache->numbers, index, 1);
    begin_loads(cache, &found, (uint64_t[PREFIX_MOST_TIERS]){0, *missing}, holding);
    bring_kept(cache, index, found.blocks, full, holding->load[1]);
    return true;
}

bool prefix_grow(struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    struct holding *holding = &cache->holdings[index];
    uint64_t blocks = blocks_of(cache, tokens);
    uint64_t more = blocks > holding->blocks ? blocks - holding->blocks : 0;
    if (more > block_pool_room(cache->tiers.gpu)) {
        return false;
    }
    block_pool_take(cache->tiers.gpu, more);
    holding->blocks += more;
    return true;
}

/* The request holds the block no more. `saves`: it is offered to tier 1. Behind the first block
 * since `before` that this took, those that it has already wait for their turn, too. */
static void end_block(struct prefix_cache *cache, uint32_t id, bool saves, uint64_t before)
{
    struct prefix_tiers *tiers = &cache->tiers;
    const struct prefix_counts *counts = &tiers->lower[1].counts;
    uint64_t saved = counts->saved;
    if (saves) {
        prefix_tiers_offer(tiers, id);
    }
    if (cache->options.saves_wait && saved > before && counts->saved == saved) {
        prefix_tiers_wait(tiers, id);
    }
    if (cache->options.gpu_keeps) {
        block_pool_release(tiers->gpu, id);
    }
}

/* Blocks that were offered as they filled count as used once more, so that the beginning of a
 * request was used last, however much of it was found. */
static void touch_filled(struct prefix_cache *cache, size_t index, uint64_t whole)
{
    for (uint64_t block = whole; offers(cache, PREFIX_WRITE_FILL) && block-- > 0;) {
        prefix_tiers_touch(&cache->tiers, prefix_id(cache, index, block));
    }
}

void prefix_end(struct prefix_cache *cache, size_t index, bool done)
{
    const struct prefix_options *options = &cache->options;
    struct holding *holding = &cache->holdings[index];
    struct prefix_tiers *tiers = &cache->tiers;
    bool saves = done && offers(cache, PREFIX_WRITE_FINISH);
    uint64_t whole = holding->full / options->unit_blocks * options->unit_blocks;
    uint64_t before = tiers->lower[1].counts.saved;
    uint64_t numbered = block_numbers_count(cache->numbers, index, holding->full);
    if (numbered < holding->full) {
        block_pool_run_release(tiers->gpu, (uint32_t)index);
    }
    touch_filled(cache, index, whole);
    for (uint64_t block = numbered; block-- > 0;) {
        end_block(cache, prefix_id(cache, index, block), saves && block < whole, before);
    }
    block_pool_give_back(tiers->gpu, holding->blocks - (options->gpu_keeps ? holding->full : 0));
    block_numbers_use(cache->numbers, index, -1);
    if (done) {
        block_numbers_leave(cache->numbers, index);
    }
    *holding = (struct holding){.full = 0};
}
