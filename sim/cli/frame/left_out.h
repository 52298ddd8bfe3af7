/* The systems that were left out of a choice, and why. */
#ifndef CLI_FRAME_LEFT_OUT_H
#define CLI_FRAME_LEFT_OUT_H

#include "study/plan/candidates.h"

#include <stdio.h>

/* Print one line per reason; nothing if no system was left out. */
void left_out_print(const struct candidate *candidates, uint32_t count, FILE *out);

/* Print one line with how many there are for each reason; --wide of the command lists them. */
void left_out_print_counts(const struct candidate *candidates, uint32_t count, FILE *out);

#endif
