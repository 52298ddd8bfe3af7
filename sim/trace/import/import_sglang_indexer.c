/* The top-k indices of an indexer, as SGLang returns them (indexer_responses.h): a folder with a
 * trace for each request.
 *
 * A request is a trace of its own because every trace has one length of prefix and one number of
 * steps, and requests differ in both. A step is a token that was generated from others, a layer has
 * one head, an index names a unit.
 *
 * The file is read three times: for the shapes, for the faults in the indices, and to write. */
#include "trace/import/base64.h"
#include "trace/import/import_sink.h"
#include "trace/import/indexer_responses.h"
#include "trace/import/json_objects.h"

#include "base/array.h"
#include "trace/format/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MOST = 4096, ITEM = sizeof(int32_t) };

/* One of the two readings of the indices. */
struct walk {
    const struct import_format *format;
    const char *path, *out_path;
    const struct import_options *options;
    struct indexer_responses *responses;
    struct import_report *report;
    bool is_second;
    uint32_t next;                  /* response to come */
    uint32_t written;               /* responses whose traces are whole */
    struct indexer_response *taken; /* the one that is read; NULL: it is not imported */
    struct import_options shaped;   /* the user's options with its context */
    struct import_sink sink;
    struct base64 base64;
    uint8_t item[ITEM]; /* an index, of which `got` bytes have come */
    size_t got;
    uint64_t place;      /* of the index in the response's array */
    bool has_wrong_slot; /* that was said once */
};

static void name_trace(const struct walk *walk, uint32_t request, char path[PATH_MOST])
{
    snprintf(path, PATH_MOST, "%s/request-%04" PRIu32 ".swt", walk->out_path, request);
}

/* ---- indices -------------------------------------------------------------------------- */

/* Begin the step and the row in which the next index stands. */
static bool begin_row(struct walk *walk, uint32_t layer, struct error *why)
{
    if (walk->place % walk->taken->k != 0) {
        return true;
    }
    if (layer == 0 && !import_next_step(&walk->sink, why)) {
        return false;
    }
    import_expect_row(&walk->sink, layer, 0, walk->taken->line);
    return true;
}

static void complain_of_slot(struct walk *walk, uint32_t token, uint32_t layer, int32_t index)
{
    struct error fault;
    if (walk->has_wrong_slot) {
        return;
    }
    walk->has_wrong_slot = true;
    error_set(&fault, walk->path, walk->taken->line,
              "token %" PRIu32 ", layer %" PRIu32 ": index %" PRId32 " is beyond this token", token,
              layer, index);
    error_expect(&fault, "positions in the sequence, which SGLang returns with "
                         "SGLANG_DSA_FUSE_TOPK=0; else it returns slots of its KV pool");
    complaints_add(&walk->report->complaints, &fault);
}

static bool take_index(struct walk *walk, int32_t index, struct error *why)
{
    const struct indexer_response *taken = walk->taken;
    uint64_t row = walk->place / taken->k;
    uint32_t token = (uint32_t)(row / taken->layers), layer = (uint32_t)(row % taken->layers);
    uint32_t size = walk->shaped.unit_tokens > 0 ? walk->shaped.unit_tokens : 1;
    if (token < taken->context) { /* an index that came in two pieces */
        walk->place++;
        return true;
    }
    if (!begin_row(walk, layer, why)) {
        return false;
    }
    walk->place++;
    if (index < -1) {
        import_complain(&walk->sink, taken->line,
                        "token %" PRIu32 ", layer %" PRIu32 ": index %" PRId32, token, layer,
                        index);
        return true;
    }
    if (index > (int64_t)(token / size)) {
        complain_of_slot(walk, token, layer, index);
        return true;
    }
    const struct import_item item = {
        .layer = layer, .unit = (uint32_t)index, .mass = NAN, .line = taken->line};
    return index == -1 || import_unit(&walk->sink, &item, why);
}

/* Of `size` bytes at the start of an index, those of rows before the first step. */
static size_t skip_prompt(struct walk *walk, size_t size)
{
    uint64_t end = (uint64_t)walk->taken->context * walk->taken->layers * walk->taken->k;
    uint64_t left = walk->place < end ? end - walk->place : 0;
    size_t items = left < size / ITEM ? (size_t)left : size / ITEM;
    walk->place += items;
    return items * ITEM;
}

static bool take_bytes(struct walk *walk, const uint8_t *bytes, size_t size, struct error *why)
{
    for (size_t i = 0; i < size; i++) {
        if (walk->got == 0 && (i += skip_prompt(walk, size - i)) == size) {
            break;
        }
        walk->item[walk->got++] = bytes[i];
        if (walk->got == ITEM) {
            walk->got = 0;
            if (!take_index(walk, (int32_t)load_u32(walk->item), why)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- one response --------------------------------------------------------------------- */

/* The second reading knows what the first one found. */
static bool begin_trace(struct walk *walk, struct error *why)
{
    const struct indexer_response *taken = walk->taken;
    char path[PATH_MOST];
    walk->sink.steps = taken->tokens - taken->context;
    walk->sink.units = taken->units;
    walk->sink.keep = taken->k; /* of which some were born: a row has fewer units of the prefix */
    for (uint32_t layer = 0; layer < taken->layers; layer++) {
        import_expect_row(&walk->sink, layer, 0, taken->line);
    }
    name_trace(walk, taken->request, path);
    return import_sink_rewind(&walk->sink, path, why);
}

static bool begin_response(void *state, uint64_t number, struct error *why)
{
    struct walk *walk = state;
    struct indexer_responses *responses = walk->responses;
    walk->taken = NULL;
    if (walk->next == responses->count || responses->items[walk->next].number != number) {
        return true;
    }
    walk->taken = &responses->items[walk->next++];
    walk->base64 = (struct base64){.count = 0};
    walk->got = 0;
    walk->place = 0;
    walk->has_wrong_slot = false;
    walk->shaped = *walk->options;
    walk->shaped.context = walk->taken->context;
    if (!import_sink_init(&walk->sink, walk->format, walk->path, &walk->shaped,
                          &walk->report->complaints, why)) {
        walk->taken = NULL;
        return false;
    }
    walk->sink.request = walk->taken->request;
    return !walk->is_second || begin_trace(walk, why);
}

static bool take_piece(void *state, const char *at, size_t size, struct error *why)
{
    struct walk *walk = state;
    uint8_t bytes[IMPORT_BLOCK];
    size_t got;
    if (walk->taken == NULL) {
        return true;
    }
    if (!base64_decode(&walk->base64, at, size, bytes, &got)) {
        return error_set(why, walk->path, walk->taken->line,
                         "'" INDEXER_KEY "' holds a character that is not of base64");
    }
    return take_bytes(walk, bytes, got, why);
}

static bool end_response(void *state, struct error *why)
{
    struct walk *walk = state;
    struct indexer_response *taken = walk->taken;
    if (taken == NULL) {
        return true;
    }
    if (!base64_ends(&walk->base64) || walk->got > 0 ||
        walk->place != (uint64_t)taken->tokens * taken->layers * taken->k) {
        return error_set(why, walk->path, taken->line, "'" INDEXER_KEY "' ends within an index");
    }
    bool ok = walk->is_second ? import_sink_finish(&walk->sink, why)
                              : import_sink_survey(&walk->sink, why);
    taken->units = walk->sink.units;
    walk->written += walk->is_second && ok;
    import_sink_release(&walk->sink);
    walk->taken = NULL;
    return ok;
}

/* ---- the file ------------------------------------------------------------------------- */

static bool read_indices(struct walk *walk, struct error *why)
{
    const struct json_long taker = {
        .state = walk, .begin = begin_response, .piece = take_piece, .end = end_response};
    struct json_objects *objects = array_zeroed(1, sizeof *objects, why);
    bool more = true, ok = true;
    walk->next = 0;
    walk->taken = NULL;
    if (objects == NULL || !json_objects_open(objects, walk->path, INDEXER_KEY, &taker, why)) {
        free(objects);
        return false;
    }
    while (ok && more) {
        ok = json_objects_next(objects, &more, why);
    }
    if (walk->taken != NULL) {
        import_sink_release(&walk->sink);
    }
    json_objects_close(objects);
    free(objects);
    return ok && (walk->next == walk->responses->count ||
                  error_set(why, walk->path, 0, "the file changed while it was read"));
}

static bool write_traces(struct walk *walk, struct error *why)
{
    bool is_new = mkdir(walk->out_path, 0777) == 0;
    if (!is_new && errno != EEXIST) {
        return error_set(why, walk->out_path, 0, "cannot make the folder: %s", strerror(errno));
    }
    walk->is_second = true;
    if (read_indices(walk, why)) {
        walk->report->traces = walk->responses->count;
        return true;
    }
    for (uint32_t i = 0; i < walk->written; i++) { /* other files there are an earlier import's */
        char path[PATH_MOST];
        name_trace(walk, walk->responses->items[i].request, path);
        unlink(path);
    }
    if (is_new) {
        rmdir(walk->out_path);
    }
    return false;
}

static bool check_found(const struct walk *walk, struct error *why)
{
    const struct import_report *report = walk->report;
    if (report->complaints.count > 0) {
        return complaints_fail(&report->complaints, walk->path, why);
    }
    if (walk->responses->count > 0) {
        return true;
    }
    error_set(why, walk->path, 0, "none of %" PRIu32 " responses has a step", report->skipped);
    return error_expect(why, "at least two generated tokens, or a smaller --context");
}

static bool import_responses(const struct import_format *format, const char *path,
                             const char *out_path, const struct import_options *options,
                             struct import_report *report, struct error *why)
{
    struct indexer_responses responses = {.items = NULL};
    struct walk *walk = array_zeroed(1, sizeof *walk, why);
    if (walk == NULL) {
        return false;
    }
    *walk = (struct walk){.format = format,
                          .path = path,
                          .out_path = out_path,
                          .options = options,
                          .responses = &responses,
                          .report = report};
    bool ok = strlen(out_path) + 32 <= PATH_MOST || error_set(why, out_path, 0, "too long a name");
    ok = ok && import_can_read_twice(path, why) &&
         indexer_responses_read(path, options, &responses, report, why) &&
         read_indices(walk, why) && check_found(walk, why) && write_traces(walk, why);
    indexer_responses_release(&responses);
    free(walk);
    return ok;
}

const struct import_format import_sglang_indexer = {
    .name = "sglang-indexer",
    .summary = "responses of an SGLang server with its indexer's top-k, to a folder of traces",
    .reads = IMPORT_CONTEXT | IMPORT_UNIT_TOKENS | IMPORT_SHARE | IMPORT_LAYERS,
    .has_folder = true,
    .whole = import_responses,
};
