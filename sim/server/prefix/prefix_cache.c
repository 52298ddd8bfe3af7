/* A request's life in the cache: it begins with the blocks that it finds, fills and takes more, and ends.
 * Blocks have numbers (block_numbers.h) and lie in tiers (prefix_tiers.h). */
#include "server/prefix/prefix_cache.h"

#include "server/prefix/prefix_tiers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The blocks of a request on the GPU: the first ones are full, the others taken. If the GPU retains
 * blocks, full ones are known to the pool and have a reference; else they are taken, too. */
struct holding {
    uint64_t full, blocks; /* full ones, and all */
    uint64_t offered;      /* full ones when tier 1 was last offered some as they filled */
    uint64_t load[PREFIX_MOST_TIERS]; /* number of the last load from each tier that brings some of
                                         them; 0: none */
};

/* The last request that found no room, so that a server can ask again at every step for nothing. Room
 * lacks as long as room < need - (first uses of blocks since then): a first use of one of the prompt's
 * blocks by somebody else is all that makes the need smaller, by that block. */
struct prefix_refusal {
    size_t index;
    uint64_t tokens; /* of the request; 0: none was refused */
    uint64_t need;   /* blocks, less those of the whole prompt that somebody used */
    uint64_t first_uses;
};

struct prefix_cache {
    struct prefix_options options;
    struct block_numbers own;      /* used without a pool */
    struct block_numbers *numbers; /* these, or the pool's */
    struct prefix_tiers tiers;     /* points to those above */
    struct holding *holdings;      /* by request, owned */
    struct prefix_refusal refusal;
};

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
    cache->holdings = array_sparse(requests->count, sizeof *cache->holdings, why);
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
    array_sparse_free(cache->holdings);
    free(cache);
}

void prefix_past(struct prefix_cache *cache)
{
    cache->tiers.past = true;
}

void prefix_now(struct prefix_cache *cache)
{
    struct prefix_tiers *tiers = &cache->tiers;
    tiers->past = false;
    tiers->saves = 0;
    for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
        tiers->lower[k].counts = (struct prefix_counts){.saved = 0};
    }
    if (tiers->brought_by != NULL) { /* all loads have ended, and are numbered anew */
        memset(tiers->brought_by, 0, cache->numbers->next * sizeof *tiers->brought_by);
    }
}

/* ---- what it holds -------------------------------------------------------------------- */

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

uint64_t prefix_cache_longest(const struct prefix_cache *cache)
{
    return prefix_longest(&cache->options);
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

/* ---- what a request finds --------------------------------------------------------------- */

/* A request's first blocks that a tier has, up to the first block that none has. */
struct prefix_found {
    uint64_t blocks;
    uint64_t in[PREFIX_MOST_TIERS];   /* of these, by their nearest tier */
    uint64_t idle;                    /* blocks on the GPU without references so far */
    uint64_t load[PREFIX_MOST_TIERS]; /* the latest load from each tier that brings, or brought, one
                                         of them; 0: none */
};

/* Count the next `count` blocks: of a piece that tier `in` has. */
static void found_add(const struct prefix_tiers *tiers, uint32_t id, uint32_t in, uint64_t count,
                      struct prefix_found *found)
{
    found->blocks += count;
    found->in[in] += count;
    found->idle += in == 0 && block_pool_is_idle(tiers->gpu, id) ? count : 0;
    if (in == 0 && tiers->brought_by != NULL) {
        uint64_t load = tiers->brought_by[id], number = load / PREFIX_MOST_TIERS;
        uint64_t *last = &found->load[load % PREFIX_MOST_TIERS];
        *last = number > *last ? number : *last;
    }
}

/* The time that loading the found blocks saves, over computing them. */
static double saved_ns(const struct prefix_options *options, const struct prefix_found *found)
{
    double ns = options->compute_ns[found->blocks];
    for (uint32_t k = 1; k <= options->lower_count; k++) {
        ns -= (double)found->in[k] * options->load_ns[k];
        ns -= found->in[k] > 0 ? options->first_ns[k] : 0;
    }
    return ns;
}

/* Of a request's first blocks, with these pieces: in all tiers, below HBM in whole units. */
static struct prefix_found prefix_found_in_all(const struct prefix_tiers *tiers,
                                               const struct piece_span *spans, size_t count)
{
    const struct prefix_options *options = tiers->options;
    uint64_t unit = options->unit_blocks;
    struct prefix_found found = {.blocks = 0};
    size_t i = 0;
    for (; i < count && block_pool_knows(tiers->gpu, spans[i].first); i++) {
        found_add(tiers, spans[i].first, 0, spans[i].count, &found);
    }
    struct prefix_found whole = found; /* up to the last whole unit */
    struct prefix_found upper = found; /* the same, with nothing from below tier 1 */
    for (; i < count; i++) {
        uint32_t id = spans[i].first;
        bool known = block_pool_knows(tiers->gpu, id);
        uint32_t below = known ? 0 : prefix_tiers_find(tiers, id);
        if (!known && below == 0) {
            break;
        }
        uint64_t last = (found.blocks + spans[i].count) / unit * unit;
        uint64_t end = options->cheaper ? (found.blocks / unit + 1) * unit : last;
        for (; end > found.blocks && end <= last; end += unit) {
            struct prefix_found longer = found;
            found_add(tiers, id, below, end - found.blocks, &longer);
            bool worth =
                !options->cheaper || saved_ns(options, &longer) >= saved_ns(options, &whole);
            whole = worth ? longer : whole;
            upper = whole.in[0] + whole.in[1] == whole.blocks ? whole : upper;
        }
        found_add(tiers, id, below, spans[i].count, &found);
    }
    uint64_t below = whole.blocks - whole.in[0] - whole.in[1];
    return below > 0 && below < options->least_blocks ? upper : whole;
}

/* How many of these blocks somebody uses on the GPU. */
static uint64_t prefix_found_used(const struct prefix_tiers *tiers, const struct piece_span *spans,
                                  size_t count)
{
    uint64_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = spans[i].first;
        bool is_used = block_pool_knows(tiers->gpu, id) && !block_pool_is_idle(tiers->gpu, id);
        used += is_used ? spans[i].count : 0;
    }
    return used;
}

/* Refer to the blocks on the GPU, before room for the rest is made, and use those below it, the first block
 * last. Lower tiers keep whole units: a part of one counts as used on the GPU only. */
static void prefix_found_refer(struct prefix_tiers *tiers, size_t index,
                               const struct prefix_found *found)
{
    uint64_t unit = tiers->options->unit_blocks, whole = found->blocks / unit * unit;
    size_t count;
    const struct piece_span *spans =
        block_numbers_list(tiers->numbers, index, whole, found->blocks, &count);
    while (count-- > 0) {
        prefix_tiers_use(tiers, spans[count].first);
    }
    spans = block_numbers_list(tiers->numbers, index, 0, whole, &count);
    for (size_t i = count; i-- > 0;) {
        prefix_tiers_use(tiers, spans[i].first);
        prefix_tiers_touch(tiers, spans[i].first);
    }
    spans = block_numbers_list(tiers->numbers, index, 0, found->blocks, &count);
    for (size_t i = tiers->count > 2 ? count : 0; i-- > 0;) {
        if (!block_pool_knows(tiers->gpu, spans[i].first)) {
            prefix_tiers_pass(tiers, spans[i]);
        }
    }
}

/* ---- a request begins ----------------------------------------------------------------- */

static uint64_t blocks_of(const struct prefix_cache *cache, uint64_t tokens)
{
    return (tokens + cache->options.block_tokens - 1) / cache->options.block_tokens;
}

/* The loads for which a request's first blocks wait. From a tier that gives it some, its own,
 * because that is the last in the queue; else the latest among the blocks found. */
static void begin_loads(struct prefix_cache *cache, const struct prefix_found *found,
                        struct holding *holding)
{
    for (uint32_t k = 1; k < PREFIX_MOST_TIERS; k++) {
        struct prefix_counts *counts = &cache->tiers.lower[k].counts;
        counts->loads += found->in[k] > 0;
        holding->load[k] = found->in[k] > 0 ? counts->loads : found->load[k];
    }
}

/* Is tier 1 offered blocks at this time? */
static bool offers(const struct prefix_cache *cache, enum prefix_write write)
{
    return cache->tiers.count > 1 && cache->options.lower[0].write == write;
}

/* Of a request's first `full` blocks, those that tier 1 is offered: whole units. */
static uint64_t saved_blocks(const struct prefix_cache *cache, size_t index, uint64_t full)
{
    const struct prefix_options *options = &cache->options;
    uint64_t prompt = cache->numbers->of.requests->all[index].prompt / options->block_tokens;
    uint64_t saved = options->prompts_only && prompt < full ? prompt : full;
    return saved / options->unit_blocks * options->unit_blocks;
}

/* Offer tier 1 what it was not offered yet: blocks that have just filled, earlier ones whose unit is whole
 * only now and, at first, those that the request found. */
static void save_filled(struct prefix_cache *cache, size_t index)
{
    struct holding *holding = &cache->holdings[index];
    if (holding->full == holding->offered || !offers(cache, PREFIX_WRITE_FILL)) {
        return;
    }
    size_t count;
    uint64_t from = saved_blocks(cache, index, holding->offered);
    uint64_t to = saved_blocks(cache, index, holding->full);
    const struct piece_span *spans = block_numbers_list(cache->numbers, index, from, to, &count);
    for (size_t i = 0; i < count; i++) {
        prefix_tiers_offer(&cache->tiers, 1, spans[i], false);
    }
    holding->offered = holding->full;
}

/* The blocks found, now referred to and taken, are on the GPU; loads bring those that were not. */
static void bring_found(struct prefix_cache *cache, size_t index, const struct prefix_found *found,
                        const struct holding *holding)
{
    struct prefix_tiers *tiers = &cache->tiers;
    uint64_t blocks = tiers->count > 1 ? found->blocks : 0;
    size_t count;
    const struct piece_span *spans = block_numbers_list(cache->numbers, index, 0, blocks, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = spans[i].first;
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

bool prefix_begin(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t chunk,
                  struct prefix_match *match)
{
    struct prefix_tiers *tiers = &cache->tiers;
    uint32_t block_tokens = cache->options.block_tokens;
    uint64_t all = blocks_of(cache, tokens), most = (tokens - 1) / block_tokens;
    const struct prefix_refusal *refusal = &cache->refusal;
    uint64_t since = tiers->gpu->first_uses - refusal->first_uses;
    bool again = refusal->tokens == tokens && refusal->index == index;
    if (again && block_pool_room(tiers->gpu) + since < refusal->need) {
        return false;
    }
    block_numbers_give(cache->numbers, index);
    size_t count;
    const struct piece_span *spans = block_numbers_list(cache->numbers, index, 0, most, &count);
    struct prefix_found found = prefix_found_in_all(tiers, spans, count);
    uint64_t have = found.blocks * block_tokens;
    uint64_t blocks = blocks_of(cache, tokens - have < chunk ? tokens : have + chunk);
    if (block_pool_room(tiers->gpu) - found.idle < all - found.in[0]) {
        uint64_t need = all - prefix_found_used(tiers, spans, count);
        uint64_t first_uses = tiers->gpu->first_uses;
        cache->refusal = (struct prefix_refusal){index, tokens, need, first_uses};
        return false;
    }
    prefix_found_refer(tiers, index, &found);
    block_pool_take(tiers->gpu, blocks - found.in[0]);
    struct holding *holding = &cache->holdings[index];
    *holding = (struct holding){.full = found.blocks, .blocks = blocks};
    block_numbers_use(cache->numbers, index, 1);
    begin_loads(cache, &found, holding);
    bring_found(cache, index, &found, holding);
    for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
        match->found[k] = (uint32_t)(found.in[k] * block_tokens);
    }
    match->compute_tokens = (uint32_t)(tokens - have);
    return true;
}

/* ---- and goes on ---------------------------------------------------------------------- */

/* The request's blocks up to `full` have filled. */
static void fill_blocks(struct prefix_cache *cache, size_t index, uint64_t full)
{
    struct holding *holding = &cache->holdings[index];
    uint64_t more = full - holding->full;
    uint32_t id, rest;
    if (block_numbers_between(cache->numbers, index, holding->full, more, &id, &rest) &&
        prefix_tiers_grow(&cache->tiers, id, rest, (uint32_t)more)) {
        holding->full = full;
        return;
    }
    size_t count;
    const struct piece_span *spans =
        block_numbers_list(cache->numbers, index, holding->full, full, &count);
    for (size_t i = 0; i < count; i++) {
        prefix_tiers_name(&cache->tiers, spans[i].first, 0);
        prefix_tiers_count(&cache->tiers, spans[i].first);
        holding->full += spans[i].count;
    }
    block_numbers_join(cache->numbers, index);
}

void prefix_fill(struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    struct holding *holding = &cache->holdings[index];
    assert(tokens <= holding->blocks * cache->options.block_tokens);
    if (tokens >= (holding->full + 1) * cache->options.block_tokens) { /* asked for each token */
        fill_blocks(cache, index, tokens / cache->options.block_tokens);
    }
    save_filled(cache, index);
}

bool prefix_grow(struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    struct holding *holding = &cache->holdings[index];
    if (tokens <= holding->blocks * cache->options.block_tokens) { /* asked for each token */
        return true;
    }
    uint64_t more = blocks_of(cache, tokens) - holding->blocks;
    if (more > block_pool_room(cache->tiers.gpu)) {
        return false;
    }
    block_pool_take(cache->tiers.gpu, more);
    holding->blocks += more;
    return true;
}

uint64_t prefix_quiet_tokens(const struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    const struct holding *holding = &cache->holdings[index];
    uint64_t block = cache->options.block_tokens;
    uint64_t room = holding->blocks * block, fills = (holding->full + 1) * block - 1;
    return (room < fills ? room : fills) - tokens;
}

void prefix_end(struct prefix_cache *cache, size_t index, bool done)
{
    const struct prefix_options *options = &cache->options;
    struct holding *holding = &cache->holdings[index];
    struct prefix_tiers *tiers = &cache->tiers;
    bool saves = done && offers(cache, PREFIX_WRITE_FINISH);
    uint64_t whole = saved_blocks(cache, index, holding->full);
    uint64_t before = tiers->lower[1].counts.saved;
    size_t count;
    /* Blocks that were offered as they filled count as used once more, so that the beginning of a
     * request was used last, however much of it was found. */
    const struct piece_span *spans = block_numbers_list(cache->numbers, index, 0, whole, &count);
    for (size_t i = count; offers(cache, PREFIX_WRITE_FILL) && i-- > 0;) {
        prefix_tiers_touch(tiers, spans[i].first);
    }
    spans = block_numbers_list(cache->numbers, index, whole, holding->full, &count);
    while (count-- > 0) {
        prefix_tiers_end(tiers, spans[count], false, before);
    }
    spans = block_numbers_list(cache->numbers, index, 0, whole, &count);
    while (count-- > 0) {
        prefix_tiers_end(tiers, spans[count], saves, before);
    }
    block_pool_give_back(tiers->gpu, holding->blocks - (options->gpu_keeps ? holding->full : 0));
    block_numbers_use(cache->numbers, index, -1);
    if (done) {
        block_numbers_leave(cache->numbers, index);
    }
    *holding = (struct holding){.full = 0};
}
