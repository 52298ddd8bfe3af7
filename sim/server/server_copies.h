/* A server's copies of KV over the link: prefixes that are loaded and saved, and preempted
 * sequences that are swapped out and in. Which sequences wait for them.
 */
#pragma once

#include "server/server_state.h"

/* Queue a copy of the KV of `tokens` tokens, to the GPU from this tier below it or to this tier.
 * Returns its number; sets server->failed if memory is out. */
uint64_t server_load_tokens(struct server *server, uint32_t tier, uint64_t tokens,
                            struct copy_blocks blocks);
uint64_t server_save_tokens(struct server *server, uint32_t tier, uint64_t tokens,
                            struct copy_blocks blocks);

/* Queue the saves that the cache has begun. Blocks that the GPU has evicted already become free
 * only when their copy ends. */
void server_copy_saves(struct server *server);

/* The copy out that frees the blocks taken last; 0 if they are free. */
uint64_t server_copies_in_the_way(const struct server *server);

/* Are the sequence's blocks free of copies out; and can it run? */
bool sequence_has_room(const struct server *server, const struct sequence *sequence);
bool sequence_is_ready(const struct server *server, const struct sequence *sequence);

/* Let copies run for `ns` at the rates of these flows, in bytes a second. Sequences whose copies
 * are done run from the next step on. */
void server_pass_copies(struct server *server, int64_t ns, const double rate[SERVER_FLOWS]);

/* Are copies over this flow pending? */
bool server_copies_pend(const struct copies *copies);

/* End all saves: the last step is over. */
void server_end_copies(struct server *server);
