/* A cache without lower tiers finds blocks on the GPU; a stack beside it gives the depths of others.
 *
 * A block is found if one of the tiers is as large as its unit's deepest block, in the first tier
 * that is as large as its own depth. It is saved to a tier if it is not there when it is touched at
 * its request's end. If it was found, it was touched when the request began, and is there if it was
 * there then; else what the request left behind it may have pushed it out.
 */
#include "server/prefix/prefix_curve.h"

#include "core/array.h"
#include "policy/kinds.h"
#include "policy/stack.h"
#include "server/prefix/prefix_best.h"

#include <stdlib.h>

/* The depths of a block when its request began, of its unit's deepest block if that may be found (0:
 * no), and of the block itself when it is touched. */
struct depths {
    uint32_t own, unit, now;
    bool gpu; /* the GPU had it */
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
    uint64_t *distinct; /* [servers] different blocks that each pass touched, owned */
    size_t servers, servers_capacity;
    struct prefix_best *units; /* [servers] the units that requests held, owned */
    size_t units_capacity;
    struct prefix_totals totals; /* without lower tiers */
};

/* One pass over requests. */
struct prefix_curve_pass {
    struct prefix_curve *curve;
    struct prefix_cache *gpu;
    struct stack *stack;
    struct depths *depths; /* scratch: of a request's full blocks; fits the longest one */
    uint64_t *distinct;
    struct prefix_best *units;
};

bool prefix_curve_applies(const struct prefix_options *options)
{
    bool applies = options->lower_count > 0 && options->least_asked <= 1 &&
                   options->least_blocks == 0 && !options->cheaper;
    for (uint32_t k = 0; k < options->lower_count; k++) {
        applies = applies && options->lower[k].write != PREFIX_WRITE_EVICT &&
                  options->lower[k].policy == &policy_lru && options->lower[k].least_asked <= 1;
    }
    return applies;
}

static uint64_t prefix_curve_most_tokens(const struct requests *requests)
{
    uint64_t most = 0;
    for (size_t i = 0; i < requests->count; i++) {
        uint64_t kept = request_kept_tokens(&requests->all[i]);
        most = kept > most ? kept : most;
    }
    return most;
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
    curve->longest = prefix_curve_most_tokens(requests) / options->block_tokens;
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
        free(curve->distinct);
        for (size_t server = 0; server < curve->servers; server++) {
            prefix_best_release(&curve->units[server]);
        }
        free(curve->units);
        free(curve);
    }
}

/* ---- a pass ----------------------------------------------------------------------------- */

/* Note the depths of all full blocks when the request begins, of which the GPU has some. */
static void note_depths(struct prefix_curve_pass *pass, size_t index, uint64_t full, uint64_t gpu)
{
    for (uint64_t block = 0; block < full; block++) {
        uint32_t own = stack_depth(pass->stack, prefix_id(pass->gpu, index, block));
        pass->depths[block] = (struct depths){.own = own, .now = own, .gpu = block < gpu};
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
        *pass->distinct += now == 0;
        depths->now = curve->fills || block < gpu ? depths->own : now;
        if (depths->unit > 0) {
            curve->found[curve->found_count++] = *depths;
        } else {
            curve->saved[depths->now]++;
        }
        stack_access(pass->stack, &demand, false);
        if ((block + 1) % curve->unit == 0 &&
            !prefix_best_hold(pass->units, id, depths->unit > 0, why)) {
            return false;
        }
    }
    prefix_best_next(pass->units);
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
    uint64_t full = request_kept_tokens(request) / curve->options.block_tokens;
    uint64_t gpu = match.found[0] / curve->options.block_tokens;
    prefix_totals_add(&curve->totals, request, &match);
    note_depths(pass, index, full, gpu);
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
              array_reserve(&curve->distinct, &curve->servers_capacity, curve->servers + 1,
                            sizeof *curve->distinct, why) &&
              array_reserve(&curve->units, &curve->units_capacity, curve->servers + 1,
                            sizeof *curve->units, why);
    if (ok) {
        pass.units = &curve->units[curve->servers];
        *pass.units = (struct prefix_best){.count = 0};
        pass.distinct = &curve->distinct[curve->servers++];
        *pass.distinct = 0;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = stop_flag_check(curve->options.stop, why) && pass_request(&pass, indices[i], why);
    }
    prefix_cache_destroy(pass.gpu);
    stack_destroy(pass.stack);
    free(pass.depths);
    return ok;
}

/* ---- reading ---------------------------------------------------------------------------- */

uint64_t prefix_curve_least(const struct prefix_curve *curve)
{
    return curve->longest;
}

/* What a tier of `blocks` has at the end, and was given beside the blocks that may be found. */
static void read_others(const struct prefix_curve *curve, uint64_t blocks, struct prefix_moved *out)
{
    out->saved += curve->saved[0];
    for (uint64_t depth = curve->ids; depth > blocks; depth--) {
        out->saved += curve->saved[depth];
    }
    for (size_t server = 0; server < curve->servers; server++) {
        out->held += curve->distinct[server] < blocks ? curve->distinct[server] : blocks;
    }
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

static void read_not_found(const struct depths *block, const struct prefix_options *options,
                           struct prefix_moved moved[PREFIX_MOST_TIERS])
{
    for (uint32_t k = 1; k <= options->lower_count; k++) {
        moved[k].saved += block->now > options->lower[k - 1].blocks;
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
            read_not_found(block, options, moved);
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
        read_others(curve, options->lower[k - 1].blocks, moved);
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
    for (size_t server = 0; server < curve->servers; server++) {
        uint64_t found;
        if (!prefix_best_find(&curve->units[server], curve->ids, places, curve->options.stop,
                              &found, why)) {
            return false;
        }
        *tokens += found * curve->unit * curve->options.block_tokens;
    }
    return true;
}
