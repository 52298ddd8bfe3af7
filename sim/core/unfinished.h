/* A file while it is being written: PATH.spillway-tmp, beside the PATH that it becomes.
 *
 * PATH appears, or is replaced, only when the new file is whole. A command that is killed leaves
 * its unfinished file; the next one that writes PATH takes it over, so at most one is ever left.
 * Two commands cannot write the same PATH at once: the unfinished file is locked (flock(2)) until
 * it is published or discarded. A file system without locks is trusted.
 *
 * Whatever else has the unfinished file's name (a link, a second name of another file, a FIFO, a
 * folder) is not ours: it is refused, left as it is, and nothing waits for it. */
#pragma once

#include "core/error.h"

#include <limits.h>

/* ---- where a path that a command shall write leads ----
 *
 * A symbolic link is followed, as a shell's `>` follows it: its target is written, and the link
 * stays. A path such as /dev/stdout or /dev/fd/3 leads to a descriptor that this process has open.
 * Only that descriptor may be written: the file behind it may hold text of others, and under its
 * name in /dev a superuser would replace the device for everyone. */
struct destination {
    int descriptor;      /* of this process, open or not; -1 if the path names a file */
    char path[PATH_MAX]; /* of the file, which may be absent; its last part is no link */
};

/* Fails if the links form a circle or the path is too long. */
bool destination_find(const char *path, struct destination *out, struct error *why);

/* ---- a file while it is written ---- */

#define UNFINISHED_SUFFIX ".spillway-tmp"

struct unfinished {
    char *path, *name; /* the final file and the unfinished one; NULL when there is none */
    int fd;            /* open for writing; the caller may write to it, but not close it */
};

/* Open an empty unfinished file for a PATH that is absent, a regular file, or a link to one: the link's
 * target is then written (destination_find()). On failure there is nothing to discard. */
bool unfinished_open(const char *path, struct unfinished *out, struct error *why);

/* Rename it to PATH, after a sync if `durable`. On failure PATH is as before and the unfinished file gone. */
bool unfinished_publish(struct unfinished *file, bool durable, struct error *why);

/* Remove it. After a publish, and of a zeroed struct, this does nothing. */
void unfinished_discard(struct unfinished *file);
