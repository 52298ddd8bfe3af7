/* Shards as they stand in a file. For the files of this folder. */
#ifndef STORE_SHARD_H
#define STORE_SHARD_H

#include "store/store.h"

/* The shard that the file holds, the first one of a merged file. */
bool store_get_shard(struct store *store, struct store_shard *shard, bool *found,
                     struct error *why);
bool store_insert_shard(struct store *store, const struct store_shard *shard, struct error *why);

#endif
