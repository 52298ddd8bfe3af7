/* Files of requests: JSON lines, tables, whose lines are read as objects of the columns that count, and the
 * record of a benchmark, whose entries are. A key that asks for more than a prompt and its answer is refused,
 * and others are ignored.
 *
 * Prefixes are known from hashes of chunks, or from the token ids themselves, which are cut into chunks and
 * hashed here. A line without either is a prompt whose content is unknown. Azure writes arrivals as date and
 * time of day, to 100 ns; others are numbers. A response of 0 tokens, or an empty field, means that the
 * request failed (see BurstGPT's README).
 *
 * `vllm bench serve --save-result --save-detailed` and SGLang's `bench_serving --output-details` write one
 * object with lists, an entry a request: input_lens, output_lens, start_times if they were kept, and errors,
 * "" or what went wrong. Prompts are not kept, so what they share is unknown. */
#include "core/array.h"
#include "core/text.h"
#include "server/requests/request_line.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <xxhash.h>

/* What `chunks` lists: hashes of all tokens so far, or of the chunk alone, which are chained; or tokens. */
enum chunk_list { CHAINED, OWN, TOKENS };

struct request_format {
    const char *mark; /* a key that tells it from the formats after it; NULL: all have it */
    const char *arrival, *prompt, *output, *chunks; /* keys; `chunks` may be NULL */
    double seconds;                                 /* of the arrival's unit; 0: it is a date */
    uint32_t hash_tokens; /* tokens of a chunk, unless the caller says; 0: it has none */
    enum chunk_list list;
    bool queued;      /* arrivals are stamps of the engine's queue */
    const char *head; /* of a table: its columns in the file's order, whose case does not matter */
};

/* 512: as Mooncake documents. 16: as Bailian's does; of token ids, a block of vLLM. */
static const struct request_format formats[] = {
    {"chat_id", "timestamp", "input_length", "output_length", "hash_ids", 1, 16, OWN, false,
     NULL}, /* Bailian */
    {"arrival_time", "arrival_time", "input_toks", "output_toks", "input_tok_ids", 1, 16, TOKENS,
     false, NULL}, /* a server's */
    {"queued_ts", "queued_ts", "input_toks", "output_toks", "input_tok_ids", 1, 16, TOKENS, true,
     NULL},
    {"input_toks", "arrival_time_ns", "input_toks", "output_toks", "input_tok_ids", 1e-9, 16,
     TOKENS, false, NULL}, /* LLMServingSim */
    {NULL, "timestamp", "input_length", "output_length", "hash_ids", 1e-3, 512, CHAINED, false,
     NULL}, /* Mooncake */
    {NULL, "TIMESTAMP", "ContextTokens", "GeneratedTokens", NULL, 0, 0, CHAINED, false,
     "TIMESTAMP,ContextTokens,GeneratedTokens"}, /* Azure */
    {NULL, "Timestamp", "Request tokens", "Response tokens", NULL, 1, 0, CHAINED, false,
     "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"}, /* BurstGPT */
    {NULL, "Timestamp", "Request tokens", "Response tokens", NULL, 1, 0, CHAINED, false,
     "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
     "Type"}, /* and since its second release */
    {NULL, "arrived_at", "num_prefill_tokens", "num_decode_tokens", NULL, 1, 0, CHAINED, false,
     "arrived_at,num_prefill_tokens,num_decode_tokens"}, /* vLLM-style */
};
static const struct request_format benchmark = {
    NULL, "start_times", "input_lens", "output_lens", NULL, 1, 0, CHAINED, false, NULL};

struct requests_reading {
    struct csv_reader in;
    struct request_line line;
    double origin_s;
    struct requests_options options;
    const struct request_format *format;
    uint64_t size;  /* bytes of the file */
    uint64_t model; /* hash of the model that the lines name; 0: none so far */
    struct requests *out;
};

/* ---- an object ------------------------------------------------------------------------- */

/* "2023-11-16 18:17:03.9799600", with or without a time zone: "Z", or an offset from UTC such as "+01:30".
 * timegm() makes 2 March of 30 February; such a date is refused. */
static bool read_date(const char *text, double *seconds)
{
    struct tm said = {.tm_year = 0}, zone = said;
    const char *rest = strptime(text, "%Y-%m-%d %H:%M:%S", &said);
    struct tm day = said;
    if (rest == NULL) {
        return false;
    }
    *seconds = (double)timegm(&day);
    if (*rest == '.') { /* a fraction of a second, such as ".9799600" */
        char digits[16];
        size_t count = strspn(rest + 1, "0123456789");
        snprintf(digits, sizeof digits, ".%.*s", (int)count, rest + 1);
        *seconds += strtod(digits, NULL);
        rest += 1 + count;
    }
    if (*rest != '\0') {
        size_t length = strlen(rest);
        rest = length == 1 || length == 6 ? strptime(rest, "%z", &zone) : NULL;
    }
    *seconds -= (double)zone.tm_gmtoff;
    return rest != NULL && *rest == '\0' && day.tm_mday == said.tm_mday &&
           day.tm_mon == said.tm_mon && day.tm_sec == said.tm_sec;
}

static bool blame_value(const struct csv_reader *in, const char *key, const json_t *value,
                        const char *expected, struct error *why)
{
    if (json_is_string(value)) {
        error_set(why, in->path, in->line, "'%s' is '%.60s'", key, json_string_value(value));
    } else {
        error_set(why, in->path, in->line, "'%s' is missing or not %s", key, expected);
    }
    return error_expect(why, "%s", expected);
}

/* A date in another unit would bring requests a thousand times too fast or too slowly. The first arrival
 * tells: it is a date from 2008 to 2039 as seconds, milliseconds or less. */
static bool check_arrival_unit(const struct requests_reading *reading, double arrival,
                               struct error *why)
{
    double unit = reading->format->seconds, date = arrival;
    if (unit == 1e-3 && arrival != nearbyint(arrival)) {
        error_set(why, reading->in.path, reading->in.line, "'%s' is %.15g, no whole milliseconds",
                  reading->format->arrival, arrival);
        return error_expect(why, "milliseconds; if these are seconds, 1000 times as much");
    }
    while (date > 2.2e9) {
        date /= 1000;
    }
    if (!isnan(reading->origin_s) || unit < 1e-3 || date < 1.2e9 ||
        fabs(arrival * unit - date) < 1) {
        return true;
    }
    error_set(why, reading->in.path, reading->in.line, "'%s' is %.15g, a date that is not in %s",
              reading->format->arrival, arrival, unit < 1 ? "milliseconds" : "seconds");
    return error_expect(why, "%.15g, and all others in that unit", nearbyint(date / unit));
}

static bool read_arrival(struct requests_reading *reading, const json_t *object, struct error *why)
{
    const struct request_format *format = reading->format;
    const json_t *arrival = json_object_get(object, format->arrival);
    const char *text = json_string_value(arrival);
    reading->line.arrival_s = json_number_value(arrival) * format->seconds;
    if (arrival == NULL) {
        reading->line.arrival_s = NAN;
    } else if (format->seconds == 0) {
        return (text != NULL && read_date(text, &reading->line.arrival_s)) ||
               blame_value(&reading->in, format->arrival, arrival,
                           "a time such as 2023-11-16 18:17:03.9799600, on a day that exists", why);
    }
    return arrival == NULL ||
           (json_is_number(arrival)
                ? check_arrival_unit(reading, json_number_value(arrival), why)
                : blame_value(&reading->in, format->arrival, arrival, "a number", why));
}

static bool read_length(const struct csv_reader *in, const json_t *object, const char *key,
                        uint64_t *tokens, struct error *why)
{
    const json_t *value = json_object_get(object, key);
    *tokens = (uint64_t)json_integer_value(value);
    return (json_is_integer(value) && json_integer_value(value) >= 0) ||
           blame_value(in, key, value, "a whole number", why);
}

/* The hashes of the prompt's chunks. */
static bool read_prefix(struct requests_reading *reading, const json_t *object, struct error *why)
{
    const struct request_format *format = reading->format;
    const char *key = format->chunks;
    struct request_line *line = &reading->line;
    const json_t *list = key != NULL ? json_object_get(object, key) : NULL;
    size_t count = json_array_size(list), each = format->list == TOKENS ? line->hash_tokens : 1;
    uint64_t hash = 0;
    line->hashes = 0;
    if (list == NULL) {
        return true;
    }
    if (!json_is_array(list)) {
        return blame_value(&reading->in, key, list, "a list of numbers", why);
    }
    if (count == 0 && format->list != TOKENS) {
        return blame_value(&reading->in, key, NULL, "a list of hashes", why);
    }
    if (format->list == TOKENS && count != line->prompt) {
        error_set(why, reading->in.path, reading->in.line,
                  "%zu token ids for a prompt of %llu tokens", count,
                  (unsigned long long)line->prompt);
        return error_expect(why, "one id for each token of '%s'", format->prompt);
    }
    if (!array_reserve(&line->hash, &line->hash_capacity, count / each + 1, sizeof *line->hash,
                       why)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        uint64_t value = (uint64_t)json_integer_value(item);
        if (!json_is_integer(item)) {
            return blame_value(&reading->in, key, item, "a list of whole numbers", why);
        }
        hash = format->list == CHAINED ? value : XXH64(&value, sizeof value, hash);
        line->hash[i / each] = hash;
    }
    line->hashes = (uint32_t)((count + each - 1) / each); /* fits: a line's length is limited */
    return true;
}

/* A turn with a "delay" (ms) comes so long after the end of the one before, which is in the line
 * before it and of the same "session_id" (AIPerf, dynamo.replay). Turns without an answer are left out:
 * the next one follows the last that has one, or begins the session. A prompt is known by its hashes:
 * without them programs differ in whether its length counts the turns before. */
static bool read_turn(const json_t *object, const struct csv_reader *in, struct request_line *line,
                      struct error *why)
{
    const json_t *delay = json_object_get(object, "delay");
    const char *id = json_string_value(json_object_get(object, "session_id"));
    uint64_t session = id != NULL ? XXH64(id, strlen(id), 1) : 0;
    bool has_delay = delay != NULL && !json_is_null(delay);
    bool follows = has_delay && session != 0 && session == line->session;
    line->session = session;
    line->answered = follows ? line->answered : 0;
    line->turn = (uint16_t)line->answered;
    line->think_ns = 0;
    if (!has_delay) {
        line->session_start_s = line->arrival_s;
        return true;
    }
    if (!json_is_number(delay)) {
        return blame_value(in, "delay", delay, "a number", why);
    }
    double ms = json_number_value(delay);
    if (!follows || line->answered > UINT16_MAX || line->hashes == 0 || !(ms >= 0 && ms <= 1e12)) {
        error_set(why, in->path, in->line, "'delay': a turn %s",
                  line->hashes == 0 ? "without 'hash_ids'" : "that does not follow another");
        return error_expect(why, "behind the turn before of its 'session_id', and the 'hash_ids' "
                                 "of its whole prompt");
    }
    line->arrival_s = line->session_start_s;
    line->think_ns = line->turn > 0 ? (int64_t)(ms * 1e6) : 0;
    return true;
}

/* Parts of keys that ask for more than is simulated where their value is above `least`: several answers to a
 * prompt, what is no text, adapters, and tokens kept of a prompt that name no other one. */
static const struct {
    const char *part;
    double least;
} demands[] = {{"best_of", 1}, {"beam", 1},   {"num_return", 1},  {"samples", 1}, {"image", 0},
               {"audio", 0},   {"video", 0},  {"multi_modal", 0}, {"mm_", 0},     {"lora", 0},
               {"adapter", 0}, {"cancel", 0}, {"cached", 0},      {"prefix", 0}};

static bool check_demands(struct requests_reading *reading, json_t *object, struct error *why)
{
    const char *key, *model = json_string_value(json_object_get(object, "model"));
    const char *type = json_string_value(json_object_get(object, "type"));
    bool table = reading->format->head != NULL;
    json_t *value;
    model = table ? json_string_value(json_object_get(object, "Model")) : model;
    uint64_t named = model != NULL ? XXH64(model, strlen(model), 1) : reading->model;
    bool other = reading->model != 0 && named != reading->model;
    reading->out->models = reading->out->models || other;
    reading->out->images += type != NULL && strcmp(type, "image") == 0;
    if (other && !table) {
        error_set(why, reading->in.path, reading->in.line, "requests of several models: '%.60s'",
                  model);
        return error_expect(why, "those of one");
    }
    reading->model = named;
    json_object_foreach(object, key, value)
    {
        const char *text = json_string_value(value);
        bool full =
            json_array_size(value) + json_object_size(value) > 0 && reading->format != &benchmark;
        bool some = full || json_is_true(value) || (text != NULL && text[0] != '\0');
        double amount = some ? INFINITY : json_number_value(value);
        bool failed = (some && strncmp(key, "error", 5) == 0) ||
                      (strcmp(key, "success") == 0 && json_is_false(value)) ||
                      (text != NULL && strcmp(text, "error") == 0 &&
                       (strcmp(key, "status") == 0 || strcmp(key, "finish_reason") == 0));
        if (failed) {
            error_set(why, reading->in.path, reading->in.line, "'%.60s': the request failed", key);
            return error_expect(why, "requests that were answered");
        }
        bool asks = strcmp(key, "n") == 0 && amount > 1;
        for (size_t i = 0; i < sizeof demands / sizeof *demands; i++) {
            asks = asks || (amount > demands[i].least && strstr(key, demands[i].part) != NULL);
        }
        if (asks) {
            error_set(why, reading->in.path, reading->in.line, "'%.60s' is not modelled", key);
            return error_expect(why,
                                "requests of one prompt of text and one answer, without this key");
        }
    }
    return true;
}

/* Append the request that an object is, or count it as skipped. */
static bool take_request(struct requests_reading *reading, json_t *object, struct error *why)
{
    const struct request_format *format = reading->format;
    const struct csv_reader *in = &reading->in;
    struct request_line *line = &reading->line;
    const json_t *output = json_object_get(object, format->output);
    bool failed = output == NULL || json_is_null(output);
    if (!json_is_object(object)) {
        return error_set(why, in->path, in->line, "not a JSON object");
    }
    if (json_object_get(object, "sub_requests") != NULL) {
        /* A session's requests depend on the ends of earlier ones, which only a run knows. */
        error_set(why, in->path, in->line, "'sub_requests': a session of chained requests");
        return error_expect(why, "a line for each request, with a time of its own");
    }
    if (!check_demands(reading, object, why) || !read_arrival(reading, object, why) ||
        !read_length(in, object, format->prompt, &line->prompt, why) ||
        (!failed && !read_length(in, object, format->output, &line->output, why)) ||
        !read_prefix(reading, object, why) || !read_turn(object, in, line, why)) {
        return false;
    }
    failed = failed || line->output == 0;
    line->answered += !failed;
    line->shared = line->hashes;
    reading->out->skipped += failed;
    return failed || requests_add(reading->out, line, &reading->origin_s, in, why);
}

/* Is the limit reached? If not, one more must have room. */
static bool take_more(struct requests_reading *reading, bool *more, struct error *why)
{
    uint64_t limit = reading->options.limit;
    *more = *more && (limit == 0 || reading->out->count < limit);
    return !*more || requests_have_room(reading->out, reading->options.stop, &reading->in, why);
}

/* ---- a benchmark ----------------------------------------------------------------------- */

/* An object is in memory as a whole. */
enum { MOST_BYTES = 128 << 20 };

/* A request by when it was sent. */
struct sent {
    double at_s;
    size_t place;
};

static int compare_sent(const void *a, const void *b)
{
    const struct sent *first = a, *second = b;
    int later = (first->at_s > second->at_s) - (first->at_s < second->at_s);
    return later != 0 ? later : (first->place > second->place) - (first->place < second->place);
}

/* The requests in the order in which they were sent, which is not that of their stamps. */
static bool take_entries(struct requests_reading *reading, const json_t *object, struct sent *sent,
                         size_t count, struct error *why)
{
    static const char *const keys[] = {"start_times", "input_lens", "output_lens"};
    bool good = true, more = true;
    for (size_t i = 0; i < count; i++) {
        const json_t *at = json_array_get(json_object_get(object, keys[0]), i);
        sent[i] = (struct sent){json_number_value(at), i};
    }
    qsort(sent, count, sizeof *sent, compare_sent);
    for (size_t i = 0; good && i < count; i++) {
        size_t place = sent[i].place;
        const char *fault =
            json_string_value(json_array_get(json_object_get(object, "errors"), place));
        json_t *entry = json_object();
        for (int key = 0; key < 3; key++) {
            json_object_set(entry, keys[key],
                            json_array_get(json_object_get(object, keys[key]), place));
        }
        if (fault != NULL && fault[0] != '\0') {
            json_object_del(entry, keys[2]);
        }
        good = take_more(reading, &more, why) && (!more || take_request(reading, entry, why));
        json_decref(entry);
    }
    return good;
}

static bool take_benchmark(struct requests_reading *reading, json_t *object, struct error *why)
{
    static const char *const lists[] = {"input_lens", "output_lens", "start_times", "errors"};
    size_t count = json_array_size(json_object_get(object, lists[0]));
    reading->format = &benchmark;
    double clients = json_number_value(json_object_get(object, "max_concurrency"));
    if (clients > 0 && clients < (double)count) { /* these sent when that server had answered */
        json_object_del(object, "start_times");
    }
    for (int i = 0; i < 4; i++) {
        const json_t *list = json_object_get(object, lists[i]);
        if (!(json_is_array(list) && json_array_size(list) == count) && (i < 2 || list != NULL)) {
            error_set(why, reading->in.path, 0,
                      "'%s' of a benchmark is not a list with an entry for each request", lists[i]);
            return error_expect(why, "as 'vllm bench serve --save-detailed' and SGLang's "
                                     "'bench_serving --output-details' write it");
        }
    }
    const char *of = json_string_value(json_object_get(object, "model_id"));
    snprintf(reading->out->of, sizeof reading->out->of, "%s", of != NULL ? of : "");
    struct sent *sent = array_zeroed(count, sizeof *sent, why);
    bool ok = sent != NULL && check_demands(reading, object, why) &&
              take_entries(reading, object, sent, count, why);
    free(sent);
    return ok;
}

/* ---- lines ----------------------------------------------------------------------------- */

/* Are the fields of the line those of the head? */
static bool is_head(const struct csv_reader *in, const char *head)
{
    const char *rest = head, *item;
    size_t length, k = 0;
    bool same = head != NULL;
    while (same && text_item(&rest, &item, &length)) {
        same = k < in->count && strlen(in->fields[k]) == length &&
               strncasecmp(in->fields[k], item, length) == 0;
        k++;
    }
    return same && k == in->count;
}

/* The format of a file whose first line was just read; NULL if there is none. */
static const struct request_format *find_format(struct csv_reader *in)
{
    json_t *object = in->text[0] == '{' ? json_loads(in->text, 0, NULL) : NULL;
    bool json = in->text[0] == '{', split = !json && csv_reader_split(in, 0, ERROR_UNSEEN);
    const struct request_format *found = NULL;
    for (size_t i = 0; found == NULL && i < sizeof formats / sizeof *formats; i++) {
        const struct request_format *format = &formats[i];
        bool marked = format->mark == NULL || json_object_get(object, format->mark) != NULL;
        bool is = json ? format->head == NULL && marked : split && is_head(in, format->head);
        found = is ? format : NULL;
    }
    json_decref(object);
    return found;
}

/* A field as JSON would have it; an empty one is null. */
static json_t *field_value(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (text[0] == '\0') {
        return json_null();
    }
    if (text[strspn(text, "0123456789")] == '\0' && strlen(text) < 19) { /* more would saturate */
        return json_integer(strtoll(text, NULL, 10));
    }
    bool number = text[strspn(text, "0123456789.eE+-")] == '\0' && *end == '\0';
    return number ? json_real(value) : json_string(text);
}

/* The line of a table, as an object of the columns that count. */
static json_t *table_row(const struct request_format *format, struct csv_reader *in,
                         struct error *why)
{
    const char *const counts[] = {format->arrival, format->prompt, format->output, "Model"};
    const char *rest = format->head, *item;
    size_t length, columns = 0;
    while (text_item(&rest, &item, &length)) {
        columns++;
    }
    json_t *object = csv_reader_split(in, columns, why) ? json_object() : NULL;
    rest = format->head;
    for (size_t i = 0; object != NULL && text_item(&rest, &item, &length); i++) {
        for (int k = 0; k < 4; k++) {
            if (strlen(counts[k]) == length && strncmp(counts[k], item, length) == 0) {
                json_object_set_new(object, counts[k], field_value(in->fields[i]));
            }
        }
    }
    return object;
}

static bool take_line(struct requests_reading *reading, struct error *why)
{
    struct csv_reader *in = &reading->in;
    json_error_t fault;
    bool table = reading->format->head != NULL;
    json_t *object = table ? table_row(reading->format, in, why)
                           : json_loads(in->text, JSON_REJECT_DUPLICATES, &fault);
    if (object == NULL) {
        return !table && error_set(why, in->path, in->line, "invalid JSON: %s", fault.text);
    }
    bool ok = take_request(reading, object, why);
    json_decref(object);
    return ok;
}

/* The first line tells the format, and of a table no more. */
static bool begin_lines(struct requests_reading *reading, struct error *why)
{
    uint32_t asked = reading->options.hash_tokens;
    const struct request_format *format = find_format(&reading->in);
    if (format == NULL) {
        error_set(why, reading->in.path, reading->in.line,
                  "unknown format: not the first line of a file of requests");
        return error_expect(why,
                            "JSON lines such as {\"timestamp\": 0, \"input_length\": 1000, "
                            "\"output_length\": 200} (ms; jq -c '.[]' makes lines of an array), "
                            "or columns between commas that the first line calls "
                            "arrived_at,num_prefill_tokens,num_decode_tokens (seconds)");
    }
    reading->format = format;
    reading->out->queued = format->queued;
    reading->line.hash_tokens = format->hash_tokens > 0 && asked > 0 ? asked : format->hash_tokens;
    return format->head != NULL || take_line(reading, why);
}

static bool take_lines(struct requests_reading *reading, struct error *why)
{
    bool more = true;
    while (more) {
        if (!take_more(reading, &more, why) ||
            (more && !csv_reader_next(&reading->in, &more, why)) ||
            (more &&
             !(reading->format == NULL ? begin_lines(reading, why) : take_line(reading, why)))) {
            return false;
        }
    }
    return reading->format != NULL ||
           error_set(why, reading->in.path, 0, "no requests: the file is empty");
}

/* ---- a file ---------------------------------------------------------------------------- */

/* The hash of the whole file, and its size. */
static bool hash_file(struct requests_reading *reading, struct error *why)
{
    char bytes[4096];
    size_t size = 1;
    while (size > 0) {
        if (!stop_flag_check(reading->options.stop, why)) {
            return false;
        }
        size = fread(bytes, 1, sizeof bytes, reading->in.file);
        reading->out->content =
            size > 0 ? XXH64(bytes, size, reading->out->content) : reading->out->content;
        reading->size += size;
    }
    bool ok = !ferror(reading->in.file) ||
              error_set(why, reading->in.path, 0, "cannot read: %s", strerror(errno));
    rewind(reading->in.file);
    return ok;
}

static bool take_file(struct requests_reading *reading, struct error *why)
{
    FILE *file = reading->in.file;
    json_t *object = NULL;
    if (!hash_file(reading, why)) {
        return false;
    }
    if (ungetc(getc(file), file) == '{' && reading->size <= MOST_BYTES) {
        object = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL);
    }
    bool one = json_object_get(object, "input_lens") != NULL;
    size_t runs = one;
    for (json_t *next = object; one && next != NULL; runs += next != NULL) { /* it is appended to */
        next = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL);
        json_decref(next);
    }
    rewind(file);
    if (runs > 1) {
        json_decref(object);
        error_set(why, reading->in.path, 0, "has %zu runs of a benchmark", runs);
        return error_expect(why, "a file with one of them");
    }
    bool ok = stop_flag_check(reading->options.stop, why) &&
              (one ? take_benchmark(reading, object, why) : take_lines(reading, why));
    json_decref(object);
    return ok && (reading->out->count > 0 ||
                  error_set(why, reading->in.path, 0, "no requests%s",
                            reading->out->skipped > 0 ? ": no line has output tokens" : ""));
}

bool requests_read(const char *path, const struct requests_options *options, struct requests *out,
                   struct error *why)
{
    *out = (struct requests){.count = 0};
    struct requests_reading reading = {.origin_s = NAN, .options = *options, .out = out};
    bool ok = csv_reader_open(&reading.in, path, why);
    if (ok) {
        ok = take_file(&reading, why);
        csv_reader_close(&reading.in);
    }
    free(reading.line.hash);
    dense_ids_close(&out->ids);
    if (!ok) {
        requests_release(out);
    }
    return ok;
}
