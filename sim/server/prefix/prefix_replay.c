/* Each request finds the blocks that earlier ones left, and leaves its own. */
#include "server/prefix/prefix_replay.h"

#include "core/array.h"
#include "core/engine/calendar.h"
#include "policy/policy.h"
#include "policy/stack.h"

#include <assert.h>
#include <stdlib.h>

bool prefix_replay_one(struct prefix_cache *cache, const struct prefix_options *options,
                       size_t index, const struct request *request, struct prefix_match *match)
{
    uint64_t kept = request_kept_tokens(request);
    if (kept > options->gpu_blocks * options->block_tokens) {
        return false;
    }
    bool fits = prefix_begin(cache, index, request->prompt, request->prompt, match);
    if (fits) {
        for (uint32_t k = 1; k < PREFIX_MOST_TIERS; k++) {
            prefix_loaded(cache, k, match->found[k] / options->block_tokens);
        }
        prefix_fill(cache, index, request->prompt);
        fits = prefix_grow(cache, index, kept);
        prefix_fill(cache, index, kept);
        prefix_end(cache, index, true);
    }
    assert(fits); /* the request is alone */
    return fits;
}

void prefix_replay_past(struct prefix_cache *cache, const struct prefix_options *options,
                        const struct requests *requests, const uint32_t *indices, uint32_t count)
{
    struct prefix_match unused;
    prefix_past(cache);
    for (uint32_t i = 0; i < count; i++) {
        prefix_replay_one(cache, options, indices[i], &requests->all[indices[i]], &unused);
    }
    prefix_now(cache);
}

/* What lower tiers found follows what the GPU did. */
static double found_worth(const struct prefix_options *options, const struct prefix_match *match)
{
    uint64_t gpu = match->found[0] / options->block_tokens, all = gpu;
    double load_ns = 0;
    for (uint32_t k = 1; k < PREFIX_MOST_TIERS; k++) {
        uint64_t blocks = match->found[k] / options->block_tokens;
        all += blocks;
        load_ns += (double)blocks * options->load_ns[k];
    }
    return options->compute_ns != NULL
               ? options->compute_ns[all] - options->compute_ns[gpu] - load_ns
               : 0;
}

void prefix_moved_add(struct prefix_moved moved[PREFIX_MOST_TIERS],
                      const struct prefix_cache *cache, bool pool)
{
    const struct prefix_census census = prefix_census(cache);
    for (uint32_t k = 1; k < PREFIX_MOST_TIERS; k++) {
        const struct prefix_counts counts = prefix_counts(cache, k);
        moved[k].loaded += counts.loaded;
        moved[k].saved += counts.saved;
        moved[k].held += !pool && census.of[k].shared ? 0 : census.of[k].blocks.known;
    }
}

/* Add the result of one request. */
static void prefix_totals_add(struct prefix_totals *totals, const struct request *request,
                              const struct prefix_match *match)
{
    for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
        totals->found[k] += match->found[k];
    }
    totals->compute_tokens += match->compute_tokens;
    totals->prompt_tokens += request->prompt;
    totals->requests++;
}

static bool replay_into(struct prefix_cache *cache, const struct prefix_options *options,
                        const struct requests *requests, uint32_t index,
                        struct prefix_totals *totals, struct error *why)
{
    const struct request *request = &requests->all[index];
    struct prefix_match match;
    if (prefix_replay_one(cache, options, index, request, &match)) {
        prefix_totals_add(totals, request, &match);
        totals->worth_ns += found_worth(options, &match);
    } else {
        totals->too_long++;
    }
    return stop_flag_check(options->stop, why);
}

bool prefix_replay(const struct prefix_options *options, const struct requests *requests,
                   const uint32_t *indices, uint32_t count, struct prefix_totals *totals,
                   struct error *why)
{
    struct prefix_cache *cache = prefix_cache_create(options, requests, why);
    if (cache == NULL) {
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = replay_into(cache, options, requests, indices[i], totals, why);
    }
    prefix_moved_add(totals->moved, cache, true);
    ok = ok && prefix_check(cache, why);
    prefix_cache_destroy(cache);
    return ok;
}

bool prefix_replay_shared(const struct prefix_options *options, const struct requests *requests,
                          const uint32_t *server_of, uint32_t servers, struct prefix_totals *totals,
                          struct error *why)
{
    struct prefix_options own = *options;
    struct prefix_cache **caches = array_zeroed(servers, sizeof *caches, why);
    own.pool = prefix_pool_create(options, requests, why);
    bool ok = caches != NULL && own.pool != NULL;
    for (uint32_t server = 0; ok && server < servers; server++) {
        ok = (caches[server] = prefix_cache_create(&own, requests, why)) != NULL;
    }
    for (uint32_t i = 0; ok && i < requests->count; i++) {
        ok = replay_into(caches[server_of[i]], &own, requests, i, totals, why);
    }
    for (uint32_t server = 0; ok && server < servers; server++) {
        prefix_moved_add(totals->moved, caches[server], server == 0);
        ok = prefix_check(caches[server], why);
    }
    for (uint32_t server = 0; caches != NULL && server < servers; server++) {
        prefix_cache_destroy(caches[server]);
    }
    free(caches);
    prefix_pool_destroy(own.pool);
    return ok;
}

/* ---- the curve of sizes --------------------------------------------------------------------------
 *
 * A cache without lower tiers finds blocks on the GPU; a stack beside it gives the depths of others.
 *
 * A block is found if one of the tiers is as large as its unit's deepest block, in the first tier
 * that is as large as its own depth. It is saved to a tier if it is not there when it is touched at
 * its request's end. If it was found, it was touched when the request began, and is there if it was
 * there then; else what the request left behind it may have pushed it out.
 */

/* The depths of a block when its request began, of its unit's deepest block if that may be found (0:
 * no), and of the block itself when it is touched. */
struct depths {
    uint32_t own, unit, now;
    bool gpu; /* the GPU had it */
};

/* What the pass over a server's requests leaves. */
struct prefix_server {
    uint64_t distinct;        /* different blocks that it touched */
    struct prefix_best units; /* the units that requests held */
};

struct prefix_curve {
    struct prefix_options options; /* without lower tiers */
    uint32_t unit;                 /* blocks that they keep together */
    bool fills;                    /* blocks are offered as they fill, from the first on */
    uint64_t longest;              /* blocks of a request */
    const struct requests *requests;
    uint32_t ids;         /* numbers of blocks */
    struct depths *found; /* [found_count] blocks that may be found, owned */
    size_t found_count, found_capacity;
    double *compute_ns; /* [ids + 1] of the units found at each depth, owned */
    uint64_t *saved;    /* [ids + 1] touches of other blocks, which a tier of at least this many
                           blocks does not save, owned; 0: first touches */
    struct prefix_server *servers; /* [server_count] owned */
    size_t server_count, server_capacity;
    struct prefix_totals totals; /* without lower tiers */
};

/* One pass over requests. */
struct prefix_curve_pass {
    struct prefix_curve *curve;
    struct prefix_cache *gpu;
    struct stack *stack;
    struct depths *depths; /* scratch: of a request's full blocks; fits the longest one */
    struct prefix_server *server;
};

bool prefix_curve_applies(const struct prefix_options *options)
{
    bool applies = options->lower_count > 0 && options->least_blocks == 0 && !options->cheaper;
    for (uint32_t k = 0; k < options->lower_count; k++) {
        applies = applies && options->lower[k].write != PREFIX_WRITE_EVICT &&
                  options->lower[k].policy == &policy_lru && options->lower[k].least_asked <= 1;
    }
    return applies;
}

struct prefix_curve *prefix_curve_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why)
{
    struct prefix_curve *curve = array_zeroed(1, sizeof *curve, why);
    if (curve == NULL) {
        return NULL;
    }
    curve->options = *options;
    curve->options.lower_count = 0;
    curve->options.recycles = false; /* a number stands for one block in all requests */
    curve->requests = requests;
    curve->unit = options->unit_blocks > 0 ? options->unit_blocks : 1;
    curve->fills = options->lower[0].write == PREFIX_WRITE_FILL;
    uint64_t longest = requests_longest(requests); /* the last token of an output has no KV */
    curve->longest = (longest > 0 ? longest - 1 : 0) / options->block_tokens;
    struct prefix_cache *cache = prefix_cache_create(&curve->options, requests, why);
    bool ok = cache != NULL;
    if (ok) {
        curve->ids = prefix_ids(cache);
        curve->saved = array_zeroed((size_t)curve->ids + 1, sizeof *curve->saved, why);
        curve->compute_ns = array_zeroed((size_t)curve->ids + 1, sizeof *curve->compute_ns, why);
    }
    prefix_cache_destroy(cache);
    if (!ok || curve->saved == NULL || curve->compute_ns == NULL) {
        prefix_curve_destroy(curve);
        return NULL;
    }
    return curve;
}

void prefix_curve_destroy(struct prefix_curve *curve)
{
    if (curve != NULL) {
        free(curve->found);
        free(curve->saved);
        free(curve->compute_ns);
        for (size_t server = 0; server < curve->server_count; server++) {
            prefix_best_release(&curve->servers[server].units);
        }
        free(curve->servers);
        free(curve);
    }
}

/* The prompt's units after the blocks found on the GPU may be found, up to the first that nobody
 * touched before. The last block of a unit is the deepest. */
static void mark_units(struct prefix_curve_pass *pass, size_t index, uint64_t found)
{
    struct prefix_curve *curve = pass->curve;
    uint64_t most = (curve->requests->all[index].prompt - 1) / curve->options.block_tokens;
    const double *compute = curve->options.compute_ns;
    uint64_t unit = curve->unit, end = found / unit * unit + unit;
    for (; end <= most && pass->depths[end - 1].own > 0; end += unit) {
        uint32_t depth = pass->depths[end - 1].own;
        curve->compute_ns[depth] += compute != NULL ? compute[end] - compute[found] : 0;
        for (uint64_t block = end - unit; block < end; block++) {
            pass->depths[block].unit = depth;
        }
        found = end;
    }
}

/* The request ends: all its whole units are touched, beginnings last. Blocks of whole units on the
 * GPU were touched when it began, where they were. */
static bool prefix_curve_touch(struct prefix_curve_pass *pass, size_t index, uint64_t full,
                               uint64_t gpu, struct error *why)
{
    struct prefix_curve *curve = pass->curve;
    full -= full % curve->unit;
    gpu -= gpu % curve->unit;
    if (!array_reserve(&curve->found, &curve->found_capacity, curve->found_count + full,
                       sizeof *curve->found, why)) {
        return false;
    }
    for (uint64_t block = full; block-- > 0;) {
        struct depths *depths = &pass->depths[block];
        uint32_t id = prefix_id(pass->gpu, index, block), now = stack_depth(pass->stack, id);
        const struct demand demand = {.units = &id, .wanted = 1, .recorded = 1};
        pass->server->distinct += now == 0;
        depths->now = curve->fills || block < gpu ? depths->own : now;
        if (depths->unit > 0) {
            curve->found[curve->found_count++] = *depths;
        } else {
            curve->saved[depths->now]++;
        }
        stack_access(pass->stack, &demand, false);
        if ((block + 1) % curve->unit == 0 &&
            !prefix_best_hold(&pass->server->units, id, depths->unit > 0, why)) {
            return false;
        }
    }
    prefix_best_next(&pass->server->units);
    return true;
}

static bool pass_request(struct prefix_curve_pass *pass, size_t index, struct error *why)
{
    struct prefix_curve *curve = pass->curve;
    const struct request *request = &curve->requests->all[index];
    struct prefix_match match;
    if (!prefix_replay_one(pass->gpu, &curve->options, index, request, &match)) {
        curve->totals.too_long++;
        return true;
    }
    uint64_t tokens = curve->options.prompts_only ? request->prompt : request_kept_tokens(request);
    uint64_t full = tokens / curve->options.block_tokens;
    uint64_t gpu = match.found[0] / curve->options.block_tokens;
    prefix_totals_add(&curve->totals, request, &match);
    for (uint64_t block = 0; block < full; block++) {
        uint32_t own = stack_depth(pass->stack, prefix_id(pass->gpu, index, block));
        pass->depths[block] = (struct depths){.own = own, .now = own, .gpu = block < gpu};
    }
    mark_units(pass, index, gpu);
    return prefix_curve_touch(pass, index, full, gpu, why);
}

bool prefix_curve_add(struct prefix_curve *curve, const uint32_t *indices, uint32_t count,
                      struct error *why)
{
    struct prefix_curve_pass pass = {
        .curve = curve,
        .gpu = prefix_cache_create(&curve->options, curve->requests, why),
        .stack = stack_create(curve->ids, POLICY_SEQUENTIAL, why),
        .depths = array_zeroed(curve->longest + 1, sizeof *pass.depths, why),
    };
    bool ok = pass.gpu != NULL && pass.stack != NULL && pass.depths != NULL &&
              array_reserve(&curve->servers, &curve->server_capacity, curve->server_count + 1,
                            sizeof *curve->servers, why);
    if (ok) {
        pass.server = &curve->servers[curve->server_count++];
        *pass.server = (struct prefix_server){.distinct = 0};
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = stop_flag_check(curve->options.stop, why) && pass_request(&pass, indices[i], why);
    }
    prefix_cache_destroy(pass.gpu);
    stack_destroy(pass.stack);
    free(pass.depths);
    return ok;
}

uint64_t prefix_curve_least(const struct prefix_curve *curve)
{
    return curve->longest;
}

/* A block that was found in tier `source`, or on the GPU (0). */
static void read_found(const struct depths *block, const struct prefix_options *options,
                       uint32_t source, struct prefix_moved moved[PREFIX_MOST_TIERS])
{
    moved[source].loaded += source > 0;
    for (uint32_t k = 1; k <= options->lower_count; k++) {
        const struct prefix_tier *tier = &options->lower[k - 1];
        bool taken = k < source && tier->takes_loads;
        moved[k].saved += block->own > tier->blocks && !taken;
    }
}

/* Returns the size of the largest tier. */
static uint64_t read_blocks(const struct prefix_curve *curve, const struct prefix_options *options,
                            struct prefix_moved moved[PREFIX_MOST_TIERS])
{
    uint64_t most = 0;
    for (uint32_t k = 0; k < options->lower_count; k++) {
        most = options->lower[k].blocks > most ? options->lower[k].blocks : most;
    }
    for (size_t i = 0; i < curve->found_count; i++) {
        const struct depths *block = &curve->found[i];
        uint32_t source = block->gpu ? 0 : 1;
        if (block->unit > most) {
            for (uint32_t k = 1; k <= options->lower_count; k++) {
                moved[k].saved += block->now > options->lower[k - 1].blocks;
            }
            continue;
        }
        while (source > 0 && block->own > options->lower[source - 1].blocks) {
            source++;
        }
        read_found(block, options, source, moved);
    }
    return most;
}

struct prefix_totals prefix_curve_read(const struct prefix_curve *curve,
                                       const struct prefix_options *options)
{
    struct prefix_totals totals = curve->totals;
    uint64_t most = read_blocks(curve, options, totals.moved);
    for (uint64_t depth = 1; depth <= most && depth <= curve->ids; depth++) {
        totals.worth_ns += curve->compute_ns[depth];
    }
    for (uint32_t k = 1; k <= options->lower_count; k++) {
        struct prefix_moved *moved = &totals.moved[k];
        uint64_t blocks = options->lower[k - 1].blocks;
        /* Beside the blocks that may be found the tier was given others; some it has at the end. */
        moved->saved += curve->saved[0];
        for (uint64_t depth = curve->ids; depth > blocks; depth--) {
            moved->saved += curve->saved[depth];
        }
        for (size_t server = 0; server < curve->server_count; server++) {
            uint64_t distinct = curve->servers[server].distinct;
            moved->held += distinct < blocks ? distinct : blocks;
        }
        totals.found[k] = moved->loaded * curve->options.block_tokens;
        totals.compute_tokens -= totals.found[k];
        totals.worth_ns -=
            curve->options.compute_ns != NULL ? (double)moved->loaded * options->load_ns[k] : 0;
    }
    return totals;
}

bool prefix_curve_best(const struct prefix_curve *curve, uint64_t blocks, uint64_t *tokens,
                       struct error *why)
{
    uint64_t places = blocks / curve->unit + (blocks % curve->unit > 0);
    *tokens = 0;
    for (size_t server = 0; server < curve->server_count; server++) {
        uint64_t found;
        if (!prefix_best_find(&curve->servers[server].units, curve->ids, places,
                              curve->options.stop, &found, why)) {
            return false;
        }
        *tokens += found * curve->unit * curve->options.block_tokens;
    }
    return true;
}

/* ---- Belady's bound ------------------------------------------------------------------------- */

/* The stretches of holdings, of which those that end last leave the calendar first. One that has ended stays
 * in it, behind all that have not. */
struct stretches {
    uint32_t *end; /* [holdings] the request that looks it up next; NEVER: nobody does */
    bool *kept;    /* [holdings] */
    struct calendar by_end;
};

static const uint32_t NEVER = UINT32_MAX;

void prefix_best_release(struct prefix_best *best)
{
    free(best->all);
    *best = (struct prefix_best){.count = 0};
}

bool prefix_best_hold(struct prefix_best *best, uint32_t id, bool looked, struct error *why)
{
    if (!array_reserve(&best->all, &best->capacity, best->count + 1, sizeof *best->all, why)) {
        return false;
    }
    best->all[best->count++] = (struct prefix_holding){id, best->requests, looked};
    return true;
}

void prefix_best_next(struct prefix_best *best)
{
    best->requests++;
}

/* Find when each stretch ends. `before` [ids] is scratch: the last holding of each, and 1. */
static void find_ends(const struct prefix_best *best, uint32_t *before, uint32_t *end)
{
    for (size_t i = 0; i < best->count; i++) {
        const struct prefix_holding *holding = &best->all[i];
        uint32_t last = before[holding->id];
        end[i] = NEVER;
        if (last > 0 && holding->looked) {
            end[last - 1] = holding->request;
        }
        before[holding->id] = (uint32_t)i + 1;
    }
}

/* The stretch that a lookup ends. `before` as above. */
static bool play(const struct prefix_best *best, uint64_t places, uint32_t *before,
                 const struct stop_flag *stop, struct stretches *stretches, uint64_t *found,
                 struct error *why)
{
    uint64_t kept = 0;
    *found = 0;
    for (size_t i = 0; i < best->count;) {
        if (!stop_flag_check(stop, why)) {
            return false;
        }
        uint32_t request = best->all[i].request;
        size_t first = i;
        for (; i < best->count && best->all[i].request == request; i++) {
            uint32_t last = before[best->all[i].id];
            if (last > 0 && stretches->kept[last - 1]) { /* it ends here */
                stretches->kept[last - 1] = false;
                kept--;
                ++*found;
            }
        }
        for (size_t k = first; k < i; k++) {
            before[best->all[k].id] = (uint32_t)k + 1;
            if (stretches->end[k] != NEVER) {
                stretches->kept[k] = true;
                calendar_push(&stretches->by_end, -(int64_t)stretches->end[k], (uint32_t)k);
                kept++;
            }
        }
        while (kept > places) {
            stretches->kept[calendar_item(calendar_pop(&stretches->by_end))] = false;
            kept--;
        }
    }
    return true;
}

bool prefix_best_find(const struct prefix_best *best, uint32_t ids, uint64_t places,
                      const struct stop_flag *stop, uint64_t *found, struct error *why)
{
    uint32_t *before = array_zeroed(ids, sizeof *before, why);
    uint32_t *again = array_zeroed(ids, sizeof *again, why);
    struct stretches stretches = {
        .end = array_zeroed(best->count, sizeof *stretches.end, why),
        .kept = array_zeroed(best->count, sizeof *stretches.kept, why),
    };
    bool ok = before != NULL && again != NULL && stretches.end != NULL && stretches.kept != NULL &&
              calendar_reserve(&stretches.by_end, best->count, why);
    if (ok) {
        find_ends(best, before, stretches.end);
        ok = play(best, places, again, stop, &stretches, found, why);
    }
    free(before);
    free(again);
    free(stretches.end);
    free(stretches.kept);
    calendar_release(&stretches.by_end);
    return ok;
}
