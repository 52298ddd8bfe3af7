/* Each request goes the way of a line of a file, so that all lists keep the same promises. */
#include "server/requests/synthetic.h"

#include "core/array.h"
#include "core/named.h"
#include "core/name.h"
#include "core/node.h"
#include "core/random.h"
#include "core/text.h"
#include "core/units.h"
#include "server/requests/request_line.h"

#include <gsl/gsl_randist.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char start[] = "synthetic:";

enum { CHUNK_TOKENS = 16, MOST_REQUESTS = 1 << 28, MOST_TURNS = 10000 };

#define MOST_THINK_NS 86400000000000u /* a day */

/* What the text says; by the order of `keys`. */
enum synthetic_key {
    PROMPT,
    OUTPUT,
    PROMPT_SPREAD,
    OUTPUT_SPREAD,
    PREFIX,
    PREFIXES,
    TURNS,
    THINK,
    COUNT,
    LENGTHS,
    KEYS
};

static const char *const keys[] = {
    "prompt", "output", "prompt_spread", "output_spread", "prefix", "prefixes",
    "turns",  "think",  "requests",      "lengths",       NULL};

struct synthetic {
    const struct length_set *lengths; /* NULL: none */
    double mean[KEYS];                /* of PROMPT and OUTPUT, with `lengths` */
    double spread[KEYS];              /* of PROMPT_SPREAD and OUTPUT_SPREAD */
    uint64_t number[KEYS];            /* of the others; of a range, its first */
    uint64_t most[KEYS]; /* of PROMPT and OUTPUT: the last of the range, or the number */
};

bool synthetic_is(const char *name)
{
    return strncmp(name, start, sizeof start - 1) == 0;
}

bool synthetic_says(const char *name, const char *key)
{
    const char *rest = name + sizeof start - 1, *item;
    size_t length, wanted = strlen(key);
    while (text_item(&rest, &item, &length)) {
        if (length > wanted && item[wanted] == '=' && strncmp(item, key, wanted) == 0) {
            return true;
        }
    }
    return false;
}

void synthetic_endless(const char *name, char *out)
{
    const char *rest = name + sizeof start - 1, *item;
    const size_t wanted = strlen(keys[COUNT]);
    size_t length, used = sizeof start - 1;
    memmove(out, name, used);
    while (text_item(&rest, &item, &length)) {
        if (length <= wanted || item[wanted] != '=' || strncmp(item, keys[COUNT], wanted) != 0) {
            out[used] = ',';
            used += used > sizeof start - 1;
            memmove(out + used, item, length);
            used += length;
        }
    }
    out[used] = '\0';
}

/* ---- lengths of data sets ---- */

enum { MOST_SETS = 16 };
static struct length_set sets[MOST_SETS];
static const struct node *sets_root;         /* of the file, which stays; NULL: it is not read */
static const char *set_names[MOST_SETS + 1]; /* its texts; ends with NULL */
static struct error sets_fault;

static bool read_tokens(const struct node *node, uint16_t *out, struct error *why)
{
    uint64_t tokens = 0;
    bool good = node->kind == NODE_SCALAR &&
                units_parse_whole(node->text, UNIT_TOKENS, UINT16_MAX, node->file, node->line,
                                  "length", &tokens, why);
    *out = (uint16_t)tokens;
    return good && (tokens > 0 || node_error(node, why, "a length is 0"));
}

static bool length_set_read(const struct node *list, struct length_set *out, struct error *why)
{
    if (list->kind != NODE_LIST || list->count == 0 || list->count > LENGTH_SET_PAIRS) {
        return node_error(list, why, "'%s' is no list of at most %d pairs of tokens", list->key,
                          LENGTH_SET_PAIRS);
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct node *pair = list->children[i];
        struct length_pair *to = &out->pairs[out->count++];
        if (pair->kind != NODE_LIST || pair->count != 2) {
            return node_error(pair, why, "this is no pair of tokens");
        }
        if (!read_tokens(pair->children[0], &to->prompt, why) ||
            !read_tokens(pair->children[1], &to->output, why)) {
            return false;
        }
        out->prompt += to->prompt;
        out->output += to->output;
    }
    out->prompt /= out->count;
    out->output /= out->count;
    return true;
}

static void length_sets_read(void)
{
    char path[PATH_MAX];
    struct error *why = &sets_fault;
    const struct node *root =
        find_path("traces/requests", "lengths", "yaml", path, sizeof path, why)
            ? node_load(path, why)
            : NULL;
    bool good = root != NULL &&
                (root->count <= MOST_SETS || node_error(root, why, "more than %d sets", MOST_SETS));
    for (size_t i = 0; good && i < root->count; i++) {
        good = length_set_read(root->children[i], &sets[i], why);
        set_names[i] = root->children[i]->key;
    }
    sets_root = good ? root : NULL;
}

const struct length_set *length_set_find(const char *name, struct error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, length_sets_read);
    if (sets_root == NULL) {
        *why = sets_fault;
        return NULL;
    }
    int which = name_match(name, set_names);
    if (which < 0) {
        error_usage(why, NULL, 0, "'lengths' is '%.60s'", name);
        name_expect(name, set_names, why);
    }
    return which >= 0 ? &sets[which] : NULL;
}

/* ---- the text ------------------------------------------------------------------------- */

/* "512-1536", or one number. */
static bool read_length_range(struct synthetic *out, enum synthetic_key key, const char *text,
                              struct error *why)
{
    char first[64];
    size_t length = strcspn(text, "-");
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    bool range = length > 0 && text[length] == '-';
    const char *ends[] = {range ? first : text, range ? text + length + 1 : text};
    uint64_t *numbers[] = {&out->number[key], &out->most[key]};
    for (int i = 0; i < 2; i++) {
        if (!units_parse_whole(ends[i], UNIT_TOKENS, REQUEST_MOST_TOKENS, NULL, 0, keys[key],
                               numbers[i], why)) {
            return false;
        }
    }
    if (out->number[key] <= out->most[key]) {
        return true;
    }
    error_usage(why, NULL, 0, "'%s' is '%.60s'", keys[key], text);
    return error_expect(why, "the smaller number first");
}

static bool synthetic_read_value(struct synthetic *out, enum synthetic_key key, const char *text,
                                 struct error *why)
{
    if (key == LENGTHS) {
        return (out->lengths = length_set_find(text, why)) != NULL;
    }
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
    if (key == THINK) {
        return units_parse_whole(text, UNIT_NS, MOST_THINK_NS, NULL, 0, keys[key],
                                 &out->number[key], why);
    }
    if (key == PROMPT || key == OUTPUT) {
        return read_length_range(out, key, text, why);
    }
    bool counts = key == PREFIXES || key == TURNS || key == COUNT;
    uint64_t most = key == COUNT ? MOST_REQUESTS : key == TURNS ? MOST_TURNS : REQUEST_MOST_TOKENS;
    return units_parse_whole(text, counts ? UNIT_COUNT : UNIT_TOKENS, most, NULL, 0, keys[key],
                             &out->number[key], why);
}

static bool synthetic_read_item(struct synthetic *out, const char *item, size_t length,
                                struct error *why)
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
            return synthetic_read_value(out, (enum synthetic_key)key, value, why);
        }
    }
    error_usage(why, NULL, 0, "unknown key '%.60s' of a synthetic workload", text);
    return name_expect(text, keys, why);
}

static bool check_spreads(const struct synthetic *synthetic, struct error *why)
{
    const enum synthetic_key lengths[] = {PROMPT, OUTPUT},
                             spreads[] = {PROMPT_SPREAD, OUTPUT_SPREAD};
    for (int i = 0; i < 2; i++) {
        if (synthetic->most[lengths[i]] > synthetic->number[lengths[i]] &&
            synthetic->spread[spreads[i]] > 0) {
            error_usage(why, NULL, 0, "'%s' is a range, and '%s' says otherwise", keys[lengths[i]],
                        keys[spreads[i]]);
            return error_expect(why, "a range without a spread, or a mean with one");
        }
    }
    return true;
}

/* Where a data set has the lengths, 'prompt' and 'output' are the means that they are scaled to:
 * its own where `name` does not say them. */
static bool complete_means(const char *name, struct synthetic *synthetic, struct error *why)
{
    const enum synthetic_key lengths[] = {PROMPT, OUTPUT},
                             spreads[] = {PROMPT_SPREAD, OUTPUT_SPREAD};
    const double means[] = {synthetic->lengths->prompt, synthetic->lengths->output};
    for (int i = 0; i < 2; i++) {
        enum synthetic_key key = lengths[i];
        bool range = synthetic->most[key] > synthetic->number[key];
        if (range || synthetic->spread[spreads[i]] > 0) {
            error_usage(why, NULL, 0, "'lengths' has a distribution, and '%s' says otherwise",
                        keys[range ? key : spreads[i]]);
            return error_expect(why, "'lengths' alone, or with the means 'prompt' and 'output'");
        }
        bool stated = synthetic_says(name, keys[key]);
        synthetic->mean[key] = stated ? (double)synthetic->number[key] : means[i];
        synthetic->number[key] = (uint64_t)synthetic->mean[key];
    }
    return true;
}

static bool synthetic_read_text(const char *name, struct synthetic *out, struct error *why)
{
    const char *rest = name + sizeof start - 1, *item;
    size_t length;
    *out =
        (struct synthetic){.number = {[PREFIXES] = 1, [TURNS] = 1, [COUNT] = SYNTHETIC_REQUESTS}};
    while (text_item(&rest, &item, &length)) {
        if (!synthetic_read_item(out, item, length, why)) {
            return false;
        }
    }
    if (out->lengths != NULL && !complete_means(name, out, why)) {
        return false;
    }
    const enum synthetic_key needed[] = {PROMPT, OUTPUT, PREFIXES, TURNS, COUNT};
    for (int i = 0; i < 5; i++) {
        if (out->number[needed[i]] == 0) {
            error_usage(why, NULL, 0, "'%s' of a synthetic workload is missing or 0",
                        keys[needed[i]]);
            return error_expect(why, "such as synthetic:prompt=1000,output=200");
        }
    }
    if (!check_spreads(out, why)) {
        return false;
    }
    if (out->number[THINK] > 0 && out->number[TURNS] == 1) {
        error_usage(why, NULL, 0, "'think' is the time between turns, and a session has one");
        return error_expect(why, "'turns' of at least 2 as well, or no 'think'");
    }
    if (out->number[PREFIX] < out->number[PROMPT]) {
        return true;
    }
    error_usage(why, NULL, 0, "a 'prefix' of %llu tokens in prompts of %llu",
                (unsigned long long)out->number[PREFIX], (unsigned long long)out->number[PROMPT]);
    return error_expect(why, "a prefix shorter than 'prompt'");
}

/* ---- the requests --------------------------------------------------------------------- */

static uint64_t within_tokens(double tokens, uint64_t least)
{
    tokens = fmin(round(tokens), REQUEST_MOST_TOKENS);
    return tokens > (double)least ? (uint64_t)tokens : least;
}

/* The tokens of a prompt or an output, without the `taken` tokens of a prefix. */
static uint64_t draw_length(const struct synthetic *synthetic, gsl_rng *random,
                            enum synthetic_key key, uint64_t taken, uint64_t least)
{
    uint64_t first = synthetic->number[key], span = synthetic->most[key] - first + 1;
    if (span > 1) {
        return first - taken + gsl_rng_uniform_int(random, (unsigned long)span);
    }
    double spread = synthetic->spread[key == PROMPT ? PROMPT_SPREAD : OUTPUT_SPREAD];
    double variance = log1p(spread * spread); /* of the logarithm */
    return within_tokens((double)(first - taken) *
                             exp(gsl_ran_gaussian(random, sqrt(variance)) - variance / 2),
                         least);
}

struct drawn_lengths {
    uint64_t prompt, output; /* tokens, of the prompt without those `taken` */
};

static struct drawn_lengths draw_lengths(const struct synthetic *synthetic, gsl_rng *random,
                                         uint64_t taken, uint64_t least)
{
    if (synthetic->lengths != NULL) {
        /* One pair of a data set, scaled to the means that were asked for. */
        const struct length_set *set = synthetic->lengths;
        const struct length_pair *pair = &set->pairs[gsl_rng_uniform_int(random, set->count)];
        double prompt = (synthetic->mean[PROMPT] - (double)taken) / set->prompt;
        double output = synthetic->mean[OUTPUT] / set->output;
        return (struct drawn_lengths){within_tokens(pair->prompt * prompt, least),
                                      within_tokens(pair->output * output, 1)};
    }
    uint64_t prompt = draw_length(synthetic, random, PROMPT, taken, least);
    return (struct drawn_lengths){prompt, draw_length(synthetic, random, OUTPUT, 0, 1)};
}

/* The first request with each prefix that was drawn. */
struct synthetic_prefixes {
    struct dense_ids drawn;
    size_t *first; /* [drawn.count] owned */
    size_t capacity;
};

/* The whole chunks of a prompt that others may have: those of its prefix, as in the first request
 * with it, and those of a session of several turns, as in the turn before. */
static bool share_chunks(const struct synthetic *synthetic, const struct requests *before,
                         struct synthetic_prefixes *prefixes, uint64_t prefix,
                         struct request_line *line, struct error *why)
{
    const uint64_t *number = synthetic->number;
    uint64_t shared = number[TURNS] > 1 ? line->prompt : number[PREFIX];
    uint32_t drawn = prefixes->drawn.count, of;
    line->hashes = (uint32_t)((line->prompt - 1) / line->hash_tokens + 1);
    line->shared = (uint32_t)(shared / line->hash_tokens);
    line->alike = 0;
    if (line->turn > 0) {
        line->like = before->count - 1;
        line->alike = before->all[line->like].chunks;
        return true;
    }
    if (!dense_ids_find(&prefixes->drawn, prefix, &of, why) ||
        !array_reserve(&prefixes->first, &prefixes->capacity, (size_t)of + 1,
                       sizeof *prefixes->first, why)) {
        return false;
    }
    if (of == drawn) {
        prefixes->first[of] = before->count;
        return true;
    }
    line->like = prefixes->first[of];
    line->alike = (uint32_t)(number[PREFIX] / line->hash_tokens);
    return true;
}

/* The tokens of the next turn: the conversation so far and a new message; or, of a first turn, a
 * prefix and a message. */
static void draw_turn(const struct synthetic *synthetic, gsl_rng *random, struct request_line *line)
{
    const uint64_t *number = synthetic->number;
    uint64_t before = line->turn > 0 ? line->prompt + line->output : 0;
    uint64_t taken = line->turn > 0 ? number[PREFIX] : 0;
    uint64_t least = (line->turn > 0 ? 0 : number[PREFIX]) + 1;
    struct drawn_lengths drawn = draw_lengths(synthetic, random, taken, least);
    line->prompt = before + drawn.prompt;
    line->output = drawn.output;
    line->think_ns = line->turn > 0 && number[THINK] > 0
                         ? llround(gsl_ran_exponential(random, (double)number[THINK]))
                         : 0;
}

static bool synthetic_make_requests(const struct synthetic *synthetic, gsl_rng *random,
                                    const struct requests_options *options, uint64_t count,
                                    struct requests *out, struct error *why)
{
    const uint64_t *number = synthetic->number;
    const struct csv_reader place = {.path = "a synthetic workload"};
    struct request_line line = {
        .arrival_s = NAN,
        .hash_tokens = options->hash_tokens > 0 ? options->hash_tokens : CHUNK_TOKENS,
        .made = true,
    };
    struct synthetic_prefixes prefixes = {.capacity = 0};
    bool shares = number[PREFIX] > 0 || number[TURNS] > 1, good = true;
    double origin = NAN;
    for (uint64_t i = 0; good && i < count; i++) {
        line.turn = (uint16_t)(i % number[TURNS]);
        uint64_t prefix =
            line.turn == 0 ? gsl_rng_uniform_int(random, (unsigned long)number[PREFIXES]) : 0;
        draw_turn(synthetic, random, &line);
        good = requests_have_room(out, options->stop, &place, why) &&
               (!shares || share_chunks(synthetic, out, &prefixes, prefix, &line, why)) &&
               requests_add(out, &line, &origin, &place, why);
    }
    dense_ids_release(&prefixes.drawn);
    free(prefixes.first);
    return good;
}

bool synthetic_is_even(const char *name)
{
    struct synthetic synthetic;
    struct error unseen;
    return synthetic_read_text(name, &synthetic, &unseen) && synthetic.number[TURNS] == 1 &&
           synthetic.lengths == NULL && synthetic.spread[PROMPT_SPREAD] == 0 &&
           synthetic.spread[OUTPUT_SPREAD] == 0 &&
           synthetic.most[PROMPT] == synthetic.number[PROMPT] &&
           synthetic.most[OUTPUT] == synthetic.number[OUTPUT];
}

bool synthetic_make(const char *name, const struct requests_options *options, struct requests *out,
                    struct error *why)
{
    struct synthetic synthetic;
    *out = (struct requests){.content = XXH64(name, strlen(name), options->seed)};
    if (!synthetic_read_text(name, &synthetic, why)) {
        return false;
    }
    if (synthetic.lengths != NULL) { /* which a change of the file changes */
        const struct length_set *set = synthetic.lengths;
        out->content = XXH64(set->pairs, set->count * sizeof *set->pairs, out->content);
    }
    uint64_t count = synthetic.number[COUNT], limit = options->limit;
    bool ends = synthetic_says(name, keys[COUNT]); /* else it goes on for as long as it is read */
    count = limit > 0 && (!ends || limit < count) ? limit : count;
    gsl_rng *random = random_stream(options->seed, "serve.synthetic", 0, why);
    bool ok =
        random != NULL && synthetic_make_requests(&synthetic, random, options, count, out, why);
    if (random != NULL) {
        gsl_rng_free(random);
    }
    if (!ok) {
        requests_release(out);
    }
    return ok;
}
