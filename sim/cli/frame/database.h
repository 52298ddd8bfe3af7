/* Databases that commands write (the option --db FILE) and show. */
#pragma once

#include "cli/frame/arguments.h"
#include "store/store.h"

/* Open the file of --db, creating it if it does not exist. `*out` is NULL if the option is not
 * given. The caller closes it with store_close(). */
bool database_open(const struct arguments *arguments, struct store **out, struct error *why);

/* Give the store's queries the function policy_words(TEXT), which pictures and reports use: a policy
 * of a stored scenario as tables name it, "qsac, eta 0.8". It is null of a plug-in, which it does
 * not load, and of anything that is no policy. */
bool database_name_policies(struct store *store, struct error *why);

/* Open a file to show one program's results (store/store_program.h), with the names of
 * policies. `note` says in a sentence that results are left out, or that another program computed
 * them; "" if neither. Closed by the caller. */
enum { DATABASE_NOTE = 320 };
struct store *database_show(const char *path, char note[DATABASE_NOTE], struct error *why);

/* Print such a note on standard error, unless it is "". */
void database_print_note(const char *note);
