#include "server/copies.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void copies_release(struct copies *copies)
{
    free(copies->items);
    *copies = (struct copies){.items = NULL};
}

static void move_to_front(struct copies *copies)
{
    if (copies->first > 0) {
        copies->count -= copies->first;
        memmove(copies->items, copies->items + copies->first,
                copies->count * sizeof *copies->items);
        copies->first = 0;
    }
}

static void add_blocks(struct copy_blocks *sum, struct copy_blocks blocks)
{
    sum->moved += blocks.moved;
    sum->freed += blocks.freed;
}

uint64_t copies_add(struct copies *copies, double start_ns, double bytes, struct copy_blocks blocks,
                    struct error *why)
{
    if (copies->first > copies->count / 2) {
        move_to_front(copies);
    }
    if (!array_reserve(&copies->items, &copies->capacity, copies->count + 1, sizeof *copies->items,
                       why)) {
        return 0;
    }
    copies->items[copies->count++] = (struct copy){bytes, start_ns, bytes, blocks};
    add_blocks(&copies->added, blocks);
    return copies_last(copies);
}

uint64_t copies_last(const struct copies *copies)
{
    return copies->done + (copies->count - copies->first);
}

static double copy_time(const struct copy *copy, double rate)
{
    return copy->left_ns + copy->left_bytes / rate * 1e9;
}

double copies_time(const struct copies *copies, uint64_t number, double rate)
{
    double ns = 0;
    for (size_t i = copies->first; number > copies->done + (i - copies->first); i++) {
        ns += copy_time(&copies->items[i], rate);
    }
    return ns;
}

double copies_pass(struct copies *copies, double ns, double rate,
                   void (*on_done)(struct copy_blocks blocks, void *context), void *context)
{
    double crossed = 0;
    while (copies->first < copies->count && copy_time(&copies->items[copies->first], rate) <= ns) {
        const struct copy copy = copies->items[copies->first++];
        ns -= copy_time(&copy, rate);
        crossed += copy.left_bytes;
        copies->done++;
        add_blocks(&copies->ended, copy.blocks);
        copies->done_bytes += copy.bytes;
        if (on_done != NULL) {
            on_done(copy.blocks, context);
        }
    }
    if (copies->first < copies->count) {
        struct copy *copy = &copies->items[copies->first];
        double waited = fmin(ns, copy->left_ns);
        double left = fmax(0, copy->left_bytes - (ns - waited) * rate / 1e9);
        copy->left_ns -= waited;
        crossed += copy->left_bytes - left;
        copy->left_bytes = left;
    }
    copies->crossed_bytes += crossed;
    return crossed;
}
