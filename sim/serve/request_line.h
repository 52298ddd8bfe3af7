/* One request as a line says it, on its way into the list. For the files of this folder. */
#ifndef SERVE_REQUEST_LINE_H
#define SERVE_REQUEST_LINE_H

#include "serve/requests.h"
#include "trace/csv/csv_reader.h"

enum { REQUEST_MOST_HASHES = CSV_LINE_MOST / 2 };

struct request_line {
    double arrival_s;
    uint64_t prompt, output;
    uint32_t hashes;
    uint64_t hash[REQUEST_MOST_HASHES];
    bool failed; /* where it was recorded: to be skipped */
};

/* Take the line that `reader` read last apart. */
typedef bool (*request_parse)(struct csv_reader *reader, struct request_line *line,
                              struct error *why);

/* The parser for a file whose first line is what `reader` read last; NULL: none of this family.
 * The first line of a table is its head, of JSON lines it is a request. */
request_parse request_json_parser(const struct csv_reader *reader);
request_parse request_csv_parser(struct csv_reader *reader);

/* Check a line against all before it and append it. `*origin_s` is the first arrival, NAN before.
 */
bool requests_add(struct requests *requests, const struct request_line *line, double *origin_s,
                  const struct csv_reader *reader, struct error *why);

#endif
