#include "core/disk_cache.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "core/array.h"
#include "core/text.h"
#include "core/unfinished.h"

enum { PARTS = 16, HASH_DIGITS = 32, STALE_SECONDS = 3600 };

/* What this process knows of a part. */
struct disk_cache_part {
    bool seen;
    uint64_t bytes; /* when it was looked at, and what was added since */
    uint64_t added; /* since then */
};

struct disk_cache {
    int folder; /* a descriptor, owned */
    uint64_t most;
    struct disk_cache_part parts[PARTS];
    pthread_mutex_t lock; /* of `parts` */
};

/* Make the folder, and the one above it. */
static void make_folders(const char *folder)
{
    char path[PATH_MAX];
    size_t length = strlen(folder);
    if (length >= sizeof path) {
        return;
    }
    text_copy(path, sizeof path, folder);
    while (length > 0 && path[length - 1] == '/') {
        path[--length] = '\0';
    }
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

/* A descriptor of the folder, -1 if it cannot be made or written. */
static int open_folder(const char *path)
{
    make_folders(path);
    return access(path, W_OK | X_OK) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

struct disk_cache *disk_cache_open(const char *folder, uint64_t most)
{
    struct error unseen;
    int opened = open_folder(folder);
    struct disk_cache *cache = opened >= 0 ? array_zeroed(1, sizeof *cache, &unseen) : NULL;
    if (cache != NULL) {
        cache->most = most;
        cache->folder = opened;
        pthread_mutex_init(&cache->lock, NULL);
    } else if (opened >= 0) {
        close(opened);
    }
    return cache;
}

void disk_cache_close(struct disk_cache *cache)
{
    if (cache != NULL) {
        close(cache->folder);
        pthread_mutex_destroy(&cache->lock);
        free(cache);
    }
}

bool disk_cache_folder(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(path, size, "%s/spillway", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(path, size, "%s/.cache/spillway", home);
    }
    return length > 0 && (size_t)length < size;
}

/* ---- names ---- */

/* Where a value is: its part's number, and the name of its file there. */
struct disk_cache_place {
    uint32_t number;
    char name[HASH_DIGITS + 1];
};

static struct disk_cache_place disk_cache_find_place(struct disk_cache_bytes key)
{
    XXH128_hash_t hash = XXH3_128bits(key.at, key.size);
    struct disk_cache_place place = {.number = (uint32_t)(hash.high64 >> 60)};
    snprintf(place.name, sizeof place.name, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    return place;
}

/* Could this cache have written a file of that name in that part? */
static bool is_own_name(const char *name, uint32_t part)
{
    static const char digits[] = "0123456789abcdef";
    const char *end = name + strspn(name, digits);
    return end - name == HASH_DIGITS && name[0] == digits[part] &&
           (*end == '\0' || strcmp(end, UNFINISHED_SUFFIX) == 0);
}

/* The folder of a part, made on request; -1 if it is absent or a link. */
static int disk_cache_open_part(const struct disk_cache *cache, uint32_t number, bool make)
{
    char name[2];
    snprintf(name, sizeof name, "%x", number % PARTS);
    if (make) {
        mkdirat(cache->folder, name, 0700);
    }
    return openat(cache->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- reading ---- */

static uint8_t *disk_cache_read_whole(int file, size_t *size)
{
    struct stat state;
    if (fstat(file, &state) != 0 || !S_ISREG(state.st_mode) || state.st_size <= 0 ||
        state.st_size > 2 * (off_t)DISK_CACHE_MOST) {
        return NULL;
    }
    uint8_t *bytes = malloc((size_t)state.st_size);
    size_t got = 0;
    while (bytes != NULL && got < (size_t)state.st_size) {
        ssize_t more = read(file, bytes + got, (size_t)state.st_size - got);
        if (more <= 0) {
            free(bytes);
            return NULL;
        }
        got += (size_t)more;
    }
    *size = got;
    return bytes;
}

static int open_value(const struct disk_cache *cache, const struct disk_cache_place *place)
{
    int part = disk_cache_open_part(cache, place->number, false);
    if (part < 0) {
        return -1;
    }
    int file = openat(part, place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(part);
    return file;
}

static uint8_t *disk_cache_read_value(int file, struct disk_cache_bytes key, size_t *size)
{
    size_t stored = 0;
    uint8_t *bytes = disk_cache_read_whole(file, &stored), *value = NULL;
    if (bytes != NULL) {
        value = disk_cache_unpack((struct disk_cache_bytes){bytes, stored}, key, size);
        free(bytes);
    }
    if (value != NULL) {
        futimens(file, NULL); /* now */
    }
    return value;
}

uint8_t *disk_cache_get(struct disk_cache *cache, struct disk_cache_bytes key, size_t *size)
{
    if (cache == NULL) {
        return NULL;
    }
    struct disk_cache_place place = disk_cache_find_place(key);
    int file = open_value(cache, &place);
    if (file < 0) {
        return NULL;
    }
    uint8_t *value = disk_cache_read_value(file, key, size);
    close(file);
    return value;
}

/* ---- eviction ---- */

struct entry {
    char name[HASH_DIGITS + sizeof UNFINISHED_SUFFIX];
    uint64_t bytes;
    struct timespec used;
};

static int compare_used(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used;
    const struct timespec *y = &((const struct entry *)b)->used;
    return x->tv_sec != y->tv_sec ? (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* An unfinished file that nobody has written to for an hour: its writer was killed. */
static bool is_left_over(const struct entry *entry)
{
    return strstr(entry->name, UNFINISHED_SUFFIX) != NULL &&
           time(NULL) - entry->used.tv_sec > STALE_SECONDS;
}

/* List the cache's own files in a part. Without memory for all, some. */
static size_t list_part(DIR *folder, uint32_t part, struct entry **entries)
{
    size_t count = 0, capacity = 0;
    struct error unseen;
    struct dirent *found;
    struct stat state;
    while ((found = readdir(folder)) != NULL) {
        if (!is_own_name(found->d_name, part) ||
            fstatat(dirfd(folder), found->d_name, &state, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(state.st_mode) ||
            !array_reserve(entries, &capacity, count + 1, sizeof **entries, &unseen)) {
            continue;
        }
        struct entry *entry = &(*entries)[count++];
        *entry = (struct entry){.bytes = (uint64_t)state.st_size, .used = state.st_mtim};
        memcpy(entry->name, found->d_name, strlen(found->d_name) + 1);
    }
    return count;
}

/* Remove left-over files, and the least recently used ones until the others take at most `keep`
 * bytes. Returns what they take. */
static uint64_t remove_old(DIR *folder, struct entry *entries, size_t count, uint64_t bytes,
                           uint64_t keep)
{
    if (count > 0) {
        qsort(entries, count, sizeof *entries, compare_used);
    }
    for (size_t i = 0; i < count; i++) {
        if ((bytes > keep || is_left_over(&entries[i])) &&
            unlinkat(dirfd(folder), entries[i].name, 0) == 0) {
            bytes -= entries[i].bytes;
        }
    }
    return bytes;
}

/* Look at a part, and if it is too large empty a tenth of it. Returns the bytes that stay. */
static uint64_t disk_cache_evict(const struct disk_cache *cache, uint32_t part, uint64_t most)
{
    int opened = disk_cache_open_part(cache, part, false);
    DIR *folder = opened >= 0 ? fdopendir(opened) : NULL;
    if (folder == NULL) {
        if (opened >= 0) {
            close(opened);
        }
        return 0;
    }
    struct entry *entries = NULL;
    size_t count = list_part(folder, part, &entries);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += entries[i].bytes;
    }
    bytes = remove_old(folder, entries, count, bytes, bytes > most ? most - most / 10 : bytes);
    free(entries);
    closedir(folder); /* and `opened` */
    return bytes;
}

/* Look at the part when it is first added to, when it seems full, and after each eighth of its size
 * that this process added: others add, too. */
static void note_added(struct disk_cache *cache, uint32_t part, uint64_t bytes)
{
    uint64_t most = cache->most / PARTS;
    struct disk_cache_part *known = &cache->parts[part];
    pthread_mutex_lock(&cache->lock);
    known->bytes += bytes;
    known->added += bytes;
    if (!known->seen || known->bytes > most || known->added > most / 8) {
        *known =
            (struct disk_cache_part){.seen = true, .bytes = disk_cache_evict(cache, part, most)};
    }
    pthread_mutex_unlock(&cache->lock);
}

/* ---- writing ---- */

static bool disk_cache_write_whole(int file, const uint8_t *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t more = write(file, bytes + done, size - done);
        if (more <= 0) {
            return false;
        }
        done += (size_t)more;
    }
    return true;
}

/* A file that is not durable may be damaged when the machine stops; then its checksum is wrong. */
static bool write_file(int part, const char *name, const uint8_t *bytes, size_t size)
{
    struct error unseen;
    struct unfinished file;
    if (!unfinished_open_at(part, name, &file, &unseen)) {
        return false; /* another process may be writing the same value */
    }
    if (!disk_cache_write_whole(file.fd, bytes, size)) {
        unfinished_discard(&file);
        return false;
    }
    return unfinished_publish(&file, false, &unseen);
}

static void put_file(struct disk_cache *cache, const struct disk_cache_place *place,
                     const uint8_t *bytes, size_t size)
{
    int part = disk_cache_open_part(cache, place->number, true);
    if (part < 0) {
        return;
    }
    if (write_file(part, place->name, bytes, size)) {
        note_added(cache, place->number, size);
    }
    close(part);
}

void disk_cache_put(struct disk_cache *cache, struct disk_cache_bytes key,
                    struct disk_cache_bytes value)
{
    size_t size;
    uint8_t *bytes = cache != NULL ? disk_cache_pack(key, value, &size) : NULL;
    if (bytes != NULL && size <= cache->most / PARTS / 4) {
        struct disk_cache_place place = disk_cache_find_place(key);
        put_file(cache, &place, bytes, size);
    }
    free(bytes);
}

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
