/* The layers of a scenario: its files, one after the other, and then all --set overrides.
 *
 * A later layer replaces an earlier one, whether it sets a key or sweeps it. Within one layer a key
 * is either set or swept. If a layer sweeps maps that all set a key, no later layer may set that
 * key, unless it sweeps the maps anew. A swept machine or map leaves other keys inside it as they
 * are.
 */
#pragma once

#include "core/node.h"

/* Fail if `layer`, with its names opened, both sets a key and sweeps it. An empty value among the
 * swept ones is allowed: it stands for the value that is set. */
bool layer_check(const struct node *layer, struct error *why);

/* Remove the keys that `layer` sets from the sweep of `root`, which has the earlier layers. Fails
 * if `layer` sets a key that all maps of a sweep set, and does not sweep these maps anew. */
bool layer_end_sweeps(struct node *root, const struct node *layer, struct error *why);
