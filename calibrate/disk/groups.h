/* The group of the drive that keeps a folder. It is measured only where a folder is named. */
#pragma once

#include "calibrate/disk/scratch.h"
#include "calibrate/measure/group.h"

/* Ends with name NULL. */
extern const struct group disk_groups[];

/* Where the group makes its scratch file, and how large it is at most; borrowed. Set before the
 * group runs. */
struct disk_where {
    const char *folder;
    size_t bytes; /* a multiple of SCRATCH_LEAST */
};
extern struct disk_where disk_where;

/* The most that a run of the group writes, besides the file itself, and reads. */
extern const uint64_t disk_most_written, disk_most_read;

bool disk_run(const struct effort *effort, uint64_t seed, struct findings *findings,
              struct error *why);
