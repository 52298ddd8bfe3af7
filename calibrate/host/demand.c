#include "calibrate/host/demand.h"

#include "core/array.h"
#include "core/named.h"

#include <stdlib.h>

enum { HEADS = DEMAND_LAYERS * DEMAND_HEADS };

static const struct miniature standard = {
    .layers = DEMAND_LAYERS,
    .kv_heads = DEMAND_HEADS,
    .selection = 0.1,
    .capacity = 0.3,
    .warmup = 16,
    .steps = 4,
};

static bool host_demand_read_heads(struct recording *recording, const struct trace *trace,
                                   struct error *why)
{
    bool good = true;
    for (uint32_t layer = 0; good && layer < DEMAND_LAYERS; layer++) {
        good = mini_heads_read(&recording->shape, trace, layer,
                               recording->heads + (size_t)layer * DEMAND_HEADS, why);
    }
    return good;
}

bool recording_init(struct recording *recording, uint32_t units, struct error *why)
{
    char path[4096];
    *recording = (struct recording){.shape = standard};
    struct trace *trace = named_file(&named_trace, DEMAND_TRACE, NULL, 0, path, sizeof path, why)
                              ? trace_open(path, why)
                              : NULL;
    if (trace == NULL) {
        return false;
    }
    uint32_t recorded = trace_header(trace)->units;
    recording->shape.repeat = (units + recorded - 1) / recorded;
    recording->shape.context = (uint64_t)recording->shape.repeat * recorded;
    recording->env = mini_env(&recording->shape, trace);
    recording->heads = array_zeroed(HEADS, sizeof *recording->heads, why);
    bool good = recording->heads != NULL && host_demand_read_heads(recording, trace, why);
    if (good) {
        recording->wanted = mini_head_demand(&recording->heads[0], 0)->count;
    }
    trace_close(trace);
    return good;
}

void recording_release(struct recording *recording)
{
    for (uint32_t h = 0; recording->heads != NULL && h < HEADS; h++) {
        mini_head_release(&recording->heads[h]);
    }
    free(recording->heads);
    *recording = (struct recording){.heads = NULL};
}

bool recording_start(struct recording *recording, const struct policy_kind *kind, struct error *why)
{
    bool good = true;
    for (uint32_t h = 0; good && h < HEADS; h++) {
        good = mini_head_start(&recording->heads[h], kind, &recording->env, why);
    }
    return good;
}

void recording_list(const struct recording *recording, uint32_t head, uint32_t *tokens)
{
    const struct mini_head *from = &recording->heads[head];
    for (uint32_t i = 0; i < recording->wanted; i++) {
        tokens[i] = mini_head_demand(from, 0)->ordered[i] - from->first;
    }
}
