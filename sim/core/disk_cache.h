/* A folder of values that took long to compute, kept from one run of the program to the next.
 *
 * A value is found by its key: all bytes that decide it. The file's name is a hash of the key, and
 * the file holds the whole key (disk_cache_file.h), so no other key's value is ever returned.
 *
 *   FOLDER/0 ... FOLDER/f        sixteen parts, by the first digit of the hash
 *   FOLDER/3/3f2a...             a value; its time of modification is that of its last use
 *   FOLDER/3/3f2a....spillway-tmp  one that is being written (unfinished.h)
 *
 * Nothing else is touched: a file under any other name, and a part, a value or an unfinished file
 * that is a link, a FIFO or a folder, stay as they are. What a link points at is never opened.
 *
 * Many processes may use the folder at once, and each may be killed at any time: a file gets its
 * name when it is whole, and none is changed afterwards. A part that has grown beyond a sixteenth
 * of the limit loses its least recently used files. A process counts what it adds itself and looks
 * at a part now and then, so the limit holds up to what others add in between.
 *
 * A cache never makes anything fail: where a file cannot be read or written, there is no value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct disk_cache;

/* The cache in `folder`, which may be a link to one. It and the one above it are made if they are
 * absent, but none further up: a home that does not exist stays absent. `most` bytes may stay. NULL
 * if the folder cannot be made or written, or without memory. Safe to use from several threads. */
struct disk_cache *disk_cache_open(const char *folder, uint64_t most);
void disk_cache_close(struct disk_cache *cache); /* NULL is fine */

/* The value of this key, in memory that the caller frees; NULL if there is none. `cache` NULL:
 * there is none. A damaged file counts as absent, and the next put replaces it. */
uint8_t *disk_cache_get(struct disk_cache *cache, struct disk_cache_bytes key, size_t *size);

/* Keep a value, if that is possible. `cache` NULL is fine. A value that would fill a quarter of a
 * part is not kept. */
void disk_cache_put(struct disk_cache *cache, struct disk_cache_bytes key,
                    struct disk_cache_bytes value);

/* The folder `spillway` in $XDG_CACHE_HOME, or in ~/.cache if that is no absolute path. Returns
 * false if neither is known, or if the path is longer than `size`. */
bool disk_cache_folder(char *path, size_t size);
