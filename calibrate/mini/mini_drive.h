/* KV of a miniature on a drive: a scratch file (disk/scratch.h) that holds all layers' rows, one
 * block of MINIATURE_DISK_BLOCK tokens of a head after the other. A block has its keys and then its
 * values, and begins a page.
 *
 *     layer 0: head 0: | keys 0-7 | values 0-7 | keys 8-15 | ...
 *
 * A layer is read whole in pieces of DISK_PIECE. A fetch reads each block of which a row is missed
 * once, past the page cache, READS_DEPTH at a time, as decode/cost/cost.h predicts.
 */
#pragma once

#include "calibrate/disk/groups.h"
#include "calibrate/disk/reads.h"
#include "calibrate/mini/mini.h"

struct mini_drive;

/* Write the KV of all layers, which is at hand, to a scratch file in `folder`. Fails where that
 * would take more than a quarter of the room that is free. */
struct mini_drive *mini_drive_create(const struct mini *mini, const char *folder,
                                     struct error *why);
void mini_drive_destroy(struct mini_drive *drive); /* accepts NULL */

/* Read a whole layer, in pieces, into one of two buffers. In it, the key of a row lies at row
 * mini_drive_place(), and its value MINIATURE_DISK_BLOCK rows behind. */
bool mini_drive_stream(struct mini_drive *drive, uint32_t layer, uint32_t buffer,
                       struct error *why);
const char *mini_drive_streamed(const struct mini_drive *drive, uint32_t buffer);
uint32_t mini_drive_place(const struct mini_drive *drive, uint32_t row);

/* The scratch file, of which a probe may read (disk/groups.h). */
const struct scratch *mini_drive_scratch(const struct mini_drive *drive);

/* Bytes of a block. */
size_t mini_drive_block(const struct mini *mini);

/* Read the blocks of the key rows [count] of a layer. */
bool mini_drive_read(struct mini_drive *drive, uint32_t layer, const uint32_t *rows, uint32_t count,
                     struct error *why);

uint32_t mini_drive_asked(const struct mini_drive *drive); /* blocks that were read last */

/* Where the key of a row lies that was read; its value lies mini_drive_values() bytes behind. */
const char *mini_drive_key(const struct mini_drive *drive, uint32_t row);
size_t mini_drive_values(const struct mini_drive *drive);
