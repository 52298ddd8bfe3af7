#include "predict/server/host_engine.h"

#include "core/units.h"
#include "decode/plan/memory.h"
#include "model/layer_kind.h"
#include "model/model.h"
#include "model/sharding.h"
#include "predict/scenario/engine_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* ---- what a server may have ---- */

enum { GIB_BITS = 30 };

double host_part(const struct point *point)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    struct setup setup = point->setup; /* of steps alone, an engine that starts leaves as much */
    setup.host_share = point_host_share(point);
    return (double)memory_limit(&setup, NULL, TIER_HOST, &unseen);
}

const struct host_engine *host_room_engine(const struct point *point)
{
    return host_engine_of(point->setup.system.command, &point->engine);
}

double host_typed(const struct point *point, uint64_t gib)
{
    const struct host_engine *engine = host_room_engine(point);
    double bytes = (double)(gib << GIB_BITS);
    return engine != NULL ? host_engine_typed(engine, bytes, model_gpus(&point->setup.model)) : 0;
}

double host_takes(const struct point *point, uint64_t gib)
{
    const struct host_engine *engine = host_room_engine(point);
    const struct kv_limits limits = engine_kv_limits(point);
    double bytes = (double)(gib << GIB_BITS);
    if (engine != NULL && engine->whole && gib > 0) {
        uint32_t gpus = engine->each ? model_gpus(&point->setup.model) : 1;
        bytes = host_typed(point, gib) * engine->unit * gpus;
    }
    return engine != NULL ? host_engine_takes(engine, &point->setup.model, &limits, bytes) : bytes;
}

uint64_t host_most_within(const struct point *point, uint64_t least, uint64_t end, double bytes)
{
    while (least + 1 < end) {
        uint64_t middle = least + (end - least) / 2;
        bool fits = host_takes(point, middle) <= bytes;
        least = fits ? middle : least;
        end = fits ? end : middle;
    }
    return least;
}

uint64_t host_most_gib(const struct point *point)
{
    double bytes = host_part(point);
    return host_most_within(point, 0, ((uint64_t)bytes >> GIB_BITS) + 1, bytes);
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
