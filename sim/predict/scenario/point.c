#include "predict/scenario/point.h"

#include "decode/mechanism_values.h"
#include "decode/time/engine_step.h"
#include "model/sharding.h"
#include "predict/scenario/resolve.h"

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

bool point_is_ensemble(const struct point *point)
{
    return point->family_count > 1 && point->families[0].trace != point->families[1].trace;
}

uint32_t point_views(const struct point *point)
{
    return point->family_count > 0 ? point->family_count : 1;
}

bool point_view(const struct point *point, uint32_t family, struct point *view, struct error *why)
{
    struct setup *setup = &view->setup;
    *view = *point;
    view->family_count = 0;
    if (setup->cohorts != NULL) {
        setup->cohorts = array_zeroed(setup->cohort_count, sizeof *setup->cohorts, why);
        if (setup->cohorts == NULL) {
            return false;
        }
        memcpy(setup->cohorts, point->setup.cohorts, setup->cohort_count * sizeof *setup->cohorts);
    }
    struct model *model = &setup->model;
    if (model->importance_drawn || model->queries_drawn) {
        model->importance = model->importance_drawn ? NULL : model->importance;
        model->query_importance = model->queries_drawn ? NULL : model->query_importance;
        if (!model_draw_importance(sources_files(point->sources), setup->seed, family,
                                   model->queries_drawn, model, why)) {
            free(setup->cohorts);
            return false;
        }
    }
    const struct point_family *of = &point->families[family];
    if (point_is_ensemble(point)) {
        setup->trace = of->trace;
        snprintf(setup->trace_name, sizeof setup->trace_name, "%s", of->name);
        for (uint32_t i = 0; i < setup->cohort_count; i++) {
            setup->cohorts[i].trace = setup->trace;
        }
        resolve_trace_source(setup);
    }
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        if (setup->cohorts[i].trace != setup->trace) {
            trace_hold(setup->cohorts[i].trace);
        }
    }
    trace_hold(setup->trace);
    return true;
}

void point_view_release(struct point *view)
{
    struct model *model = &view->setup.model;
    free(model->importance_drawn ? model->importance : NULL);
    free(model->queries_drawn ? model->query_importance : NULL);
    setup_close_traces(&view->setup);
    free(view->setup.cohorts);
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

uint64_t point_taken_tokens(const struct point *point)
{
    uint64_t trained = point->setup.model.trained_context;
    bool cut = point->engine.row != NULL && trained < point->requests->drawn.tokens;
    return point->workload.request_tokens > 0 ? point->workload.request_tokens : cut ? trained : 0;
}

uint64_t point_machine_gpus(const struct point *point)
{
    enum { USUAL = 8 };
    return point->setup.profile.gpus > 0 ? point->setup.profile.gpus : USUAL;
}

uint64_t point_sharers(const struct point *point, bool stated)
{
    uint64_t servers = point_servers(point), ranks = servers / point->workload.replicas;
    uint64_t gpus = point->setup.model.tensor_parallel * point_passes(point); /* of a server */
    uint64_t fit = point_machine_gpus(point) / gpus;
    uint64_t together = servers < fit ? servers : fit;
    return stated || together < ranks ? ranks : together;
}

double point_host_share(const struct point *point)
{
    bool stated = point->setup.room[TIER_HOST] > 0;
    double sharers = point_serves(point) ? (double)point_sharers(point, stated) : 1;
    return (stated ? 1 : POINT_HOST_PERCENT / 100.0) / sharers;
}

bool point_launches_prompts(const struct point *point)
{
    return point->workload.compile == COMPILE_EAGER || point->engine.path.prompts_launched;
}

size_t point_curves(const struct point *point, enum curve_id *ids)
{
    const struct mechanisms *m = point->setup.mechanisms;
    const struct setup *setup = &point->setup;
    bool serves = point_serves(point);
    struct pipeline_beside beside = {
        .prompts = serves,
        .launches =
            (serves && point_launches_prompts(point)) ||
            (setup->engine.runs &&
             engine_step_launched(setup, serves ? point->workload.sequences : setup->batch)),
        .copies = serves && mechanisms_host_prefixes(m),
    };
    for (int tier = 0; tier < TIER_COUNT; tier++) {
        beside.below[tier] = serves && m->prefix_below[tier] != PREFIX_BELOW_NONE;
        beside.copies = beside.copies || beside.below[tier];
    }
    return pipeline_curves(&point->setup, beside, ids);
}

static bool keeps_prefixes_outside(const struct point *point)
{
    const struct mechanisms *m = point->setup.mechanisms;
    bool outside = m->prefix != PREFIX_GPU && m->prefix != PREFIX_NONE;
    for (int tier = 0; tier < TIER_COUNT; tier++) {
        outside = outside || m->prefix_below[tier] != PREFIX_BELOW_NONE;
    }
    return outside;
}

/* Of ranks that share experts TensorRT-LLM's alone were measured. */
static bool are_unmeasured_ranks(const struct point *point)
{
    const char *of = point->engine.errors_of;
    return of != NULL && strcmp(of, "server") == 0 && point_joined_ranks(point) > 1;
}

/* The servers that measured ones are like: an engine of a known version, weights and KV in HBM, no drafts. A
 * step in such an engine is one of such a server; tiers of prefixes change a server alone. */
static bool is_known_server(const struct point *point)
{
    const struct mechanisms *mechanisms = point->setup.mechanisms;
    const struct server_engine *engine = &point->engine;
    bool older = engine->stand_in != NULL && strcmp(engine->stand_in, "earliest") == 0;
    return engine->errors_of != NULL && !older && !mechanisms_offload(mechanisms) &&
           !mechanisms_select(mechanisms) && !mechanisms_stream_weights(mechanisms) &&
           point->setup.drafts.count == 0 && !are_unmeasured_ranks(point) &&
           (point_serves(point) || !keeps_prefixes_outside(point));
}

void point_error_class(const struct point *point, enum band_load load, char out[ERROR_BAND_NAME])
{
    if (is_known_server(point)) {
        const char *kind = keeps_prefixes_outside(point)          ? "tiered"
                           : model_is_routed(&point->setup.model) ? "MoE"
                                                                  : "dense";
        snprintf(out, ERROR_BAND_NAME, "%s%s %s", load == BAND_SATURATED ? "saturated " : "", kind,
                 point->engine.errors_of);
    } else if (point_serves(point) || are_unmeasured_ranks(point)) {
        snprintf(out, ERROR_BAND_NAME, "other server");
    } else {
        snprintf(out, ERROR_BAND_NAME, "%s", error_band_classes[system_class_of(&point->setup)]);
    }
}

/* Of systems the rate of decode is known, with values of 16 bits, and only of those that were measured. */
static bool take_system_band(const struct node *file, struct point *out, struct error *why)
{
    const struct setup *setup = &out->setup;
    struct error_band *rate = &out->bands[BAND_LOW].figure[BAND_RATE];
    bool wide = setup->model.weights == DTYPE_BF16 && setup->model.kv == DTYPE_BF16;
    if (!error_band_read(file, "system", rate, why)) {
        return false;
    }
    if (!wide || rate->systems == NULL || !name_listed(rate->systems, error_band_system(setup))) {
        *rate = (struct error_band){0};
    }
    return true;
}

static bool take_server_bands(const struct node *file, enum band_load load, struct point *out,
                              struct error *why)
{
    char class[ERROR_BAND_NAME], name[ERROR_BAND_NAME];
    bool good = true;
    point_error_class(out, load, class);
    const char *kind = strcmp(class, "dense server") == 0 ? "dense" : "other";
    bool rate_alone =
        strcmp(out->engine.errors_of, "server") != 0; /* TensorRT-LLM: no others measured */
    for (int i = 0; good && i < BAND_FIGURE_COUNT; i++) {
        if (i != BAND_RATE && (rate_alone || (i == BAND_TTFT && load == BAND_SATURATED))) {
            continue; /* a saturated server's TTFT is the length of its queue */
        }
        struct error_band *band = &out->bands[load].figure[i];
        double measured = out->workload.measured[i];
        snprintf(name, sizeof name, "%s %s", kind, band_figure_names[i]);
        good = error_band_read(file, name, band, why);
        if (good && band->figures > 0 && measured > 0) {
            good = error_band_know(file, measured, band, why);
        }
    }
    return good;
}

bool resolve_bands(struct point *out, struct error *why)
{
    struct files *files = sources_files(out->sources);
    const struct node *file = error_bands_open(files, why);
    bool good = file != NULL;
    if (good && is_known_server(out)) {
        good = take_server_bands(file, BAND_LOW, out, why) &&
               take_server_bands(file, BAND_SATURATED, out, why);
    } else if (good && !point_serves(out) && !are_unmeasured_ranks(out)) {
        good = take_system_band(file, out, why);
    }
    files_drop(files, file);
    return good;
}
