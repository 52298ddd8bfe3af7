/* What the value of an option means for a scenario.
 *
 * What `--from` reads: server_text.c the lines of a log, server_command.c a command, both by the rows
 * of server_program.h; server_complete.c says what settings mean together. */
#pragma once

#include "predict/command/server_program.h"
#include "predict/command/server_text.h"

#include <stdbool.h>

/* Everything that was said so far, and where the text is read. A switch has the value "yes" or
 * "no", or that of its row; the others that of their key. */
struct server_text {
    const char *file;
    int line;
    bool typed;       /* in a command, where 0 is no way to leave a number open */
    int command_line; /* where the command begins; 0: none so far */
    const struct server_program *programs, *program; /* all; the server's, NULL: not known */
    size_t program_count;
    struct stated_key all[STATED_MOST];
    struct server_unused unused;
};

/* What the values of an option are, for a message. */
const char *server_setting_expected(const struct server_option *option);

/* Does it have no value of its own on a command line? */
bool server_setting_is_switch(const struct server_option *option);

/* Take the value that the server gives an option which is read. None, null and "" say nothing. `used`
 * (may be NULL) becomes false if the value is valid but has no counterpart in a scenario. Fails if
 * the value is invalid. */
bool server_setting_take(const struct server_option *option, const char *value,
                         struct server_text *said, bool *used, struct error *why);
