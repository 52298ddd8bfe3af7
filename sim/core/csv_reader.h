/* A text a line at a time, split by libcsv if it is CSV, with line numbers for messages. Lines are bounded,
 * and a record never spans lines. A byte order mark at the beginning is skipped. */
#pragma once

#include <csv.h>

#include "core/error.h"

enum { CSV_LINE_MOST = 1 << 24, CSV_FIELDS_MOST = 64 };

struct csv_reader {
    const char *path; /* the caller's */
    FILE *file;
    int line;              /* of `text`, 1-based */
    char *text;            /* the line as it stands in the file, without its newline; owned */
    size_t size, capacity; /* bytes of `text` without its final 0, and room */
    char *fields[CSV_FIELDS_MOST]; /* of the last split line, in `unquoted` */
    size_t count;
    char *unquoted; /* owned */
    size_t unquoted_size, unquoted_capacity;
    struct csv_parser parser;
};

/* The caller owns the reader; `path` must stay valid. A failed open leaves nothing to close. */
bool csv_reader_open(struct csv_reader *reader, const char *path, struct error *why);
void csv_reader_close(struct csv_reader *reader);

/* Read the next line into `text`; `*more` tells whether there was one. */
bool csv_reader_next(struct csv_reader *reader, bool *more, struct error *why);

/* Split `text` into `count` fields (0: any number). After a failure the next line can still be read. */
bool csv_reader_split(struct csv_reader *reader, size_t count, struct error *why);
