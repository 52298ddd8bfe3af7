/* Which systems a choice was not among, and why. */
#ifndef CLI_FRAME_LEFT_OUT_H
#define CLI_FRAME_LEFT_OUT_H

#include "study/plan/candidates.h"

#include <stdio.h>

/* A line a reason; nothing where none was left out. */
void left_out_print(const struct candidate *candidates, uint32_t count, FILE *out);

#endif
