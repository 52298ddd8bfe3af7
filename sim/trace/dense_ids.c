/* Linear probing from the slot that XXH64 gives. */
#include "trace/dense_ids.h"

#include "base/array.h"

#include <stdlib.h>
#include <xxhash.h>

enum { PLACES_FIRST = 1024 };

void dense_ids_release(struct dense_ids *dense)
{
    free(dense->ids);
    free(dense->numbers);
    *dense = (struct dense_ids){.places = 0};
}

/* The slot of `id`, or where it would be. */
static uint64_t dense_ids_find_place(const struct dense_ids *dense, uint64_t id)
{
    uint64_t place = XXH64(&id, sizeof id, 0) & (dense->places - 1);
    while (dense->numbers[place] != 0 && dense->ids[place] != id) {
        place = (place + 1) & (dense->places - 1);
    }
    return place;
}

static bool grow(struct dense_ids *dense, struct error *why)
{
    struct dense_ids larger = {.places = dense->places > 0 ? 2 * dense->places : PLACES_FIRST,
                               .count = dense->count};
    larger.ids = array_zeroed(larger.places, sizeof *larger.ids, why);
    larger.numbers = array_zeroed(larger.places, sizeof *larger.numbers, why);
    if (larger.ids == NULL || larger.numbers == NULL) {
        dense_ids_release(&larger);
        return false;
    }
    for (uint64_t i = 0; i < dense->places; i++) {
        if (dense->numbers[i] != 0) {
            uint64_t place = dense_ids_find_place(&larger, dense->ids[i]);
            larger.ids[place] = dense->ids[i];
            larger.numbers[place] = dense->numbers[i];
        }
    }
    dense_ids_release(dense);
    *dense = larger;
    return true;
}

bool dense_ids_find(struct dense_ids *dense, uint64_t id, uint32_t *number, struct error *why)
{
    if (2ull * dense->count >= dense->places && !grow(dense, why)) {
        return false;
    }
    uint64_t place = dense_ids_find_place(dense, id);
    if (dense->numbers[place] == 0) {
        if (dense->count == UINT32_MAX - 1) {
            return error_set(why, NULL, 0, "more than %u ids", dense->count);
        }
        dense->ids[place] = id;
        dense->numbers[place] = ++dense->count;
    }
    *number = dense->numbers[place] - 1;
    return true;
}

bool dense_ids_get(const struct dense_ids *dense, uint64_t id, uint32_t *number)
{
    uint64_t place = dense->count > 0 ? dense_ids_find_place(dense, id) : 0;
    if (dense->count == 0 || dense->numbers[place] == 0) {
        return false;
    }
    *number = dense->numbers[place] - 1;
    return true;
}
