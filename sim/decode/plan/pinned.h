/* What pinned allocations of host memory take beyond what was asked for.
 *
 * The driver pins whole pages. PyTorch's caching allocator of pinned memory, from release 1.12 on,
 * first rounds each request up to a power of two (ATen's CachingHostAllocator; pytorch/pytorch
 * issues 95823 and 150517): a layer's K of 5 GiB takes 8 GiB. Which of both a system has is a
 * mechanism; here is which of its memory is pinned, and in what pieces:
 *
 *     KV               K and V of each layer, where the GPU or a copy engine reads them in place
 *     staging          two buffers of K and two of V
 *     streamed index   one for each layer
 *     streamed weights each matrix; of a share that is streamed, that share of all matrices
 *
 * Memory that only the CPU reads (a gather's source, CPU stores, attention there) is not pinned,
 * nor is pageable memory: the kernel's pages are lost in the rounding of any figure.
 */
#ifndef DECODE_PLAN_PINNED_H
#define DECODE_PLAN_PINNED_H

#include "decode/setup.h"

/* Bytes asked for on behalf of one GPU. */
struct pinned_parts {
    double kv;
    double kv_layers; /* that it is of */
    double staging;
    double index;
    double index_layers;
};

/* Bytes beyond them and beyond the streamed weights. */
double pinned_padding(const struct setup *setup, const struct pinned_parts *parts);

#endif
