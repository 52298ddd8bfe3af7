#include "predict/server/kv_pools.h"

#include "core/units.h"
#include "model/layer_kind.h"
#include "model/whole.h"

#include <math.h>
#include <stdio.h>
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

/* Bytes of a token's key of the indexer, or 0. Engines keep these keys in fp8 with a scale of 32
 * bits, whatever the type of KV. */
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

/* ---- pages ---- */

/* The most bytes of a token, and of a state, in a layer; tokens of a block whose page is no smaller
 * than a state. */
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

/* ---- sequences ---- */

static uint64_t kv_group_blocks(const struct kv_group *group, const struct kv_limits *limits,
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

bool kv_pools_divide(const struct model *model, const struct server_engine_pools *shares,
                     double pool, struct kv_pools *out)
{
    double slot = kv_pools_states(model, 0), full = kv_pools_full(model, 1);
    double window = kv_pools_window(model, 1);
    *out = (struct kv_pools){.taken = shares->slots};
    if (slot > 0) {
        double states = pool * shares->states / (1 + shares->states);
        out->slots = fmax(floor(states / slot) - 1, 0);
        pool -= kv_pools_states(model, out->slots);
    }
    if (full > 0) {
        out->tokens = floor(pool / (full + shares->windows * window));
        out->windowed = window > 0 ? floor(out->tokens * shares->windows) : 0;
    } else if (window > 0) {
        out->windowed = floor(pool / window);
    }
    return (full > 0) + (window > 0) + (slot > 0) > 1;
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

void kv_pools_say(const struct model *model, const struct kv_pools *pools, char *text, size_t size)
{
    const struct {
        double bytes, count;
        const char *of;
    } parts[] = {
        {kv_pools_full(model, pools->tokens), pools->tokens, "tokens of full layers"},
        {kv_pools_window(model, pools->windowed), pools->windowed, "tokens of windows"},
        {kv_pools_states(model, pools->slots), pools->slots, "states"},
    };
    const char *before = "SGLang's pools:";
    *text = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char bytes[32];
        size_t used = strlen(text);
        if (parts[i].bytes > 0) {
            snprintf(text + used, size - used, "%s %s for %.0f %s", before,
                     units_format(parts[i].bytes, UNIT_BYTES, bytes, sizeof bytes), parts[i].count,
                     parts[i].of);
            before = ",";
        }
    }
}

enum { HOST_PAGE = 4096, SGLANG_PAGE = 64 /* tokens: --page-size of the preset */ };

const struct host_engine *host_engine_of(const char *command, const struct server_engine *engine)
{
    for (size_t i = 0; i < engine->host_count; i++) {
        if (strstr(command, engine->host[i].flag) != NULL) {
            return &engine->host[i];
        }
    }
    return NULL;
}

const char *host_engine_where(const struct host_engine *engine)
{
    return engine->kind == HOST_SHARED ? "of /dev/shm, pinned" : "pinned";
}

double host_engine_typed(const struct host_engine *engine, double bytes, uint32_t gpus)
{
    double typed = bytes / engine->unit / (engine->each ? gpus : 1);
    return engine->whole ? ceil(typed) : typed;
}

/* ---- what it takes ---- */

static double power_of_two(double bytes)
{
    return bytes > 0 ? exp2(ceil(log2(bytes))) : 0;
}

/* A tensor for each layer of a group, or of the one group, on each GPU. */
static double take_tensors(const struct kv_groups *groups, double blocks)
{
    double bytes = 0;
    if (groups->groups > 1) {
        return groups->layers * power_of_two(blocks * (double)groups->kinds[0].page);
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct kv_group *kind = &groups->kinds[i];
        bytes += kind->layers * power_of_two(blocks * (double)kind->page);
    }
    return bytes;
}

/* Whole blocks of all GPUs. */
static double take_blocks(const struct host_engine *engine, const struct model *model,
                          const struct kv_limits *limits, double bytes)
{
    struct kv_groups groups;
    struct error unseen;
    if (!kv_groups_plan(model, limits, &groups, &unseen)) {
        return bytes;
    }
    uint64_t pages = engine->rounding == HOST_PAGES ? HOST_PAGE : 1;
    uint64_t gpus = (uint64_t)model->tensor_parallel * model->parallel.pipeline;
    uint64_t row = whole_share(groups.block_bytes, pages) * pages * gpus;
    double blocks = floor(bytes / (double)row);
    return engine->rounding == HOST_PAGES ? blocks * (double)row
                                          : (double)gpus * take_tensors(&groups, blocks);
}

static bool has(const struct model *model, enum attention_kind kind)
{
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (model->layers[i].attention == kind) {
            return true;
        }
    }
    return false;
}

double host_engine_takes(const struct host_engine *engine, const struct model *model,
                         const struct kv_limits *limits, double bytes)
{
    double page = SGLANG_PAGE * (double)model_kv_tokens_bytes(model) * model->tensor_parallel;
    switch (engine->rounding) {
    case HOST_PAGES:
    case HOST_POWERS_OF_TWO:
        return take_blocks(engine, model, limits, bytes);
    case HOST_EACH_POOL:
        return (floor(bytes / page) + 1) * page + (has(model, ATTENTION_LINEAR) ? bytes : 0);
    case HOST_FIRST_OF_LATENTS:
        return has(model, ATTENTION_MLA) ? bytes / model->tensor_parallel : bytes;
    default:
        return bytes;
    }
}

/* How vLLM divides its pool among the layers of a model, as a table and as sentences. */

enum { GROUP, GROUPS, OF, PADDING, BLOCK, PAGE, TAKES, GROUP_COLUMNS };
static const struct frame_column group_columns[GROUP_COLUMNS] = {
    [GROUP] = {.title = "groups of layers", .key = "kind"},
    [GROUPS] = {.title = "groups", .key = "groups", .unit = UNIT_WHOLE},
    [OF] = {.title = "layers", .key = "layers", .unit = UNIT_WHOLE},
    [PADDING] = {.title = "padding", .key = "padding", .unit = UNIT_WHOLE},
    [BLOCK] = {.title = "tokens a block", .key = "block_tokens", .unit = UNIT_WHOLE},
    [PAGE] = {.title = "page", .key = "page_bytes", .unit = UNIT_WHOLE},
    [TAKES] = {.title = "blocks of a sequence",
               .key = "sequence_blocks",
               .unit = UNIT_WHOLE,
               .wrap = true},
};

struct frame *kv_groups_frame(const struct kv_groups *groups, const struct kv_limits *limits,
                              uint64_t length, struct error *why)
{
    struct frame *frame = frame_create(group_columns, GROUP_COLUMNS, why);
    for (uint32_t i = 0; frame != NULL && i < groups->count; i++) {
        const struct kv_group *kind = &groups->kinds[i];
        frame_row(frame);
        frame_textf(frame, GROUP, "%s%s", layer_kinds[kind->kind].name,
                    kind->index ? ", keys of the indexer" : "");
        frame_number(frame, GROUPS, kind->groups);
        frame_number(frame, OF, kind->layers);
        frame_number(frame, PADDING, kind->padding);
        frame_number(frame, BLOCK, kind->kind == ATTENTION_LINEAR ? NAN : (double)kind->block);
        frame_number(frame, PAGE, (double)kind->page);
        frame_number(frame, TAKES, (double)(kind->groups * kv_group_blocks(kind, limits, length)));
    }
    return frame;
}

void kv_groups_say(const struct kv_groups *groups, const struct kv_limits *limits, double pool,
                   uint64_t length, char *text, size_t size)
{
    char bytes[32], block[32];
    uint64_t blocks = (uint64_t)pool / groups->block_bytes;
    uint64_t takes = kv_groups_blocks(groups, limits, length);
    snprintf(text, size,
             "pool of %s: %llu blocks of %s. A sequence of %llu tokens takes %llu of them, so %.2f "
             "fit; the engine logs %llu tokens.",
             units_format(pool, UNIT_BYTES, bytes, sizeof bytes), (unsigned long long)blocks,
             units_format((double)groups->block_bytes, UNIT_BYTES, block, sizeof block),
             (unsigned long long)length, (unsigned long long)takes, (double)blocks / (double)takes,
             (unsigned long long)kv_groups_tokens(groups, limits, (uint64_t)pool, length));
}
