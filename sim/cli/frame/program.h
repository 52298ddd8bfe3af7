/* The program: it finds the command, and prints its help, its errors and its exit status. */
#pragma once

#include "cli/frame/command.h"

/* The commit is stated by main(): the library need not be linked anew for each commit. */
struct program {
    const struct command *const *commands; /* end with NULL; those of a group are adjacent */
    const char *commit;                    /* "" if unknown */
};

/* Run the command that argv names. Returns the exit status: 0, or the kind of the error, which it prints. */
int program_run(const struct program *program, int argc, char **argv);

/* ---- help, printed from the rows; the caller checks `out` for write errors ---- */

void help_command(const struct command *command, FILE *out);
void help_program(const struct program *program, FILE *out);

/* Print "  NAME  text" with names of `width` characters; the text wraps at the terminal's width. */
void help_entry(const char *name, int width, const char *text, FILE *out);

/* Is `command` in `group`: "trace info" is in "trace"? */
bool command_in_group(const struct command *command, const char *group);

/* "latency|hits|reuse DB" into `text`. */
void command_operands_spelling(const struct command *command, char *text, size_t size);

/* The options of the program besides its commands. */
struct program_switch {
    const char *name; /* "--version" */
    const char *summary;
    void (*print)(const struct program *program, FILE *out);
};
extern const struct program_switch program_switches[]; /* ends with name NULL */
