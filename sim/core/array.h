/* Arrays that grow: the one place where memory is (re)allocated for them.
 *
 *   struct task *tasks = NULL; size_t count = 0, capacity = 0;
 *   if (!array_reserve(&tasks, &capacity, count + 1, sizeof *tasks, why)) ... */
#pragma once

#include "core/error.h"

#include <stddef.h>

/* Make room for `needed` items of `item` bytes; `items` is the address of the array pointer. Capacity at
 * least doubles. On failure array and capacity stay as they were. New items are not initialised. */
bool array_reserve(void *items, size_t *capacity, size_t needed, size_t item, struct error *why);

/* calloc with an error: zeroed memory that the caller frees, or NULL with `why` filled when memory runs out
 * or the product overflows. A count of 0 gives one byte, so that success is never NULL. */
void *array_zeroed(size_t count, size_t item, struct error *why);

/* The same for an array most of whose items are never touched: only the pages that are take memory, and time
 * to be cleared. Freed by array_sparse_free(); NULL is fine. */
void *array_sparse(size_t count, size_t item, struct error *why);
void array_sparse_free(void *items);

/* Zeroed arrays of one owner, allocated one after the other and freed together. A zeroed struct has none. */
struct arrays {
    union arrays_item *last; /* owned */
    bool failed;             /* for one of them memory ran out */
};

/* One more, as array_zeroed(). After a failure all further ones are NULL, too, so that the owner
 * looks at `failed` once, behind the last. */
void *arrays_add(struct arrays *arrays, size_t count, size_t item, struct error *why);
void arrays_release(struct arrays *arrays);
