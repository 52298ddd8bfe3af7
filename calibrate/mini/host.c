/* The runtime of a host: one pool stands for the GPU, another for its copy engine. */
#include "core/array.h"
#include "calibrate/mini/mini.h"

#include <stdlib.h>

struct host {
    struct mini *mini;
    uint32_t turn; /* of the copies' layers */
};

static void *mini_host_create(struct mini *mini, struct error *why)
{
    struct host *host = array_zeroed(1, sizeof *host, why);
    if (host != NULL) {
        host->mini = mini;
    }
    return host;
}

static bool mini_host_start(void *runtime, enum miniature_id id, const struct policy_env *env,
                            struct error *why)
{
    struct host *host = runtime;
    return mini_start(host->mini, id, env, why);
}

static bool mini_host_play(void *runtime, enum miniature_id id, double *ns,
                           struct mini_counts *counts, struct error *why)
{
    struct host *host = runtime;
    (void)why;
    mini_play(host->mini, id, ns, counts);
    return true;
}

static uint32_t mini_host_next_layer(struct host *host)
{
    return host->turn++ % host->mini->shape.layers;
}

static bool sample_copy_whole(void *runtime, double *value, struct error *why)
{
    struct host *host = runtime;
    (void)why;
    *value = mini_copy_whole(host->mini, mini_host_next_layer(host));
    return true;
}

static bool sample_copy_rows(void *runtime, double *value, struct error *why)
{
    struct host *host = runtime;
    (void)why;
    *value = mini_copy_rows(host->mini, mini_host_next_layer(host));
    return true;
}

static bool sample_attend_whole(void *runtime, double *value, struct error *why)
{
    struct host *host = runtime;
    (void)why;
    *value = mini_attend_whole(host->mini, mini_host_next_layer(host));
    return true;
}

static const struct mini_stand_in stand_ins[] = {
    {"copies_whole", UNIT_BYTES_PER_S, sample_copy_whole},
    {"copies_rows", UNIT_BYTES_PER_S, sample_copy_rows},
    {"attends_whole", UNIT_BYTES_PER_S, sample_attend_whole},
};

const struct mini_runtime mini_host_runtime = {
    .create = mini_host_create,
    .destroy = free,
    .start = mini_host_start,
    .play = mini_host_play,
    .stand_ins = stand_ins,
    .stand_in_count = sizeof stand_ins / sizeof *stand_ins,
};
