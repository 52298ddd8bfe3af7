/* Next uses are found in one pass from the end, in the array of the accesses themselves. */
#include "policy/next_use.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

void next_use_release(struct next_use *next_use)
{
    free(next_use->access);
    *next_use = (struct next_use){0};
}

bool next_use_add(struct next_use *next_use, const struct demand *demand, struct error *why)
{
    size_t count = next_use->count + demand->wanted;
    if (count >= NEXT_USE_NEVER) {
        return error_set(why, NULL, 0, "a policy that knows the future takes at most %u accesses",
                         NEXT_USE_NEVER - 1);
    }
    if (!array_reserve(&next_use->access, &next_use->capacity, count, sizeof(uint32_t), why)) {
        return false;
    }
    for (uint32_t i = demand->wanted; i-- > 0;) {
        next_use->access[next_use->count++] = demand->units[i];
    }
    return true;
}

bool next_use_resolve(struct next_use *next_use, uint32_t blocks, struct error *why)
{
    uint32_t *next = array_zeroed(blocks, sizeof *next, why);
    /* A future without accesses is valid too, and must not be NULL. */
    if (!next || !array_reserve(&next_use->access, &next_use->capacity, 1, sizeof *next, why)) {
        free(next);
        return false;
    }
    memset(next, 0xff, blocks * sizeof *next); /* NEXT_USE_NEVER */
    for (size_t i = next_use->count; i-- > 0;) {
        uint32_t block = next_use->access[i];
        next_use->access[i] = next[block];
        next[block] = (uint32_t)i;
    }
    free(next);
    return true;
}
