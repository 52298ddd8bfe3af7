/* --db FILE, by which commands keep what they computed. */
#ifndef CLI_FRAME_DATABASE_H
#define CLI_FRAME_DATABASE_H

#include "cli/frame/arguments.h"
#include "store/store.h"

/* Open the file that the command's option number `option` names, made where there is none; `*out`
 * is NULL where the option is not given. The caller closes it with store_close(). */
bool database_open(const struct arguments *arguments, int option, struct store **out,
                   struct error *why);

#endif
