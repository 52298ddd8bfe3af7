/* What a drive reads for KV and weights that lie on it, and how fast.
 *
 * Whole layers and weights lie in a row and are read in pieces of DISK_PIECE. A selection is
 * scattered. Blocks of `disk_block` tokens of a head lie together; a block is read if one of its
 * tokens is missed, in whole pages:
 *
 *     head   | block | block | block | block |        tokens missed: x
 *              x  x            x                      read: the first and the third
 *
 * Missed entries (of `retrieval_tokens`) are taken to lie anywhere, each independently of the
 * others. So if a share q of a head's tokens is missed and a block has n entries, 1 - (1 - q)^n of
 * all blocks are read, and with q = 1 all. Neighbours that are wanted together need fewer: the sets of
 * a tenth of smollm2-135m's recording lie in 42 % of all blocks of 8 tokens, not in 57 %; what an LRU
 * of 30 % misses of them, in 12 % fewer blocks than this says.
 */
#ifndef DECODE_COST_DISK_READS_H
#define DECODE_COST_DISK_READS_H

#include "decode/setup.h"

enum { DISK_PIECE = 1 << 20, DISK_PAGE = 4096 };

/* Bytes of a read of KV that a query asks for. */
double disk_block_bytes(const struct setup *setup);

/* Bytes read so that `missed` of the `all` tokens outside HBM, both over a number of heads, are in
 * host memory. Those on the disk are missed as often as the others. */
double disk_selection_bytes(const struct setup *setup, double missed, double all);

/* Bytes a second that one GPU gets of the server's drives, all its GPUs at the same time, in reads
 * or writes of `block` bytes. The functions lower `trust` to that of the figures they read. */
double disk_read_rate(const struct setup *setup, double block, struct trust *trust);
double disk_write_rate(const struct setup *setup, double block, struct trust *trust);

#endif
