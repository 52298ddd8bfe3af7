/* The mapping from the heads of another model to the heads of a trace or trace profile.
 * traces/FORMAT.md states the rule in words. */
#pragma once

#include <stdint.h>

/* Layers and KV heads of a model. */
struct mapping_size {
    uint32_t layers, kv_heads;
};

/* A source head, and the target head's place among its readers. */
struct mapping_source {
    uint32_t layer, head;
    uint64_t reader, readers; /* reader < readers */
};

struct mapping_source mapping_source(struct mapping_size source, struct mapping_size target,
                                     uint32_t layer, uint32_t head);

/* Item i of `items` goes to floor(i * places / items). This is the first item that goes to `place`
 * or beyond. Target layers are mapped to source layers this way, and sequences of a batch to
 * shifts. */
static inline uint32_t mapping_first(uint64_t items, uint64_t places, uint64_t place)
{
    return (uint32_t)((place * items + places - 1) / places);
}
