/* Opening a file whose bytes must be there already. A FIFO of that name would make the program wait
 * for a writer, and a pipe would lose what is read to look at it.
 */
#pragma once

#include "core/error.h"

#include <stdio.h>

/* Open a regular file for reading, or a link to one. Anything else is refused, and never waited
 * for. The caller closes it. */
FILE *regular_open(const char *path, struct error *why);
