/* The tables of a results file, and what marks a file as one.
 *
 * SQLite keeps two numbers in a file's header for programs to mark their files with. The
 * application id is always 'Splw'; the user version is a hash of the statements that make the
 * tables, so that a changed column cannot be mistaken for the old one because someone forgot to
 * raise a number.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include "base/error.h"
#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEMA_APPLICATION 0x53706c77

/* The statements that make the tables, each ending with a semicolon. */
extern const char schema_tables[];

/* Never 0: that is what a new file says. */
int32_t schema_version(void);

/* Fixed-size texts of a run that stand in `runs` behind the columns of columns.def. */
struct schema_text {
    const char *name;
    size_t offset, size; /* in struct result */
};
#define SCHEMA_TEXTS 6
extern const struct schema_text schema_texts[SCHEMA_TEXTS];

/* Look at the file without opening it as a database, so that what is not ours stays exactly as
 * it is. True for a results file of this schema and, for writing, where there is no file or an
 * empty one. */
bool schema_check_file(const char *path, bool writable, struct error *why);

#endif
