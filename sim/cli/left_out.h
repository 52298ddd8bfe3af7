/* Which systems a choice was not among, and why. */
#ifndef CLI_LEFT_OUT_H
#define CLI_LEFT_OUT_H

#include "study/candidates.h"

#include <stdio.h>

/* A line a reason; nothing where none was left out. */
void left_out_print(const struct candidate *candidates, uint32_t count, FILE *out);

#endif
