#include "scenario/point.h"

#include "decode/time/pipeline.h"
#include "model/parallel.h"
#include "scenario/sources.h"

#include <stdlib.h>
#include <string.h>

void point_init(struct point *point)
{
    memset(point, 0, sizeof *point);
    setup_init(&point->setup);
}

void point_release(struct point *point)
{
    setup_release(&point->setup);
    sources_release(point->sources);
    free(point->scenario);
    free(point->decode_scenario);
    point_init(point);
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

size_t point_curves(const struct point *point, enum curve_id *ids)
{
    const struct mechanisms *m = &point->setup.mechanisms;
    bool serves = point_serves(point);
    const struct pipeline_beside beside = {
        .prompts = serves,
        .copies = serves && (m->prefix == PREFIX_TWO_TIER || m->preemption == PREEMPTION_SWAP),
    };
    return pipeline_curves(&point->setup, beside, ids);
}
