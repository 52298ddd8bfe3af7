/* What follows from an engine's row and the GPU that it finds. */
#include "server/server_engine.h"

#include <math.h>
#include <string.h>

const char *const server_compile_names[] = {
    [COMPILE_COLD] = "cold",
    [COMPILE_WARM] = "warm",
    [COMPILE_EAGER] = "eager",
    NULL,
};

const struct server_engine_gpus *server_engine_limits(const struct server_engine *engine,
                                                      const struct server_engine_gpu *gpu)
{
    const struct server_engine_gpus *found = engine->gpus;
    for (uint32_t i = 1; i < engine->gpu_count; i++) {
        const struct server_engine_gpus *row = &engine->gpus[i];
        bool fits = row->except == NULL || strstr(gpu->machine, row->except) == NULL;
        found = fits && gpu->bytes >= row->from ? row : found;
    }
    return found;
}

/* The largest batch that is captured: 0 if only the sizes limit it. */
static uint64_t most_captured(const struct server_engine *engine,
                              const struct server_engine_gpu *gpu)
{
    const struct server_engine_gpus *row = server_engine_limits(engine, gpu);
    return gpu->gpus < 4 ? row->graphs : row->graphs_of_4;
}

double server_engine_usable(const struct server_engine *engine, const struct server_engine_gpu *gpu,
                            uint64_t batched_tokens)
{
    const struct server_engine_reserved *by = &engine->reserved;
    if (engine->usable > 0) {
        return engine->usable;
    }
    double reserved = by->fixed + fmax((double)batched_tokens, (double)by->tokens) * by->token +
                      (double)most_captured(engine, gpu) * by->graph + gpu->gpus * by->gpu;
    reserved = gpu->bytes > by->above ? fmax(reserved, by->least) : reserved;
    return fmax(0.001, round((gpu->bytes - reserved) / gpu->bytes * 1000) / 1000);
}

uint32_t server_engine_graph_rows(const struct server_engine *engine,
                                  const struct server_engine_gpu *gpu, uint32_t sequences)
{
    const struct server_engine_sizes *size = engine->sizes, *end = size + engine->size_count;
    while (size < end && sequences > size->to) {
        size++;
    }
    if (size == end) {
        return sequences;
    }
    uint64_t rows = (sequences + size->step - 1) / size->step * size->step;
    uint64_t most = most_captured(engine, gpu);
    rows = most > 0 && rows > most ? most : rows;
    return rows > sequences ? (uint32_t)rows : sequences;
}

/* The number of sizes up to `most`. */
static uint32_t captured_sizes(const struct server_engine *engine, uint64_t most)
{
    uint64_t sizes = 0, from = 0;
    for (uint32_t i = 0; i < engine->size_count && from < most; i++) {
        const struct server_engine_sizes *size = &engine->sizes[i];
        sizes += (most < size->to ? most : size->to) / size->step - from / size->step;
        from = size->to;
    }
    return (uint32_t)sizes;
}

/* Piecewise graphs of all sizes, and full graphs of those that a step of decodes can have. */
uint32_t server_engine_graphs(const struct server_engine *engine, uint64_t sequences,
                              uint64_t batched_tokens)
{
    uint64_t largest = engine->size_count > 0 ? engine->sizes[engine->size_count - 1].to : 0;
    uint64_t most = 2 * sequences < largest ? 2 * sequences : largest;
    most = most < batched_tokens ? most : batched_tokens;
    return captured_sizes(engine, most) +
           captured_sizes(engine, most < sequences ? most : sequences);
}
