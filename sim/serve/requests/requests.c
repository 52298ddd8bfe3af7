/* The list of requests, and the checks of each line against the lines before it. */
#include "serve/requests/requests.h"

#include "base/array.h"
#include "serve/requests/request_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

static const double ns_per_s = 1e9;

void requests_release(struct requests *requests)
{
    free(requests->all);
    free(requests->chunks);
    free(requests->kind);
    dense_ids_release(&requests->ids);
    *requests = (struct requests){.count = 0};
}

bool requests_stretch(struct requests *requests, double scale, struct error *why)
{
    double last = (double)requests->all[requests->count - 1].arrival_ns * scale / ns_per_s;
    if (last > REQUEST_MOST_ARRIVAL_S) {
        error_usage(why, NULL, 0, "the last request would arrive after %.3g s", last);
        return error_expect(why, "a 'time_scale' for which all arrive within %g s",
                            REQUEST_MOST_ARRIVAL_S);
    }
    for (size_t i = 0; i < requests->count; i++) {
        int64_t *arrival = &requests->all[i].arrival_ns;
        *arrival = (int64_t)llround((double)*arrival * scale);
    }
    return true;
}

/* ---- checks of a line ----------------------------------------------------------------- */

static bool check_tokens(const char *what, uint64_t tokens, const struct csv_reader *reader,
                         struct error *why)
{
    if (tokens >= 1 && tokens <= REQUEST_MOST_TOKENS) {
        return true;
    }
    error_set(why, reader->path, reader->line, "%s of %" PRIu64 " tokens", what, tokens);
    return error_expect(why, "from 1 to %d", REQUEST_MOST_TOKENS);
}

static bool check_arrival(const struct requests *requests, int64_t arrival_ns,
                          const struct csv_reader *reader, struct error *why)
{
    int64_t before = requests->count > 0 ? requests->all[requests->count - 1].arrival_ns : 0;
    if (arrival_ns >= before) {
        return true;
    }
    error_set(why, reader->path, reader->line, "arrives %.6f s before the previous request",
              (double)(before - arrival_ns) / ns_per_s);
    return error_expect(why, "requests in order of arrival");
}

static bool check_line(const struct requests *requests, const struct request_line *line,
                       int64_t arrival_ns, const struct csv_reader *reader, struct error *why)
{
    uint64_t whole = line->hash_tokens > 0 ? line->prompt / line->hash_tokens : 0;
    if (!check_tokens("a prompt", line->prompt, reader, why) ||
        !check_tokens("an output", line->output, reader, why) ||
        !check_arrival(requests, arrival_ns, reader, why)) {
        return false;
    }
    uint64_t chunks = whole + (line->prompt > whole * line->hash_tokens);
    if (line->hashes > 0 && line->hashes != whole && line->hashes != chunks) {
        error_set(why, reader->path, reader->line,
                  "%u hashes of %u tokens for a prompt of %" PRIu64, line->hashes,
                  line->hash_tokens, line->prompt);
        return error_expect(why, "%" PRIu64 " hashes, or another 'hash_tokens'", chunks);
    }
    return true;
}

/* ---- chunks --------------------------------------------------------------------------- */

/* The number of the chunk with this hash. Checks it against earlier lines. */
static bool number_chunk(struct requests *requests, uint64_t hash, struct request_chunk said,
                         uint32_t *number, const struct csv_reader *reader, struct error *why)
{
    uint32_t known = requests->ids.count;
    if (!dense_ids_find(&requests->ids, hash, number, why) ||
        !array_reserve(&requests->kind, &requests->kind_capacity, requests->ids.count,
                       sizeof *requests->kind, why)) {
        return false;
    }
    struct request_chunk *kind = &requests->kind[*number];
    if (*number == known) {
        *kind = said;
    }
    if (kind->tokens != said.tokens) {
        return error_set(why, reader->path, reader->line,
                         "hash %" PRIu64 " stands for %u tokens here and for %u earlier", hash,
                         said.tokens, kind->tokens);
    }
    return kind->before == said.before ||
           error_set(why, reader->path, reader->line,
                     "hash %" PRIu64 " has another predecessor than earlier", hash);
}

/* The hash of a chunk: the line's, or, for a last chunk that has none, one of its own. */
static uint64_t chunk_hash(const struct requests *requests, const struct request_line *line,
                           uint32_t chunk)
{
    const uint64_t own[] = {requests->count, 0x7461696cull /* kind of hash */};
    return chunk < line->hashes ? line->hash[chunk]
                                : XXH64(own, sizeof own, line->hash[line->hashes - 1]);
}

static bool requests_add_chunks(struct requests *requests, const struct request_line *line,
                                uint32_t count, const struct csv_reader *reader, struct error *why)
{
    if (!array_reserve(&requests->chunks, &requests->chunk_capacity, requests->chunk_count + count,
                       sizeof *requests->chunks, why)) {
        return false;
    }
    uint32_t left = (uint32_t)line->prompt;
    uint32_t before = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tokens = left < line->hash_tokens ? left : line->hash_tokens;
        struct request_chunk said = {.before = before, .tokens = tokens};
        uint64_t hash = chunk_hash(requests, line, i);
        if (!number_chunk(requests, hash, said, &before, reader, why)) {
            return false;
        }
        requests->chunks[requests->chunk_count + i] = before;
        left -= tokens;
    }
    requests->chunk_count += count;
    requests->chunk_tokens = requests->chunk_count > 0 ? line->hash_tokens : 0;
    return true;
}

/* ---- the list ------------------------------------------------------------------------- */

/* The arrival since the first request. The first line tells whether the file has times. */
static bool requests_read_arrival(struct requests *requests, const struct request_line *line,
                                  double *origin_s, int64_t *arrival_ns,
                                  const struct csv_reader *reader, struct error *why)
{
    bool arrives = !isnan(line->arrival_s);
    requests->arrive = requests->count > 0 ? requests->arrive : arrives;
    if (arrives != requests->arrive) {
        error_set(why, reader->path, reader->line, "%s arrival time, unlike earlier requests",
                  arrives ? "an" : "no");
        return error_expect(why, "arrival times in all lines, or in none");
    }
    if (!arrives) {
        return true;
    }
    if (!isfinite(line->arrival_s) || line->arrival_s < 0 ||
        line->arrival_s > REQUEST_MOST_ARRIVAL_S) {
        return error_set(why, reader->path, reader->line, "arrives at %g s", line->arrival_s);
    }
    *origin_s = isnan(*origin_s) ? line->arrival_s : *origin_s;
    *arrival_ns = (int64_t)llround((line->arrival_s - *origin_s) * ns_per_s);
    return true;
}

bool requests_add(struct requests *requests, const struct request_line *line, double *origin_s,
                  const struct csv_reader *reader, struct error *why)
{
    int64_t arrival_ns = 0;
    uint64_t first_chunk = requests->chunk_count;
    uint32_t chunks = line->hashes > 0 ? (uint32_t)((line->prompt - 1) / line->hash_tokens + 1) : 0;
    if (!requests_read_arrival(requests, line, origin_s, &arrival_ns, reader, why) ||
        !check_line(requests, line, arrival_ns, reader, why) ||
        !array_reserve(&requests->all, &requests->capacity, requests->count + 1,
                       sizeof *requests->all, why) ||
        !requests_add_chunks(requests, line, chunks, reader, why)) {
        return false;
    }
    requests->all[requests->count++] = (struct request){
        .arrival_ns = arrival_ns,
        .prompt = (uint32_t)line->prompt,
        .output = (uint32_t)line->output,
        .first_chunk = first_chunk,
        .chunks = chunks,
        .turn = line->turn,
        .think_ns = line->think_ns,
    };
    requests->sessions = requests->sessions || line->turn > 0;
    return true;
}

/* Tokens of the leading chunks of a request that earlier ones had. Its own count from now on. */
static uint64_t requests_find_shared(const struct requests *requests, const struct request *request,
                                     bool *seen)
{
    const uint32_t *chunks = request_chunks(requests, request);
    uint64_t found = 0;
    bool leading = true;
    for (uint32_t i = 0; i < request->chunks; i++) {
        uint64_t before = (uint64_t)i * requests->chunk_tokens, left = request->prompt - before;
        leading = leading && seen[chunks[i]];
        found += !leading ? 0 : left < requests->chunk_tokens ? left : requests->chunk_tokens;
        seen[chunks[i]] = true;
    }
    return found;
}

bool requests_share(const struct requests *requests, struct requests_shared *out, struct error *why)
{
    uint32_t most = 0;
    uint64_t found = 0;
    *out = (struct requests_shared){.beginnings = 0};
    for (size_t i = 0; i < requests->chunk_count; i++) {
        most = requests->chunks[i] > most ? requests->chunks[i] : most;
    }
    bool *seen = calloc((size_t)most + 1, sizeof *seen);
    if (seen == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for %u chunks of prompts", most);
    }
    for (size_t i = 0; i < requests->count; i++) {
        const uint32_t *chunks = request_chunks(requests, &requests->all[i]);
        out->beginnings += chunks == NULL || !seen[chunks[0]];
        found += requests_find_shared(requests, &requests->all[i], seen);
    }
    free(seen);
    if (found > 0) {
        out->tokens = (double)found / (double)(requests->count - out->beginnings);
    }
    return true;
}

uint64_t requests_longest(const struct requests *requests)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < requests->count; i++) {
        uint64_t tokens = request_tokens(&requests->all[i]);
        longest = tokens > longest ? tokens : longest;
    }
    return longest;
}

size_t requests_refuse(struct requests *requests, uint64_t most)
{
    size_t kept = 0, all = requests->count;
    for (size_t i = 0; i < all; i++) {
        if (request_tokens(&requests->all[i]) <= most) {
            requests->all[kept++] = requests->all[i];
        }
    }
    requests->count = kept;
    return all - kept;
}
