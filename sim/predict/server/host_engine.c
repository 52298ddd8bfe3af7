#include "predict/server/host_engine.h"

#include "decode/plan/memory.h"
#include "model/sharding.h"
#include "predict/scenario/engine_memory.h"

#include <math.h>
#include <string.h>

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

static uint32_t parts_of(const struct host_engine *engine, const struct point *server)
{
    return engine->each ? model_gpus(&server->setup.model) : point_joined_ranks(server);
}

double host_engine_typed(const struct host_engine *engine, double bytes, const struct point *server)
{
    double typed = bytes / engine->unit / parts_of(engine, server);
    return engine->whole ? ceil(typed) : typed;
}

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
    if (!kv_groups_plan(model, limits, &groups, ERROR_UNSEEN)) {
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

enum { GIB_BITS = 30 };

double host_part(const struct point *point)
{
    struct setup setup = point->setup; /* of steps alone, an engine that starts leaves as much */
    setup.host_share = point_host_share(point);
    return (double)memory_limit(&setup, NULL, TIER_HOST, TRUST_UNSEEN);
}

const struct host_engine *host_room_engine(const struct point *point)
{
    return host_engine_of(point->setup.system.command, &point->engine);
}

double host_takes(const struct point *point, uint64_t gib)
{
    const struct host_engine *engine = host_room_engine(point);
    const struct kv_limits limits = engine_kv_limits(point);
    double bytes = (double)(gib << GIB_BITS);
    if (engine != NULL && engine->whole && gib > 0) {
        bytes = host_engine_typed(engine, bytes, point) * engine->unit * parts_of(engine, point);
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
