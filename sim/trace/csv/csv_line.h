/* One line of a trace as CSV: a key, a kind, and a value still in text. */
#ifndef TRACE_CSV_CSV_LINE_H
#define TRACE_CSV_CSV_LINE_H

#include "trace/csv/csv_reader.h"

#include <stdint.h>

/* The kind of a line, from its fifth field: a word, a unit, or ~ and an approximate unit. */
enum csv_kind { CSV_BORN, CSV_TAIL, CSV_QUERY, CSV_UNIT, CSV_APPROXIMATE, CSV_KINDS };
extern const char *const csv_kinds[CSV_KINDS];

struct csv_key {
    uint32_t sequence, step, layer, head;
};

struct csv_line {
    struct csv_key key;
    enum csv_kind kind;
    uint32_t unit;     /* for the kinds that have a unit */
    const char *value; /* in the reader; valid until its next line */
};

/* Parse the line that was read last. */
bool csv_line_parse(struct csv_reader *reader, struct csv_line *line, struct error *why);

#endif
