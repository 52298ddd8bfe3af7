/* Reading a file of requests, line by line. */
#include "server/requests/request_line.h"

#include "core/array.h"
#include "server/requests/requests_benchmark.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Files of fewer bytes are read once; what only one of their prompts has gets numbers, too. */
enum { SMALL = 1 << 24 };

/* Which hashes a file has twice: a bit by hash for the first and for the second time. Where two hashes
 * share a bit, one may count as another's second time, and gets a number that it does not need. */
struct requests_twice {
    uint64_t *once, *twice; /* NULL: unknown */
    uint64_t bits;          /* a power of two */
};

struct requests_reading {
    struct csv_reader in;
    struct request_line line;
    double origin_s;
    struct requests_options options;
    struct complaints *complaints; /* the caller's */
    const struct request_format *format;
    int first_line; /* of a request */
    uint64_t taken; /* lines in this pass */
    struct requests_twice twice;
    uint64_t size; /* bytes of the file */
};

/* Say which format is known, and how a table or an array gets one. */
static bool refuse_format(const struct csv_reader *in, struct error *why)
{
    static const char *const vllm = "arrived_at,num_prefill_tokens,num_decode_tokens";
    const char *line = in->text + strspn(in->text, " \t");
    error_set(why, in->path, in->line, "unknown format: not the first line of a file of requests");
    if (line[0] == '[') {
        return error_expect(why, "an object on each line, not an array: jq -c '.[]' %.100s",
                            in->path);
    }
    if (line[0] != '{' && strpbrk(line, ",;\t") != NULL) {
        return error_expect(
            why,
            "columns between commas that are called %s, in this order (arrival in "
            "seconds; rename yours, or add this first line), or the head of Azure (TIMESTAMP,ContextTokens,"
            "GeneratedTokens) or BurstGPT (Timestamp,Model,Request tokens,...)",
            vllm);
    }
    return error_expect(why,
                        "JSON lines such as {\"timestamp\": 0, \"input_length\": 1000, "
                        "\"output_length\": 200} (Mooncake; ms), or as of Bailian or "
                        "LLMServingSim, or a table with columns %s",
                        vllm);
}

static bool find_format(struct requests_reading *reading, struct requests *requests,
                        struct error *why)
{
    bool more;
    if (!csv_reader_next(&reading->in, &more, why)) {
        return false;
    }
    if (!more) {
        return error_set(why, reading->in.path, 0, "no requests: the file is empty");
    }
    const struct request_format *json = request_json_format(&reading->in);
    reading->first_line = json != NULL ? 1 : 2;
    reading->format = json != NULL ? json : request_csv_format(&reading->in);
    if (reading->format == NULL) {
        return refuse_format(&reading->in, why);
    }
    requests->queued = reading->format->queued;
    uint32_t asked = reading->options.hash_tokens, usual = reading->format->hash_tokens;
    reading->line.hash_tokens = usual > 0 && asked > 0 ? asked : usual;
    return true;
}

/* ---- what only one prompt has ----------------------------------------------------------- */

/* A bit for each byte of the file, which has fewer hashes; at most 128 MiB of them. */
static bool twice_init(struct requests_twice *twice, uint64_t size, struct error *why)
{
    for (twice->bits = 64; twice->bits < size && twice->bits < 1u << 30; twice->bits *= 2) {
    }
    twice->once = array_zeroed(twice->bits / 64, sizeof *twice->once, why);
    twice->twice = array_zeroed(twice->bits / 64, sizeof *twice->twice, why);
    return twice->once != NULL && twice->twice != NULL;
}

static void twice_release(struct requests_twice *twice)
{
    free(twice->once);
    free(twice->twice);
    *twice = (struct requests_twice){.once = NULL};
}

static uint64_t twice_place(const struct requests_twice *twice, uint64_t hash)
{
    return XXH64(&hash, sizeof hash, 0) & (twice->bits - 1);
}

static void twice_note(struct requests_twice *twice, const struct request_line *line)
{
    for (uint32_t i = 0; i < line->hashes; i++) {
        uint64_t place = twice_place(twice, line->hash[i]), bit = 1ull << place % 64;
        twice->twice[place / 64] |= twice->once[place / 64] & bit;
        twice->once[place / 64] |= bit;
    }
}

/* The line's first chunks that other lines may have. Behind a chunk of its own all are its own,
 * because a hash covers what is before it. */
static uint32_t twice_shared(const struct requests_twice *twice, const struct request_line *line)
{
    uint32_t shared = twice->twice != NULL ? 0 : line->hashes;
    while (shared < line->hashes) {
        uint64_t place = twice_place(twice, line->hash[shared]);
        if ((twice->twice[place / 64] >> place % 64 & 1) == 0) {
            break;
        }
        shared++;
    }
    return shared;
}

/* ---- lines ------------------------------------------------------------------------------ */

/* What is done with a line that is no fault of its own. */
typedef bool (*requests_take)(struct requests_reading *reading, struct requests *requests,
                              struct error *why);

static bool note_hashes(struct requests_reading *reading, struct requests *requests,
                        struct error *why)
{
    (void)requests, (void)why;
    twice_note(&reading->twice, &reading->line);
    return true;
}

static bool append_line(struct requests_reading *reading, struct requests *requests,
                        struct error *why)
{
    reading->line.shared = twice_shared(&reading->twice, &reading->line);
    return requests_add(requests, &reading->line, &reading->origin_s, &reading->in, why);
}

/* Faults are collected, so that reading goes on. */
static void requests_read_take_line(struct requests_reading *reading, requests_take take,
                                    struct requests *requests)
{
    struct error fault;
    if (!reading->format->parse(&reading->in, &reading->line, &fault)) {
        complaints_add(reading->complaints, &fault);
    } else if (reading->line.failed) {
        requests->skipped++;
    } else if (!take(reading, requests, &fault)) {
        complaints_add(reading->complaints, &fault);
    } else {
        reading->taken++;
    }
}

static bool requests_read_lines(struct requests_reading *reading, requests_take take,
                                struct requests *requests, struct error *why)
{
    uint64_t limit = reading->options.limit;
    rewind(reading->in.file);
    reading->in.line = 0;
    reading->taken = 0;
    while (limit == 0 || reading->taken < limit) {
        bool more;
        if (!csv_reader_next(&reading->in, &more, why)) {
            return false;
        }
        if (!more) {
            break;
        }
        if (!requests_have_room(requests, reading->options.stop, &reading->in, why)) {
            return false;
        }
        if (reading->in.line >= reading->first_line) {
            requests_read_take_line(reading, take, requests);
        }
    }
    return reading->complaints->count == 0 ||
           complaints_fail(reading->complaints, reading->in.path, why);
}

/* A large file with hashes is read twice. */
static bool requests_read_all(struct requests_reading *reading, struct requests *requests,
                              struct error *why)
{
    if (!find_format(reading, requests, why)) {
        return false;
    }
    bool twice = reading->size >= SMALL && reading->format->hash_tokens > 0;
    if (twice && (!twice_init(&reading->twice, reading->size, why) ||
                  !requests_read_lines(reading, note_hashes, requests, why))) {
        return false;
    }
    return requests_read_lines(reading, append_line, requests, why) &&
           (requests->count > 0 || error_set(why, reading->in.path, 0, "no requests"));
}

/* The hash of the whole file, and its size. */
static bool requests_read_hash_file(struct requests_reading *reading, uint64_t *hash,
                                    struct error *why)
{
    char bytes[4096];
    size_t size = 1;
    *hash = 0;
    while (size > 0) {
        if (!stop_flag_check(reading->options.stop, why)) {
            return false;
        }
        size = fread(bytes, 1, sizeof bytes, reading->in.file);
        *hash = size > 0 ? XXH64(bytes, size, *hash) : *hash;
        reading->size += size;
    }
    bool ok = !ferror(reading->in.file) ||
              error_set(why, reading->in.path, 0, "cannot read: %s", strerror(errno));
    rewind(reading->in.file);
    return ok;
}

bool requests_read(const char *path, const struct requests_options *options, struct requests *out,
                   struct complaints *complaints, struct error *why)
{
    *out = (struct requests){.count = 0};
    struct requests_reading reading = {
        .origin_s = NAN, .options = *options, .complaints = complaints};
    bool ok = csv_reader_open(&reading.in, path, why);
    if (ok) {
        bool taken = false;
        ok = requests_read_hash_file(&reading, &out->content, why) &&
             requests_benchmark_read(&reading.in, options, out, &taken, why) &&
             (taken || requests_read_all(&reading, out, why));
        csv_reader_close(&reading.in);
    }
    twice_release(&reading.twice);
    free(reading.line.hash);
    dense_ids_close(&out->ids);
    if (!ok) {
        requests_release(out);
    }
    return ok;
}
