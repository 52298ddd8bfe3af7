/* A request's life in the cache: it begins with the blocks that it finds (prefix_found.h), fills and
 * takes more, and ends. Blocks have numbers (block_numbers.h) and lie in tiers (prefix_tiers.h). */
#include "serve/prefix/prefix_cache.h"

#include "base/array.h"
#include "serve/prefix/block_numbers.h"
#include "serve/prefix/prefix_found.h"
#include "serve/prefix/prefix_refusal.h"
#include "serve/prefix/prefix_tiers.h"

#include <assert.h>
#include <stdlib.h>

/* The blocks of a request on the GPU: the first ones are full, the others taken. If the GPU retains
 * blocks, full ones are known to the pool and have a reference; else they are taken, too. */
struct holding {
    uint64_t full, blocks; /* full ones, and all */
    uint64_t load;         /* number of the last load that brings some of them; 0: none */
};

struct prefix_cache {
    struct prefix_options options;
    struct block_numbers numbers;
    struct prefix_tiers tiers; /* points to the two above */
    struct holding *holdings;  /* by request, owned */
    struct prefix_refusal refusal;
};

/* ---- create, destroy ------------------------------------------------------------------ */

static struct block_owners owners_of(const struct prefix_options *options,
                                     const struct requests *requests)
{
    return (struct block_owners){
        .requests = requests,
        .block_tokens = options->block_tokens,
        .runs = prefix_tiers_runs(options),
        .server_of = options->server_of,
        .server = options->server,
    };
}

struct prefix_cache *prefix_cache_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why)
{
    struct prefix_cache *cache = array_zeroed(1, sizeof *cache, why);
    const struct block_owners owners = owners_of(options, requests);
    if (cache == NULL) {
        return NULL;
    }
    cache->options = *options;
    cache->options.unit_blocks = options->unit_blocks > 0 ? options->unit_blocks : 1;
    cache->holdings = array_zeroed(requests->count, sizeof *cache->holdings, why);
    if (cache->holdings == NULL || !block_numbers_init(&cache->numbers, &owners, why) ||
        !prefix_tiers_init(&cache->tiers, &cache->options, &cache->numbers, why)) {
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
    block_numbers_release(&cache->numbers);
    free(cache->holdings);
    free(cache);
}

/* ---- what it holds -------------------------------------------------------------------- */

uint32_t prefix_id(const struct prefix_cache *cache, size_t index, uint64_t block)
{
    return block_numbers_read(&cache->numbers, index, block);
}

void prefix_saved(struct prefix_cache *cache, uint64_t count)
{
    prefix_tiers_saved(&cache->tiers, count);
}

void prefix_loaded(struct prefix_cache *cache, uint64_t count)
{
    prefix_tiers_loaded(&cache->tiers, count);
}

struct prefix_counts prefix_counts(const struct prefix_cache *cache)
{
    return cache->tiers.counts;
}

uint32_t prefix_ids(const struct prefix_cache *cache)
{
    return cache->numbers.most;
}

uint64_t prefix_load(const struct prefix_cache *cache, size_t index)
{
    return cache->holdings[index].load;
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
    const struct block_queue *saves = &cache->tiers.saves, *loads = &cache->tiers.loads;
    struct prefix_census census = {.gpu = block_pool_census(cache->tiers.gpu),
                                   .saving = saves->crossing,
                                   .pins = cache->options.pins,
                                   .loading = loads->on_host,
                                   .held_on_gpu = saves->on_gpu + loads->on_gpu,
                                   .held_on_host = saves->on_host + loads->on_host};
    if (cache->tiers.host != NULL) {
        census.host = host_tier_census(cache->tiers.host);
        census.held_on_host += cache->options.host_policy == NULL ? census.host.known : 0;
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
    return cache->tiers.host == NULL || host_tier_check(cache->tiers.host, why);
}

/* ---- a request begins ----------------------------------------------------------------- */

static uint64_t blocks_of(const struct prefix_cache *cache, uint64_t tokens)
{
    return (tokens + cache->options.block_tokens - 1) / cache->options.block_tokens;
}

/* The load for which a request's first blocks wait: its own if it loads any, because that is the
 * last in the queue; else the latest among the blocks found. */
static uint64_t begin_load(struct prefix_cache *cache, const struct prefix_found *found,
                           bool loads_some)
{
    cache->tiers.counts.loads += loads_some;
    return loads_some ? cache->tiers.counts.loads : found->load;
}

/* Offer the host the blocks [first, end) that have just filled, and earlier ones whose unit is
 * whole only now. */
static void save_filled(struct prefix_cache *cache, size_t index, uint64_t first, uint64_t end)
{
    uint32_t unit = cache->options.unit_blocks;
    if (cache->tiers.host == NULL || cache->options.write != PREFIX_WRITE_FILL) {
        return;
    }
    for (uint64_t block = first / unit * unit; block < end / unit * unit; block++) {
        prefix_tiers_offer(&cache->tiers, prefix_id(cache, index, block));
    }
}

/* Number the blocks of a request that begins. */
static bool number_blocks(struct prefix_cache *cache, size_t index)
{
    bool ok = block_numbers_give(&cache->numbers, index);
    cache->tiers.failed = cache->tiers.failed || !ok;
    return ok;
}

/* The blocks found, now referred to and taken, are on the GPU; `load` brings those that were not. */
static void bring_found(struct prefix_cache *cache, size_t index, const struct prefix_found *found,
                        uint64_t load)
{
    struct prefix_tiers *tiers = &cache->tiers;
    for (uint64_t block = 0; block < found->blocks && tiers->host != NULL; block++) {
        uint32_t id = prefix_id(cache, index, block);
        if (!block_pool_knows(tiers->gpu, id)) {
            prefix_tiers_name(tiers, id, load);
        }
        prefix_tiers_count(tiers, id);
    }
    if (tiers->asked != NULL) { /* some blocks may now have been held often enough */
        save_filled(cache, index, 0, found->blocks);
    }
    tiers->counts.loaded += found->blocks - found->on_gpu;
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
    struct prefix_found found = prefix_found_in_both(tiers, index, most);
    uint64_t have = found.blocks * block_tokens;
    uint64_t blocks = blocks_of(cache, tokens - have < chunk ? tokens : have + chunk);
    if (block_pool_room(tiers->gpu) - found.idle < all - found.on_gpu) {
        uint64_t need = all - prefix_found_used(tiers, index, most);
        prefix_refusal_note(&cache->refusal, tiers->gpu, index, tokens, need);
        return false;
    }
    prefix_found_refer(tiers, index, &found);
    block_pool_take(tiers->gpu, blocks - found.on_gpu);
    uint64_t load = begin_load(cache, &found, found.blocks > found.on_gpu);
    bring_found(cache, index, &found, load);
    cache->holdings[index] = (struct holding){found.blocks, blocks, load};
    match->gpu_tokens = (uint32_t)(found.on_gpu * block_tokens);
    match->host_tokens = (uint32_t)have - match->gpu_tokens;
    match->compute_tokens = (uint32_t)(tokens - have);
    return true;
}

/* ---- and goes on ---------------------------------------------------------------------- */

void prefix_fill(struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    struct holding *holding = &cache->holdings[index];
    uint64_t first = holding->full, full = tokens / cache->options.block_tokens;
    uint64_t numbered = block_numbers_count(&cache->numbers, index, full);
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
    if (full > first) {
        save_filled(cache, index, first, full);
    }
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
    uint64_t numbered = block_numbers_count(&cache->numbers, index, full);
    for (uint64_t block = found; block < numbered; block++) {
        prefix_tiers_name(&cache->tiers, prefix_id(cache, index, block), load);
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
    struct prefix_found found = prefix_found_on_gpu(&cache->tiers, index, full);
    if (block_pool_room(gpu) - found.idle < blocks_of(cache, tokens) - found.blocks) {
        return false;
    }
    prefix_cache_refer_to(cache, index, found.blocks,
                          block_numbers_count(&cache->numbers, index, full));
    block_pool_take(gpu, blocks - found.blocks);
    *missing = kept - found.blocks * block_tokens;
    uint64_t load = begin_load(cache, &found, *missing > 0);
    bring_kept(cache, index, found.blocks, full, load);
    cache->holdings[index] = (struct holding){full, blocks, load};
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

/* The request holds the block no more. `saves`: it is offered to the host. Behind the first block
 * since `before` that the host took, those that it has already wait for their turn, too. */
static void end_block(struct prefix_cache *cache, uint32_t id, bool saves, uint64_t before)
{
    struct prefix_tiers *tiers = &cache->tiers;
    uint64_t saved = tiers->counts.saved;
    if (saves) {
        prefix_tiers_offer(tiers, id);
    }
    if (cache->options.saves_wait && saved > before && tiers->counts.saved == saved) {
        prefix_tiers_wait(tiers, id);
    }
    if (cache->options.gpu_keeps) {
        block_pool_release(tiers->gpu, id);
    }
}

void prefix_end(struct prefix_cache *cache, size_t index, bool done)
{
    const struct prefix_options *options = &cache->options;
    struct holding *holding = &cache->holdings[index];
    struct prefix_tiers *tiers = &cache->tiers;
    bool saves = done && tiers->host != NULL && options->write == PREFIX_WRITE_FINISH;
    uint64_t whole = holding->full / options->unit_blocks * options->unit_blocks;
    uint64_t before = tiers->counts.saved;
    uint64_t numbered = block_numbers_count(&cache->numbers, index, holding->full);
    if (numbered < holding->full) {
        block_pool_run_release(tiers->gpu, (uint32_t)index);
    }
    for (uint64_t block = numbered; block-- > 0;) {
        end_block(cache, prefix_id(cache, index, block), saves && block < whole, before);
    }
    block_pool_give_back(tiers->gpu, holding->blocks - (options->gpu_keeps ? holding->full : 0));
    if (done) {
        prefix_tiers_leave(tiers, index);
    }
    *holding = (struct holding){.full = 0};
}
