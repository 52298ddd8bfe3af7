/* The file of one kept value: the whole key beside the value, and a checksum over both.
 *
 *   OFFSET  SIZE  WHAT                       (integers little-endian)
 *   0       8     magic, "spwkept" and the format's number
 *   8       4     k, bytes of the key
 *   12      4     bytes of the value
 *   16      k     the key
 *   16 + k  z     the value, a zstd frame that fills the rest
 *   end-8   8     XXH64 of all bytes before
 *
 * A reader refuses whatever is not exactly that for exactly its own key, so a file that was cut,
 * damaged, or made for another key is no value.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes, such as a key or a value. */
struct disk_cache_bytes {
    const uint8_t *at;
    size_t size;
};

enum { DISK_CACHE_MOST = 1 << 28 }; /* bytes of a key, and of a value */

/* The file with this value, in memory that the caller frees; NULL if there is no memory, or if key
 * or value is longer than DISK_CACHE_MOST. */
uint8_t *disk_cache_pack(struct disk_cache_bytes key, struct disk_cache_bytes value, size_t *size);

/* The value in a file with exactly this key, in memory that the caller frees; NULL if the file is
 * not whole, or has another key. */
uint8_t *disk_cache_unpack(struct disk_cache_bytes file, struct disk_cache_bytes key, size_t *size);
