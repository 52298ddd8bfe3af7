/* Values that took long to compute, kept from one run of the program to the next: rows of an SQLite
 * database, `replays.db` in a folder.
 *
 * A value is found by its key: all bytes that decide it, stored whole beside the value, so no other
 * key's value is ever returned. A value has a checksum.
 *
 * Many processes may use the folder at once, and each may be killed at any time. A file that has grown
 * to its limit loses its oldest values. A damaged file is removed and made anew; a link, a
 * FIFO or a folder of its name stays as it is, and there is no cache.
 *
 * A cache never makes anything fail: where the file cannot be read or written, there is no value. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes, such as a key or a value. */
struct disk_cache_bytes {
    const uint8_t *at;
    size_t size;
};

enum { DISK_CACHE_MOST = 1 << 28 }; /* bytes of a key, and of a value */

struct disk_cache;

/* The cache in `folder`, which may be a link to one. It and the one above it are made if they are
 * absent, but none further up: a home that does not exist stays absent. The file may have `most` bytes.
 * NULL if it cannot be made or read, or without memory. Safe to use from several threads. */
struct disk_cache *disk_cache_open(const char *folder, uint64_t most);
void disk_cache_close(struct disk_cache *cache); /* NULL is fine */

/* The value of this key, in memory that the caller frees; NULL if there is none, or `cache` is NULL. */
uint8_t *disk_cache_get(struct disk_cache *cache, struct disk_cache_bytes key, size_t *size);

/* Keep a value, if that is possible. `cache` NULL is fine. None larger than a 64th of the limit is kept. */
void disk_cache_put(struct disk_cache *cache, struct disk_cache_bytes key,
                    struct disk_cache_bytes value);

/* The folder `spillway` in $XDG_CACHE_HOME, or in ~/.cache; false if neither is known, or it is too long. */
bool disk_cache_folder(char *path, size_t size);
