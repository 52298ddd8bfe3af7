/* The program: it finds the command, and prints its help, its errors and its exit status. */
#ifndef CLI_FRAME_PROGRAM_H
#define CLI_FRAME_PROGRAM_H

#include "cli/frame/command.h"

/* Run the command that argv names. The table ends with NULL, and the commands of a group are
 * adjacent. Returns the exit status: 0, or the kind of the error, which it prints. A failed write
 * to standard output is an error. */
int program_run(const struct command *const *commands, int argc, char *const *argv);

#endif
