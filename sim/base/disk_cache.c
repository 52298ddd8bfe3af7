#include "base/disk_cache.h"

#include "base/array.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { PARTS = 16, NAME = 33, STALE_SECONDS = 3600 };

/* What this process knows of a part. */
struct part {
    bool seen;
    uint64_t bytes; /* when it was looked at, and what was added since */
    uint64_t added; /* since then */
};

struct disk_cache {
    int folder; /* file descriptor */
    uint64_t most;
    struct part parts[PARTS];
    atomic_uint written;  /* number of temporary files */
    pthread_mutex_t lock; /* of `parts` */
};

/* Make a folder and the one above it. */
static bool make_folder(const char *path)
{
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (mkdir(path, 0700) == 0 || errno == EEXIST) {
        return true;
    }
    if (errno != ENOENT || slash == NULL || slash == path ||
        snprintf(above, sizeof above, "%.*s", (int)(slash - path), path) >= (int)sizeof above) {
        return false;
    }
    return make_folder(above) && (mkdir(path, 0700) == 0 || errno == EEXIST);
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
    cache->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cache->folder < 0) {
        free(cache);
        return NULL;
    }
    pthread_mutex_init(&cache->lock, NULL);
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

static void name_key(struct disk_cache_bytes key, char name[NAME])
{
    XXH128_hash_t hash = XXH3_128bits(key.at, key.size);
    snprintf(name, NAME, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

static uint32_t part_number(const char *name)
{
    return (uint32_t)(name[0] <= '9' ? name[0] - '0' : name[0] - 'a' + 10);
}

/* The folder of a part, made if `make` says so; -1 without one. */
static int open_part(const struct disk_cache *cache, const char *name, bool make)
{
    const char part[] = {name[0], '\0'};
    int folder = openat(cache->folder, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 && make && errno == ENOENT) {
        mkdirat(cache->folder, part, 0700);
        folder = openat(cache->folder, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return folder;
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
    char name[NAME];
    if (cache == NULL) {
        return NULL;
    }
    name_key(key, name);
    int part = open_part(cache, name, false);
    int file = part >= 0 ? openat(part, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    size_t stored = 0;
    uint8_t *bytes = file >= 0 ? read_whole(file, &stored) : NULL;
    uint8_t *value = NULL;
    if (bytes != NULL) {
        value = disk_cache_unpack((struct disk_cache_bytes){bytes, stored}, key, size);
        free(bytes);
    }
    if (value != NULL) {
        futimens(file, NULL); /* now */
    }
    if (file >= 0) {
        close(file);
    }
    if (part >= 0) {
        close(part);
    }
    return value;
}

/* ---- eviction ---- */

struct entry {
    char name[NAME + 64];
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

/* A temporary file that nobody has written to for an hour: its writer was killed. */
static bool is_left_over(const struct entry *entry)
{
    return strstr(entry->name, ".tmp-") != NULL && time(NULL) - entry->used.tv_sec > STALE_SECONDS;
}

/* List the regular files of a part. Without memory for all, some. */
static size_t list_part(int part, struct entry **entries)
{
    size_t count = 0, capacity = 0;
    struct error unseen;
    struct dirent *found;
    struct stat state;
    int again = openat(part, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again >= 0 ? fdopendir(again) : NULL;
    if (folder == NULL) {
        close(again);
        return 0;
    }
    while ((found = readdir(folder)) != NULL) {
        if (fstatat(part, found->d_name, &state, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(state.st_mode) || strlen(found->d_name) >= sizeof(*entries)->name ||
            !array_reserve(entries, &capacity, count + 1, sizeof **entries, &unseen)) {
            continue;
        }
        struct entry *entry = &(*entries)[count++];
        *entry = (struct entry){.bytes = (uint64_t)state.st_size, .used = state.st_mtim};
        memcpy(entry->name, found->d_name, strlen(found->d_name) + 1);
    }
    closedir(folder);
    return count;
}

/* Look at a part, and if it is too large remove its least recently used files, down to nine tenths
 * of the limit. Returns the bytes that stay. */
static uint64_t evict(int part, uint64_t most)
{
    struct entry *entries = NULL;
    size_t count = list_part(part, &entries);
    uint64_t bytes = 0, keep;
    for (size_t i = 0; i < count; i++) {
        bytes += entries[i].bytes;
    }
    keep = bytes > most ? most - most / 10 : bytes;
    if (count > 0) {
        qsort(entries, count, sizeof *entries, compare_used);
    }
    for (size_t i = 0; i < count; i++) {
        if ((bytes > keep || is_left_over(&entries[i])) &&
            unlinkat(part, entries[i].name, 0) == 0) {
            bytes -= entries[i].bytes;
        }
    }
    free(entries);
    return bytes;
}

/* Look at the part when it is first added to, when it seems full, and after each eighth of its size
 * that this process added: others add, too. */
static void note_added(struct disk_cache *cache, uint32_t number, int part, uint64_t bytes)
{
    uint64_t most = cache->most / PARTS;
    struct part *known = &cache->parts[number];
    pthread_mutex_lock(&cache->lock);
    known->bytes += bytes;
    known->added += bytes;
    if (!known->seen || known->bytes > most || known->added > most / 8) {
        *known = (struct part){.seen = true, .bytes = evict(part, most)};
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

static bool write_file(struct disk_cache *cache, int part, const char *name, const uint8_t *bytes,
                       size_t size)
{
    char unfinished[NAME + 64];
    snprintf(unfinished, sizeof unfinished, "%s.tmp-%ld-%u", name, (long)getpid(),
             atomic_fetch_add(&cache->written, 1));
    int file = openat(part, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
        return false;
    }
    bool good = write_whole(file, bytes, size);
    good = close(file) == 0 && good && renameat(part, unfinished, part, name) == 0;
    if (!good) {
        unlinkat(part, unfinished, 0);
    }
    return good;
}

void disk_cache_put(struct disk_cache *cache, struct disk_cache_bytes key,
                    struct disk_cache_bytes value)
{
    char name[NAME];
    size_t size;
    uint8_t *bytes = cache != NULL ? disk_cache_pack(key, value, &size) : NULL;
    if (bytes == NULL) {
        return;
    }
    name_key(key, name);
    int part = size <= cache->most / PARTS / 4 ? open_part(cache, name, true) : -1;
    if (part >= 0) {
        if (write_file(cache, part, name, bytes, size)) {
            note_added(cache, part_number(name), part, size);
        }
        close(part);
    }
    free(bytes);
}
