/* Requests: when each arrives, how long its prompt and its output are, and which chunks of tokens
 * its prompt is made of.
 *
 * A chunk is a run of tokens with one hash of all that stands before it and of itself, so that
 * equal chunks mean equal beginnings. Chunks are numbered as they first come; a number has one
 * predecessor and one length, always. The last chunk of a prompt may be shorter than the others.
 *
 * Read from what people publish (the format is told by the first line):
 *   Mooncake     JSON lines: timestamp (ms), input_length, output_length, hash_ids of 512 tokens
 *   Azure        CSV: TIMESTAMP (date and time), ContextTokens, GeneratedTokens
 *   BurstGPT     CSV: Timestamp (s), Model, Request tokens, Response tokens, Total tokens, Log Type
 *   vLLM-style   CSV: arrived_at (s), num_prefill_tokens, num_decode_tokens
 *   a server's   JSON lines: arrival_time (s), input_toks, output_toks
 */
#ifndef SERVE_REQUESTS_H
#define SERVE_REQUESTS_H

#include "base/error.h"
#include "trace/csv/complaints.h"
#include "trace/import/dense_ids.h"

#include <stddef.h>
#include <stdint.h>

/* Tokens of a prompt or an output at most: a longer one is a slip. */
enum { REQUEST_MOST_TOKENS = 1 << 27 };

/* Seconds: 2223 by the clock of Unix, so that its times may stand in a file; fits 63 bits of ns. */
#define REQUEST_MOST_ARRIVAL_S 8e9

struct request {
    int64_t arrival_ns;      /* since the first one; never before the one in front */
    uint32_t prompt, output; /* tokens, at least 1 each */
    uint64_t first_chunk;    /* of its own in `chunks` */
    uint32_t chunks;         /* 0: nobody knows what the prompt says */
};

/* Its tokens that become KV: the last one is handed out and never does. */
static inline uint64_t request_kept_tokens(const struct request *request)
{
    return (uint64_t)request->prompt + request->output - 1;
}

struct requests {
    struct request *all;
    size_t count, capacity;
    uint32_t *chunks; /* numbers, of one request after the other */
    size_t chunk_count, chunk_capacity;
    uint32_t chunk_tokens;      /* of a whole chunk; 0: the file has no hashes */
    struct dense_ids ids;       /* of hashes: their numbers */
    struct request_chunk *kind; /* by number */
    size_t kind_capacity;
    uint64_t content; /* hash of the file, by which a change of it shows */
    uint64_t skipped; /* requests that had failed where they were recorded (BurstGPT) */
};

/* What a chunk number always says. */
struct request_chunk {
    uint32_t before; /* the chunk in front, UINT32_MAX for a prompt's first */
    uint32_t tokens;
};

/* Read the file at `path`, at most `limit` requests (0: all). Lines that are malformed, arrive
 * before the one in front, have no tokens, or contradict the hashes of earlier ones go to
 * `complaints`, the caller's and zeroed; any makes the call fail. `out` is released on failure. */
bool requests_read(const char *path, uint64_t limit, struct requests *out,
                   struct complaints *complaints, struct error *why);
void requests_release(struct requests *requests);

/* Let all arrive `scale` times as far apart (2: half the rate). Fails, and nothing is changed,
 * where the last one would arrive after REQUEST_MOST_ARRIVAL_S. */
bool requests_stretch(struct requests *requests, double scale, struct error *why);

#endif
