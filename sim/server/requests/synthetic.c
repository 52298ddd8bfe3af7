/* Each request goes the way of a line of a file, so that all lists keep the same promises. */
#include "server/requests/synthetic.h"

#include "core/array.h"
#include "core/named.h"
#include "core/node.h"
#include "core/random.h"
#include "core/text.h"
#include "server/requests/request_line.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char start[] = "synthetic:";

enum { CHUNK_TOKENS = 16, MOST_REQUESTS = 1 << 28, MOST_TURNS = 10000 };

#define MOST_THINK_NS 86400000000000u /* a day */

/* What the text says. The spread of PROMPT and of OUTPUT is the key two behind it. */
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
enum { SPREAD_OF = PROMPT_SPREAD - PROMPT };

static const struct {
    const char *name;
    enum unit unit;
    uint64_t most, usual;
} keys[KEYS + 1] = {
    [PROMPT] = {"prompt", UNIT_TOKENS, REQUEST_MOST_TOKENS, 0},
    [OUTPUT] = {"output", UNIT_TOKENS, REQUEST_MOST_TOKENS, 0},
    [PROMPT_SPREAD] = {"prompt_spread", UNIT_SHARE, 0, 0},
    [OUTPUT_SPREAD] = {"output_spread", UNIT_SHARE, 0, 0},
    [PREFIX] = {"prefix", UNIT_TOKENS, REQUEST_MOST_TOKENS, 0},
    [PREFIXES] = {"prefixes", UNIT_COUNT, REQUEST_MOST_TOKENS, 1},
    [TURNS] = {"turns", UNIT_COUNT, MOST_TURNS, 1},
    [THINK] = {"think", UNIT_NS, MOST_THINK_NS, 0},
    [COUNT] = {"requests", UNIT_COUNT, MOST_REQUESTS, SYNTHETIC_REQUESTS},
    [LENGTHS] = {"lengths", UNIT_COUNT, 0, 0},
};

struct synthetic {
    struct length_set lengths; /* of `count` 0: none */
    double mean[2];            /* of PROMPT and OUTPUT, with `lengths` */
    double spread[KEYS];       /* of PROMPT_SPREAD and OUTPUT_SPREAD */
    uint64_t number[KEYS];     /* of the others; of a range, its first */
    uint64_t most[KEYS];       /* of PROMPT and OUTPUT: the last of the range, or the number */
    uint64_t least_output;
    struct requests_drawn drawn;
};

bool synthetic_is(const char *name)
{
    return strncmp(name, start, sizeof start - 1) == 0;
}

static bool item_is(const char *item, size_t length, const char *key)
{
    size_t wanted = strlen(key);
    return length > wanted && item[wanted] == '=' && strncmp(item, key, wanted) == 0;
}

bool synthetic_says(const char *name, const char *key)
{
    const char *rest = name + sizeof start - 1, *item;
    size_t length;
    while (text_item(&rest, &item, &length)) {
        if (item_is(item, length, key)) {
            return true;
        }
    }
    return false;
}

void synthetic_without(const char *name, const char *key, char *out)
{
    const char *rest = name + sizeof start - 1, *item;
    size_t length, used = sizeof start - 1;
    memmove(out, name, used);
    while (text_item(&rest, &item, &length)) {
        if (!item_is(item, length, key)) {
            out[used] = ',';
            used += used > sizeof start - 1;
            memmove(out + used, item, length);
            used += length;
        }
    }
    out[used] = '\0';
}

/* ---- lengths of data sets ---- */

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

bool length_set_find(const char *name, struct length_set *out, struct error *why)
{
    enum { MOST_SETS = 16 };
    const char *names[MOST_SETS + 1] = {NULL};
    char path[PATH_MAX];
    *out = (struct length_set){.count = 0};
    struct node *root = find_path("traces/requests", "lengths", "yaml", path, sizeof path, why)
                            ? node_load(path, why)
                            : NULL;
    if (root == NULL) {
        return false;
    }
    for (size_t i = 0; i < root->count && i < MOST_SETS; i++) {
        names[i] = root->children[i]->key;
    }
    int which = name_match(name, names);
    if (which < 0) {
        error_usage(why, NULL, 0, "'lengths' is '%.60s'", name);
        name_expect(name, NAMES(names), why);
    }
    bool good = which >= 0 && length_set_read(root->children[which], out, why);
    node_destroy(root);
    return good;
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
        if (!units_parse_whole(ends[i], UNIT_TOKENS, REQUEST_MOST_TOKENS, NULL, 0, keys[key].name,
                               numbers[i], why)) {
            return false;
        }
    }
    if (out->number[key] <= out->most[key]) {
        return true;
    }
    error_usage(why, NULL, 0, "'%s' is '%.60s'", keys[key].name, text);
    return error_expect(why, "the smaller number first");
}

static bool synthetic_read_value(struct synthetic *out, enum synthetic_key key, const char *text,
                                 struct error *why)
{
    switch (key) {
    case LENGTHS:
        return length_set_find(text, &out->lengths, why);
    case PROMPT:
    case OUTPUT:
        return read_length_range(out, key, text, why);
    case PROMPT_SPREAD:
    case OUTPUT_SPREAD:
        if (!units_parse(text, UNIT_SHARE, NULL, 0, keys[key].name, &out->spread[key], why)) {
            return false;
        }
        if (out->spread[key] > 10) {
            error_usage(why, NULL, 0, "'%s' is '%.60s'", keys[key].name, text);
            return error_expect(why, "at most 1000%%");
        }
        return true;
    default:
        return units_parse_whole(text, keys[key].unit, keys[key].most, NULL, 0, keys[key].name,
                                 &out->number[key], why);
    }
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
    int key = name_index(text, NAMES(keys));
    return key >= 0
               ? synthetic_read_value(out, (enum synthetic_key)key, value, why)
               : name_find(text, NAMES(keys), "key of a synthetic workload", NULL, 0, why) >= 0;
}

static bool is_range(const struct synthetic *synthetic, enum synthetic_key key)
{
    return synthetic->most[key] > synthetic->number[key];
}

/* A range, a spread and a data set each are a distribution of lengths. With the last, 'prompt' and 'output'
 * are the means that it is scaled to: its own where `name` does not say them. */
static bool complete_lengths(const char *name, struct synthetic *synthetic, struct error *why)
{
    const double means[] = {synthetic->lengths.prompt, synthetic->lengths.output};
    bool set = synthetic->lengths.count > 0;
    for (int key = PROMPT; key <= OUTPUT; key++) {
        if (set + is_range(synthetic, key) + (synthetic->spread[key + SPREAD_OF] > 0) > 1) {
            error_usage(why, NULL, 0, "'%s' has two distributions", keys[key].name);
            return error_expect(why, "a range, a spread, or 'lengths'");
        }
        if (set) {
            bool stated = synthetic_says(name, keys[key].name);
            synthetic->mean[key] = stated ? (double)synthetic->number[key] : means[key];
            synthetic->number[key] = (uint64_t)synthetic->mean[key];
        }
    }
    return true;
}

static bool synthetic_read_text(const char *name, struct synthetic *out, struct error *why)
{
    static const enum synthetic_key needed[] = {PROMPT, OUTPUT, PREFIXES, TURNS, COUNT};
    const char *rest = name + sizeof start - 1, *item;
    size_t length;
    *out = (struct synthetic){.spread = {0}};
    for (int key = 0; key < KEYS; key++) {
        out->number[key] = keys[key].usual;
    }
    while (text_item(&rest, &item, &length)) {
        if (!synthetic_read_item(out, item, length, why)) {
            return false;
        }
    }
    if (!complete_lengths(name, out, why)) {
        return false;
    }
    for (int i = 0; i < 5; i++) {
        if (out->number[needed[i]] == 0) {
            error_usage(why, NULL, 0, "'%s' of a synthetic workload is missing or 0",
                        keys[needed[i]].name);
            return error_expect(why, "such as synthetic:prompt=1000,output=200");
        }
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
    double spread = synthetic->spread[key + SPREAD_OF];
    double variance = log1p(spread * spread); /* of the logarithm */
    return within_tokens((double)(first - taken) *
                             exp(gsl_ran_gaussian(random, sqrt(variance)) - variance / 2),
                         least);
}

struct drawn_lengths {
    uint64_t prompt, output; /* tokens, of the prompt without those `taken` */
};

/* A pair of a data set, scaled to the means that were asked for. */
static struct drawn_lengths scale_lengths(const struct synthetic *synthetic,
                                          const struct length_pair *pair, uint64_t taken,
                                          uint64_t least)
{
    const struct length_set *set = &synthetic->lengths;
    double prompt = (synthetic->mean[PROMPT] - (double)taken) / set->prompt;
    double output = synthetic->mean[OUTPUT] / set->output;
    return (struct drawn_lengths){within_tokens(pair->prompt * prompt, least),
                                  within_tokens(pair->output * output, 1)};
}

static struct drawn_lengths draw_lengths(const struct synthetic *synthetic, gsl_rng *random,
                                         uint64_t taken, uint64_t least)
{
    const struct length_set *set = &synthetic->lengths;
    if (set->count > 0) {
        return scale_lengths(synthetic, &set->pairs[gsl_rng_uniform_int(random, set->count)], taken,
                             least);
    }
    uint64_t prompt = draw_length(synthetic, random, PROMPT, taken, least);
    return (struct drawn_lengths){prompt, draw_length(synthetic, random, OUTPUT, 0, 1)};
}

/* ---- what the text bounds ---- */

/* The standard normal variables that one draw in 100 000 and in 1000 exceeds, and what a length is rounded to. */
static const double far = 4.2649, rare = 3.0902, whole = 1024;

/* Tokens of a session, of independent lengths. */
struct session_tokens {
    double mean, most;
    double varying, variance; /* of those that vary */
    double excess;            /* over its mean, of the length that varies most */
};

/* What a log-normal draw exceeds as seldom as a standard normal one exceeds `normal`. */
static double far_tokens(double mean, double variance, double normal)
{
    double log_variance = log1p(variance / (mean * mean));
    return mean * exp(normal * sqrt(log_variance) - log_variance / 2);
}

static void add_lengths(struct session_tokens *to, double count, double mean, double variance,
                        double most)
{
    to->mean += count * mean;
    to->most += count > 0 ? count * most : 0;
    if (variance > 0 && count > 0) {
        to->varying += count * mean;
        to->variance += count * variance;
        to->excess = fmax(to->excess, fmin(most, far_tokens(mean, variance, far)) - mean);
    }
}

/* Add `count` turns, whose prompts are drawn without `taken` tokens of a prefix. */
static void add_session_turns(const struct synthetic *synthetic, double count, uint64_t taken,
                              uint64_t least, struct session_tokens *to)
{
    const struct length_set *set = &synthetic->lengths;
    double sum = 0, squares = 0, longest = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        struct drawn_lengths pair = scale_lengths(synthetic, &set->pairs[i], taken, least);
        double tokens = (double)(pair.prompt + pair.output);
        sum += tokens / set->count;
        squares += tokens * tokens / set->count;
        longest = fmax(longest, tokens);
    }
    if (set->count > 0) {
        add_lengths(to, count, sum, squares - sum * sum, longest);
        return;
    }
    for (int key = PROMPT; key <= OUTPUT; key++) {
        double part = key == PROMPT ? (double)taken : 0;
        double first = (double)synthetic->number[key], last = (double)synthetic->most[key];
        double mean = (first + last) / 2 - part, spread = synthetic->spread[key + SPREAD_OF];
        double deviation = spread * mean, span = last - first + 1;
        add_lengths(to, count, mean, spread > 0 ? deviation * deviation : (span * span - 1) / 12,
                    spread > 0 ? (double)INFINITY : last - part);
    }
}

/* The sum of log-normal lengths is taken for one itself, with their mean and variance (Fenton, 1960), unless
 * one of them alone goes further. */
static void set_drawn(struct synthetic *synthetic)
{
    const uint64_t *number = synthetic->number;
    bool set = synthetic->lengths.count > 0;
    struct session_tokens session = {.mean = 0};
    add_session_turns(synthetic, 1, 0, number[PREFIX] + 1, &session);
    add_session_turns(synthetic, (double)number[TURNS] - 1, number[PREFIX], 1, &session);
    double most = set ? whole * ceil(session.most / whole) : session.most; /* a set's are means */
    double usual = most;
    if (session.variance > 0) {
        double same = session.mean - session.varying;
        double tokens = same + fmax(far_tokens(session.varying, session.variance, far),
                                    session.varying + session.excess);
        most = fmin(most, whole * ceil(tokens / whole));
        usual = fmin(most, same + far_tokens(session.varying, session.variance, rare));
    }
    synthetic->least_output = set || synthetic->spread[OUTPUT_SPREAD] > 0 ? 1 : number[OUTPUT];
    synthetic->drawn = (struct requests_drawn){
        .tokens = (uint64_t)most,
        .usual = (uint64_t)usual,
        .prompt = (uint64_t)most - synthetic->least_output,
        .even = number[TURNS] == 1 && session.variance == 0,
    };
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

/* Tokens of the next turn: the conversation so far and a new message; of a first one, a prefix and that. */
static void draw_turn(const struct synthetic *synthetic, gsl_rng *random, struct request_line *line)
{
    const uint64_t *number = synthetic->number;
    uint64_t before = line->turn > 0 ? line->prompt + line->output : 0;
    uint64_t taken = line->turn > 0 ? number[PREFIX] : 0;
    uint64_t least = (line->turn > 0 ? 0 : number[PREFIX]) + 1;
    struct drawn_lengths drawn = draw_lengths(synthetic, random, taken, least);
    uint64_t later = number[TURNS] - 1 - line->turn, kept = synthetic->least_output;
    uint64_t most = synthetic->drawn.tokens - later * (1 + kept); /* they have a token at least */
    line->prompt = before + drawn.prompt < most - kept ? before + drawn.prompt : most - kept;
    line->output = drawn.output < most - line->prompt ? drawn.output : most - line->prompt;
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

bool synthetic_make(const char *name, const struct requests_options *options, struct requests *out,
                    struct error *why)
{
    struct synthetic synthetic;
    *out = (struct requests){.content = XXH64(name, strlen(name), options->seed)};
    if (!synthetic_read_text(name, &synthetic, why)) {
        return false;
    }
    const struct length_set *set = &synthetic.lengths;
    if (set->count > 0) { /* which a change of the file changes */
        out->content = XXH64(set->pairs, set->count * sizeof *set->pairs, out->content);
    }
    set_drawn(&synthetic);
    out->drawn = synthetic.drawn;
    uint64_t count = synthetic.number[COUNT], limit = options->limit;
    bool ends =
        synthetic_says(name, keys[COUNT].name); /* else it goes on for as long as it is read */
    count = limit > 0 && (!ends || limit < count) ? limit : count;
    gsl_rng *random = random_stream(options->seed, "serve.synthetic", 0, why);
    bool ok =
        random != NULL && synthetic_make_requests(&synthetic, random, options, count, out, why);
    gsl_rng_free(random);
    if (!ok) {
        requests_release(out);
    }
    return ok;
}
