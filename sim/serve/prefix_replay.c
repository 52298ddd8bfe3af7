/* A request finds what earlier ones left, and leaves what it has computed. */
#include "serve/prefix_replay.h"

#include "base/array.h"

#include <stdlib.h>

/* Its last token is handed out and never becomes KV. */
static uint64_t kept_tokens(const struct request *request)
{
    return (uint64_t)request->prompt + request->output - 1;
}

/* False where the GPU cannot hold it even alone. */
static bool replay_one(struct prefix_cache *cache, size_t index, const struct request *request,
                       struct prefix_match *match)
{
    if (!prefix_begin(cache, index, request->prompt, request->prompt, match)) {
        return false;
    }
    prefix_fill(cache, index, request->prompt);
    bool fits = prefix_grow(cache, index, kept_tokens(request));
    if (fits) {
        prefix_fill(cache, index, kept_tokens(request));
    }
    prefix_end(cache, index, fits);
    return fits;
}

static void add_match(struct prefix_totals *totals, const struct prefix_match *match)
{
    totals->gpu_tokens += match->gpu_tokens;
    totals->host_tokens += match->host_tokens;
    totals->compute_tokens += match->compute_tokens;
    totals->requests++;
}

bool prefix_replay(const struct prefix_options *options, const struct requests *requests,
                   const uint32_t *indices, uint32_t count, struct prefix_totals *totals,
                   struct error *why)
{
    struct prefix_cache *cache = prefix_cache_create(options, requests, why);
    if (cache == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct request *request = &requests->all[indices[i]];
        struct prefix_match match;
        if (replay_one(cache, indices[i], request, &match)) {
            add_match(totals, &match);
            totals->prompt_tokens += request->prompt;
        } else {
            totals->too_long++;
        }
    }
    struct prefix_counts blocks = prefix_counts(cache);
    totals->blocks.loaded += blocks.loaded;
    totals->blocks.saved += blocks.saved;
    bool ok = prefix_check(cache, why);
    prefix_cache_destroy(cache);
    return ok;
}

bool prefix_bound(const struct requests *requests, struct prefix_bound *bound, struct error *why)
{
    bool *seen = array_zeroed(requests->ids.count, sizeof *seen, why);
    if (seen == NULL) {
        return false;
    }
    *bound = (struct prefix_bound){.chunks = requests->chunk_count,
                                   .distinct = requests->ids.count};
    /* A chunk has one beginning: where it was seen, so was all in front of it. */
    for (size_t i = 0; i < requests->chunk_count; i++) {
        uint32_t chunk = requests->chunks[i];
        bool full = requests->kind[chunk].tokens == requests->chunk_tokens;
        bound->full_chunks += full;
        bound->full_distinct += full && !seen[chunk];
        bound->hits += seen[chunk];
        bound->full_hits += full && seen[chunk];
        seen[chunk] = true;
    }
    free(seen);
    return true;
}
