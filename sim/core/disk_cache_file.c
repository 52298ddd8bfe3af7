#include "core/disk_cache_file.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

enum { MAGIC = 8, HEAD = 16, CHECKSUM = 8, LEVEL = 1 };

static const uint8_t magic[MAGIC] = {'s', 'p', 'w', 'k', 'e', 'p', 't', 1};

static void disk_cache_file_store_u32(uint8_t *at, size_t value)
{
    uint32_t bits = htole32((uint32_t)value);
    memcpy(at, &bits, sizeof bits);
}

static uint32_t disk_cache_file_load_u32(const uint8_t *at)
{
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    return le32toh(bits);
}

uint8_t *disk_cache_pack(struct disk_cache_bytes key, struct disk_cache_bytes value, size_t *size)
{
    if (key.size > DISK_CACHE_MOST || value.size > DISK_CACHE_MOST) {
        return NULL;
    }
    size_t room = ZSTD_compressBound(value.size);
    uint8_t *file = malloc(HEAD + key.size + room + CHECKSUM);
    if (file == NULL) {
        return NULL;
    }
    memcpy(file, magic, MAGIC);
    disk_cache_file_store_u32(file + MAGIC, key.size);
    disk_cache_file_store_u32(file + MAGIC + 4, value.size);
    memcpy(file + HEAD, key.at, key.size);
    size_t stored = ZSTD_compress(file + HEAD + key.size, room, value.at, value.size, LEVEL);
    if (ZSTD_isError(stored)) {
        free(file);
        return NULL;
    }
    size_t end = HEAD + key.size + stored;
    uint64_t checksum = htole64(XXH64(file, end, 0));
    memcpy(file + end, &checksum, CHECKSUM);
    *size = end + CHECKSUM;
    return file;
}

/* Is the file whole, and is its key this one? */
static int disk_cache_file_is_of(struct disk_cache_bytes file, struct disk_cache_bytes key)
{
    uint64_t checksum;
    if (file.size < HEAD + key.size + CHECKSUM || memcmp(file.at, magic, MAGIC) != 0 ||
        disk_cache_file_load_u32(file.at + MAGIC) != key.size ||
        memcmp(file.at + HEAD, key.at, key.size) != 0) {
        return 0;
    }
    memcpy(&checksum, file.at + file.size - CHECKSUM, CHECKSUM);
    return le64toh(checksum) == XXH64(file.at, file.size - CHECKSUM, 0);
}

uint8_t *disk_cache_unpack(struct disk_cache_bytes file, struct disk_cache_bytes key, size_t *size)
{
    if (!disk_cache_file_is_of(file, key)) {
        return NULL;
    }
    size_t wanted = disk_cache_file_load_u32(file.at + MAGIC + 4), from = HEAD + key.size;
    uint8_t *value = wanted <= DISK_CACHE_MOST ? malloc(wanted + 1) : NULL;
    if (value != NULL &&
        ZSTD_decompress(value, wanted, file.at + from, file.size - from - CHECKSUM) != wanted) {
        free(value);
        return NULL;
    }
    *size = wanted;
    return value;
}
