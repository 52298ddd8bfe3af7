/* The keys that a scenario sweeps: where a point stands among them. `sweep` is the scenario's map
 * of key to list; the last key runs fastest. */
#pragma once

#include "predict/scenario/scenario.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The last word of a key, or all of it if another one ends with the same word. The text is the tree's. */
const char *sweep_key_title(const struct node *sweep, size_t key);

/* The value that a key has at a point, on one line. */
void sweep_point_value(const struct node *sweep, uint32_t key, uint32_t point, char *text,
                       size_t size);

/* The values of all keys at a point, as a scenario writes them; NULL without a sweep. The caller's. */
json_t *sweep_point_json(const struct node *sweep, uint32_t point);

/* What distinguishes a point of its system: "context 32768, batch 4"; "" if only the system is swept. */
void sweep_point_setting(const struct node *sweep, uint32_t point, char *text, size_t size);

/* The number of a point's group: points are compared where they differ only in system, else all are one. */
size_t sweep_point_group(const struct node *sweep, uint32_t point);
