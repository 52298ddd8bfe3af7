/* Each request finds the blocks that earlier ones left, and leaves its own. */
#include "server/prefix/prefix_replay.h"

#include "core/array.h"
#include "core/engine/calendar.h"
#include "policy/policy.h"

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

/* A request finds what earlier ones left; add the result. */
static bool replay_into(struct prefix_cache *cache, const struct prefix_options *options,
                        const struct requests *requests, uint32_t index, struct prefix_match *match,
                        struct prefix_totals *totals)
{
    const struct request *request = &requests->all[index];
    if (!prefix_replay_one(cache, options, index, request, match)) {
        totals->too_long++;
        return false;
    }
    for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
        totals->found[k] += match->found[k];
    }
    totals->compute_tokens += match->compute_tokens;
    totals->prompt_tokens += request->prompt;
    totals->requests++;
    totals->worth_ns += found_worth(options, match);
    return true;
}

/* ---- what the largest tier could find ------------------------------------------------------- */

/* The units that the requests of a server held. */
struct held_units {
    struct prefix_best best;
    bool *touched; /* by number of a unit's last block: a request held it, owned */
    uint64_t places;
};

/* More blocks than that are not remembered. */
enum { MOST_BLOCKS = 1 << 24 };

/* Is the bound one of the tiers? They have LRU, take a block whoever holds it, load all that is found, hold
 * all of a request, and none takes only what the tier above evicts. */
static bool bound_applies(const struct prefix_options *options, const struct requests *requests)
{
    uint64_t longest = requests_longest(requests), tokens = 0;
    bool applies = options->lower_count > 0 && options->least_blocks == 0 && !options->cheaper;
    for (uint32_t k = 0; k < options->lower_count; k++) {
        const struct prefix_tier *tier = &options->lower[k];
        applies = applies && tier->write != PREFIX_WRITE_EVICT && tier->policy == &policy_lru &&
                  tier->least_asked <= 1 &&
                  tier->blocks >= (longest > 0 ? longest - 1 : 0) / options->block_tokens;
    }
    for (size_t i = 0; applies && i < requests->count; i++) {
        tokens += request_tokens(&requests->all[i]);
    }
    return applies && tokens / options->block_tokens <= MOST_BLOCKS;
}

/* A request has ended. It held its whole units; it looked up those behind what the GPU had, up to the first
 * that nobody had held before. */
static bool hold_units(struct held_units *units, const struct prefix_cache *cache,
                       const struct prefix_options *options, const struct request *request,
                       uint32_t index, const struct prefix_match *match, struct error *why)
{
    uint32_t block = options->block_tokens;
    uint64_t unit = options->unit_blocks > 0 ? options->unit_blocks : 1;
    uint64_t full =
        (options->prompts_only ? request->prompt : request_kept_tokens(request)) / block;
    uint64_t from = match->found[0] / block / unit * unit, to = from;
    while (to + unit <= (request->prompt - 1) / block &&
           units->touched[prefix_id(cache, index, to + unit - 1)]) {
        to += unit;
    }
    for (uint64_t end = full / unit * unit; end > 0; end -= unit) {
        uint32_t id = prefix_id(cache, index, end - 1);
        units->touched[id] = true;
        if (!prefix_best_hold(&units->best, id, end > from && end <= to, why)) {
            return false;
        }
    }
    prefix_best_next(&units->best);
    return true;
}

static bool units_init(struct held_units *units, const struct prefix_cache *cache,
                       const struct prefix_options *options, struct error *why)
{
    uint64_t most = 0, unit = options->unit_blocks > 0 ? options->unit_blocks : 1;
    for (uint32_t k = 0; k < options->lower_count; k++) {
        most = options->lower[k].blocks > most ? options->lower[k].blocks : most;
    }
    *units = (struct held_units){.places = most / unit + (most % unit > 0)};
    return (units->touched = array_zeroed(prefix_ids(cache), sizeof *units->touched, why)) != NULL;
}

bool prefix_replay(const struct prefix_options *options, const struct requests *requests,
                   const uint32_t *indices, uint32_t count, struct prefix_totals *totals,
                   struct error *why)
{
    struct prefix_options own = *options;
    struct held_units units = {.touched = NULL};
    struct prefix_match match;
    uint64_t best = 0;
    totals->best_known = bound_applies(options, requests);
    own.recycles = own.recycles && !totals->best_known; /* else a number stands for one block */
    struct prefix_cache *cache = prefix_cache_create(&own, requests, why);
    bool ok = cache != NULL && (!totals->best_known || units_init(&units, cache, options, why));
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t index = indices[i];
        bool fits = replay_into(cache, options, requests, index, &match, totals);
        ok = stop_flag_check(options->stop, why) &&
             (!totals->best_known || !fits ||
              hold_units(&units, cache, options, &requests->all[index], index, &match, why));
    }
    if (cache != NULL) {
        prefix_moved_add(totals->moved, cache, true);
        ok = ok && prefix_check(cache, why) &&
             (!totals->best_known || prefix_best_find(&units.best, prefix_ids(cache), units.places,
                                                      options->stop, &best, why));
    }
    totals->best_tokens +=
        best * (options->unit_blocks > 0 ? options->unit_blocks : 1) * options->block_tokens;
    prefix_cache_destroy(cache);
    prefix_best_release(&units.best);
    free(units.touched);
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
        struct prefix_match unused;
        replay_into(caches[server_of[i]], &own, requests, i, &unused, totals);
        ok = stop_flag_check(own.stop, why);
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
