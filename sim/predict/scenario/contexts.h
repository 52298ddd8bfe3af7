/* A batch that mixes contexts: the key `contexts`.
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

#include "core/node.h"
#include "decode/setup.h"

#define CONTEXTS_LONGEST ((uint64_t)1 << 32)
#define CONTEXTS_MOST_BATCH ((uint64_t)1 << 20)

/* Does the scenario set `contexts`? */
bool contexts_text(const struct node *root);

/* Read `contexts`, which must be set, into `out->cohorts`, or into `out->context` if there is only
 * one. `batch` is a number, SETUP_BATCH_MAX, or -1 if the scenario does not set it; the resulting
 * batch is `out->batch`. */
bool contexts_read(const struct node *root, int64_t batch, struct setup *out, struct error *why);

/* Replace the keys of the scenario by the resolved `context` or `contexts`. */
bool contexts_put(struct node *root, const struct setup *setup, struct error *why);
