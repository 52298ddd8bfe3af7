/* The program: it finds the command, and prints its help, its errors and its exit status. */
#pragma once

#include "cli/frame/command.h"

/* The commit is stated by main(): the library need not be linked anew for each commit. */
struct program {
    const struct command *const *commands; /* end with NULL; those of a group are adjacent */
    const char *commit;                    /* "" if unknown */
};

/* Run the command that argv names. Returns the exit status: 0, or the kind of the error, which it
 * prints. A failed write to standard output is an error. */
int program_run(const struct program *program, int argc, char **argv);
