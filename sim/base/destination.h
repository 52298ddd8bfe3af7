/* Where a path that a command shall write leads.
 *
 * A symbolic link is followed, as a shell's `>` follows it: its target is written, and the link
 * stays. A path such as /dev/stdout or /dev/fd/3 leads to a descriptor that this process has open.
 * Only that descriptor may be written: the file behind it may hold text of others, and under its
 * name in /dev a superuser would replace the device for everyone.
 */
#ifndef BASE_DESTINATION_H
#define BASE_DESTINATION_H

#include "base/error.h"

#include <limits.h>

struct destination {
    int descriptor;      /* of this process, open or not; -1 if the path names a file */
    char path[PATH_MAX]; /* of the file, which may be absent; its last part is no link */
};

/* Fails if the links form a circle or the path is too long. */
bool destination_find(const char *path, struct destination *out, struct error *why);

#endif
