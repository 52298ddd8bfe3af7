/* The list of requests, and the checks of each line against the lines before it. */
#include "serve/requests.h"

#include "base/array.h"
#include "serve/request_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { CHUNK_TOKENS = 512 }; /* of Mooncake's published traces */

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
    uint64_t chunks = (line->prompt + CHUNK_TOKENS - 1) / CHUNK_TOKENS;
    if (!check_tokens("a prompt", line->prompt, reader, why) ||
        !check_tokens("an output", line->output, reader, why) ||
        !check_arrival(requests, arrival_ns, reader, why)) {
        return false;
    }
    if (line->hashes > 0 && line->hashes != chunks) {
        error_set(why, reader->path, reader->line, "%u hashes for a prompt of %" PRIu64 " tokens",
                  line->hashes, line->prompt);
        return error_expect(why, "%" PRIu64 ", one for each %d tokens", chunks, CHUNK_TOKENS);
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

static bool add_chunks(struct requests *requests, const struct request_line *line,
                       const struct csv_reader *reader, struct error *why)
{
    if (!array_reserve(&requests->chunks, &requests->chunk_capacity,
                       requests->chunk_count + line->hashes, sizeof *requests->chunks, why)) {
        return false;
    }
    uint32_t left = (uint32_t)line->prompt;
    uint32_t before = UINT32_MAX;
    for (uint32_t i = 0; i < line->hashes; i++) {
        uint32_t tokens = left < CHUNK_TOKENS ? left : CHUNK_TOKENS;
        struct request_chunk said = {.before = before, .tokens = tokens};
        if (!number_chunk(requests, line->hash[i], said, &before, reader, why)) {
            return false;
        }
        requests->chunks[requests->chunk_count + i] = before;
        left -= tokens;
    }
    requests->chunk_count += line->hashes;
    requests->chunk_tokens = requests->chunk_count > 0 ? CHUNK_TOKENS : 0;
    return true;
}

/* ---- the list ------------------------------------------------------------------------- */

bool requests_add(struct requests *requests, const struct request_line *line, double *origin_s,
                  const struct csv_reader *reader, struct error *why)
{
    if (!isfinite(line->arrival_s) || line->arrival_s < 0 ||
        line->arrival_s > REQUEST_MOST_ARRIVAL_S) {
        return error_set(why, reader->path, reader->line, "arrives at %g s", line->arrival_s);
    }
    *origin_s = isnan(*origin_s) ? line->arrival_s : *origin_s;
    int64_t arrival_ns = (int64_t)llround((line->arrival_s - *origin_s) * ns_per_s);
    uint64_t first_chunk = requests->chunk_count;
    if (!check_line(requests, line, arrival_ns, reader, why) ||
        !array_reserve(&requests->all, &requests->capacity, requests->count + 1,
                       sizeof *requests->all, why) ||
        !add_chunks(requests, line, reader, why)) {
        return false;
    }
    requests->all[requests->count++] = (struct request){
        .arrival_ns = arrival_ns,
        .prompt = (uint32_t)line->prompt,
        .output = (uint32_t)line->output,
        .first_chunk = first_chunk,
        .chunks = line->hashes,
    };
    return true;
}
