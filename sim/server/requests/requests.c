/* The list of requests, and the checks of each line against the lines before it. */
#include "server/requests/requests.h"

#include "core/array.h"
#include "core/random.h"
#include "server/requests/request_line.h"

#include <gsl/gsl_randist.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool check_tokens(const char *what, uint64_t tokens, const struct csv_reader *reader,
                         struct error *why)
{
    if (tokens >= 1 && tokens <= REQUEST_MOST_TOKENS) {
        return true;
    }
    error_set(why, reader->path, reader->line, "%s of %" PRIu64 " tokens", what, tokens);
    return error_expect(why, "from 1 to %d", REQUEST_MOST_TOKENS);
}

static bool check_line(const struct requests *requests, const struct request_line *line,
                       int64_t arrival_ns, const struct csv_reader *reader, struct error *why)
{
    uint64_t whole = line->hash_tokens > 0 ? line->prompt / line->hash_tokens : 0;
    int64_t before = requests->count > 0 ? requests->all[requests->count - 1].arrival_ns : 0;
    if (!check_tokens("a prompt", line->prompt, reader, why) ||
        !check_tokens("an output", line->output, reader, why)) {
        return false;
    }
    if (arrival_ns < before) {
        error_set(why, reader->path, reader->line, "arrives %.6f s before the previous request",
                  (double)(before - arrival_ns) / ns_per_s);
        return error_expect(why, "requests in order of arrival");
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
        requests->hashed.distinct_tokens += said.tokens;
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

/* Number the first `count` chunks of the prompt, behind the list's end. The first `known` had a number. */
static bool number_chunks(struct requests *requests, const struct request_line *line,
                          uint32_t count, uint32_t *known, const struct csv_reader *reader,
                          struct error *why)
{
    uint32_t left = (uint32_t)line->prompt, before = UINT32_MAX, first = requests->ids.count;
    *known = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tokens = left < line->hash_tokens ? left : line->hash_tokens;
        struct request_chunk said = {.before = before, .tokens = tokens};
        if (!number_chunk(requests, line->hash[i], said, &before, reader, why)) {
            return false;
        }
        requests->chunks[requests->chunk_count + i] = before;
        *known += before < first;
        left -= tokens;
    }
    return true;
}

/* The same where it is known which are new: nothing is looked up. */
static bool number_made(struct requests *requests, const struct request_line *line, uint32_t count,
                        uint32_t *known, struct error *why)
{
    uint32_t *chunks = &requests->chunks[requests->chunk_count];
    uint32_t alike = line->alike < count ? line->alike : count, first = requests->ids.count;
    if (!array_reserve(&requests->kind, &requests->kind_capacity, (size_t)first + count - alike,
                       sizeof *requests->kind, why)) {
        return false;
    }
    if (alike > 0) {
        memcpy(chunks, request_chunks(requests, &requests->all[line->like]),
               alike * sizeof *chunks);
    }
    for (uint32_t i = alike; i < count; i++) {
        chunks[i] = requests->ids.count++;
        requests->kind[chunks[i]] = (struct request_chunk){
            .before = i > 0 ? chunks[i - 1] : UINT32_MAX, .tokens = line->hash_tokens};
    }
    requests->hashed.distinct_tokens += (uint64_t)(count - alike) * line->hash_tokens;
    *known = alike;
    return true;
}

/* Where the list of a request's `count` chunks is, which lie behind the end of all lists. If others
 * have its first `known` chunks, all of it or its beginning may be theirs: a million prompts may
 * begin with the same million tokens. */
static uint64_t place_chunks(struct requests *requests, uint32_t count, uint32_t known)
{
    uint32_t *chunks = &requests->chunks[requests->chunk_count];
    uint64_t first = requests->chunk_count, end = first;
    if (known > 0) {
        first = requests->kind[chunks[known - 1]].place - (known - 1);
        bool goes_on = first + known == end;
        uint32_t kept = known == count ? 0 : goes_on ? count - known : count;
        memmove(chunks, &chunks[count - kept], kept * sizeof *chunks);
        first = known == count || goes_on ? first : end;
    }
    requests->chunk_count = first + count > end ? first + count : end;
    for (uint32_t i = known; i < count; i++) {
        requests->kind[requests->chunks[first + i]].place = (uint32_t)(first + i);
    }
    return first;
}

/* Number the first `count` chunks of a prompt that has `all`. */
static bool requests_add_chunks(struct requests *requests, const struct request_line *line,
                                uint32_t count, uint32_t all, uint64_t *place,
                                const struct csv_reader *reader, struct error *why)
{
    uint32_t known;
    if (requests->chunk_count + count > UINT32_MAX) {
        error_set(why, reader->path, reader->line, "more than %u chunks of prompts", UINT32_MAX);
        return error_expect(why, "fewer requests, or more 'hash_tokens'");
    }
    if (!array_reserve(&requests->chunks, &requests->chunk_capacity, requests->chunk_count + count,
                       sizeof *requests->chunks, why) ||
        !(line->made ? number_made(requests, line, count, &known, why)
                     : number_chunks(requests, line, count, &known, reader, why))) {
        return false;
    }
    *place = place_chunks(requests, count, known);
    if (all > 0) {
        struct requests_hashed *hashed = &requests->hashed;
        uint64_t full = line->prompt / line->hash_tokens;
        uint64_t numbered = (uint64_t)count * line->hash_tokens;
        hashed->all += all;
        hashed->hits += known;
        hashed->full += full;
        hashed->full_hits += known < full ? known : full;
        hashed->distinct_tokens += line->prompt > numbered ? line->prompt - numbered : 0;
        requests->chunk_tokens = line->hash_tokens;
    }
    return true;
}

/* ---- the list ------------------------------------------------------------------------- */

/* Bytes of a request and of a numbered chunk while a server runs, measured. */
enum { REQUEST_BYTES = 640, CHUNK_BYTES = 60 };
#define MOST_BYTES 1000000000u

bool requests_have_room(const struct requests *requests, const struct stop_flag *stop,
                        const struct csv_reader *reader, struct error *why)
{
    uint64_t chunks = requests->ids.count;
    if (!stop_flag_check(stop, why)) {
        return false;
    }
    if (requests->count * REQUEST_BYTES + chunks * CHUNK_BYTES < MOST_BYTES) {
        return true;
    }
    error_set(why, reader->path, reader->line,
              "more than %zu requests, whose prompts share %" PRIu64
              " chunks, would take more than 1 GB of memory",
              requests->count, chunks);
    return error_expect(why, "fewer requests, which 'limit' says");
}

uint64_t requests_most(const struct requests *sample)
{
    double chunks = (double)sample->ids.count / (double)sample->count;
    return (uint64_t)(MOST_BYTES / (REQUEST_BYTES + CHUNK_BYTES * chunks));
}

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
    uint64_t first_chunk = 0;
    if (!requests_read_arrival(requests, line, origin_s, &arrival_ns, reader, why) ||
        !check_line(requests, line, arrival_ns, reader, why) ||
        !array_reserve(&requests->all, &requests->capacity, requests->count + 1,
                       sizeof *requests->all, why)) {
        return false;
    }
    uint32_t all = line->hashes > 0 ? (uint32_t)((line->prompt - 1) / line->hash_tokens + 1) : 0;
    uint32_t numbered = line->shared < line->hashes ? line->shared : line->hashes;
    if (!requests_add_chunks(requests, line, numbered, all, &first_chunk, reader, why)) {
        return false;
    }
    requests->all[requests->count++] = (struct request){
        .arrival_ns = arrival_ns,
        .prompt = (uint32_t)line->prompt,
        .output = (uint32_t)line->output,
        .first_chunk = first_chunk,
        .chunks = numbered,
        .known = all > 0,
        .turn = line->turn,
        .think_ns = line->think_ns,
    };
    requests->sessions = requests->sessions || line->turn > 0;
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
        if (most == 0 || request_tokens(&requests->all[i]) <= most) {
            requests->all[kept++] = requests->all[i];
        }
    }
    requests->count = kept;
    return all - kept;
}

/* ---- arrivals: from one stream, so that another rate stretches the same gaps ---- */

const char *const arrivals_names[] = {
    [ARRIVALS_RANDOM] = "random",
    [ARRIVALS_CONSTANT] = "constant",
    [ARRIVALS_AT_ONCE] = "at-once",
    NULL,
};

size_t requests_sessions(const struct requests *requests)
{
    size_t count = 0;
    for (size_t i = 0; i < requests->count; i++) {
        count += requests->all[i].turn == 0;
    }
    return count;
}

double *arrivals_gaps(size_t count, double shape, uint64_t seed, struct error *why)
{
    double *at = array_zeroed(count, sizeof *at, why);
    gsl_rng *random = random_stream(seed, "serve.arrivals", 0, why);
    if (at == NULL || random == NULL) {
        free(at);
        at = NULL;
    }
    for (size_t i = 1; at != NULL && i < count; i++) {
        double gap = isinf(shape) ? 1 : gsl_ran_gamma(random, shape, 1 / shape);
        at[i] = at[i - 1] + gap;
    }
    gsl_rng_free(random);
    return at;
}

bool arrivals_draw(struct requests *requests, double rate, double shape, uint64_t seed,
                   struct error *why)
{
    size_t count = requests_sessions(requests); /* later turns arrive by themselves */
    double last_s = (double)(count - 1) / rate * ((double)requests->count / (double)count);
    if (last_s > REQUEST_MOST_ARRIVAL_S) {
        error_usage(why, NULL, 0, "the last request would arrive after %.3g s", last_s);
        return error_expect(why, "a 'rate' at which all arrive within %g s",
                            REQUEST_MOST_ARRIVAL_S);
    }
    double *arrivals = arrivals_gaps(count, shape, seed, why);
    if (arrivals == NULL) {
        return false;
    }
    for (size_t i = 0, session = 0; i < requests->count; i++) {
        session += i > 0 && requests->all[i].turn == 0;
        double share = arrivals[count - 1] > 0 ? arrivals[session] / arrivals[count - 1] : 0;
        requests->all[i].arrival_ns = llround(share * last_s * 1e9);
    }
    free(arrivals);
    return true;
}
