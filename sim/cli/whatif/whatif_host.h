/* Host memory walked for a system that keeps no KV there: why all points are the same. */
#ifndef CLI_WHATIF_WHATIF_HOST_H
#define CLI_WHATIF_WHATIF_HOST_H

#include "study/whatif/whatif.h"

#include <stdio.h>

/* Nothing where host memory is no axis, or a point has KV there. */
void whatif_host_print(const struct whatif *whatif, FILE *out);

#endif
