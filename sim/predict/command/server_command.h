/* The command that starts a server, or the image of one, in a line of a shell script. */
#pragma once

#include "predict/command/server_setting.h"

/* Read the line's command, if it has one; a '\v' in the line ends a line of the file. `found`: it
 * has. Each option becomes a fact or is counted as unused. Fails if the value of a used option is
 * missing or invalid, if there was a command before, and (a usage error) if an unknown option has a
 * name near that of a used one. */
bool server_command_read(struct server_text *said, const char *line, bool *found,
                         struct error *why);

/* Does the line end within quotes of a command, so that the next one goes on with it? */
bool server_command_is_open(const struct server_text *said, const char *line);

/* Count as unused an option that only acts together with another one that was not given. Call it
 * after the last line. */
void server_command_end(struct server_text *said);
