/* Replay of one source layer: its caches, and their rows in the target layers that read it.
 * replay_layer() plays caches of tokens, replay_blocks() caches of blocks. */
#pragma once

#include "decode/replay/replay_job.h"

/* Replay source layer `index`: an item of parallel_for() over a struct replay_job. Writes only its
 * own totals and the rows of the target layers that read it. */
bool replay_layer(uint32_t index, uint32_t thread, void *context, struct error *why);

/* The same for caches of blocks (BLOCK_HEAD, BLOCK_LAYER). */
bool replay_blocks(uint32_t index, uint32_t thread, void *context, struct error *why);
