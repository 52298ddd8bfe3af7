/* The scratch file: room on a drive to read and write, which nobody else sees.
 *
 * It has no name: the system takes its room back when the process ends, however it ends. It is full
 * of random bytes, which no drive compresses or leaves out, and takes at most a quarter of the room
 * that is free.
 *
 * It is open twice: through the page cache, and past it (O_DIRECT). A file system that keeps its
 * files in memory (tmpfs), or has no way past the page cache, is refused with the reason: there is
 * no drive to measure.
 */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/* What O_DIRECT asks of places in the file and in memory, on every drive of today. */
enum { SCRATCH_ALIGN = 4096, SCRATCH_LEAST = 8 << 20 };

struct scratch {
    int cached, direct;
    size_t bytes;    /* a multiple of SCRATCH_LEAST */
    double capacity; /* of the file system, in bytes */
    char drive[192]; /* "ext4 on nvme0n1 (Samsung SSD 990)" */
};

/* Can the drive of `folder` be measured? */
bool scratch_check(const char *folder, struct error *why);

/* Make and fill the file: `wanted` bytes, a multiple of SCRATCH_LEAST, or a half, a quarter, ... of
 * it. Ends early after an interrupt. On failure there is nothing to release. */
bool scratch_open(struct scratch *scratch, const char *folder, size_t wanted, struct error *why);
void scratch_close(struct scratch *scratch);

/* Memory for `size` bytes of such a file, at least SCRATCH_ALIGN; free() releases it. */
char *scratch_memory(size_t size, struct error *why);

/* Drop the file from the page cache. */
void scratch_forget(const struct scratch *scratch);
