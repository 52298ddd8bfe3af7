#include "predict/scenario/point.h"

#include "core/array.h"
#include "decode/cost/kernel_time.h"
#include "decode/time/pipeline.h"
#include "model/sharding.h"
#include "predict/scenario/resolve_trace.h"
#include "predict/scenario/sources.h"
#include "server/server_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void point_init(struct point *point)
{
    memset(point, 0, sizeof *point);
    setup_init(&point->setup);
}

void point_close_families(struct point *point)
{
    for (uint32_t i = 0; i < point->family_count; i++) {
        trace_close(point->families[i].trace);
    }
    point->family_count = 0;
}

void point_release(struct point *point)
{
    point_close_families(point);
    setup_release(&point->setup);
    sources_release(point->sources);
    free(point->scenario);
    free(point->decode_scenario);
    point_init(point);
}

uint32_t point_views(const struct point *point)
{
    return point->family_count > 0 ? point->family_count : 1;
}

bool point_view(const struct point *point, uint32_t family, struct point *view, struct error *why)
{
    struct setup *setup = &view->setup;
    *view = *point;
    if (point->family_count == 0) {
        return true;
    }
    view->family_count = 0;
    setup->trace = point->families[family].trace;
    snprintf(setup->trace_name, sizeof setup->trace_name, "%s", point->families[family].name);
    if (setup->cohorts != NULL) {
        setup->cohorts = array_zeroed(setup->cohort_count, sizeof *setup->cohorts, why);
        if (setup->cohorts == NULL) {
            return false;
        }
        memcpy(setup->cohorts, point->setup.cohorts, setup->cohort_count * sizeof *setup->cohorts);
    }
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        setup->cohorts[i].trace = setup->trace;
    }
    resolve_trace_source(setup);
    return true;
}

void point_view_release(const struct point *point, struct point *view)
{
    if (view->setup.cohorts != point->setup.cohorts) {
        free(view->setup.cohorts);
    }
}

bool point_serves(const struct point *point)
{
    return point->workload.path[0] != '\0';
}

uint32_t point_joined_ranks(const struct point *point)
{
    const struct model *model = &point->setup.model;
    return model_shares_experts(model) ? model->parallel.data : 1;
}

uint32_t point_passes(const struct point *point)
{
    return point_joined_ranks(point) * point->setup.model.parallel.pipeline;
}

uint64_t point_servers(const struct point *point)
{
    return point->workload.replicas *
           (point->setup.model.parallel.data / point_joined_ranks(point));
}

bool point_launches(const struct point *point, bool prompts)
{
    return point->workload.compile == COMPILE_EAGER ||
           (prompts && point->engine.path.prompts_launched);
}

size_t point_curves(const struct point *point, enum curve_id *ids)
{
    const struct mechanisms *m = &point->setup.mechanisms;
    bool serves = point_serves(point);
    struct pipeline_beside beside = {
        .prompts = serves,
        .launches = serves && point_launches(point, true),
        .copies = serves && (m->prefix == PREFIX_TWO_TIER || m->preemption == PREEMPTION_SWAP),
    };
    for (int tier = 0; tier < TIER_COUNT; tier++) {
        beside.below[tier] = serves && m->prefix_below[tier] != PREFIX_BELOW_NONE;
        beside.copies = beside.copies || beside.below[tier];
    }
    return pipeline_curves(&point->setup, beside, ids);
}

/* A band stands only under results of the kind that it was made of. */

/* Is the engine older than any that published figures are of? */
static bool is_older(const struct server_engine *engine)
{
    const char *which = engine->stand_in;
    return which != NULL && strcmp(which, "earliest") == 0;
}

/* The published servers on several GPUs divide all matrices among them. Nothing is known of ranks
 * that share experts and wait for each other. What is known of such servers of experts holds for
 * steps of decode, too, which are most of a server's time per token. */
static bool is_tensor_parallel(const struct model *model)
{
    return model_gpus(model) == model->tensor_parallel && model->parallel.experts <= 1;
}

/* The servers that published figures are of: all KV in HBM, prefixes there alone, an engine's own
 * memory and limits, of a version that is known and has published figures, and no other server behind
 * the router. */
static bool is_plain_server(const struct point *point)
{
    const struct mechanisms *mechanisms = &point->setup.mechanisms;
    return !is_older(&point->engine) && point->engine.compared && !mechanisms_offload(mechanisms) &&
           mechanisms->prefix == PREFIX_GPU && point_servers(point) == 1 &&
           is_tensor_parallel(&point->setup.model);
}

static bool take_band(const struct error_band *band, enum band_figure figure,
                      const struct setup *setup, struct point_bands *out)
{
    char machine[ERROR_BAND_MACHINE];
    error_band_machine(setup, machine, sizeof machine);
    out->known[figure] = error_band_stands(band) && error_band_covers(band, machine);
    if (out->known[figure]) {
        error_band_ends(band, out->ends[figure]);
    }
    return out->known[figure];
}

enum band_machines resolve_band_machines(const struct setup *setup)
{
    struct trust unused;
    double rate = kernel_reduce_rate(&setup->profile, 2, &unused);
    return rate >= KERNEL_PCIE_MOST ? BAND_NVLINK : rate > 0 ? BAND_PCIE : BAND_MACHINES_ALL;
}

/* The band of the machine's class; where that does not stand, the one of all machines. */
static void take_server_bands(const struct error_band bands[ERROR_BAND_COUNT], enum band_load load,
                              struct point *out)
{
    const struct setup *setup = &out->setup;
    struct band_server server = {.load = load, .experts = model_is_routed(&setup->model)};
    for (int i = 0; i < BAND_FIGURE_COUNT; i++) {
        server.figure = (enum band_figure)i;
        server.machines = resolve_band_machines(setup);
        if (!take_band(&bands[error_band_of_server(server)], server.figure, setup,
                       &out->bands[load])) {
            server.machines = BAND_MACHINES_ALL;
            take_band(&bands[error_band_of_server(server)], server.figure, setup,
                      &out->bands[load]);
        }
    }
}

/* Drafts; or mixtures of experts, on a machine that published figures are of. */
static void take_missed(const struct error_band bands[ERROR_BAND_COUNT], enum band_load load,
                        struct point *out)
{
    const struct model *model = &out->setup.model;
    bool drafts = out->setup.drafts.count > 0;
    struct band_server server = {.load = load, .experts = true, .figure = BAND_TPOT};
    const struct error_band *band = &bands[drafts ? CLASS_DRAFTS : error_band_of_server(server)];
    char machine[ERROR_BAND_MACHINE];
    error_band_machine(&out->setup, machine, sizeof machine);
    bool experts = model->tensor_parallel > 1 && model_is_routed(model) &&
                   is_tensor_parallel(model) && error_band_covers(band, machine);
    if ((drafts || experts) && band->rows > 0 && band->falls) {
        out->bands[load].missed = *band;
    }
}

bool resolve_bands(struct point *out, struct error *why)
{
    struct error_band bands[ERROR_BAND_COUNT];
    const struct setup *setup = &out->setup;
    bool wide = setup->model.weights == DTYPE_BF16 && setup->model.kv == DTYPE_BF16;
    if (!error_band_load(sources_files(out->sources), bands, why)) {
        return false;
    }
    for (int i = 0; i < BAND_LOADS; i++) {
        enum band_load load = (enum band_load)i;
        take_missed(bands, load, out);
        if (wide && point_serves(out) && is_plain_server(out)) {
            take_server_bands(bands, load, out);
        }
    }
    if (!point_serves(out)) {
        const struct error_band *timed = &bands[system_class_of(setup)];
        if (wide && error_band_covers_system(timed, error_band_system(setup))) {
            take_band(timed, BAND_RATE, setup, &out->bands[BAND_LOW]);
        }
    }
    return true;
}
