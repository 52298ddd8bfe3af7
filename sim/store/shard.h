/* Shards as stored in a file. Private to this folder. */
#ifndef STORE_SHARD_H
#define STORE_SHARD_H

#include "store/store.h"

/* Read the shard that the file holds; in a merged file the first one. */
bool store_get_shard(struct store *store, struct store_shard *shard, bool *found,
                     struct error *why);
bool store_insert_shard(struct store *store, const struct store_shard *shard, struct error *why);

#endif
