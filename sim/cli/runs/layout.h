/* How GPUs share a model, as one short text: a sweep over layouts then has one column for them. */
#ifndef CLI_RUNS_LAYOUT_H
#define CLI_RUNS_LAYOUT_H

#include "scenario/scenario.h"

/* Is it a key of the layout: tensor_parallel, pipeline_parallel, data_parallel, expert_parallel or
 * replicas? */
bool layout_has_key(const char *key);

/* The layout of a point: "tp2 pp2", "dp4 ep4", "tp2 x3" for three replicas, "1 GPU". Only what the
 * scenario says counts, swept or not. */
void layout_name(const struct scenario *scenario, uint32_t point, char *text, size_t size);

#endif
