#include "model/kv_pools.h"

#include "model/layer_kind.h"

#include <math.h>
#include <string.h>

struct kv_limits kv_limits_of(const struct kv_group_rules *groups, uint64_t batched, bool caches)
{
    return (struct kv_limits){
        .block = groups->block,
        .latents = groups->latents,
        .context = 1,
        .alignment = groups->alignment,
        .in_flight = groups->steps * batched,
        .alike = groups->alike,
        .hybrid = true,
        .align = caches,
        .states_full = groups->states_full,
    };
}

static void kv_groups_add(struct kv_groups *out, struct kv_group kind)
{
    for (uint32_t i = 0; i < out->count; i++) {
        struct kv_group *at = &out->kinds[i];
        if (at->kind == kind.kind && at->index == kind.index && at->window == kind.window &&
            at->token_bytes == kind.token_bytes && at->state_bytes == kind.state_bytes) {
            at->layers++;
            return;
        }
    }
    kind.layers = 1;
    if (out->count < KV_GROUPS_MOST) {
        out->kinds[out->count++] = kind;
    }
}

/* Bytes of a token's key of the indexer, or 0. Engines keep these in fp8 with scales of 32 bits, always. */
static uint64_t kv_index_key(const struct model *model, const struct model_layer *layer)
{
    return layer_index_entry(model, layer) > 0 ? model->index_dim + sizeof(float) : 0;
}

static void add_layer(const struct model *model, uint32_t layer, const struct kv_limits *limits,
                      struct kv_groups *out)
{
    const struct model_layer *at = &model->layers[layer];
    struct kv_group kind = {.kind = at->attention,
                            .window = at->window,
                            .token_bytes = model_kv_token_bytes(model, layer),
                            .state_bytes = model_state_bytes(model, layer)};
    if (at->shares_kv || at->attention == ATTENTION_NONE) {
        return;
    }
    if (layer_slides(at) && !limits->hybrid) {
        kind.kind = ATTENTION_FULL;
        kind.window = 0;
    }
    kv_groups_add(out, kind);
    if (kv_index_key(model, at) > 0) {
        kind = (struct kv_group){.kind = at->attention, .index = true};
        kind.token_bytes = kv_index_key(model, at);
        kv_groups_add(out, kind);
    }
}

/* The most bytes of a token, and of a state, in a layer; tokens of a block no smaller than a state. */
struct largest {
    uint64_t token, state, block;
};

static struct largest kv_groups_largest(const struct kv_groups *groups,
                                        const struct kv_limits *limits)
{
    struct largest most = {0, 0, 0};
    bool latents = false;
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct kv_group *kind = &groups->kinds[i];
        most.token = kind->token_bytes > most.token ? kind->token_bytes : most.token;
        most.state = kind->state_bytes > most.state ? kind->state_bytes : most.state;
        latents = latents || kind->kind == ATTENTION_MLA;
    }
    most.block = latents ? limits->latents : limits->block;
    if (most.state > 0 && most.token > 0) {
        uint64_t step = latents ? limits->alignment : limits->block;
        most.block = step * whole_share(most.state, step * most.token);
    }
    return most;
}

/* Give every kind a page of the same bytes: that of the most bytes a token, or a state. */
static void unify_pages(struct kv_groups *groups, struct largest most)
{
    uint64_t block = most.block, page = most.token > 0 ? block * most.token : most.state;
    for (uint32_t i = 0; i < groups->count; i++) {
        struct kv_group *kind = &groups->kinds[i];
        uint64_t fits = kind->token_bytes > 0 ? page / kind->token_bytes : block;
        bool divides = kind->token_bytes > 0 && page % kind->token_bytes == 0;
        kind->block = divides ? fits : block;
        kind->page = page;
    }
}

/* Layers that keep all their tokens share a block table, each with a page of its own. */
static void single_group(struct kv_groups *groups, uint64_t block, uint32_t stages)
{
    groups->groups = 1;
    for (uint32_t i = 0; i < groups->count; i++) {
        struct kv_group *kind = &groups->kinds[i];
        kind->groups = i == 0;
        kind->block = block;
        kind->page = kind->token_bytes > 0 ? block * kind->token_bytes : kind->state_bytes;
        groups->layers += kind->layers;
        groups->block_bytes += whole_share(kind->layers, stages) * kind->page;
    }
}

static void equal_groups(struct kv_groups *groups, const struct kv_limits *limits, uint32_t stages)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        uint32_t layers = groups->kinds[i].layers;
        least = layers < least ? layers : least;
        most = layers > most ? layers : most;
    }
    groups->layers = most < least * limits->alike ? most : least;
    for (uint32_t i = 0; i < groups->count; i++) {
        struct kv_group *kind = &groups->kinds[i];
        kind->groups = (uint32_t)whole_share(kind->layers, groups->layers);
        kind->padding = kind->groups * groups->layers - kind->layers;
        groups->groups += kind->groups;
    }
    groups->block_bytes = whole_share(groups->layers, stages) * groups->kinds[0].page;
}

bool kv_groups_plan(const struct model *model, const struct kv_limits *limits,
                    struct kv_groups *out, struct error *why)
{
    bool all = true;
    memset(out, 0, sizeof *out);
    if (limits->block == 0) {
        return error_set(why, NULL, 0, "this engine does not divide its KV memory among groups");
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (model->layers[i].attention == ATTENTION_COMPRESSED) {
            error_set(why, NULL, 0,
                      "vLLM's blocks for the compressed layers of %s are not modelled",
                      model->name);
            return error_expect(why, "a model without them, or no engine");
        }
        add_layer(model, i, limits, out);
    }
    if (out->count == 0) {
        return error_set(why, NULL, 0, "no layer of %s keeps anything", model->name);
    }
    for (uint32_t i = 0; i < out->count; i++) {
        all = all && (out->kinds[i].index || !layer_kinds[out->kinds[i].kind].local);
    }
    struct largest most = kv_groups_largest(out, limits);
    if (all || out->count == 1) {
        single_group(out, most.block, model->parallel.pipeline);
    } else {
        unify_pages(out, most);
        equal_groups(out, limits, model->parallel.pipeline);
    }
    return true;
}

bool kv_groups_divide(const struct model *model, const struct kv_limits *limits,
                      struct kv_groups *out)
{
    return kv_groups_plan(model, limits, out, ERROR_UNSEEN) &&
           (out->groups > 1 || (!limits->hybrid && kv_pools_window(model, 1) > 0));
}

/* ---- sequences ---- */

uint64_t kv_group_blocks(const struct kv_group *group, const struct kv_limits *limits,
                         uint64_t length)
{
    uint64_t reach = group->window + limits->in_flight;
    switch (group->kind) {
    case ATTENTION_LINEAR:
        return limits->align ? 2 : 1;
    case ATTENTION_SLIDING:
        return whole_share(reach - 1 < length ? reach - 1 : length, group->block) + 1;
    case ATTENTION_CHUNKED:
        return whole_share(reach < length ? reach : length, group->block);
    case ATTENTION_FULL:
    case ATTENTION_MLA:
    case ATTENTION_COMPRESSED: /* kv_groups_plan() refuses it */
    case ATTENTION_NONE:       /* it has no group */
        break;
    }
    return whole_share(length, group->block * limits->context);
}

uint64_t kv_groups_blocks(const struct kv_groups *groups, const struct kv_limits *limits,
                          uint64_t length)
{
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct kv_group *kind = &groups->kinds[i];
        blocks += kind->groups * kv_group_blocks(kind, limits, length);
    }
    return blocks;
}

double kv_groups_token_bytes(const struct kv_groups *groups)
{
    double bytes = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct kv_group *kind = &groups->kinds[i];
        bytes += (double)kind->groups * (double)groups->block_bytes / (double)kind->block;
    }
    return bytes;
}

static uint64_t smallest_block(const struct kv_groups *groups)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < groups->count; i++) {
        least = groups->kinds[i].block < least ? groups->kinds[i].block : least;
    }
    return least;
}

double kv_groups_logged_bytes(const struct kv_groups *groups, const struct kv_limits *limits,
                              uint64_t tokens, uint64_t length)
{
    double sequences = (double)tokens / (double)length;
    double blocks =
        limits->states_full
            ? ceil(sequences * (double)kv_groups_blocks(groups, limits, length))
            : ceil((double)tokens / (double)(smallest_block(groups) * limits->context)) *
                  groups->groups;
    return blocks * (double)groups->block_bytes;
}

uint64_t kv_groups_tokens(const struct kv_groups *groups, const struct kv_limits *limits,
                          uint64_t pool, uint64_t length)
{
    uint64_t blocks = pool / groups->block_bytes, least = smallest_block(groups);
    double sequences = (double)blocks / (double)kv_groups_blocks(groups, limits, length);
    return limits->states_full ? (uint64_t)(sequences * (double)length)
                               : blocks / groups->groups * least * limits->context;
}

uint64_t kv_groups_longest(const struct kv_groups *groups, const struct kv_limits *limits,
                           uint64_t pool, uint64_t most)
{
    uint64_t low = 0, high = most, blocks = pool / groups->block_bytes;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        bool fits = kv_groups_blocks(groups, limits, middle) <= blocks;
        low = fits ? middle : low;
        high = fits ? high : middle - 1;
    }
    return low;
}

/* SGLang's pools: sums over the layers that each holds. */

double kv_pools_full(const struct model *model, double tokens)
{
    double bytes = 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bool full = !model_layer_local(model, i);
        bytes += full ? (double)model_kv_token_bytes(model, i) : 0;
        bytes += full ? (double)kv_index_key(model, &model->layers[i]) : 0;
    }
    return bytes * tokens;
}

double kv_pools_window(const struct model *model, double tokens)
{
    double bytes = 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bytes += layer_slides(&model->layers[i]) ? (double)model_kv_token_bytes(model, i) : 0;
    }
    return bytes * tokens;
}

double kv_pools_states(const struct model *model, double slots)
{
    double bytes = 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bool linear = model->layers[i].attention == ATTENTION_LINEAR;
        bytes += linear ? (double)model_state_bytes(model, i) : 0;
    }
    return bytes * (slots + 1);
}

bool kv_pools_divide(const struct model *model, const struct kv_pool_rules *shares, double pool,
                     struct kv_pools *out)
{
    double slot = kv_pools_states(model, 0), full = kv_pools_full(model, 1);
    double window = kv_pools_window(model, 1);
    *out = (struct kv_pools){.taken = shares->slots};
    if (slot > 0) {
        double states = pool * shares->states / (1 + shares->states);
        out->slots = fmax(floor(states / slot) - 1, 0);
        pool = fmax(0, pool - kv_pools_states(model, out->slots));
    }
    if (full > 0) {
        out->tokens = floor(pool / (full + shares->windows * window));
        out->windowed = window > 0 ? floor(out->tokens * shares->windows) : 0;
    } else if (window > 0) {
        out->windowed = floor(pool / window);
    }
    return (full > 0) + (window > 0) + (slot > 0) > 1;
}

double kv_pools_logged_bytes(const struct model *model, const struct kv_pool_rules *shares,
                             uint64_t tokens)
{
    double slot = kv_pools_states(model, 0);
    double token = kv_pools_full(model, 1) + shares->windows * kv_pools_window(model, 1);
    double rest = (double)tokens * token;
    return slot > 0 ? (rest + slot) * (1 + shares->states) : rest;
}

double kv_pools_tokens(const struct model *model, const struct kv_pools *pools, uint64_t length,
                       bool caches)
{
    uint64_t reach = 0;
    double tokens = INFINITY;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        uint64_t kept = layer_slides(&model->layers[i]) ? model_layer_tokens(model, i, length) : 0;
        reach = kept > reach ? kept : reach;
    }
    if (kv_pools_full(model, 1) > 0) {
        tokens = pools->tokens;
    }
    if (reach > 0) {
        tokens = fmin(tokens, pools->windowed / (double)reach * (double)length);
    }
    if (kv_pools_states(model, 0) > 0) {
        double requests = floor(pools->slots / (double)(caches ? pools->taken : 1));
        tokens = fmin(tokens, requests * (double)length);
    }
    return tokens;
}
