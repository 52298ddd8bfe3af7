/* A first reading that passes over the indices and keeps their shapes. */
#include "trace/import/indexer_responses.h"

#include "base/array.h"
#include "trace/import/base64.h"
#include "trace/import/import_sink.h"
#include "trace/import/json_objects.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

/* One reading. */
struct reading {
    const struct import_options *options;
    struct indexer_responses *responses;
    struct import_report *report;
    const struct json_objects *objects;
    uint32_t requests; /* so far */
};

/* A fault of the object at hand; reading goes on. */
static bool complain(const struct reading *reading, struct error *fault)
{
    complaints_add(&reading->report->complaints, fault);
    return true;
}

static bool blame(const struct reading *reading, struct error *fault, const char *found)
{
    return error_set(fault, reading->objects->path, reading->objects->first_line, "%s", found);
}

/* ---- one answer ----------------------------------------------------------------------- */

static bool read_count(const struct reading *reading, const json_t *meta, const char *key,
                       int64_t least, int64_t *count, struct error *fault)
{
    const json_t *value = json_object_get(meta, key);
    *count = json_integer_value(value);
    if (!json_is_integer(value) || *count < least || *count > INT32_MAX) {
        error_set(fault, reading->objects->path, reading->objects->first_line,
                  "'%s' is missing or not a whole number from %" PRId64 " on", key, least);
        return error_expect(fault, "a response as the server sent it");
    }
    return true;
}

/* The layers as the response or the user states them. */
static bool read_layers(const struct reading *reading, const json_t *meta,
                        struct indexer_response *response, struct error *fault)
{
    static const char key[] = INDEXER_KEY "_num_layers";
    int64_t layers = reading->options->layers;
    if (json_object_get(meta, key) != NULL && !read_count(reading, meta, key, 1, &layers, fault)) {
        return false;
    }
    uint32_t stated = reading->options->layers;
    if (layers > IMPORT_LAYERS_MOST || (stated > 0 && layers != stated)) {
        error_set(fault, reading->objects->path, reading->objects->first_line, "'%s' is %" PRId64,
                  key, layers);
        return error_expect(fault, "%" PRIu32 "%s", stated > 0 ? stated : IMPORT_LAYERS_MOST,
                            stated > 0 ? ", as --layers says" : " at most");
    }
    response->layers = (uint32_t)layers;
    return true;
}

/* Find k: the characters must be those of whole rows. */
static bool read_shape(const struct reading *reading, uint64_t characters,
                       struct indexer_response *response, struct error *fault)
{
    uint64_t items = characters / 4 * 3 / sizeof(int32_t);
    uint64_t rows = (uint64_t)response->tokens * response->layers;
    uint64_t k = rows > 0 ? items / rows : 0;
    if (k == 0 || k > UINT32_MAX || base64_size(rows * k * sizeof(int32_t)) != characters) {
        error_set(fault, reading->objects->path, reading->objects->first_line,
                  "'" INDEXER_KEY "' has %" PRIu64 " indices, which are not those of %" PRIu32
                  " tokens in %" PRIu32 " layers",
                  items, response->tokens, response->layers);
        return error_expect(fault, "as many for each token and layer; --layers is the model's");
    }
    response->k = (uint32_t)k;
    return true;
}

/* Read one `meta_info`. */
static bool read_meta(const struct reading *reading, const json_t *meta,
                      struct indexer_response *response, struct error *fault)
{
    int64_t prompt, completion;
    uint64_t characters;
    const char *mark = json_string_value(json_object_get(meta, INDEXER_KEY));
    if (mark == NULL || sscanf(mark, "%" SCNu64 ":%" SCNu64, &response->number, &characters) != 2) {
        blame(reading, fault, "the response has no '" INDEXER_KEY "'");
        return error_expect(fault, "a server with --enable-return-indexer-topk, and "
                                   "\"return_indexer_topk\": true in the request");
    }
    if (!read_count(reading, meta, "prompt_tokens", 1, &prompt, fault) ||
        !read_count(reading, meta, "completion_tokens", 0, &completion, fault) ||
        !read_layers(reading, meta, response, fault)) {
        return false;
    }
    uint32_t context = reading->options->context;
    response->tokens = (uint32_t)(prompt + completion - 1);
    response->context = context > 0 ? context : (uint32_t)prompt;
    return response->tokens == 0 || read_shape(reading, characters, response, fault);
}

static bool add_answer(struct reading *reading, const json_t *meta, struct error *why)
{
    struct indexer_responses *responses = reading->responses;
    struct error fault;
    struct indexer_response response = {.request = ++reading->requests,
                                        .line = reading->objects->first_line};
    if (reading->options->layers == 0 && json_object_get(meta, INDEXER_KEY "_num_layers") == NULL) {
        error_usage(why, reading->objects->path, response.line,
                    "the response does not say how many layers '" INDEXER_KEY "' has");
        return error_expect(why, "--layers N, such as 61 for DeepSeek-V3.2, 78 for GLM-5");
    }
    if (!read_meta(reading, meta, &response, &fault)) {
        return complain(reading, &fault);
    }
    if (response.tokens <= response.context) {
        reading->report->skipped++;
        return true;
    }
    if (!array_reserve(&responses->items, &responses->capacity, (size_t)responses->count + 1,
                       sizeof response, why)) {
        return false;
    }
    responses->items[responses->count++] = response;
    return true;
}

/* ---- all answers ---------------------------------------------------------------------- */

/* What a server says instead of answering. */
static bool refused(const struct reading *reading, const json_t *object)
{
    struct error fault;
    const json_t *said = json_object_get(object, "error");
    const char *text =
        json_string_value(json_object_get(json_is_object(said) ? said : object, "message"));
    blame(reading, &fault, "the response has no 'meta_info'");
    if (text != NULL) {
        error_set(&fault, reading->objects->path, reading->objects->first_line,
                  "the server refused: %s", text);
    }
    error_expect(&fault, "a response of /generate, or of chat completions with "
                         "\"return_meta_info\": true");
    return complain(reading, &fault);
}

static bool add_object(struct reading *reading, const json_t *object, struct error *why)
{
    const json_t *meta = json_object_get(object, "meta_info");
    const json_t *choices = json_object_get(object, "choices");
    bool has_any = json_is_object(meta);
    if (has_any && !add_answer(reading, meta, why)) {
        return false;
    }
    for (size_t i = 0; !json_is_object(meta) && i < json_array_size(choices); i++) {
        const json_t *inner = json_object_get(json_array_get(choices, i), "meta_info");
        has_any |= json_is_object(inner);
        if (json_is_object(inner) && !add_answer(reading, inner, why)) {
            return false;
        }
    }
    return has_any || refused(reading, object);
}

static bool parse(struct reading *reading, struct error *why)
{
    const struct json_objects *objects = reading->objects;
    json_error_t refusal;
    struct error fault;
    json_t *object = json_loadb(objects->text, objects->size, JSON_REJECT_DUPLICATES, &refusal);
    if (object == NULL) {
        error_set(&fault, objects->path, objects->first_line, "not JSON: %s", refusal.text);
        return complain(reading, &fault);
    }
    bool ok = add_object(reading, object, why);
    json_decref(object);
    return ok;
}

bool indexer_responses_read(const char *path, const struct import_options *options,
                            struct indexer_responses *responses, struct import_report *report,
                            struct error *why)
{
    bool more = true;
    struct json_objects *objects = array_zeroed(1, sizeof *objects, why);
    struct reading reading = {
        .options = options, .responses = responses, .report = report, .objects = objects};
    *responses = (struct indexer_responses){.items = NULL};
    if (objects == NULL || !json_objects_open(objects, path, INDEXER_KEY, NULL, why)) {
        free(objects);
        return false;
    }
    bool ok = true;
    while (ok && more) {
        ok = json_objects_next(objects, &more, why) && (!more || parse(&reading, why));
    }
    json_objects_close(objects);
    free(objects);
    return ok;
}

void indexer_responses_release(struct indexer_responses *responses)
{
    free(responses->items);
}
