/* A batch that mixes contexts: the key `contexts`.
 *
 *     contexts: [4K, 128K, 128K]        one a sequence
 *     contexts: {4K: 1, 128K: 2}        how many sequences have each
 *     contexts: {4K: 25%, 128K: 75%}    which share of `batch` has each
 *
 * The order of a list says nothing, and equal contexts are one: a batch in which all are equal is
 * one of `context`. With `batch: max` a map is a mixture of which as much is taken as fits.
 */
#ifndef SCENARIO_CONTEXTS_H
#define SCENARIO_CONTEXTS_H

#include "base/node.h"
#include "decode/setup.h"

#define CONTEXTS_LONGEST ((uint64_t)1 << 32)
#define CONTEXTS_MOST_BATCH ((uint64_t)1 << 20)

/* Does the scenario say `contexts`? */
bool contexts_said(const struct node *root);

/* Read `contexts`, which is said, into `out->cohorts`, or `out->context` where there is one; and
 * what `batch` (a number, SETUP_BATCH_MAX, or -1 where it is not said) comes to into `out->batch`.
 */
bool contexts_read(const struct node *root, int64_t batch, struct setup *out, struct error *why);

/* The resolved keys `context` or `contexts` in place of what was said. */
bool contexts_put(struct node *root, const struct setup *setup, struct error *why);

#endif
