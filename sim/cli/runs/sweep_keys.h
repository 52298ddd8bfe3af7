/* The keys that a scenario sweeps: where a point stands among them. `sweep` is the scenario's map
 * of key to list; the last key runs fastest. */
#pragma once

#include "predict/scenario/scenario.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The last word of a key, or the whole key if another one ends with the same word. The text belongs
 * to the tree. */
const char *sweep_key_title(const struct node *sweep, size_t key);

/* The value that a key has at a point, on one line. */
void sweep_point_value(const struct node *sweep, uint32_t key, uint32_t point, char *text,
                       size_t size);

/* The values of all keys at a point, as a scenario writes them; NULL without a sweep. The caller's. */
json_t *sweep_point_json(const struct node *sweep, uint32_t point);

/* What distinguishes a point from others of the same system: "context 32768, batch 4"; "" if only
 * the system is swept. `sweep` may be NULL. */
void sweep_point_setting(const struct node *sweep, uint32_t point, char *text, size_t size);

/* The number of a point's group; points are compared within their group. If systems are swept, a
 * group holds the points that differ only in system; else all points are one group (0). `sweep` may
 * be NULL. */
size_t sweep_point_group(const struct node *sweep, uint32_t point);

/* ---- how GPUs share a model, as one short text: a sweep over layouts has one column for them ---- */

/* Is it a key of the layout: tensor_parallel, pipeline_parallel, data_parallel, expert_parallel or
 * replicas? */
bool layout_has_key(const char *key);

/* The layout of a point: "tp2 pp2", "dp4 ep4", "tp2 x3" for three replicas, "1 GPU". Only what the
 * scenario says counts, swept or not. */
void layout_name(const struct scenario *scenario, uint32_t point, char *text, size_t size);
