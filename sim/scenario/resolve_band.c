/* A band stands only under results of the kind that it was made of. */
#include "scenario/resolve_band.h"

#include "model/parallel.h"
#include "scenario/sources.h"

#include <stdio.h>
#include <string.h>

/* Is the engine older than any that published figures are of? */
static bool is_older(const struct workload *workload)
{
    struct server_engine_version engine = {.id = (enum server_engine_id)workload->engine};
    snprintf(engine.name, sizeof engine.name, "%s", workload->engine_name);
    const char *which = server_engine_stand_in(&engine);
    return which != NULL && strcmp(which, "earliest") == 0;
}

/* The servers that published figures are of: all KV in HBM, prefixes there alone, an engine's own
 * memory and limits, of a version that is known, and no other server behind the router. No figure
 * is of TensorRT-LLM. */
static bool is_plain_server(const struct point *point)
{
    const struct mechanisms *mechanisms = &point->setup.mechanisms;
    return !is_older(&point->workload) && point->workload.engine != SERVER_ENGINE_TENSORRT_LLM_10 &&
           point->workload.engine != SERVER_ENGINE_NONE && !mechanisms_offload(mechanisms) &&
           mechanisms->prefix == PREFIX_GPU && point_servers(point) == 1;
}

static void take_band(const struct error_band *band, enum band_figure figure, struct point *out)
{
    char machine[ERROR_BAND_MACHINE];
    error_band_machine(&out->setup, machine, sizeof machine);
    out->band_known[figure] = error_band_stands(band) && error_band_covers(band, machine);
    if (out->band_known[figure]) {
        error_band_ends(band, out->band[figure]);
    }
}

/* Drafts; or mixtures of experts that several GPUs share, as in the published servers: what is known
 * of their errors holds for steps of decode, too, which are most of a server's time per token. */
static void take_missed(const struct error_band bands[ERROR_BAND_COUNT], struct point *out)
{
    const struct model *model = &out->setup.model;
    bool drafts = out->setup.drafts.count > 0;
    bool experts = model_is_routed(model) && model_gpus(model) > 1;
    const struct error_band *band =
        &bands[drafts ? CLASS_DRAFTS : error_band_of_server(true, BAND_TPOT)];
    if ((drafts || experts) && band->rows > 0 && band->falls) {
        out->missed = *band;
    }
}

bool resolve_bands(struct point *out, struct error *why)
{
    struct error_band bands[ERROR_BAND_COUNT];
    const struct model *model = &out->setup.model;
    if (!error_band_load(sources_files(out->sources), bands, why)) {
        return false;
    }
    take_missed(bands, out);
    if (model->weights != DTYPE_BF16 || model->kv != DTYPE_BF16) {
        return true;
    }
    if (!point_serves(out)) {
        take_band(&bands[system_class_of(&out->setup)], BAND_RATE, out);
    } else if (is_plain_server(out)) {
        for (int i = 0; i < BAND_FIGURE_COUNT; i++) {
            enum band_figure figure = (enum band_figure)i;
            take_band(&bands[error_band_of_server(model_is_routed(model), figure)], figure, out);
        }
    }
    return true;
}
