#include "calibrate/disk/scratch.h"

#include "core/random.h"
#include "calibrate/disk/drive.h"
#include "calibrate/measure/measure.h"
#include "calibrate/measure/room.h"

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_rng.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { PARTS = 4, FILL = 1 << 20 };

static bool scratch_refuse(const char *folder, const char *reason, struct error *why)
{
    error_usage(why, NULL, 0, "--disk: '%s' %s", folder, reason);
    return error_expect(why, "a folder on a drive, such as --disk .");
}

/* ---- opening ---- */

/* Without O_TMPFILE, as on NFS: a file whose name is removed at once. */
static int scratch_create_named(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.spillway-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkstemp(path);
    if (file >= 0) {
        unlink(path);
    }
    return file;
}

static int scratch_create(const char *folder)
{
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    bool unknown = file < 0 && (errno == EOPNOTSUPP || errno == EISDIR);
    return unknown ? scratch_create_named(folder) : file;
}

/* The same file again, past the page cache. */
static int scratch_reopen(int file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
}

static bool scratch_in_memory(int file)
{
    struct statfs system;
    return fstatfs(file, &system) == 0 &&
           (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

static bool scratch_open_both(struct scratch *scratch, const char *folder, struct error *why)
{
    *scratch = (struct scratch){.cached = scratch_create(folder), .direct = -1};
    if (scratch->cached < 0) {
        char reason[256];
        snprintf(reason, sizeof reason, "takes no file: %s", strerror(errno));
        return scratch_refuse(folder, reason, why);
    }
    if (scratch_in_memory(scratch->cached)) {
        return scratch_refuse(folder, "is a file system in memory: it has no drive", why);
    }
    scratch->direct = scratch_reopen(scratch->cached);
    drive_describe(scratch->cached, scratch->drive, sizeof scratch->drive);
    return scratch->direct >= 0 ||
           scratch_refuse(folder,
                          "is a file system without O_DIRECT: reads cannot pass by its "
                          "page cache",
                          why);
}

bool scratch_check(const char *folder, struct error *why)
{
    struct scratch scratch;
    bool good = scratch_open_both(&scratch, folder, why);
    scratch_close(&scratch);
    return good;
}

void scratch_close(struct scratch *scratch)
{
    if (scratch->direct >= 0) {
        close(scratch->direct);
    }
    if (scratch->cached >= 0) {
        close(scratch->cached);
    }
    scratch->cached = scratch->direct = -1;
}

/* ---- room and contents ---- */

static bool scratch_find_room(struct scratch *scratch, size_t wanted, struct error *why)
{
    struct statvfs system;
    struct room room;
    if (fstatvfs(scratch->cached, &system) != 0) {
        return error_set(why, NULL, 0, "the drive does not state its room: %s", strerror(errno));
    }
    scratch->capacity = (double)system.f_blocks * (double)system.f_frsize;
    const struct room_memory drive = {"the drive", (size_t)system.f_bavail * system.f_frsize};
    bool good = room_find(wanted, SCRATCH_LEAST, PARTS, &drive, 1, &room, why);
    scratch->bytes = good ? room.bytes : 0;
    return good;
}

char *scratch_memory(size_t size, struct error *why)
{
    size_t rounded = (size + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
    char *memory = aligned_alloc(SCRATCH_ALIGN, rounded);
    if (memory == NULL) {
        error_set(why, NULL, 0, "out of memory");
    }
    return memory;
}

/* Other random bytes in each piece would take longer than writing them: each begins elsewhere. */
static bool scratch_write(const struct scratch *scratch, const char *random, struct error *why)
{
    for (size_t at = 0; at < scratch->bytes; at += FILL) {
        size_t first = at / FILL * SCRATCH_ALIGN % FILL;
        if (measure_interrupted) {
            return error_set(why, NULL, 0, "interrupted");
        }
        if (pwrite(scratch->direct, random + first, FILL, (off_t)at) != FILL) {
            return error_set(why, NULL, 0, "the scratch file cannot be written: %s",
                             strerror(errno));
        }
    }
    return fdatasync(scratch->direct) == 0 ||
           error_set(why, NULL, 0, "the scratch file cannot be written: %s", strerror(errno));
}

static bool scratch_fill(const struct scratch *scratch, struct error *why)
{
    char *random = scratch_memory((size_t)2 * FILL, why);
    gsl_rng *stream = random != NULL ? random_stream(1, "disk.scratch", 0, why) : NULL;
    for (size_t i = 0; stream != NULL && i < (size_t)2 * FILL; i++) {
        random[i] = (char)gsl_rng_get(stream);
    }
    bool good = stream != NULL && scratch_write(scratch, random, why);
    gsl_rng_free(stream);
    free(random);
    return good;
}

bool scratch_open(struct scratch *scratch, const char *folder, size_t wanted, struct error *why)
{
    bool good = scratch_open_both(scratch, folder, why) &&
                scratch_find_room(scratch, wanted, why) && scratch_fill(scratch, why);
    if (!good) {
        scratch_close(scratch);
    }
    return good;
}

void scratch_forget(const struct scratch *scratch)
{
    posix_fadvise(scratch->cached, 0, 0, POSIX_FADV_DONTNEED);
}
