#include "decode/replay/replay_fields.h"

#include <assert.h>
#include <xxhash.h>

static_assert(sizeof(struct replay_plan) == 248, "every field is part of the key");

static uint64_t replay_fields_rows(const struct replay_plan *plan)
{
    size_t steps = (size_t)plan->warmup + plan->steps + 1;
    return plan->rows == NULL ? 0 : XXH64(plan->rows, steps * sizeof *plan->rows, 0);
}

struct replay_fields replay_fields(const struct replay_plan *plan)
{
    struct replay_fields fields = {
        .shares = {plan->selection, plan->margin, plan->capacity, plan->manager_unit},
        .numbers =
            {
                plan->layers,
                plan->kv_heads,
                plan->batch,
                plan->context,
                (uint64_t)plan->order,
                plan->sinks,
                plan->recent,
                plan->warmup,
                plan->steps,
                plan->whole_layers,
                plan->speculates,
                plan->recomputed,
                plan->seed,
                plan->cpu_threads,
                (uint64_t)plan->block_span,
                plan->block_candidates,
                plan->recent_scales,
                plan->starts_full,
                plan->asks_recorded,
                plan->before,
                plan->behind,
                plan->rows != NULL ? plan->queries : 1,
                plan->rejected_before,
                replay_fields_rows(plan),
            },
    };
    for (uint32_t i = 0; i < REPLAY_ASKS; i++) {
        const struct retrieval_error *error = &plan->errors[i];
        fields.errors[i][0] = error->page;
        fields.errors[i][1] = error->noise;
        fields.errors[i][2] = error->lasting;
    }
    return fields;
}
