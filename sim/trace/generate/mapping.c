/* Target heads are numbered over all layers that share a source layer, and take its heads in
 * turn. */
#include "trace/generate/mapping.h"

struct mapping_source mapping_source(struct mapping_size source, struct mapping_size target,
                                     uint32_t layer, uint32_t head)
{
    uint32_t shared = (uint32_t)((uint64_t)layer * source.layers / target.layers);
    uint32_t first = mapping_first(target.layers, source.layers, shared);
    uint32_t end = mapping_first(target.layers, source.layers, (uint64_t)shared + 1);
    uint64_t number = (uint64_t)(layer - first) * target.kv_heads + head;
    uint64_t all = (uint64_t)(end - first) * target.kv_heads;
    uint32_t read = (uint32_t)(number % source.kv_heads);
    return (struct mapping_source){
        .layer = shared,
        .head = read,
        .reader = number / source.kv_heads,
        .readers = (all - read + source.kv_heads - 1) / source.kv_heads,
    };
}
