/* The three header lines of a trace as CSV. */
#ifndef TRACE_CSV_CSV_HEADER_H
#define TRACE_CSV_CSV_HEADER_H

#include "trace/csv/csv_reader.h"
#include "trace/format/trace.h"

#include <stdio.h>

void csv_write_header(const struct trace_header *header, FILE *out);

/* Read them. The caller frees header->source, also after a failure. */
bool csv_read_header(struct csv_reader *reader, struct trace_header *header, struct error *why);

#endif
