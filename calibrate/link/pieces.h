/* Pieces of KV, scattered over a pool of pinned memory and a pool of the GPU's, as serving engines keep
 * their blocks, and the ways in which engines copy them:
 *
 *   calls    one cudaMemcpyAsync a piece
 *   batch    one cudaMemcpyBatchAsync for all, from toolkit and driver 12.8 on
 *   kernel   a gather (device/gather.h) with 32 KiB in flight a CTA, into a dense row of pieces
 *
 * A piece is one layer's K or V of a block in one layout, all layers of a block in another. No piece
 * is touched again before all others were, so that no cache helps. */
#pragma once

#include "calibrate/link/buffers.h"

#include <vector>

enum pieces_way { PIECES_BY_CALLS, PIECES_BY_BATCH, PIECES_BY_KERNEL, PIECES_WAYS };

#define PIECES_CTAS 32 /* as many as any link needs: 1 MiB in flight */

struct pieces {
    struct link_buffers *buffers;
    size_t bytes;       /* of a piece, a multiple of 16 */
    uint32_t most;      /* pieces in a copy: half of the pool's */
    uint32_t turn = 0;  /* where in the order of places the next copy begins */
    gpu_memory row_ids; /* of the rows of all pieces, in that order; empty: kernels cannot copy */
    std::vector<void *> to; /* of a batch */
    std::vector<const void *> from;
    std::vector<size_t> sizes;

    /* Pieces of `bytes` over the pools of `buffers`, which outlive them. */
    bool create(struct link_buffers *pools, size_t piece_bytes, struct error *why);
    /* Choose the next `count` pieces, at most `most`. */
    void choose(uint32_t count, cudaMemcpyKind kind);
    /* Queue the copy of the chosen pieces; `ctas` is for kernels. */
    bool put(enum pieces_way way, cudaMemcpyKind kind, uint32_t ctas, cudaStream_t stream,
             struct error *why);
    /* Tries a batch. False, with the reason, if toolkit or driver has none. */
    bool can_batch(const gpu_stream *stream, struct error *why);
};
