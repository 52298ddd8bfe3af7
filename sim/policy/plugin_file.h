/* The file of a plug-in, before it is loaded: dlopen() waits for the writer of a FIFO, and a
 * library that was cut kills the program when its missing pages are touched. */
#pragma once

#include "core/error.h"

#include <stdint.h>

/* Check that a file is regular and, if it is an ELF file, as long as its headers say. Any other
 * fault of it dlopen() reports. `*hash` becomes its XXH64, never 0. */
bool plugin_file_check(const char *path, uint64_t *hash, struct error *why);
