/* The words that are valid under the cursor of a shell, given those before it. */
#pragma once

#include "cli/frame/command.h"

/* Print them, a word a line; none where a file's name or anything else is wanted.
 *   commands  the program's, which end with NULL
 *   words     [count] behind the program's name; the last one, maybe empty, is under the cursor */
void candidates_print(const struct command *const *commands, const char *const *words,
                      uint32_t count, FILE *out);
