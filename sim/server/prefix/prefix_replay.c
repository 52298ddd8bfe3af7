/* Each request finds the blocks that earlier ones left, and leaves its own. */
#include "server/prefix/prefix_replay.h"

#include <assert.h>
#include <stdlib.h>

bool prefix_replay_one(struct prefix_cache *cache, const struct prefix_options *options,
                       size_t index, const struct request *request, struct prefix_match *match)
{
    uint64_t kept = request_kept_tokens(request);
    if (kept > prefix_longest(options)) {
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
static void replay_into(struct prefix_cache *cache, const struct prefix_options *options,
                        const struct requests *requests, uint32_t index,
                        struct prefix_totals *totals)
{
    const struct request *request = &requests->all[index];
    struct prefix_match match;
    if (!prefix_replay_one(cache, options, index, request, &match)) {
        totals->too_long++;
        return;
    }
    for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
        totals->found[k] += match.found[k];
    }
    totals->compute_tokens += match.compute_tokens;
    totals->prompt_tokens += request->prompt;
    totals->requests++;
    totals->worth_ns += found_worth(options, &match);
}

bool prefix_replay(const struct prefix_options *options, const struct requests *requests,
                   const uint32_t *server_of, uint32_t first, uint32_t servers, bool shared,
                   struct prefix_totals *totals, struct error *why)
{
    struct prefix_options own = *options;
    struct prefix_cache **caches = array_zeroed(servers, sizeof *caches, why);
    own.pool = shared ? prefix_pool_create(options, requests, why) : NULL;
    bool ok = caches != NULL && (own.pool != NULL || !shared);
    for (uint32_t server = 0; ok && server < servers; server++) {
        ok = (caches[server] = prefix_cache_create(&own, requests, why)) != NULL;
    }
    for (uint32_t i = 0; ok && i < requests->count; i++) {
        if (server_of[i] - first < servers) { /* wraps below `first` */
            replay_into(caches[server_of[i] - first], &own, requests, i, totals);
            ok = stop_flag_check(own.stop, why);
        }
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
