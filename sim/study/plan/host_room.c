#include "study/plan/host_room.h"

#include "core/node.h"
#include "decode/plan/memory.h"
#include "model/parallel.h"

#include <inttypes.h>
#include <stdio.h>

/* GPUs of a machine that does not say how many it has, as they are sold; and what the operating
 * system and the engine leave of its memory, assumed. */
enum { USUAL_GPUS = 8, LEFT_PERCENT = 90 };
enum { GIB_BITS = 30 };

uint64_t host_usable(const struct setup *setup)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    return memory_limit(setup, NULL, TIER_HOST, &unseen) / 100 * LEFT_PERCENT;
}

uint64_t host_sharers(const struct setup *setup, uint32_t gpus)
{
    uint64_t there = setup->profile.gpus > 0 ? setup->profile.gpus : USUAL_GPUS;
    return there / gpus > 0 ? there / gpus : 1;
}

uint64_t host_part(const struct point *point)
{
    const struct setup *setup = &point->setup;
    uint64_t servers = point_serves(point) ? point_servers(point) : 1;
    uint32_t gpus = setup->model.tensor_parallel * point_passes(point); /* of a server */
    uint64_t of_machine = host_sharers(setup, gpus);
    return setup->room[TIER_HOST] > 0
               ? setup->room[TIER_HOST]
               : host_usable(setup) / (servers < of_machine ? servers : of_machine);
}

/* The server's engine, or the one that the preset names for it, if it has a flag of the command. */
static const struct server_engine *flag_engine(const struct point *point)
{
    const struct server_engine *engine = &point->workload.engine;
    return host_engine_of(point->setup.system.command, engine) != NULL ? engine
                                                                       : &point->preset_engine;
}

const struct host_engine *host_room_engine(const struct point *point)
{
    return host_engine_of(point->setup.system.command, flag_engine(point));
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
    const struct kv_limits limits =
        kv_limits_of(&flag_engine(point)->groups, point->workload.batched_tokens,
                     point->setup.mechanisms.prefix != PREFIX_NONE);
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

uint64_t host_most_of(const struct point *point, uint64_t bytes)
{
    return host_most_within(point, 0, (bytes >> GIB_BITS) + 1, (double)bytes);
}

uint64_t host_most_gib(const struct point *point)
{
    return host_most_of(point, host_part(point));
}

uint64_t host_least_gib(const struct point *point, const struct serving_memory *memory)
{
    const struct host_engine *engine = host_room_engine(point);
    uint64_t tokens = memory->prefix.gpu_blocks * memory->prefix.block_tokens;
    uint64_t bytes = tokens * serving_token_bytes(&point->setup);
    return engine != NULL && engine->above_gpu ? (bytes >> GIB_BITS) + 1 : 0;
}

bool host_lay(uint64_t gib, struct scenario *scenario, struct error *why)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64 "GiB", gib);
    return node_set(scenario->root, "host_memory", text, why);
}
