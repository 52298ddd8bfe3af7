/* The program: which command was meant, its help, its errors and its exit status. */
#ifndef CLI_FRAME_PROGRAM_H
#define CLI_FRAME_PROGRAM_H

#include "cli/frame/command.h"

/* Run what argv asks for; the table ends with NULL, commands of a group stand together. Returns the
 * exit status: 0, or the kind of the error, which it prints. Results that standard output did not
 * take are an error. */
int program_run(const struct command *const *commands, int argc, char *const *argv);

#endif
