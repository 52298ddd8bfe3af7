#include "base/disk_cache.h"

#include "base/array.h"
#include "base/text.h"
#include "base/unfinished.h"

#include <dirent.h>
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

enum { PARTS = 16, STALE_SECONDS = 3600 };

/* What this process knows of a part. */
struct part {
    bool seen;
    uint64_t bytes; /* when it was looked at, and what was added since */
    uint64_t added; /* since then */
};

struct disk_cache {
    char *folder; /* owned */
    uint64_t most;
    struct part parts[PARTS];
    pthread_mutex_t lock; /* of `parts` */
};

/* Make a folder and those above it. */
static bool make_folder(const char *path)
{
    char part[PATH_MAX];
    const char *end = path;
    if (strlen(path) >= sizeof part) {
        return false;
    }
    while (*end != '\0') {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        if (mkdir(part, 0700) != 0 && errno != EEXIST && access(part, F_OK) != 0) {
            return false;
        }
    }
    return true;
}

struct disk_cache *disk_cache_open(const char *folder, uint64_t most)
{
    struct error unseen;
    if (!make_folder(folder) || access(folder, W_OK | X_OK) != 0) {
        return NULL;
    }
    struct disk_cache *cache = array_zeroed(1, sizeof *cache, &unseen);
    if (cache == NULL) {
        return NULL;
    }
    cache->most = most;
    cache->folder = text_duplicate(folder, &unseen);
    if (cache->folder == NULL) {
        free(cache);
        return NULL;
    }
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void disk_cache_close(struct disk_cache *cache)
{
    if (cache != NULL) {
        free(cache->folder);
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

/* Where a value is: its part's number and folder, and its file. */
struct place {
    uint32_t number;
    char part[PATH_MAX], file[PATH_MAX];
};

/* False if the paths are too long. */
static bool find_place(const struct disk_cache *cache, struct disk_cache_bytes key,
                       struct place *out)
{
    XXH128_hash_t hash = XXH3_128bits(key.at, key.size);
    out->number = (uint32_t)(hash.high64 >> 60);
    int part = snprintf(out->part, PATH_MAX, "%s/%x", cache->folder, out->number);
    int file = snprintf(out->file, PATH_MAX, "%s/%x/%016llx%016llx", cache->folder, out->number,
                        (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    return part > 0 && file > 0 && file < PATH_MAX - 32;
}

/* ---- reading ---- */

static uint8_t *read_whole(int file, size_t *size)
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

uint8_t *disk_cache_get(struct disk_cache *cache, struct disk_cache_bytes key, size_t *size)
{
    struct place place;
    if (cache == NULL || !find_place(cache, key, &place)) {
        return NULL;
    }
    int file = open(place.file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return NULL;
    }
    size_t stored = 0;
    uint8_t *bytes = read_whole(file, &stored), *value = NULL;
    if (bytes != NULL) {
        value = disk_cache_unpack((struct disk_cache_bytes){bytes, stored}, key, size);
        free(bytes);
    }
    if (value != NULL) {
        futimens(file, NULL); /* now */
    }
    close(file);
    return value;
}

/* ---- eviction ---- */

struct entry {
    char name[96];
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

/* List the regular files of a part. Without memory for all, some. */
static size_t list_part(DIR *folder, struct entry **entries)
{
    size_t count = 0, capacity = 0;
    struct error unseen;
    struct dirent *found;
    struct stat state;
    while ((found = readdir(folder)) != NULL) {
        if (fstatat(dirfd(folder), found->d_name, &state, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(state.st_mode) || strlen(found->d_name) >= sizeof(*entries)->name ||
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
static uint64_t evict(const char *part, uint64_t most)
{
    DIR *folder = opendir(part);
    if (folder == NULL) {
        return 0;
    }
    struct entry *entries = NULL;
    size_t count = list_part(folder, &entries);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += entries[i].bytes;
    }
    bytes = remove_old(folder, entries, count, bytes, bytes > most ? most - most / 10 : bytes);
    free(entries);
    closedir(folder);
    return bytes;
}

/* Look at the part when it is first added to, when it seems full, and after each eighth of its size
 * that this process added: others add, too. */
static void note_added(struct disk_cache *cache, const struct place *place, uint64_t bytes)
{
    uint64_t most = cache->most / PARTS;
    struct part *known = &cache->parts[place->number];
    pthread_mutex_lock(&cache->lock);
    known->bytes += bytes;
    known->added += bytes;
    if (!known->seen || known->bytes > most || known->added > most / 8) {
        *known = (struct part){.seen = true, .bytes = evict(place->part, most)};
    }
    pthread_mutex_unlock(&cache->lock);
}

/* ---- writing ---- */

static bool write_whole(int file, const uint8_t *bytes, size_t size)
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
static bool write_file(const struct place *place, const uint8_t *bytes, size_t size)
{
    struct error unseen;
    struct unfinished file;
    mkdir(place->part, 0700);
    if (!unfinished_open(place->file, &file, &unseen)) {
        return false; /* another process may be writing the same value */
    }
    if (!write_whole(file.fd, bytes, size)) {
        unfinished_discard(&file);
        return false;
    }
    return unfinished_publish(&file, false, &unseen);
}

void disk_cache_put(struct disk_cache *cache, struct disk_cache_bytes key,
                    struct disk_cache_bytes value)
{
    struct place place;
    size_t size;
    uint8_t *bytes = cache != NULL ? disk_cache_pack(key, value, &size) : NULL;
    if (bytes != NULL && size <= cache->most / PARTS / 4 && find_place(cache, key, &place) &&
        write_file(&place, bytes, size)) {
        note_added(cache, &place, size);
    }
    free(bytes);
}
