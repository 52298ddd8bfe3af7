/* The option --db FILE, with which commands store their results. */
#ifndef CLI_FRAME_DATABASE_H
#define CLI_FRAME_DATABASE_H

#include "cli/frame/arguments.h"
#include "store/store.h"

/* Open the file named by the command's option number `option`, creating it if it does not exist.
 * `*out` is NULL if the option is not given. The caller closes it with store_close(). */
bool database_open(const struct arguments *arguments, int option, struct store **out,
                   struct error *why);

#endif
