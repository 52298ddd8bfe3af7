#include "predict/server/serving_pieces.h"

#include "machine/places.h"
#include "model/sharding.h"
#include "predict/server/serving_memory.h"

#include <math.h>

const struct server_connector *serving_connector(const struct point *point)
{
    return server_engine_connector(&point->engine, point->setup.system.connector);
}

void serving_pieces_waits(const struct point *point, struct server_options *out)
{
    const struct setup *setup = &point->setup;
    const struct server_connector *connector = serving_connector(point);
    bool by_layers = setup->mechanisms.prefix_load == PREFIX_LOAD_LAYERS;
    bool in_step = setup->mechanisms.prefix_load == PREFIX_LOAD_STEP;
    out->layers = by_layers ? setup->model.layer_count : in_step;
    out->layered_tiers = by_layers; /* what a pool or drives have is prefetched before */
    out->step_saves = setup->mechanisms.prefix_save == PREFIX_SAVE_STEP;
    if (connector != NULL) {
        out->step_takes =
            connector->frees_early || setup->mechanisms.prefix_write == PREFIX_WRITE_EVICT;
        out->one_stream = connector->one_stream;
        out->lookup = connector->lookup;
        out->lookup.request_ns += setup->model.tensor_parallel > 1
                                      ? (int64_t)setup->model.tensor_parallel * out->lookup.gpu_ns
                                      : 0;
        out->load_steps = connector->steps > 1 ? connector->steps - 1 : 0;
        out->idle_step_ns = (int64_t)setup->mechanisms.step_overhead;
        out->step_ns = setup->model.tensor_parallel > 1 ? (double)connector->step_ns : 0;
    }
}

/* Layers that keep something of every token; others keep a state. */
static double count_kept(const struct model *model)
{
    double count = 0;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        enum attention_kind kind = model->layers[layer].attention;
        count += kind != ATTENTION_LINEAR && kind != ATTENTION_NONE;
    }
    return fmax(1, count);
}

/* Latents have no halves. */
static bool has_latents(const struct model *model)
{
    bool some = false;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        some = some || model->layers[layer].attention == ATTENTION_MLA;
    }
    return some;
}

/* Pieces of a unit of so many tokens, on one GPU. */
static double count_pieces(const struct point *point, enum connector_pieces pieces, double tokens)
{
    const struct model *model = &point->setup.model;
    double blocks = fmax(1, tokens / (double)point->setup.mechanisms.prefix_block);
    double layers = count_kept(model) / model->parallel.pipeline;
    double halves = has_latents(model) ? 1 : 2;
    switch (pieces) {
    case PIECES_UNIT:
        return 1;
    case PIECES_BLOCK:
        return blocks;
    case PIECES_LAYER:
        return blocks * layers;
    case PIECES_HALF:
        return blocks * layers * halves;
    case PIECES_ROW:
        return tokens * layers * halves;
    }
    return 1;
}

static enum connector_pieces layout_of(const struct point *point,
                                       const struct server_connector *connector,
                                       const struct connector_way *way)
{
    const struct model *model = &point->setup.model;
    if (connector->latents != PIECES_UNIT && has_latents(model)) {
        return connector->latents;
    }
    bool dense = connector->dense != PIECES_UNIT && !model_is_routed(model);
    return dense ? connector->dense : way->pieces;
}

/* By how much longer it takes to move `bytes` in pieces than at the link's rate, in ns: a copy engine, than
 * in pieces so large that they fill the link on which they were timed; a kernel, than at `link`. */
static double slower_ns(const struct profile *profile, enum connector_mover by, bool saved,
                        double bytes, double pieces, double link, struct trust *trust)
{
    static const double large = 1e12;
    static const enum curve_id rates[][2] = {
        [MOVER_CALLS] = {CURVE_LINK_CALLS_IN, CURVE_LINK_CALLS_OUT},
        [MOVER_BATCH] = {CURVE_LINK_BATCH_IN, CURVE_LINK_BATCH_OUT},
        [MOVER_KERNEL] = {CURVE_LINK_KERNEL_IN, CURVE_LINK_KERNEL_OUT},
    };
    enum curve_id curve = rates[by][saved];
    if (!profile_states(profile, curve)) {
        return 0;
    }
    double full = by == MOVER_KERNEL ? link : profile_value(profile, curve, large, trust);
    return fmax(0, bytes * 1e9 / profile_value(profile, curve, bytes / pieces, trust) -
                       bytes * 1e9 / full);
}

/* The CPU's time for each piece of a large copy, in ns. A kernel takes them all. */
static double piece_cpu_ns(const struct profile *profile, enum connector_mover by,
                           struct trust *trust)
{
    enum { MANY = 512 };
    if (by == MOVER_CALLS) {
        return profile_states(profile, CURVE_HOST_COPY_CALL)
                   ? profile_value(profile, CURVE_HOST_COPY_CALL, 0, trust)
                   : 0;
    }
    return by == MOVER_BATCH && profile_states(profile, CURVE_HOST_BATCH_CALL)
               ? profile_value(profile, CURVE_HOST_BATCH_CALL, MANY, trust) / MANY
               : 0;
}

struct copy_times serving_pieces_times(const struct point *point,
                                       const struct server_connector *connector, bool saved,
                                       struct trust *trust)
{
    const struct setup *setup = &point->setup;
    const struct mechanisms *m = &setup->mechanisms;
    const struct profile *profile = &setup->profile;
    const struct connector_way *way = saved ? &connector->save : &connector->load;
    double tokens = (double)(m->prefix_unit > 0 ? m->prefix_unit : m->prefix_block);
    double bytes = tokens * (double)serving_token_bytes(setup) / model_gpus(&setup->model);
    double pieces = count_pieces(point, layout_of(point, connector, way), tokens);
    enum connector_mover by = bytes / pieces < way->kernel_below ? MOVER_KERNEL : way->by;
    if (!way_stated(profile, WAY_IN)) {
        return (struct copy_times){.unit = 0};
    }
    double link = way_rate(profile, saved ? WAY_OUT : WAY_IN, BY_ENGINE, bytes, trust);
    return (struct copy_times){
        .unit = slower_ns(profile, by, saved, bytes, pieces, link, trust) + (double)way->unit_ns,
        .cpu = connector->calls_first ? pieces * piece_cpu_ns(profile, by, trust) : 0,
    };
}
