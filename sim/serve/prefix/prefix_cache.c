/* Numbers of blocks: those of a chunk are in a row. Other blocks only one request can have: the
 * block in which its prompt ends, those of its output, and all blocks of a prompt without hashes. A
 * chunk and a request get their numbers when a request first begins with them, so that a cache that
 * serves some of many requests uses few numbers, and touches little memory.
 *
 * Once a request has ended, nobody finds its own blocks again, but both tiers keep them until they
 * evict them. Their numbers are then spare, if numbers are recycled, so that there are never many
 * more in use than the tiers have blocks. With one tier they get none: they are a run of the pool.
 */
#include "serve/prefix/prefix_cache.h"

#include "base/array.h"
#include "serve/prefix/block_pool.h"
#include "serve/prefix/block_queue.h"
#include "serve/prefix/host_tier.h"

#include <assert.h>
#include <stdlib.h>

/* The blocks of a request on the GPU: the first ones are full, the others taken. If the GPU retains
 * blocks, full ones are known to the pool and have a reference; else they are taken, too. */
struct holding {
    uint64_t full, blocks; /* full ones, and all */
    uint64_t load;         /* number of the last load that brings some of them; 0: none */
};

/* The last request that found no room, so that a server can ask again at every step for nothing.
 * Room lacks as long as room < need - (first uses of blocks since then): a first use of one of the
 * prompt's blocks by somebody else is all that makes the need smaller, by that block. */
struct refusal {
    size_t index;
    uint64_t tokens; /* of the request; 0: none was refused */
    uint64_t need;   /* blocks, less those of the whole prompt that somebody used */
    uint64_t first_uses;
};

/* The last load that brought some of a request's own blocks, from that block on. Earlier loads have
 * ended: a request is not preempted before. */
struct own_load {
    uint64_t number, first;
};

struct prefix_cache {
    struct prefix_options options;
    const struct requests *requests;
    uint32_t ids;           /* numbers of blocks */
    uint32_t **own;         /* by request: the numbers of the blocks that are its alone, owned;
                                 NULL: none yet, or not any more */
    uint32_t *first_shared; /* by chunk: the number of its first block, and 1; 0: none yet */
    uint32_t next;          /* the next number */
    uint32_t *spare;        /* [spare_count] numbers to give before it, owned */
    size_t spare_count, spare_capacity;
    bool *orphan;                  /* by number: its request has ended; NULL: not recycled */
    struct own_load *loads_of_own; /* by request; NULL: own blocks have numbers, they are no runs */
    struct holding *holdings;      /* by request */
    struct refusal refusal;
    struct block_pool *gpu;
    struct host_tier *host; /* NULL: one tier */
    uint8_t *asked;         /* by number: requests that held it; NULL: not counted */
    /* Saves, in order. Among them are blocks of ended requests that the host has already and that
     * do not cross: they wait in the queue, so that they do not become idle on the GPU before
     * blocks of the same request that are still being saved. */
    struct block_queue saves;
    struct block_queue loads; /* only with pins */
    uint64_t *brought_by;     /* by number of a block known to the GPU: its load, or 0; NULL if the
                                 GPU retains none */
    uint32_t *saving;         /* by number: pending saves of the block */
    bool failed;              /* memory was out */
    struct prefix_counts counts;
};

/* ---- numbers of blocks ---------------------------------------------------------------- */

/* The number of a prompt's blocks that hashes cover. */
static uint64_t shared_blocks(const struct prefix_cache *cache, const struct request *request)
{
    return request->chunks > 0 ? request->prompt / cache->options.block_tokens : 0;
}

uint32_t prefix_id(const struct prefix_cache *cache, size_t index, uint64_t block)
{
    const struct request *request = &cache->requests->all[index];
    uint64_t shared = shared_blocks(cache, request);
    if (block >= shared) {
        return cache->own[index][block - shared];
    }
    const uint32_t *chunks = request_chunks(cache->requests, request);
    uint32_t chunk_tokens = cache->requests->chunk_tokens, tokens = cache->options.block_tokens;
    if (chunk_tokens < tokens) {
        /* the last chunk of the block, which says what comes before it */
        return cache->first_shared[chunks[(block + 1) * (tokens / chunk_tokens) - 1]] - 1;
    }
    uint32_t per_chunk = chunk_tokens / tokens;
    return cache->first_shared[chunks[block / per_chunk]] - 1 + (uint32_t)(block % per_chunk);
}

/* The number of blocks that belong to the request alone. */
static uint64_t own_blocks(const struct prefix_cache *cache, const struct request *request)
{
    uint64_t tokens = (uint64_t)request->prompt + request->output;
    return tokens / cache->options.block_tokens - shared_blocks(cache, request);
}

static bool has_runs(const struct prefix_cache *cache)
{
    return cache->loads_of_own != NULL;
}

/* The number of the request's first blocks, up to `blocks`, that have numbers. */
static uint64_t numbered_blocks(const struct prefix_cache *cache, size_t index, uint64_t blocks)
{
    uint64_t shared = shared_blocks(cache, &cache->requests->all[index]);
    return has_runs(cache) && shared < blocks ? shared : blocks;
}

/* Numbers that a chunk needs: of its whole blocks, or of the block whose last chunk it is. */
static uint32_t chunk_numbers(const struct prefix_cache *cache, uint32_t chunk)
{
    uint32_t tokens = cache->options.block_tokens;
    return cache->requests->chunk_tokens < tokens ? 1
                                                  : cache->requests->kind[chunk].tokens / tokens;
}

/* Give the request numbers for its own blocks. */
static bool number_own(struct prefix_cache *cache, size_t index)
{
    uint64_t count = own_blocks(cache, &cache->requests->all[index]);
    struct error unseen;
    uint32_t *own = array_zeroed(count, sizeof *own, &unseen);
    for (uint64_t i = 0; own != NULL && i < count; i++) {
        own[i] = cache->spare_count > 0 ? cache->spare[--cache->spare_count] : cache->next++;
    }
    cache->own[index] = own;
    cache->failed = cache->failed || own == NULL;
    return own != NULL;
}

/* Number the blocks of a request that begins. */
static bool number_blocks(struct prefix_cache *cache, size_t index)
{
    const struct request *request = &cache->requests->all[index];
    const uint32_t *chunks = request_chunks(cache->requests, request);
    if (cache->own[index] != NULL) {
        return true;
    }
    for (uint32_t i = 0; i < request->chunks; i++) {
        if (cache->first_shared[chunks[i]] == 0) {
            cache->first_shared[chunks[i]] = cache->next + 1;
            cache->next += chunk_numbers(cache, chunks[i]);
        }
    }
    return has_runs(cache) || number_own(cache, index);
}

/* Let others have the number. If there is no memory to note it, they take a new one. */
static void spare_number(struct prefix_cache *cache, uint32_t id)
{
    struct error unseen;
    if (array_reserve(&cache->spare, &cache->spare_capacity, cache->spare_count + 1,
                      sizeof *cache->spare, &unseen)) {
        cache->spare[cache->spare_count++] = id;
    }
}

/* Is the block of this number nowhere, and on no way? */
static bool is_gone(const struct prefix_cache *cache, uint32_t id)
{
    return !block_pool_knows(cache->gpu, id) &&
           (cache->host == NULL || !host_tier_knows(cache->host, id)) &&
           (cache->saving == NULL || cache->saving[id] == 0);
}

/* A tier may have lost its last copy of the block. */
static void bury(struct prefix_cache *cache, uint32_t id)
{
    if (cache->orphan == NULL || !cache->orphan[id] || !is_gone(cache, id)) {
        return;
    }
    cache->orphan[id] = false;
    if (cache->asked != NULL) {
        cache->asked[id] = 0;
    }
    spare_number(cache, id);
}

/* The request has ended: its own blocks are orphans. */
static void leave_own(struct prefix_cache *cache, size_t index)
{
    uint64_t count = own_blocks(cache, &cache->requests->all[index]);
    for (uint64_t i = count; i-- > 0;) {
        cache->orphan[cache->own[index][i]] = true;
        bury(cache, cache->own[index][i]);
    }
    free(cache->own[index]);
    cache->own[index] = NULL;
}

/* The numbers that the chunks of all requests could need. */
static uint64_t all_chunk_numbers(const struct prefix_cache *cache)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < cache->requests->ids.count && all < UINT32_MAX; i++) {
        all += chunk_numbers(cache, i);
    }
    return all;
}

/* The numbers that this server's requests could need. */
static uint64_t all_numbers(const struct prefix_cache *cache)
{
    const struct prefix_options *options = &cache->options;
    uint64_t own = 0, shared = 0, all = all_chunk_numbers(cache);
    for (size_t i = 0; i < cache->requests->count && own < UINT32_MAX; i++) {
        const struct request *request = &cache->requests->all[i];
        if (options->server_of == NULL || options->server_of[i] == options->server) {
            const uint32_t *chunks = request_chunks(cache->requests, request);
            own += has_runs(cache) ? 0 : own_blocks(cache, request);
            for (uint32_t j = 0; j < request->chunks; j++) {
                shared += chunk_numbers(cache, chunks[j]);
            }
        }
    }
    return own + (shared < all ? shared : all);
}

/* Count the numbers that the requests could need. */
static bool count_numbers(struct prefix_cache *cache, struct error *why)
{
    const struct requests *requests = cache->requests;
    uint32_t tokens = cache->options.block_tokens;
    uint32_t chunk_tokens = requests->chunk_tokens;
    if (chunk_tokens > 0 && chunk_tokens % tokens != 0 && tokens % chunk_tokens != 0) {
        error_usage(why, NULL, 0, "blocks of %u tokens, and hashes of %u", tokens, chunk_tokens);
        return error_expect(why, "a number of tokens that divides %u, or is a multiple of it",
                            chunk_tokens);
    }
    if ((cache->own = array_zeroed(requests->count, sizeof *cache->own, why)) == NULL ||
        (cache->first_shared = array_zeroed(requests->ids.count, sizeof(uint32_t), why)) == NULL) {
        return false;
    }
    uint64_t next = all_numbers(cache);
    cache->ids = next > 0 ? (uint32_t)next : 1;
    return next < UINT32_MAX ||
           error_set(why, NULL, 0, "more than %u blocks of %u tokens", UINT32_MAX - 1, tokens);
}

/* ---- life of a cache ------------------------------------------------------------------ */

/* Does the host have the block, and has its copy arrived? */
static bool host_has(const struct prefix_cache *cache, uint32_t id)
{
    return cache->host != NULL && host_tier_knows(cache->host, id) &&
           (!cache->options.saves_wait || cache->saving[id] == 0);
}

/* Queue a copy, which refers to its block until it is done. */
static void begin_copy(struct prefix_cache *cache, struct block_queue *queue,
                       struct block_copy copy)
{
    struct error unseen;
    if (!block_queue_push(queue, copy, &unseen)) {
        cache->failed = true;
        return;
    }
    if (copy.on_gpu) {
        block_pool_refer(cache->gpu, copy.id);
    }
    if (copy.on_host) {
        host_tier_hold(cache->host, copy.id);
    }
}

static void end_copy(struct prefix_cache *cache, struct block_queue *queue)
{
    const struct block_copy copy = *block_queue_front(queue);
    block_queue_pop(queue);
    if (copy.on_gpu) {
        block_pool_release(cache->gpu, copy.id);
    }
    if (copy.on_host) {
        host_tier_let_go(cache->host, copy.id);
    }
}

static void begin_save(struct prefix_cache *cache, uint32_t id, bool crosses)
{
    begin_copy(cache, &cache->saves,
               (struct block_copy){.id = id,
                                   .crosses = crosses,
                                   .on_gpu = block_pool_knows(cache->gpu, id),
                                   .on_host = crosses && cache->options.pins});
    cache->saving[id] += crosses;
}

void prefix_saved(struct prefix_cache *cache, uint64_t count)
{
    const struct block_copy *save;
    while ((save = block_queue_front(&cache->saves)) != NULL && (count > 0 || !save->crosses)) {
        uint32_t id = save->id;
        count -= save->crosses;
        cache->saving[id] -= save->crosses;
        end_copy(cache, &cache->saves);
        bury(cache, id);
    }
    assert(count == 0 || cache->failed);
}

void prefix_loaded(struct prefix_cache *cache, uint64_t count)
{
    for (; count > 0 && block_queue_front(&cache->loads) != NULL; count--) {
        end_copy(cache, &cache->loads);
    }
}

/* Touch a block that the host has, or offer it one that it lacks. */
static void offer(struct prefix_cache *cache, uint32_t id)
{
    bool asked = cache->asked == NULL || cache->asked[id] >= cache->options.least_asked;
    if (!asked || !host_tier_offer(cache->host, id)) {
        return;
    }
    cache->counts.saved++;
    if (cache->options.saves_wait) {
        begin_save(cache, id, true);
    }
}

static void on_evict(uint32_t id, void *context)
{
    struct prefix_cache *cache = context;
    if (cache->host != NULL && cache->options.write == PREFIX_WRITE_EVICT) {
        uint64_t before = cache->counts.saved;
        offer(cache, id);
        cache->counts.evicted += cache->counts.saved - before;
    }
    bury(cache, id);
}

static void on_host_evict(uint32_t id, void *context)
{
    bury(context, id);
}

/* A run needs what recycling does, that nobody asks for the numbers of ended requests, and no host
 * that looks at its blocks one by one. */
static bool create_runs(struct prefix_cache *cache, struct error *why)
{
    const struct prefix_options *options = &cache->options;
    if (!options->recycles || !options->gpu_keeps || options->has_host) {
        return true;
    }
    cache->loads_of_own = array_zeroed(cache->requests->count, sizeof *cache->loads_of_own, why);
    return cache->loads_of_own != NULL;
}

static bool create_tiers(struct prefix_cache *cache, struct error *why)
{
    const struct prefix_options *options = &cache->options;
    if (options->gpu_keeps &&
        (cache->brought_by = array_zeroed(cache->ids, sizeof *cache->brought_by, why)) == NULL) {
        return false;
    }
    bool forgets = !options->has_host || host_tier_forgets(options->host_policy);
    if (options->recycles && forgets && !has_runs(cache) &&
        (cache->orphan = array_zeroed(cache->ids, sizeof *cache->orphan, why)) == NULL) {
        return false;
    }
    uint32_t runs = has_runs(cache) ? (uint32_t)cache->requests->count : 0;
    cache->gpu = block_pool_create(cache->ids, runs, options->gpu_blocks, on_evict, cache, why);
    if (cache->gpu == NULL || !options->has_host) {
        return cache->gpu != NULL;
    }
    if (options->saves_wait &&
        (cache->saving = array_zeroed(cache->ids, sizeof(uint32_t), why)) == NULL) {
        return false;
    }
    if (options->least_asked > 1 &&
        (cache->asked = array_zeroed(cache->ids, sizeof *cache->asked, why)) == NULL) {
        return false;
    }
    cache->host = host_tier_create(cache->ids, options->host_blocks, options->host_policy,
                                   options->host_values, options->pins, options->seed,
                                   on_host_evict, cache, why);
    return cache->host != NULL;
}

struct prefix_cache *prefix_cache_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why)
{
    struct prefix_cache *cache = array_zeroed(1, sizeof *cache, why);
    if (cache == NULL) {
        return NULL;
    }
    cache->options = *options;
    cache->options.unit_blocks = options->unit_blocks > 0 ? options->unit_blocks : 1;
    cache->requests = requests;
    cache->holdings = array_zeroed(requests->count, sizeof *cache->holdings, why);
    if (cache->holdings == NULL || !create_runs(cache, why) || !count_numbers(cache, why) ||
        !create_tiers(cache, why)) {
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
    block_pool_destroy(cache->gpu);
    host_tier_destroy(cache->host);
    for (size_t i = 0; cache->own != NULL && i < cache->requests->count; i++) {
        free(cache->own[i]);
    }
    free(cache->own);
    free(cache->first_shared);
    free(cache->spare);
    free(cache->orphan);
    free(cache->loads_of_own);
    free(cache->holdings);
    free(cache->asked);
    free(cache->saving);
    free(cache->brought_by);
    block_queue_release(&cache->saves);
    block_queue_release(&cache->loads);
    free(cache);
}

struct prefix_counts prefix_counts(const struct prefix_cache *cache)
{
    return cache->counts;
}

uint32_t prefix_ids(const struct prefix_cache *cache)
{
    return cache->ids;
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
    const struct block_queue *saves = &cache->saves, *loads = &cache->loads;
    struct prefix_census census = {.gpu = block_pool_census(cache->gpu),
                                   .saving = saves->crossing,
                                   .pins = cache->options.pins,
                                   .loading = loads->on_host,
                                   .held_on_gpu = saves->on_gpu + loads->on_gpu,
                                   .held_on_host = saves->on_host + loads->on_host};
    if (cache->host != NULL) {
        census.host = host_tier_census(cache->host);
        census.held_on_host += cache->options.host_policy == NULL ? census.host.known : 0;
    }
    return census;
}

uint64_t prefix_room(const struct prefix_cache *cache)
{
    return block_pool_room(cache->gpu);
}

uint32_t prefix_block_tokens(const struct prefix_cache *cache)
{
    return cache->options.block_tokens;
}

bool prefix_check(const struct prefix_cache *cache, struct error *why)
{
    if (cache->failed) {
        return error_set(why, NULL, 0, "out of memory");
    }
    return cache->host == NULL || host_tier_check(cache->host, why);
}

/* ---- a request begins ----------------------------------------------------------------- */

static uint64_t blocks_of(const struct prefix_cache *cache, uint64_t tokens)
{
    return (tokens + cache->options.block_tokens - 1) / cache->options.block_tokens;
}

/* A request's first blocks that a tier has, up to the first block that neither has. */
struct found {
    uint64_t blocks, on_gpu;
    uint64_t idle; /* blocks on the GPU without references so far */
    uint64_t load; /* the latest load that brings, or brought, one of them; 0: none */
};

/* Count the next block, which the GPU has. */
static void find_on_gpu(const struct prefix_cache *cache, uint32_t id, struct found *found)
{
    uint64_t load = cache->options.gpu_keeps ? cache->brought_by[id] : 0;
    found->on_gpu++;
    found->idle += block_pool_is_idle(cache->gpu, id);
    found->load = load > found->load ? load : found->load;
}

/* Add the request's own blocks on the GPU, up to `most` blocks, if all in front of them are there. */
static void find_run(const struct prefix_cache *cache, size_t index, uint64_t most,
                     struct found *found)
{
    uint64_t shared = numbered_blocks(cache, index, most);
    if (found->on_gpu < shared || shared == most) {
        return;
    }
    const struct own_load *load = &cache->loads_of_own[index];
    uint64_t known = block_pool_run_known(cache->gpu, (uint32_t)index);
    known = known < most - shared ? known : most - shared;
    found->blocks += known;
    found->on_gpu += known;
    found->idle += known;
    if (known > load->first && load->number > found->load) {
        found->load = load->number;
    }
}

static struct found find_prefix(const struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    uint64_t most = (tokens - 1) / cache->options.block_tokens;
    uint64_t numbered = numbered_blocks(cache, index, most);
    struct found found = {.blocks = 0}, whole = found; /* whole: up to the last whole unit */
    for (; found.blocks < numbered; found.blocks++) {
        uint32_t id = prefix_id(cache, index, found.blocks);
        bool on_gpu = block_pool_knows(cache->gpu, id);
        if (on_gpu) {
            find_on_gpu(cache, id, &found);
        } else if (!host_has(cache, id)) {
            break;
        }
        bool ends_unit = (found.blocks + 1) % cache->options.unit_blocks == 0;
        if (ends_unit || found.on_gpu == found.blocks + 1) {
            whole = found;
            whole.blocks++;
        }
    }
    find_run(cache, index, most, &whole);
    return whole;
}

/* Refer to those of the first `blocks` that have no numbers. */
static void refer_to_run(struct prefix_cache *cache, size_t index, uint64_t blocks,
                         uint64_t numbered)
{
    if (blocks > numbered) {
        block_pool_run_refer(cache->gpu, (uint32_t)index, blocks - numbered);
    }
}

/* Refer to the blocks on the GPU, before room for the rest is made, and touch those on the host,
 * the first block last. */
static void refer_to(struct prefix_cache *cache, size_t index, struct found found)
{
    uint64_t numbered = numbered_blocks(cache, index, found.blocks);
    refer_to_run(cache, index, found.blocks, numbered);
    for (uint64_t block = numbered; block-- > 0;) {
        uint32_t id = prefix_id(cache, index, block);
        if (block_pool_knows(cache->gpu, id)) {
            block_pool_refer(cache->gpu, id);
        } else if (cache->options.pins) {
            begin_copy(cache, &cache->loads, (struct block_copy){.id = id, .on_host = true});
        }
        if (host_has(cache, id)) {
            offer(cache, id);
        }
    }
}

/* Count one more request that held the full block. */
static void count_asked(struct prefix_cache *cache, uint32_t id)
{
    if (cache->asked != NULL && cache->asked[id] < UINT8_MAX) {
        cache->asked[id]++;
    }
}

/* Make a taken block known, if the GPU retains blocks. `load` brings its KV; 0: the KV is there. */
static void name_block(struct prefix_cache *cache, uint32_t id, uint64_t load)
{
    if (!cache->options.gpu_keeps) {
        return;
    }
    if (!block_pool_knows(cache->gpu, id)) {
        cache->brought_by[id] = load;
    }
    block_pool_name(cache->gpu, id);
}

/* The load for which a request's first blocks wait: its own if it loads any, because that is the
 * last in the queue; else the latest among the blocks found. */
static uint64_t begin_load(struct prefix_cache *cache, const struct found *found, bool loads_some)
{
    cache->counts.loads += loads_some;
    return loads_some ? cache->counts.loads : found->load;
}

/* Offer the host the blocks [first, end) that have just filled, and earlier ones whose unit is
 * whole only now. */
static void save_filled(struct prefix_cache *cache, size_t index, uint64_t first, uint64_t end)
{
    uint32_t unit = cache->options.unit_blocks;
    if (cache->host == NULL || cache->options.write != PREFIX_WRITE_FILL) {
        return;
    }
    for (uint64_t block = first / unit * unit; block < end / unit * unit; block++) {
        offer(cache, prefix_id(cache, index, block));
    }
}

/* Remember that the request found no room. */
static void refuse(struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    uint64_t blocks = blocks_of(cache, tokens), used = 0;
    uint64_t most = (tokens - 1) / cache->options.block_tokens;
    uint64_t numbered = numbered_blocks(cache, index, most); /* nobody else uses the others */
    for (uint64_t block = 0; block < numbered; block++) {
        uint32_t id = prefix_id(cache, index, block);
        used += block_pool_knows(cache->gpu, id) && !block_pool_is_idle(cache->gpu, id);
    }
    cache->refusal =
        (struct refusal){index, tokens, blocks - used, block_pool_first_uses(cache->gpu)};
}

/* Would the request find no room now either? False if that is not known without looking. */
static bool is_refused(const struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    const struct refusal *last = &cache->refusal;
    uint64_t since = block_pool_first_uses(cache->gpu) - last->first_uses;
    return last->tokens == tokens && last->index == index &&
           block_pool_room(cache->gpu) + since < last->need;
}

bool prefix_begin(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t chunk,
                  struct prefix_match *match)
{
    if (is_refused(cache, index, tokens)) {
        return false;
    }
    if (!number_blocks(cache, index)) {
        return false;
    }
    struct found found = find_prefix(cache, index, tokens);
    uint64_t have = found.blocks * cache->options.block_tokens;
    uint64_t blocks = blocks_of(cache, tokens - have < chunk ? tokens : have + chunk);
    if (block_pool_room(cache->gpu) - found.idle < blocks_of(cache, tokens) - found.on_gpu) {
        refuse(cache, index, tokens);
        return false;
    }
    refer_to(cache, index, found);
    block_pool_take(cache->gpu, blocks - found.on_gpu);
    uint64_t load = begin_load(cache, &found, found.blocks > found.on_gpu);
    for (uint64_t block = 0; block < found.blocks && cache->host != NULL; block++) {
        uint32_t id = prefix_id(cache, index, block);
        if (!block_pool_knows(cache->gpu, id)) {
            name_block(cache, id, load);
        }
        count_asked(cache, id);
    }
    if (cache->asked != NULL) { /* some blocks may now have been held often enough */
        save_filled(cache, index, 0, found.blocks);
    }
    cache->counts.loaded += found.blocks - found.on_gpu;
    cache->holdings[index] = (struct holding){found.blocks, blocks, load};
    match->gpu_tokens = (uint32_t)(found.on_gpu * cache->options.block_tokens);
    match->host_tokens = (uint32_t)have - match->gpu_tokens;
    match->compute_tokens = (uint32_t)(tokens - have);
    return true;
}

/* ---- and goes on ---------------------------------------------------------------------- */

void prefix_fill(struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    struct holding *holding = &cache->holdings[index];
    uint64_t first = holding->full, full = tokens / cache->options.block_tokens;
    uint64_t numbered = numbered_blocks(cache, index, full);
    assert(full <= holding->blocks);
    for (; holding->full < numbered; holding->full++) {
        uint32_t id = prefix_id(cache, index, holding->full);
        name_block(cache, id, 0);
        count_asked(cache, id);
    }
    if (holding->full < full) {
        block_pool_run_name(cache->gpu, (uint32_t)index, full - holding->full);
        holding->full = full;
    }
    if (full > first) {
        save_filled(cache, index, first, full);
    }
}

bool prefix_restore(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t kept,
                    uint64_t chunk, uint64_t *missing)
{
    uint32_t block_tokens = cache->options.block_tokens;
    uint64_t full = kept / block_tokens;
    uint64_t blocks = blocks_of(cache, tokens - kept < chunk ? tokens : kept + chunk);
    struct found found = {.blocks = 0};
    if (!number_blocks(cache, index)) {
        return false;
    }
    uint64_t numbered = numbered_blocks(cache, index, full);
    while (found.blocks < numbered &&
           block_pool_knows(cache->gpu, prefix_id(cache, index, found.blocks))) {
        find_on_gpu(cache, prefix_id(cache, index, found.blocks++), &found);
    }
    find_run(cache, index, full, &found);
    if (block_pool_room(cache->gpu) - found.idle < blocks_of(cache, tokens) - found.blocks) {
        return false;
    }
    for (uint64_t block = 0; block < found.blocks && block < numbered; block++) {
        block_pool_refer(cache->gpu, prefix_id(cache, index, block));
    }
    refer_to_run(cache, index, found.blocks, numbered);
    block_pool_take(cache->gpu, blocks - found.blocks);
    *missing = kept - found.blocks * block_tokens;
    uint64_t load = begin_load(cache, &found, *missing > 0);
    for (uint64_t block = found.blocks; block < numbered; block++) {
        name_block(cache, prefix_id(cache, index, block), load);
    }
    uint64_t own = found.blocks > numbered ? found.blocks : numbered;
    if (own < full) {
        block_pool_run_name(cache->gpu, (uint32_t)index, full - own);
        cache->loads_of_own[index] = (struct own_load){load, own - numbered};
    }
    cache->holdings[index] = (struct holding){full, blocks, load};
    return true;
}

bool prefix_grow(struct prefix_cache *cache, size_t index, uint64_t tokens)
{
    struct holding *holding = &cache->holdings[index];
    uint64_t blocks = blocks_of(cache, tokens);
    uint64_t more = blocks > holding->blocks ? blocks - holding->blocks : 0;
    if (more > block_pool_room(cache->gpu)) {
        return false;
    }
    block_pool_take(cache->gpu, more);
    holding->blocks += more;
    return true;
}

void prefix_end(struct prefix_cache *cache, size_t index, bool done)
{
    struct holding *holding = &cache->holdings[index];
    bool keeps = cache->options.gpu_keeps;
    bool saves = done && cache->host != NULL && cache->options.write == PREFIX_WRITE_FINISH;
    uint64_t whole = holding->full / cache->options.unit_blocks * cache->options.unit_blocks;
    uint64_t before = cache->counts.saved;
    uint64_t numbered = numbered_blocks(cache, index, holding->full);
    if (numbered < holding->full) {
        block_pool_run_release(cache->gpu, (uint32_t)index);
    }
    for (uint64_t block = numbered; block-- > 0;) {
        uint32_t id = prefix_id(cache, index, block);
        uint64_t saved = cache->counts.saved;
        if (saves && block < whole) {
            offer(cache, id);
        }
        if (cache->options.saves_wait && saved > before && cache->counts.saved == saved) {
            begin_save(cache, id, false);
        }
        if (keeps) {
            block_pool_release(cache->gpu, id);
        }
    }
    block_pool_give_back(cache->gpu, holding->blocks - (keeps ? holding->full : 0));
    if (done && cache->orphan != NULL) {
        leave_own(cache, index);
    }
    *holding = (struct holding){.full = 0};
}
