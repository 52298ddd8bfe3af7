/* The tables of a results file, and the marks that identify one.
 *
 * SQLite keeps two numbers in a file's header with which programs mark their files. The application
 * id is always 'Splw'. The user version is a hash of the statements that make the tables, so that a
 * changed column is noticed even if nobody raises a version number.
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

/* Never 0, which is the user version of a new file. */
int32_t schema_version(void);

/* Fixed-size texts of a run that follow the columns of columns.def in `runs`. */
struct schema_text {
    const char *name;
    size_t offset, size; /* in struct result */
};
#define SCHEMA_TEXTS 6
extern const struct schema_text schema_texts[SCHEMA_TEXTS];

/* Look at the file without opening it as a database, so that a foreign file is not changed. True
 * for a results file of this schema and, for writing, for a missing or empty file. False, too, if
 * SQLite would take something beside it that is no regular file for its journal. */
bool schema_check_file(const char *path, bool writable, struct error *why);

#endif
