/* Growth by doubling, with every product checked: sizes come from files. */
#include "core/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool out_of_memory(struct error *why, size_t count, size_t item)
{
    return error_set(why, NULL, 0, "out of memory: no room for %zu items of %zu bytes", count,
                     item);
}

bool array_reserve(void *items, size_t *capacity, size_t needed, size_t item, struct error *why)
{
    if (needed <= *capacity) {
        return true;
    }
    size_t grown = *capacity <= SIZE_MAX / 2 ? *capacity * 2 : SIZE_MAX;
    grown = grown < 8 ? 8 : grown;
    grown = grown < needed ? needed : grown;
    size_t bytes;
    if (__builtin_mul_overflow(grown, item, &bytes)) {
        return out_of_memory(why, needed, item);
    }
    /* The caller's pointer has a type of its own, so it is read and written as bytes. */
    void *old;
    memcpy(&old, items, sizeof old);
    void *fresh = realloc(old, bytes > 0 ? bytes : 1);
    if (fresh == NULL) {
        return out_of_memory(why, needed, item);
    }
    memcpy(items, &fresh, sizeof fresh);
    *capacity = grown;
    return true;
}

void *array_zeroed(size_t count, size_t item, struct error *why)
{
    void *items = count > 0 && item > 0 ? calloc(count, item) : calloc(1, 1);
    if (items == NULL) {
        out_of_memory(why, count, item);
    }
    return items;
}

/* Stands before a sparse array: how many bytes are mapped; 0: calloc() gave them, because it is short. */
union sparse_head {
    size_t mapped;
    max_align_t align;
};

/* To clear fewer bytes takes no longer than a mapping of their own (assumed). AddressSanitizer knows the bounds of
 * what calloc() gave alone. */
#ifdef __SANITIZE_ADDRESS__
static const size_t SPARSE_LEAST = SIZE_MAX;
#else
enum { SPARSE_LEAST = 256 << 10 };
#endif

/* malloc() would clear all of an array in memory that it kept (program.c). */
void *array_sparse(size_t count, size_t item, struct error *why)
{
    size_t bytes = 0, mapped;
    bool over = __builtin_mul_overflow(count, item, &bytes) ||
                __builtin_add_overflow(bytes, sizeof(union sparse_head), &bytes);
    mapped = bytes < SPARSE_LEAST ? 0 : bytes;
    void *memory = over          ? MAP_FAILED
                   : mapped == 0 ? calloc(1, bytes)
                                 : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == NULL || memory == MAP_FAILED) {
        out_of_memory(why, count, item);
        return NULL;
    }
    union sparse_head *head = memory;
    head->mapped = mapped;
    return head + 1;
}

void array_sparse_free(void *items)
{
    union sparse_head *head = items != NULL ? (union sparse_head *)items - 1 : NULL;
    if (head == NULL || head->mapped == 0) {
        free(head);
    } else {
        munmap(head, head->mapped);
    }
}

/* Stands before each of an owner's arrays. */
union arrays_item {
    union arrays_item *before;
    max_align_t align;
};

void *arrays_add(struct arrays *arrays, size_t count, size_t item, struct error *why)
{
    union arrays_item *added = NULL;
    size_t bytes;
    if (arrays->failed) {
        return NULL;
    }
    if (!__builtin_mul_overflow(count, item, &bytes) &&
        !__builtin_add_overflow(bytes, sizeof *added, &bytes)) {
        added = calloc(1, bytes);
    }
    if (added == NULL) {
        arrays->failed = !out_of_memory(why, count, item);
        return NULL;
    }
    added->before = arrays->last;
    arrays->last = added;
    return added + 1;
}

void arrays_release(struct arrays *arrays)
{
    while (arrays->last != NULL) {
        union arrays_item *last = arrays->last;
        arrays->last = last->before;
        free(last);
    }
    arrays->failed = false;
}
