/* The whole stream is in memory: LRU's curve takes one pass over it, OPT's takes two. */
#include "trace/import/ids.h"

#include "base/array.h"
#include "trace/format/bytes.h"
#include "trace/import/dense_ids.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SMALL_IDS = 1 << 20 };

void ids_init(struct ids *ids)
{
    *ids = (struct ids){0};
}

void ids_release(struct ids *ids)
{
    free(ids->block);
    ids_init(ids);
}

static bool read_all(FILE *file, const char *path, struct ids *ids, struct error *why)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0) {
        return error_set(why, path, 0, "%s", strerror(errno));
    }
    uint64_t bytes = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    if (bytes == 0 || bytes % 4 != 0 || bytes / 4 > UINT32_MAX) {
        error_set(why, path, 0, "the file has %llu bytes", (unsigned long long)bytes);
        return error_expect(why, "32-bit ids, at least one and fewer than 2^32");
    }
    ids->count = (uint32_t)(bytes / 4);
    ids->block = array_zeroed(ids->count, sizeof *ids->block, why);
    if (!ids->block) {
        return false;
    }
    if (fread(ids->block, 4, ids->count, file) != ids->count) {
        return error_set(why, path, 0, "ends before its %u ids", ids->count);
    }
    return true;
}

/* Replace each id by its number. Ids below SMALL_IDS use a table, which is several times faster. */
static bool number_small(struct ids *ids, struct error *why)
{
    uint32_t *number = array_zeroed(SMALL_IDS, sizeof *number, why);
    if (!number) {
        return false;
    }
    for (uint32_t i = 0; i < ids->count; i++) {
        uint32_t id = ids->block[i];
        if (number[id] == 0) {
            number[id] = ++ids->blocks;
        }
        ids->block[i] = number[id] - 1;
    }
    free(number);
    return true;
}

static bool number_any(struct ids *ids, struct error *why)
{
    struct dense_ids dense = {.places = 0};
    bool good = true;
    for (uint32_t i = 0; good && i < ids->count; i++) {
        good = dense_ids_find(&dense, ids->block[i], &ids->block[i], why);
    }
    ids->blocks = dense.count;
    dense_ids_release(&dense);
    return good;
}

static bool number_all(struct ids *ids, struct error *why)
{
    bool small = true;
    for (uint32_t i = 0; i < ids->count; i++) {
        ids->block[i] = load_u32((const uint8_t *)&ids->block[i]);
        small = small && ids->block[i] < SMALL_IDS;
    }
    return small ? number_small(ids, why) : number_any(ids, why);
}

bool ids_read(const char *path, struct ids *ids, struct error *why)
{
    ids_init(ids);
    FILE *file = fopen(path, "rb");
    if (!file) {
        return error_set(why, path, 0, "%s", strerror(errno));
    }
    bool good = read_all(file, path, ids, why);
    fclose(file);
    if (!good || !number_all(ids, why)) {
        ids_release(ids);
        return false;
    }
    return true;
}
