/* Requests: the arrival of each, the lengths of its prompt and its output, and the chunks of tokens
 * that its prompt consists of.
 *
 * A chunk is a run of tokens. Its hash covers its tokens and all tokens before it, so that equal
 * chunks mean equal beginnings. Chunks are numbered by first appearance; a number always has the
 * same predecessor and the same length. The last chunk of a prompt may be shorter than the others.
 * Of requests that are made up, the chunks at a prompt's end that are in no other prompt have no numbers,
 * because nobody looks for them: a workload of a million requests has tens of millions.
 *
 * The rows of requests_read.c are the published formats that can be read; the first line of a file tells
 * which one it is. Hashes, token ids and times may be absent. A time is in all lines or in none. */
#pragma once

#include "core/error.h"
#include "core/stop_flag.h"
#include "core/csv_reader.h"
#include "trace/ids.h"

/* Most tokens of a prompt or an output; a longer one is an error in the file. */
enum { REQUEST_MOST_TOKENS = 1 << 27 };

/* Latest arrival in seconds: the year 2223 in Unix time, which files may use. Fits int64_t ns. */
#define REQUEST_MOST_ARRIVAL_S 8e9

struct request {
    int64_t arrival_ns;      /* since the first request; not before the previous one */
    uint32_t prompt, output; /* tokens, at least 1 each */
    uint64_t first_chunk;    /* its chunks are requests.chunks[first_chunk ...] */
    uint32_t chunks;         /* those with numbers; 0: none */
    uint16_t turn;           /* of its session, from 0. A later turn stands behind the turn before,
                                and arrives when that one has ended */
    bool known;              /* the prompt's content is */
    int64_t think_ns;        /* and its user has thought for so long */
};

static inline uint64_t request_tokens(const struct request *request)
{
    return (uint64_t)request->prompt + request->output;
}

/* Tokens of the request whose KV is stored: all but the last output token, which ends it. */
static inline uint64_t request_kept_tokens(const struct request *request)
{
    return (uint64_t)request->prompt + request->output - 1;
}

/* Chunks of all prompts, as the file hashes them, and those that an earlier prompt had. */
struct requests_hashed {
    uint64_t all, hits;
    uint64_t full, full_hits; /* those as long as a whole chunk */
    uint64_t distinct_tokens; /* tokens of chunks that no earlier prompt had */
};

/* What a text of made-up requests says of them, however many are drawn and from whichever seed. */
struct requests_drawn {
    uint64_t tokens, prompt; /* no request has more, and no prompt; 0: a file says nothing */
    uint64_t usual;          /* tokens, of which one session in 1000 has more */
    bool even;               /* all are equally long */
};

struct requests {
    struct requests_drawn drawn;
    struct request *all;
    size_t count, capacity;
    uint32_t *chunks; /* numbers of chunks; lists that begin alike may share their beginning */
    size_t chunk_count, chunk_capacity;
    uint32_t chunk_tokens;      /* of a whole chunk; 0: no prompt's content is known */
    bool sessions;              /* some requests are later turns */
    bool arrive;                /* the file has arrival times; else all are 0 */
    bool queued;                /* they are stamps of the engine's queue, behind its API process */
    struct dense_ids ids;       /* the number of each hash */
    struct request_chunk *kind; /* [ids.count] by number */
    size_t kind_capacity;
    struct requests_hashed hashed;
    uint64_t content; /* hash of the file's bytes */
    uint64_t skipped; /* requests without an answer: they failed when they were recorded */
    uint64_t images;  /* with images, of which a trace says only their tokens */
    bool models;      /* a table has requests of several models */
    char of[64];      /* the model that a benchmark was of; "": not stated */
};

/* The request's chunks; NULL if it has none. */
static inline const uint32_t *request_chunks(const struct requests *requests,
                                             const struct request *request)
{
    return request->chunks > 0 ? &requests->chunks[request->first_chunk] : NULL;
}

/* Tokens at the prompt's beginning whose chunks have numbers. */
static inline uint64_t request_numbered_tokens(const struct requests *requests,
                                               const struct request *request)
{
    uint64_t tokens = (uint64_t)request->chunks * requests->chunk_tokens;
    return tokens < request->prompt ? tokens : request->prompt;
}

/* What a chunk's number stands for. */
struct request_chunk {
    uint32_t before; /* the chunk in front, UINT32_MAX for a prompt's first */
    uint32_t tokens;
    uint32_t place; /* in requests.chunks, behind those before it */
};

struct requests_options {
    uint64_t limit;       /* most requests that are read; 0: all */
    uint32_t hash_tokens; /* tokens that a hash stands for, or into which token ids are cut; 0: the
                             format's */
    uint64_t seed;        /* of requests that are made up (synthetic.h); 0 for files */
    const struct stop_flag *stop; /* ends the reading once it is raised; NULL: nothing does */
};

/* Read requests from the file at `path`. A line is at fault if it is malformed, arrives before the previous
 * one, has no tokens, or contradicts earlier hashes; that of a last, shorter chunk may be absent. The caller
 * calls requests_release() after success; on failure `out` is empty. */
bool requests_read(const char *path, const struct requests_options *options, struct requests *out,
                   struct error *why);
void requests_release(struct requests *requests);

/* Multiply all times between arrivals by `scale`. Fails, changing nothing, past REQUEST_MOST_ARRIVAL_S. */
bool requests_stretch(struct requests *requests, double scale, struct error *why);

/* As many requests like these take all the memory that a list may have. */
uint64_t requests_most(const struct requests *sample);

/* Tokens of the longest request; 0 without requests. */
uint64_t requests_longest(const struct requests *requests);

/* Tokens for which a server of such requests has room: of the longest in a file, of any that may be drawn. */
static inline uint64_t requests_most_tokens(const struct requests *requests)
{
    return requests->drawn.tokens > 0 ? requests->drawn.tokens : requests_longest(requests);
}

/* Remove the requests with more than `most` tokens (0: none), and return their number. The others keep their
 * order and their arrivals. Turns of a session grow, so the turns that are kept are its first. */
size_t requests_refuse(struct requests *requests, uint64_t most);

/* Arrival times in place of the file's. */
enum arrivals_kind {
    ARRIVALS_RANDOM,   /* gaps from a gamma distribution */
    ARRIVALS_CONSTANT, /* equal gaps */
    ARRIVALS_AT_ONCE,  /* all at the beginning, as with an infinite rate */
};
extern const char *const arrivals_names[]; /* by kind; ends with NULL */

/* Sessions, and requests of none. */
size_t requests_sessions(const struct requests *requests);

/* Draw when `count` sessions begin, in units of the mean gap, the first at 0. The gaps come from a gamma
 * distribution with shape `shape` (1: a Poisson process; below 1: bursts; INFINITY: equal gaps). The caller
 * frees them; NULL if memory runs out. */
double *arrivals_gaps(size_t count, double shape, uint64_t seed, struct error *why);

/* Draw new arrival times; the order of requests stays. The gaps are arrivals_gaps(), scaled, as vLLM's
 * benchmark does, so that their mean is exactly 1 / `rate` s. Of sessions the first turns are drawn, so that
 * all turns together come at `rate`; later ones arrive when the server has answered the turn before. Fails if
 * the last one would arrive after REQUEST_MOST_ARRIVAL_S. */
bool arrivals_draw(struct requests *requests, double rate, double shape, uint64_t seed,
                   struct error *why);
