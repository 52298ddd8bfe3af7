#include "server/requests/requests_benchmark.h"

#include "core/array.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* The lists of the object; those that it need not have are NULL. */
struct benchmark {
    const json_t *prompts, *outputs, *starts, *errors;
    size_t count;
};

enum { MOST_BYTES = 256 << 20, MOST_VALUES = 12000000 };

/* A request by when it was sent. */
struct sent {
    double at_s; /* NAN: not kept */
    size_t place;
};

/* The list at `key`, as long as the first one. */
static bool take_list(const json_t *object, const char *key, bool needed,
                      const struct csv_reader *in, size_t count, const json_t **list,
                      struct error *why)
{
    *list = json_object_get(object, key);
    if (*list == NULL && !needed) {
        return true;
    }
    if (json_is_array(*list) && (count == 0 || json_array_size(*list) == count)) {
        return true;
    }
    error_set(why, in->path, 0, "'%s' of a benchmark is not a list with an entry for each request",
              key);
    return error_expect(why, "as 'vllm bench serve --save-detailed' and SGLang's "
                             "'bench_serving --output-details' write it");
}

static bool take_lists(const json_t *object, const struct csv_reader *in, struct benchmark *out,
                       struct error *why)
{
    if (!take_list(object, "input_lens", true, in, 0, &out->prompts, why)) {
        return false;
    }
    out->count = json_array_size(out->prompts);
    if (out->count == 0) {
        return error_set(why, in->path, 0, "no requests: 'input_lens' is empty");
    }
    return take_list(object, "output_lens", true, in, out->count, &out->outputs, why) &&
           take_list(object, "start_times", false, in, out->count, &out->starts, why) &&
           take_list(object, "errors", false, in, out->count, &out->errors, why);
}

/* The entry of a list that is a number, 0 or more; of tokens, a whole one. */
static bool take_number(const json_t *list, size_t place, const char *key, bool tokens,
                        const struct csv_reader *in, double *number, struct error *why)
{
    const json_t *entry = json_array_get(list, place);
    *number = json_number_value(entry);
    if (json_is_number(entry) && *number >= 0 && (!tokens || *number == floor(*number))) {
        return true;
    }
    error_set(why, in->path, 0, "'%s': entry %zu is no number%s, or negative", key, place + 1,
              tokens ? " of tokens" : "");
    return error_expect(why, tokens ? "a whole number, 0 or more" : "0 or more");
}

static int compare_sent(const void *a, const void *b)
{
    const struct sent *first = a, *second = b;
    int later = (first->at_s > second->at_s) - (first->at_s < second->at_s);
    return later != 0 ? later : (first->place > second->place) - (first->place < second->place);
}

/* Requests are started in order, but may be stamped in another. */
static bool sort_requests(const struct benchmark *from, const struct csv_reader *in,
                          struct sent *sent, struct error *why)
{
    for (size_t i = 0; i < from->count; i++) {
        sent[i] = (struct sent){NAN, i};
        if (from->starts != NULL &&
            !take_number(from->starts, i, "start_times", false, in, &sent[i].at_s, why)) {
            return false;
        }
    }
    qsort(sent, from->count, sizeof *sent, compare_sent);
    return true;
}

static bool has_failed(const struct benchmark *from, size_t place, double output)
{
    const char *fault = json_string_value(json_array_get(from->errors, place));
    return output == 0 || (fault != NULL && fault[0] != '\0');
}

static bool add_requests(const struct benchmark *from, const struct sent *sent,
                         const struct csv_reader *in, const struct requests_options *options,
                         struct requests *out, struct error *why)
{
    double origin_s = NAN;
    uint64_t most = options->limit > 0 ? options->limit : UINT64_MAX;
    for (size_t i = 0; i < from->count && out->count < most; i++) {
        double prompt, output;
        if (!requests_have_room(out, options->stop, in, why)) {
            return false;
        }
        size_t place = sent[i].place;
        if (!take_number(from->prompts, place, "input_lens", true, in, &prompt, why) ||
            !take_number(from->outputs, place, "output_lens", true, in, &output, why)) {
            return false;
        }
        struct request_line line = {.arrival_s = sent[i].at_s};
        line.prompt = (uint64_t)fmin(prompt, 2.0 * REQUEST_MOST_TOKENS);
        line.output = (uint64_t)fmin(output, 2.0 * REQUEST_MOST_TOKENS);
        if (has_failed(from, place, output)) {
            out->skipped++;
        } else if (!requests_add(out, &line, &origin_s, in, why)) {
            return false;
        }
    }
    return out->count > 0 || error_set(why, in->path, 0, "no requests: all have failed");
}

static bool take_benchmark(const json_t *object, const struct csv_reader *in,
                           const struct requests_options *options, struct requests *out,
                           struct error *why)
{
    struct benchmark from = {.count = 0};
    if (!take_lists(object, in, &from, why)) {
        return false;
    }
    struct sent *sent = array_zeroed(from.count, sizeof *sent, why);
    bool ok = sent != NULL && sort_requests(&from, in, sent, why) &&
              add_requests(&from, sent, in, options, out, why);
    free(sent);
    return ok;
}

/* An object is in memory as a whole: 50 bytes for each value, of which there are as many as commas, and
 * texts. */
struct benchmark_bytes {
    FILE *file;
    const struct stop_flag *stop;
    uint64_t left, values_left;
};

/* What jansson reads next; 0 at the end, or once too much was read. */
static size_t next_bytes(void *buffer, size_t size, void *context)
{
    struct benchmark_bytes *bytes = context;
    struct error unseen;
    size_t count = stop_flag_check(bytes->stop, &unseen) ? fread(buffer, 1, size, bytes->file) : 0;
    for (size_t i = 0; i < count && bytes->values_left > 0; i++) {
        bytes->values_left -= ((const char *)buffer)[i] == ',';
    }
    bytes->left -= count < bytes->left ? count : bytes->left;
    return bytes->left > 0 && bytes->values_left > 0 ? count : 0;
}

bool requests_benchmark_read(struct csv_reader *in, const struct requests_options *options,
                             struct requests *out, bool *taken, struct error *why)
{
    struct benchmark_bytes bytes = {in->file, options->stop, MOST_BYTES, MOST_VALUES};
    int first = getc(in->file);
    json_t *object = NULL;
    if (ungetc(first, in->file) == '{') {
        object = json_load_callback(next_bytes, &bytes, JSON_DISABLE_EOF_CHECK, NULL);
    }
    *taken = json_object_get(object, "input_lens") != NULL;
    bool ok = stop_flag_check(options->stop, why);
    if (ok && object == NULL && (bytes.left == 0 || bytes.values_left == 0)) {
        ok = error_set(why, in->path, 0, "an object of more than %u MiB, or of more than %u values",
                       MOST_BYTES >> 20, MOST_VALUES);
        error_expect(why,
                     "a benchmark without times of tokens: jq -c 'del(.itls, .generated_texts)'");
    }
    ok = ok && (!*taken || take_benchmark(object, in, options, out, why));
    json_decref(object);
    rewind(in->file);
    return ok;
}
