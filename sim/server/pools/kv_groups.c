#include "server/pools/kv_groups.h"

#include "model/layer_kind.h"
#include "model/whole.h"

#include <math.h>
#include <string.h>

struct kv_limits kv_limits_of(const struct server_engine_groups *groups, uint64_t batched,
                              bool caches)
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

/* ---- kinds ---- */

static bool keeps_all(const struct kv_group *kind)
{
    return kind->index || !layer_kinds[kind->kind].local;
}

/* Count a layer among those that keep the same. */
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

uint64_t kv_index_key(const struct model *model, const struct model_layer *layer)
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

/* ---- pages ---- */

static uint64_t largest_token(const struct kv_groups *groups)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        most = groups->kinds[i].token_bytes > most ? groups->kinds[i].token_bytes : most;
    }
    return most;
}

static uint64_t largest_state(const struct kv_groups *groups)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        most = groups->kinds[i].state_bytes > most ? groups->kinds[i].state_bytes : most;
    }
    return most;
}

static bool has_latents(const struct kv_groups *groups)
{
    bool any = false;
    for (uint32_t i = 0; i < groups->count; i++) {
        any = any || groups->kinds[i].kind == ATTENTION_MLA;
    }
    return any;
}

/* Tokens of a block whose page is no smaller than a state. */
static uint64_t aligned_block(const struct kv_groups *groups, const struct kv_limits *limits)
{
    uint64_t state = largest_state(groups), token = largest_token(groups);
    bool latents = has_latents(groups);
    if (state == 0 || token == 0) {
        return latents ? limits->latents : limits->block;
    }
    uint64_t step = latents ? limits->alignment : limits->block;
    return step * whole_share(state, step * token);
}

/* Give every kind a page of the same bytes: that of the most bytes a token, or a state. */
static void unify_pages(struct kv_groups *groups, uint64_t block)
{
    uint64_t token = largest_token(groups),
             page = token > 0 ? block * token : largest_state(groups);
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
        all = all && keeps_all(&out->kinds[i]);
    }
    uint64_t block = aligned_block(out, limits);
    if (all || out->count == 1) {
        single_group(out, block, model->parallel.pipeline);
    } else {
        unify_pages(out, block);
        equal_groups(out, limits, model->parallel.pipeline);
    }
    return true;
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

uint64_t kv_groups_tokens(const struct kv_groups *groups, const struct kv_limits *limits,
                          uint64_t pool, uint64_t length)
{
    uint64_t blocks = pool / groups->block_bytes, least = UINT64_MAX;
    for (uint32_t i = 0; i < groups->count; i++) {
        least = groups->kinds[i].block < least ? groups->kinds[i].block : least;
    }
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
