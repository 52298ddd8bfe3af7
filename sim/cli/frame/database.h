/* Databases that commands write (the option --db FILE) and show. */
#ifndef CLI_FRAME_DATABASE_H
#define CLI_FRAME_DATABASE_H

#include "cli/frame/arguments.h"
#include "store/store.h"

/* Open the file of --db, creating it if it does not exist. `*out` is NULL if the option is not
 * given. The caller closes it with store_close(). */
bool database_open(const struct arguments *arguments, struct store **out, struct error *why);

/* Open a file to show one program's results (store/store_program.h). `note` says in a sentence that
 * results are left out, or that another program computed them; "" if neither. Closed by the caller.
 */
enum { DATABASE_NOTE = 320 };
struct store *database_show(const char *path, char note[DATABASE_NOTE], struct error *why);

/* Print such a note on standard error, unless it is "". */
void database_print_note(const char *note);

#endif
