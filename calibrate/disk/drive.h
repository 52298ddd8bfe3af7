/* The drive below a file, as Linux names it. */
#pragma once

#include <stddef.h>

/* Write the file system and the drive of the open file `file`, such as "ext4 on nvme0n1 (Samsung
 * SSD 990)", or "btrfs" if the system does not say which drive that is. */
void drive_describe(int file, char *text, size_t size);
