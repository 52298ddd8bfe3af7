#include "core/disk_cache.h"

#include "core/array.h"
#include "core/text.h"

#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 1, BUSY_MS = 1000, PAGE = 4096 };

struct disk_cache {
    sqlite3 *database;
    uint64_t most;
    bool damaged;         /* the file: it is removed in the end */
    char path[PATH_MAX];  /* of the file */
    pthread_mutex_t lock; /* of all */
};

/* `put` numbers values in the order in which they were put. A killed process leaves a journal, which the next
 * one rolls back; what the machine's end leaves half-written costs no more than what was kept. */
static const char set_up[] =
    "PRAGMA synchronous = OFF;"
    "CREATE TABLE IF NOT EXISTS kept(key BLOB UNIQUE, value BLOB, put INTEGER PRIMARY KEY);"
    "SELECT key, value, put FROM kept LIMIT 1";

/* SQLite would follow a link, and wait for the other end of a FIFO. */
static bool is_plain_or_absent(const char *path, const char *ending)
{
    char name[PATH_MAX + 16];
    struct stat info;
    snprintf(name, sizeof name, "%s%s", path, ending);
    return lstat(name, &info) != 0 || S_ISREG(info.st_mode);
}

static int open_once(struct disk_cache *cache)
{
    int code = sqlite3_open_v2(cache->path, &cache->database,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    sqlite3_busy_timeout(cache->database, BUSY_MS);
    code = code == SQLITE_OK ? sqlite3_exec(cache->database, set_up, NULL, NULL, NULL) : code;
    if (code != SQLITE_OK) {
        sqlite3_close(cache->database);
        cache->database = NULL;
    }
    return code;
}

struct disk_cache *disk_cache_open(const char *folder, uint64_t most)
{
    struct disk_cache *cache = array_zeroed(1, sizeof *cache, ERROR_UNSEEN);
    if (cache == NULL) {
        return NULL;
    }
    int length = snprintf(cache->path, sizeof cache->path, "%s/replays.db", folder);
    char above[PATH_MAX];
    text_copy(above, sizeof above, folder);
    mkdir(dirname(above), 0700);
    mkdir(folder, 0700);
    bool fits = length < (int)sizeof cache->path && is_plain_or_absent(cache->path, "") &&
                is_plain_or_absent(cache->path, "-journal");
    int code = fits ? open_once(cache) : SQLITE_CANTOPEN;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR) {
        code = unlink(cache->path) == 0 ? open_once(cache) : code; /* no cache: it is made anew */
    }
    if (code != SQLITE_OK) {
        free(cache);
        return NULL;
    }
    cache->most = most;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void disk_cache_close(struct disk_cache *cache)
{
    if (cache != NULL) {
        sqlite3_close(cache->database);
        if (cache->damaged) {
            unlink(cache->path);
        }
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

/* A statement with the key as its first parameter; NULL, as any failure here, is no error. */
static sqlite3_stmt *disk_cache_prepare(struct disk_cache *cache, const char *sql,
                                        struct disk_cache_bytes key)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(cache->database, sql, -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_blob64(statement, 1, key.at, key.size, SQLITE_STATIC);
    }
    return statement;
}

/* Is there a row? */
static bool disk_cache_step(struct disk_cache *cache, sqlite3_stmt *statement)
{
    int code = statement != NULL ? sqlite3_step(statement) : sqlite3_errcode(cache->database);
    cache->damaged = cache->damaged || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
    return code == SQLITE_ROW;
}

static void disk_cache_run(struct disk_cache *cache, const char *sql, struct disk_cache_bytes key)
{
    sqlite3_stmt *statement = disk_cache_prepare(cache, sql, key);
    disk_cache_step(cache, statement);
    sqlite3_finalize(statement);
}

uint8_t *disk_cache_get(struct disk_cache *cache, struct disk_cache_bytes key, size_t *size)
{
    static const char find[] = "SELECT value FROM kept WHERE key = ?1";
    uint8_t *value = NULL;
    if (cache == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&cache->lock);
    sqlite3_stmt *row = disk_cache_prepare(cache, find, key);
    if (disk_cache_step(cache, row)) {
        const void *stored = sqlite3_column_blob(row, 0);
        size_t bytes = (size_t)sqlite3_column_bytes(row, 0);
        unsigned long long wanted = ZSTD_getFrameContentSize(stored, bytes);
        *size = (size_t)wanted;
        value = wanted <= DISK_CACHE_MOST ? malloc((size_t)wanted + 1) : NULL;
        if (value != NULL && ZSTD_decompress(value, *size, stored, bytes) != wanted) {
            free(value); /* its checksum differs */
            value = NULL;
        }
    }
    sqlite3_finalize(row);
    pthread_mutex_unlock(&cache->lock);
    return value;
}

static uint64_t bytes_used(struct disk_cache *cache)
{
    const struct disk_cache_bytes none = {NULL, 0};
    sqlite3_stmt *row = disk_cache_prepare(
        cache, "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count",
        none);
    uint64_t pages = disk_cache_step(cache, row) ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return pages * PAGE;
}

static void disk_cache_insert(struct disk_cache *cache, struct disk_cache_bytes key,
                              struct disk_cache_bytes stored)
{
    static const char add[] = "INSERT OR REPLACE INTO kept(key, value) VALUES (?1, ?2)";
    static const char evict[] = "DELETE FROM kept WHERE put IN (SELECT put FROM kept ORDER BY put"
                                " LIMIT (SELECT COUNT(*) / 10 + 1 FROM kept))";
    uint64_t room = 4 * PAGE + key.size + stored.size;
    disk_cache_run(cache, "BEGIN IMMEDIATE", key);
    if (sqlite3_get_autocommit(cache->database)) {
        sqlite3_busy_timeout(cache->database,
                             0); /* who holds it so long may be stopped: one waits once */
        return;
    }
    for (int tries = 0; bytes_used(cache) + room > cache->most && tries < 64; tries++) {
        disk_cache_run(cache, evict, key);
    }
    sqlite3_stmt *statement = disk_cache_prepare(cache, add, key);
    sqlite3_bind_blob64(statement, 2, stored.at, stored.size, SQLITE_STATIC);
    disk_cache_step(cache, statement);
    sqlite3_finalize(statement);
    disk_cache_run(cache, "COMMIT", key);
    if (!sqlite3_get_autocommit(cache->database)) {
        disk_cache_run(cache, "ROLLBACK", key);
    }
}

void disk_cache_put(struct disk_cache *cache, struct disk_cache_bytes key,
                    struct disk_cache_bytes value)
{
    if (cache == NULL || key.size > DISK_CACHE_MOST || value.size > DISK_CACHE_MOST) {
        return;
    }
    size_t room = ZSTD_compressBound(value.size);
    uint8_t *stored = malloc(room);
    ZSTD_CCtx *context = stored != NULL ? ZSTD_createCCtx() : NULL;
    size_t size = 0;
    if (context != NULL) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        size = ZSTD_compress2(context, stored, room, value.at, value.size);
        ZSTD_freeCCtx(context);
    }
    if (size > 0 && !ZSTD_isError(size) && key.size + size <= cache->most / 64) {
        pthread_mutex_lock(&cache->lock);
        disk_cache_insert(cache, key, (struct disk_cache_bytes){stored, size});
        pthread_mutex_unlock(&cache->lock);
    }
    free(stored);
}
