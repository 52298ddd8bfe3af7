/* The keys that a scenario sweeps: where a point stands among them. `sweep` is the scenario's map
 * of key to list; the last key runs fastest. */
#ifndef CLI_RUNS_SWEEP_KEYS_H
#define CLI_RUNS_SWEEP_KEYS_H

#include "base/node.h"

#include <stddef.h>
#include <stdint.h>

/* The last word of a key, or all of it where another one ends alike. The tree's text. */
const char *sweep_key_title(const struct node *sweep, size_t key);

/* The value that a key has at a point, on one line. */
void sweep_point_value(const struct node *sweep, uint32_t key, uint32_t point, char *text,
                       size_t size);

/* What tells a point from others that have the same system, "context 32768, batch 4"; "" where that
 * is all that is swept. `sweep` may be NULL. */
void sweep_point_setting(const struct node *sweep, uint32_t point, char *text, size_t size);

/* Points compare within a group, of which this is the number: those that differ in their system
 * only when systems are swept, else all (0). `sweep` may be NULL. */
size_t sweep_point_group(const struct node *sweep, uint32_t point);

#endif
