/* Ids are numbered by sorting them with their places: digit by digit, least first, so that no
 * choice of ids makes it slow, as it could a hash table. */
#include "trace/ids.h"

#include "base/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS };

void ids_init(struct ids *ids)
{
    *ids = (struct ids){0};
}

void ids_release(struct ids *ids)
{
    free(ids->block);
    ids_init(ids);
}

/* Sort by the digit at bit `shift` from `from` to `to`, keeping the order of equals. Returns false,
 * nothing done, if all are equal. */
static bool sort_digit(const uint64_t *from, uint64_t *to, uint32_t count, int shift)
{
    uint32_t start[DIGIT_VALUES] = {0};
    for (uint32_t i = 0; i < count; i++) {
        start[from[i] >> shift & (DIGIT_VALUES - 1)]++;
    }
    if (start[from[0] >> shift & (DIGIT_VALUES - 1)] == count) {
        return false;
    }
    for (uint32_t value = 0, total = 0; value < DIGIT_VALUES; value++) {
        uint32_t own = start[value];
        start[value] = total;
        total += own;
    }
    for (uint32_t i = 0; i < count; i++) {
        to[start[from[i] >> shift & (DIGIT_VALUES - 1)]++] = from[i];
    }
    return true;
}

uint32_t ids_number(uint32_t *id, uint32_t count, struct error *why)
{
    uint64_t *pairs = array_zeroed(count, 2 * sizeof *pairs, why);
    if (!pairs) {
        return 0;
    }
    uint64_t *from = pairs, *to = pairs + count;
    for (uint32_t i = 0; i < count; i++) {
        from[i] = (uint64_t)id[i] << 32 | i;
    }
    for (int shift = 32; count > 0 && shift < 64; shift += DIGIT_BITS) {
        if (sort_digit(from, to, count, shift)) {
            uint64_t *sorted = to;
            to = from;
            from = sorted;
        }
    }
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        blocks += i == 0 || from[i] >> 32 != from[i - 1] >> 32;
        id[(uint32_t)from[i]] = blocks - 1;
    }
    free(pairs);
    return blocks;
}

static bool read_all(FILE *file, const char *path, struct ids *ids, struct error *why)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0) {
        return error_set(why, path, 0, "%s", strerror(errno));
    }
    uint64_t bytes = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    if (bytes == 0 || bytes % 4 != 0 || bytes / 4 > UINT32_MAX) {
        error_set(why, path, 0, "%llu bytes", (unsigned long long)bytes);
        return error_expect(why, "a file of 32-bit ids, at least one, fewer than 2^32");
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

bool ids_read(const char *path, struct ids *ids, struct error *why)
{
    ids_init(ids);
    FILE *file = fopen(path, "rb");
    if (!file) {
        return error_set(why, path, 0, "%s", strerror(errno));
    }
    bool good = read_all(file, path, ids, why);
    fclose(file);
    for (uint32_t i = 0; good && i < ids->count; i++) {
        const uint8_t *byte = (const uint8_t *)&ids->block[i];
        ids->block[i] = (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
                        (uint32_t)byte[3] << 24;
    }
    ids->blocks = good ? ids_number(ids->block, ids->count, why) : 0;
    if (ids->blocks == 0) {
        ids_release(ids);
        return false;
    }
    return true;
}
