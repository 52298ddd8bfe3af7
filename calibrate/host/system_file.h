/* Files of /proc and /sys, below a root that tests replace. Internal to this folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct system_text {
    char bytes[8192];
};

/* Read the start of the file at `root` and the formatted path; false, with an empty text, if the
 * file is missing or empty. */
bool system_read(struct system_text *text, const char *root, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The number after `key`; 0 if the text lacks it. */
uint64_t system_number(const struct system_text *text, const char *key);
