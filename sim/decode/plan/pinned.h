/* Padding of pinned host memory: the bytes that allocations take beyond the bytes asked for.
 *
 * The driver pins whole pages. PyTorch's caching allocator of pinned memory, from release 1.12 on,
 * first rounds each request up to a power of two (ATen's CachingHostAllocator; pytorch/pytorch
 * issues 95823 and 150517): a layer's K of 5 GiB takes 8 GiB. The mechanism `pinned_rounding` says
 * which of the two a system uses. These pieces are pinned:
 *
 *     KV               K and V of each layer, where the GPU or a copy engine reads them in place
 *     staging          two buffers of K and two of V
 *     streamed index   one for each layer
 *     streamed weights each matrix; if a share is streamed, that share of all matrices' padding
 *
 * Memory that only the CPU reads (the source of a gather, of CPU stores, of attention on the CPU)
 * is not pinned, nor is pageable memory. Their rounding to pages is too small to count.
 */
#ifndef DECODE_PLAN_PINNED_H
#define DECODE_PLAN_PINNED_H

#include "decode/setup.h"

/* Bytes asked for, for one GPU. */
struct pinned_parts {
    double kv;
    double kv_layers; /* layers that `kv` holds */
    double staging;
    double index;
    double index_layers;
};

/* Bytes of padding for these parts and for streamed weights. */
double pinned_padding(const struct setup *setup, const struct pinned_parts *parts);

#endif
