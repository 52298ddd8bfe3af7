/* The tables of a results file: their columns, and where a run keeps what is in them. A table's columns are
 * fields, then some columns of results, then more fields. Statements name them, because a file that was made
 * by an older version has them in another order. */
#pragma once

#include "predict/result/result.h"

#define SCHEMA_APPLICATION "Splw"

/* How a row of a run keeps a field. */
enum schema_as {
    AS_KEY,     /* not at all: of a study */
    AS_RUN,     /* the run's hash */
    AS_PROGRAM, /* the program's name */
    AS_ROW,     /* the number of the row */
    AS_U32,
    AS_64,
    AS_NS, /* whole nanoseconds, in the unit of the column; negative: null */
    AS_REAL,
    AS_TEXT,
    AS_NAME,    /* characters of the row itself, at most RESULT_NAME with the NUL */
    AS_RESULTS, /* characters of the result itself, at most `size` with the NUL */
};

struct schema_field {
    const char *name;
    enum unit unit;
    enum schema_as as;
    size_t at; /* offset in the row, or in the result */
    size_t size;
};

struct schema_table {
    const char *name, *key;           /* "layers", "run, layer" */
    const struct schema_field *begin; /* [begins] */
    size_t begins;
    const struct column *(*walk)(uint32_t place); /* columns of results; NULL: none */
    const struct schema_field *end;               /* [ends] */
    size_t ends;
    /* Of a run's detail: where a result has the rows, and how many. */
    size_t rows, count, size; /* size: of a row; 0: `runs`, or of a study */
    bool inside;              /* the rows are an array in the result, not one that it points to */
    size_t reals;             /* offset in the row of the numbers of `walk` */
};
extern const struct schema_table schema_tables[]; /* ends with name NULL */

/* The table of this name, in any case; NULL: it is not one of spillway's. */
const struct schema_table *schema_find(const char *name);

/* The name of column `index`, and its type; NULL after the last. */
const char *schema_column(const struct schema_table *table, size_t index, const char **type);

/* A statement about a table, on the heap: of `format`, with %t for its name, %k its key, %c its columns, %d
 * these with their types, %v as many "?", and %w "NAME IS ?1 AND ...". NULL if there is no room. */
char *schema_sql(const struct schema_table *table, const char *format, struct error *why);

/* The number of the schema: how many columns all tables have. Versions without one have large numbers. */
int32_t schema_version(void);

/* Look at the file without opening it as a database. True for a results file and, for writing, for a missing
 * or empty one. False, too, if SQLite would take something beside it for its journal. */
bool schema_check_file(const char *path, bool writable, struct error *why);
