/* Each request goes the way of a line of a file, so that all lists keep the same promises. */
#include "serve/requests/synthetic.h"

#include "base/array.h"
#include "base/name.h"
#include "base/random.h"
#include "base/text.h"
#include "base/units.h"
#include "serve/requests/request_line.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char start[] = "synthetic:";

enum { CHUNK_TOKENS = 16, REQUESTS = 1000, MOST_REQUESTS = 1 << 28 };

/* What the text says; by the order of `keys`. */
enum key { PROMPT, OUTPUT, PROMPT_SPREAD, OUTPUT_SPREAD, PREFIX, PREFIXES, COUNT, KEYS };

static const char *const keys[] = {"prompt", "output",   "prompt_spread", "output_spread",
                                   "prefix", "prefixes", "requests",      NULL};

struct synthetic {
    double spread[KEYS];   /* of PROMPT_SPREAD and OUTPUT_SPREAD */
    uint64_t number[KEYS]; /* of the others */
};

bool synthetic_is(const char *name)
{
    return strncmp(name, start, sizeof start - 1) == 0;
}

/* ---- the text ------------------------------------------------------------------------- */

static bool read_value(struct synthetic *out, enum key key, const char *text, struct error *why)
{
    if (key == PROMPT_SPREAD || key == OUTPUT_SPREAD) {
        if (!units_parse(text, UNIT_SHARE, NULL, 0, keys[key], &out->spread[key], why)) {
            return false;
        }
        if (out->spread[key] <= 10) {
            return true;
        }
        error_usage(why, NULL, 0, "'%s' is '%.60s'", keys[key], text);
        return error_expect(why, "at most 1000%%");
    }
    bool counts = key == PREFIXES || key == COUNT;
    uint64_t most = key == COUNT ? MOST_REQUESTS : REQUEST_MOST_TOKENS;
    return units_parse_whole(text, counts ? UNIT_COUNT : UNIT_TOKENS, most, NULL, 0, keys[key],
                             &out->number[key], why);
}

static bool read_item(struct synthetic *out, const char *item, size_t length, struct error *why)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)length, item);
    char *value = strchr(text, '=');
    if (length >= sizeof text || value == NULL) {
        error_usage(why, NULL, 0, "'%.60s' in a synthetic workload", text);
        return error_expect(why, "KEY=VALUE, such as prompt=1000");
    }
    *value++ = '\0';
    for (int key = 0; key < KEYS; key++) {
        if (strcmp(text, keys[key]) == 0) {
            return read_value(out, (enum key)key, value, why);
        }
    }
    error_usage(why, NULL, 0, "unknown key '%.60s' of a synthetic workload", text);
    return name_expect(text, keys, why);
}

static bool read_text(const char *name, struct synthetic *out, struct error *why)
{
    const char *rest = name + sizeof start - 1, *item;
    size_t length;
    *out = (struct synthetic){.number = {[PREFIXES] = 1, [COUNT] = REQUESTS}};
    while (text_item(&rest, &item, &length)) {
        if (!read_item(out, item, length, why)) {
            return false;
        }
    }
    const enum key needed[] = {PROMPT, OUTPUT, PREFIXES, COUNT};
    for (int i = 0; i < 4; i++) {
        if (out->number[needed[i]] == 0) {
            error_usage(why, NULL, 0, "'%s' of a synthetic workload is missing or 0",
                        keys[needed[i]]);
            return error_expect(why, "such as synthetic:prompt=1000,output=200");
        }
    }
    if (out->number[PREFIX] < out->number[PROMPT]) {
        return true;
    }
    error_usage(why, NULL, 0, "a 'prefix' of %llu tokens in prompts of %llu",
                (unsigned long long)out->number[PREFIX], (unsigned long long)out->number[PROMPT]);
    return error_expect(why, "a prefix shorter than 'prompt'");
}

/* ---- the requests --------------------------------------------------------------------- */

/* A log-normal number of tokens with this mean, at least `least`. */
static uint64_t draw_tokens(gsl_rng *random, uint64_t mean, double spread, uint64_t least)
{
    double variance = log1p(spread * spread);
    double tokens = (double)mean * exp(gsl_ran_gaussian(random, sqrt(variance)) - variance / 2);
    tokens = fmin(round(tokens), REQUEST_MOST_TOKENS);
    return tokens > (double)least ? (uint64_t)tokens : least;
}

/* Hash the chunks of a prompt: those of its prefix by the prefix's number, others by the request's. */
static bool hash_chunks(struct request_line *line, uint64_t prefix_tokens, uint64_t prefix,
                        uint64_t request, struct error *why)
{
    uint64_t chunks = (line->prompt - 1) / line->hash_tokens + 1;
    if (!array_reserve(&line->hash, &line->hash_capacity, chunks, sizeof *line->hash, why)) {
        return false;
    }
    for (uint64_t i = 0; i < chunks; i++) {
        bool shared = (i + 1) * line->hash_tokens <= prefix_tokens;
        const uint64_t parts[] = {shared, shared ? prefix : request, i};
        line->hash[i] = XXH64(parts, sizeof parts, 0);
    }
    line->hashes = (uint32_t)chunks;
    return true;
}

static bool make(const struct synthetic *synthetic, gsl_rng *random, uint64_t count,
                 struct request_line *line, struct requests *out, struct error *why)
{
    const uint64_t *number = synthetic->number;
    const struct csv_reader place = {.path = "a synthetic workload"};
    double origin = NAN;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t prefix = gsl_rng_uniform_int(random, (unsigned long)number[PREFIXES]);
        line->prompt = draw_tokens(random, number[PROMPT], synthetic->spread[PROMPT_SPREAD],
                                   number[PREFIX] + 1);
        line->output = draw_tokens(random, number[OUTPUT], synthetic->spread[OUTPUT_SPREAD], 1);
        if ((number[PREFIX] > 0 && !hash_chunks(line, number[PREFIX], prefix, i, why)) ||
            !requests_add(out, line, &origin, &place, why)) {
            return false;
        }
    }
    return true;
}

bool synthetic_make(const char *name, const struct requests_options *options, struct requests *out,
                    struct error *why)
{
    struct synthetic synthetic;
    struct request_line drawn = {
        .arrival_s = NAN,
        .hash_tokens = options->hash_tokens > 0 ? options->hash_tokens : CHUNK_TOKENS,
    };
    *out = (struct requests){.content = XXH64(name, strlen(name), options->seed)};
    if (!read_text(name, &synthetic, why)) {
        return false;
    }
    uint64_t count = synthetic.number[COUNT];
    count = options->limit > 0 && options->limit < count ? options->limit : count;
    gsl_rng *random = random_stream(options->seed, "serve.synthetic", 0, why);
    bool ok = random != NULL && make(&synthetic, random, count, &drawn, out, why);
    if (random != NULL) {
        gsl_rng_free(random);
    }
    free(drawn.hash);
    if (!ok) {
        requests_release(out);
    }
    return ok;
}
