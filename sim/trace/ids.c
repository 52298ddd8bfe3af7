#include "trace/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "core/array.h"
#include "core/files.h"

/* Linear probing from the slot of XXH64. Slots hold numbers, ids lie by number: an id takes 20 bytes. */

enum { PLACES_FIRST = 1024 };

void dense_ids_release(struct dense_ids *dense)
{
    dense_ids_close(dense);
    *dense = (struct dense_ids){.places = 0};
}

void dense_ids_close(struct dense_ids *dense)
{
    free(dense->ids);
    free(dense->numbers);
    *dense = (struct dense_ids){.count = dense->count};
}

/* The slot of `id`, or where it would be. */
static uint64_t dense_ids_find_place(const struct dense_ids *dense, uint64_t id)
{
    uint64_t place = XXH64(&id, sizeof id, 0) & (dense->places - 1);
    while (dense->numbers[place] != 0 && dense->ids[dense->numbers[place] - 1] != id) {
        place = (place + 1) & (dense->places - 1);
    }
    return place;
}

static bool grow(struct dense_ids *dense, struct error *why)
{
    uint64_t places = dense->places > 0 ? 2 * dense->places : PLACES_FIRST;
    uint32_t *numbers = array_zeroed(places, sizeof *numbers, why);
    if (numbers == NULL) {
        return false;
    }
    free(dense->numbers);
    dense->numbers = numbers;
    dense->places = places;
    for (uint32_t i = 0; i < dense->count; i++) {
        numbers[dense_ids_find_place(dense, dense->ids[i])] = i + 1;
    }
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
        if (!array_reserve(&dense->ids, &dense->capacity, (size_t)dense->count + 1,
                           sizeof *dense->ids, why)) {
            return false;
        }
        dense->ids[dense->count] = id;
        dense->numbers[place] = ++dense->count;
    }
    *number = dense->numbers[place] - 1;
    return true;
}

void ids_release(struct ids *ids)
{
    free(ids->block);
    *ids = (struct ids){.count = 0};
}

static bool read_ids(const char *path, FILE *file, struct ids *ids, struct error *why)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0) {
        return error_set(why, path, 0, "%s", strerror(errno));
    }
    uint64_t bytes = (uint64_t)status.st_size;
    if (bytes == 0 || bytes % 4 != 0 || bytes / 4 > IDS_MOST) {
        error_set(why, path, 0, "the file has %llu bytes", (unsigned long long)bytes);
        return error_expect(why, "32-bit ids, at least one and at most %d", IDS_MOST);
    }
    ids->count = (uint32_t)(bytes / 4);
    ids->block = array_zeroed(ids->count, sizeof *ids->block, why);
    if (ids->block != NULL && fread(ids->block, 4, ids->count, file) < ids->count) {
        return error_set(why, path, 0, "cannot be read: %s",
                         ferror(file) ? strerror(errno) : "it became shorter");
    }
    return ids->block != NULL;
}

bool ids_read(const char *path, struct ids *ids, struct error *why)
{
    FILE *file = regular_open(path, why);
    *ids = (struct ids){.count = 0};
    struct dense_ids dense = {.places = 0};
    bool good = file != NULL && read_ids(path, file, ids, why);
    for (uint32_t i = 0; good && i < ids->count; i++) { /* a new id gets the next number */
        good = dense_ids_find(&dense, ids->block[i], &ids->block[i], why);
    }
    ids->blocks = dense.count;
    dense_ids_release(&dense);
    if (good) {
        ids->hash = XXH64(ids->block, ids->count * sizeof *ids->block, 0);
    } else {
        ids_release(ids);
    }
    if (file != NULL) {
        fclose(file);
    }
    return good;
}
