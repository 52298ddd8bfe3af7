/* The folder that --deploy writes into: a new or empty one, or one that an earlier --deploy has
 * marked as its own. Files of others are never replaced. */
#pragma once

#include "core/error.h"

/* Could files be written into `path`? It leaves no folder behind. */
bool deployment_folder_check(const char *path, struct error *why);

/* A descriptor of the folder, which is made if it does not exist, and marked; -1 with `why`. */
int deployment_folder_open(const char *path, struct error *why);
