/* The sizes of a batch, which may mix contexts: the key `contexts`.
 *
 *     contexts: [4K, 128K, 128K]        one context per sequence
 *     contexts: {4K: 1, 128K: 2}        number of sequences of each context
 *     contexts: {4K: 25%, 128K: 75%}    share of `batch` of each context
 *
 * The order of a list has no effect, and equal contexts are merged: if all are equal, the batch is
 * the same as with `context`. With `batch: max`, a map is a mixture, and as much of it as fits is
 * taken.
 */
#pragma once

#include "decode/setup.h"
#include "predict/scenario/scenario.h"

#define CONTEXTS_LONGEST ((uint64_t)1 << 32)
#define CONTEXTS_MOST_BATCH ((uint64_t)1 << 20)

/* The scenario's `key`, a name or a map, which must be there; NULL and an error with an example
 * otherwise. */
const struct node *resolve_required(const struct scenario *scenario, const char *key,
                                    const char *example, struct error *why);

/* Read the keys of a setup, and its contexts; after the model and the system. */
bool resolve_size(const struct scenario *scenario, struct setup *out, struct error *why);

/* Replace the keys of the scenario by the resolved `context` or `contexts`. */
bool contexts_put(struct node *root, const struct setup *setup, struct error *why);
