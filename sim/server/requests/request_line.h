/* One request of a file, between parser and list. Private to this folder. */
#pragma once

#include "server/requests/requests.h"
#include "core/csv_reader.h"

struct request_line {
    double arrival_s; /* NAN: the line does not say */
    uint64_t prompt, output;
    uint16_t turn; /* of a session (struct request) */
    int64_t think_ns;
    uint64_t session;       /* hash of the name of the line's session; 0: it has none */
    double session_start_s; /* arrival of its first turn */
    uint32_t answered;      /* its turns so far that have an answer */
    uint32_t hash_tokens;   /* of a whole chunk */
    uint32_t hashes;        /* 0: the prompt's content is unknown */
    uint32_t shared;        /* the first of these, which other prompts may have */
    uint64_t *hash;         /* [hashes] owned by the reader of the file */
    size_t hash_capacity;
    /* instead of hashes, of a request that is made up: */
    bool made;
    uint32_t alike; /* its first chunks are those of request `like`; all others are new */
    size_t like;
};

/* May another request be added? False: `stop` is raised, or all would take too much memory. */
bool requests_have_room(const struct requests *requests, const struct stop_flag *stop,
                        const struct csv_reader *reader, struct error *why);

/* Check a line against those before it and append it. `*origin_s`: the first arrival, or NAN. */
bool requests_add(struct requests *requests, const struct request_line *line, double *origin_s,
                  const struct csv_reader *reader, struct error *why);
