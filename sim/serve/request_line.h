/* One line of a file of requests, between parser and list. Private to this folder. */
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
    bool failed; /* the recorded request failed: skip the line */
};

/* Parse the line that `reader` read last. */
typedef bool (*request_parse)(struct csv_reader *reader, struct request_line *line,
                              struct error *why);

/* The parser for a file whose first line `reader` has just read; NULL if the file is neither JSON
 * lines nor a known table. A table begins with its head, JSON lines with a request. */
request_parse request_json_parser(const struct csv_reader *reader);
request_parse request_csv_parser(struct csv_reader *reader);

/* Check a line against the requests before it and append it. `*origin_s` is the arrival of the
 * first request, NAN before there is one. */
bool requests_add(struct requests *requests, const struct request_line *line, double *origin_s,
                  const struct csv_reader *reader, struct error *why);

#endif
