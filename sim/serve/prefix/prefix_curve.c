/* A cache without a host finds blocks on the GPU; a stack beside it gives the depth of the others.
 */
#include "serve/prefix/prefix_curve.h"

#include "base/array.h"
#include "policy/kinds.h"
#include "policy/stack.h"

#include <stdlib.h>

struct prefix_curve {
    struct prefix_options options; /* without a host */
    uint32_t unit;                 /* blocks that the host keeps together */
    uint64_t least;                /* prefix_curve_least() */
    const struct requests *requests;
    uint32_t ids;                /* numbers of blocks */
    uint64_t *found;             /* [ids + 1] blocks found at each depth */
    double *worth_ns;            /* [ids + 1] what they are worth */
    struct prefix_totals totals; /* with no host */
};

/* One pass over requests. */
struct prefix_curve_pass {
    struct prefix_curve *curve;
    struct prefix_cache *gpu;
    struct stack *stack;
    uint32_t *units; /* scratch: the full blocks of a request; fits the longest one */
};

bool prefix_curve_applies(const struct prefix_options *options)
{
    return options->lower_count == 1 && options->lower[0].write != PREFIX_WRITE_EVICT &&
           options->lower[0].policy == &policy_lru && options->least_asked <= 1;
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
    curve->least = options->lower[0].write == PREFIX_WRITE_FILL
                       ? prefix_curve_most_tokens(requests) / options->block_tokens
                       : 0;
    struct prefix_cache *cache = prefix_cache_create(&curve->options, requests, why);
    bool ok = cache != NULL;
    if (ok) {
        curve->ids = prefix_ids(cache);
        curve->found = array_zeroed((size_t)curve->ids + 1, sizeof *curve->found, why);
        curve->worth_ns = array_zeroed((size_t)curve->ids + 1, sizeof *curve->worth_ns, why);
    }
    prefix_cache_destroy(cache);
    if (!ok || curve->found == NULL || curve->worth_ns == NULL) {
        prefix_curve_destroy(curve);
        return NULL;
    }
    return curve;
}

void prefix_curve_destroy(struct prefix_curve *curve)
{
    if (curve != NULL) {
        free(curve->found);
        free(curve->worth_ns);
        free(curve);
    }
}

/* ---- a pass ----------------------------------------------------------------------------- */

/* Count the depths of a prompt's units after the blocks found on the GPU: the last block of a unit
 * is the deepest. */
static void count_depths(struct prefix_curve_pass *pass, size_t index, uint64_t found)
{
    struct prefix_curve *curve = pass->curve;
    uint64_t most = (curve->requests->all[index].prompt - 1) / curve->options.block_tokens;
    const double *worth = curve->options.worth_ns;
    uint64_t unit = curve->unit, end = found / unit * unit + unit;
    for (; end <= most; end += unit) {
        uint32_t depth = stack_depth(pass->stack, prefix_id(pass->gpu, index, end - 1));
        if (depth == 0) {
            return;
        }
        curve->found[depth] += end - found;
        curve->worth_ns[depth] += worth != NULL ? worth[end] - worth[found] : 0;
        found = end;
    }
}

/* The request ends: all its whole units are touched, beginnings last. */
static void prefix_curve_touch(struct prefix_curve_pass *pass, size_t index, uint64_t tokens)
{
    uint32_t full = (uint32_t)(tokens / pass->curve->options.block_tokens);
    full -= full % pass->curve->unit;
    struct demand demand = {.units = pass->units, .wanted = full, .recorded = full};
    for (uint32_t block = 0; block < full; block++) {
        pass->units[block] = prefix_id(pass->gpu, index, block);
    }
    stack_access(pass->stack, &demand, false);
}

static void pass_request(struct prefix_curve_pass *pass, size_t index)
{
    struct prefix_curve *curve = pass->curve;
    const struct request *request = &curve->requests->all[index];
    struct prefix_match match;
    if (!prefix_replay_one(pass->gpu, &curve->options, index, request, &match)) {
        curve->totals.too_long++;
        return;
    }
    prefix_totals_add(&curve->totals, request, &match);
    count_depths(pass, index, match.found[0] / curve->options.block_tokens);
    prefix_curve_touch(pass, index, request_kept_tokens(request));
}

bool prefix_curve_add(struct prefix_curve *curve, const uint32_t *indices, uint32_t count,
                      struct error *why)
{
    uint64_t most = prefix_curve_most_tokens(curve->requests) / curve->options.block_tokens;
    struct prefix_curve_pass pass = {
        .curve = curve,
        .gpu = prefix_cache_create(&curve->options, curve->requests, why),
        .stack = stack_create(curve->ids, POLICY_BATCH, why),
        .units = array_zeroed(most + 1, sizeof *pass.units, why),
    };
    bool ok = pass.gpu != NULL && pass.stack != NULL && pass.units != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        pass_request(&pass, indices[i]);
    }
    prefix_cache_destroy(pass.gpu);
    stack_destroy(pass.stack);
    free(pass.units);
    return ok;
}

uint64_t prefix_curve_least(const struct prefix_curve *curve)
{
    return curve->least;
}

struct prefix_totals prefix_curve_read(const struct prefix_curve *curve, uint64_t host_blocks)
{
    struct prefix_totals totals = curve->totals;
    for (uint64_t depth = 1; depth <= host_blocks && depth <= curve->ids; depth++) {
        totals.loaded += curve->found[depth];
        totals.worth_ns += curve->worth_ns[depth];
    }
    totals.found[1] = totals.loaded * curve->options.block_tokens;
    totals.compute_tokens -= totals.found[1];
    return totals;
}
