/* A scenario's layers: its files, one after the other, and then all that --set says.
 *
 * A later layer holds over an earlier one, whether that says a key or sweeps it. Inside one layer a
 * key is either said or swept; of maps that are swept, one that each of them has, which no later
 * layer says either, unless it sweeps the maps anew. A swept machine, or a map, leaves alone what
 * else is said inside it.
 */
#ifndef SCENARIO_SCENARIO_LAYERS_H
#define SCENARIO_SCENARIO_LAYERS_H

#include "base/node.h"

/* Fail where `layer`, with its names opened, both says a key and sweeps it; one that is swept over
 * an empty value among others has that one from what is said. */
bool layer_check(const struct node *layer, struct error *why);

/* Take out of the sweep of `root`, the layers before, what `layer` says. Fails where it says what
 * is swept inside of maps that all say it, and does not sweep these anew. */
bool layer_end_sweeps(struct node *root, const struct node *layer, struct error *why);

#endif
