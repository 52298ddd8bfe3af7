/* Where a faster link does not help: CPU stores into GPU memory are as fast as their threads. */
#ifndef CLI_WHATIF_WHATIF_STORES_H
#define CLI_WHATIF_WHATIF_STORES_H

#include "study/whatif/whatif.h"

#include <stdio.h>

/* A line for each axis of the link, or of a figure of it, along which a system that fetches by CPU
 * stores is held up by these at several values in a row. */
void whatif_stores_print(const struct whatif *whatif, FILE *out);

#endif
