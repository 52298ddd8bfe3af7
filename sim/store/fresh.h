/* A database that was made for nothing: new, and the disk had no room for its first result. Private
 * to this folder. */
#ifndef STORE_FRESH_H
#define STORE_FRESH_H

#include "store/store.h"

/* Remove the file if this store made it, a write failed, and it holds no result (the mark of a
 * shard is none). An existing file, and one that another process uses, stays. Before closing. */
void fresh_remove_unused(struct store *store);

#endif
