#include "calibrate/device/row_ids.h"

#include <stdlib.h>

/* Fisher-Yates; the remainder's bias is below 2^-32. */
static void shuffle(uint32_t *ids, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        ids[i] = (uint32_t)i;
    }
    for (size_t i = count; i > 1; i--) {
        size_t other = random_word(seed, i) % i;
        uint32_t swapped = ids[i - 1];
        ids[i - 1] = ids[other];
        ids[other] = swapped;
    }
}

uint32_t *row_ids_shuffled(size_t rows, uint64_t seed, struct error *why)
{
    if (rows == 0 || rows > UINT32_MAX) {
        error_set(why, NULL, 0, "%zu rows have no numbers of 32 bits", rows);
        return nullptr;
    }
    uint32_t *ids = (uint32_t *)malloc(rows * sizeof *ids);
    if (ids == nullptr) {
        error_set(why, NULL, 0, "no memory for the numbers of %zu rows", rows);
        return nullptr;
    }
    shuffle(ids, rows, seed);
    return ids;
}

bool row_ids::create(size_t rows, uint64_t seed, struct error *why)
{
    uint32_t *ids = row_ids_shuffled(rows, seed, why);
    if (ids == nullptr) {
        return false;
    }
    count = (uint32_t)rows;
    bool ok =
        memory.take(rows * sizeof *ids, why) &&
        GPU_TRY(cudaMemcpy(memory.data, ids, rows * sizeof *ids, cudaMemcpyHostToDevice), why) &&
        GPU_TRY(cudaDeviceSynchronize(), why); /* the last of it may still be under way */
    free(ids);
    return ok;
}

const uint32_t *row_ids::turn(uint32_t rows)
{
    uint32_t place = rows <= count - next ? next : 0;
    next = place + rows;
    return (const uint32_t *)memory.data + place;
}
