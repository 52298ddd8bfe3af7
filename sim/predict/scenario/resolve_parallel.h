/* The keys that say how GPUs share a model (model/parallel.h). */
#pragma once

#include "core/node.h"
#include "decode/setup.h"

/* What each key costs, for people; ends with an empty row. */
struct parallel_key {
    const char *name, *standard, *costs;
};
extern const struct parallel_key parallel_keys[];

/* The values of `expert_exchange`, up to a NULL. */
extern const char *const parallel_exchanges[];

/* Read the keys; what the model allows is checked when it is loaded and shared. */
bool resolve_parallel(const struct node *root, uint32_t *tensor, struct model_parallel *out,
                      struct error *why);

/* Fail if the machine has fewer GPUs, or the system does what GPUs cannot share. */
bool parallel_check(const struct node *root, const struct setup *setup, struct error *why);

/* Write all of them but tensor_parallel into the resolved scenario. */
bool parallel_put(struct node *all, const struct model_parallel *parallel, struct error *why);
