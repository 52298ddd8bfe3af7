/* Reads, or generates, frames of an open trace in the caller's frame. Threads share nothing. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/array.h"
#include "core/parallel.h"
#include "core/stop_flag.h"
#include "core/text.h"
#include "trace/format/format.h"

/* Read exactly `size` bytes at `offset` of a file. */
static bool trace_read_at(const struct trace *trace, void *into, size_t size, uint64_t offset,
                          struct error *why)
{
    uint8_t *at = into;
    while (size > 0) {
        ssize_t got = pread(trace->fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return error_set(why, trace->path, 0, "cannot read at byte %" PRIu64 ": %s", offset,
                             got < 0 ? strerror(errno) : "the file became shorter");
        }
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

const struct trace_header *trace_header(const struct trace *trace)
{
    return &trace->shown;
}

const char *trace_path(const struct trace *trace)
{
    return trace->path;
}

uint64_t trace_bytes(const struct trace *trace)
{
    return trace->size;
}

void trace_stop_when(struct trace *trace, const struct stop_flag *stop)
{
    trace->stop = stop;
}

const struct stop_flag *trace_stop(const struct trace *trace)
{
    return trace->stop;
}

bool trace_hash(const struct trace *trace, uint64_t *hash, struct error *why)
{
    XXH64_state_t state;
    if (trace->generator != NULL) {
        *hash = generator_hash(trace->generator);
        return true;
    }
    XXH64_reset(&state, 0);
    XXH64_update(&state, trace->header_text, trace->header_bytes);
    if (trace->chosen != NULL) {
        XXH64_update(&state, trace->chosen, trace->shown.layers * sizeof *trace->chosen);
    }
    for (uint64_t i = 0; i < trace->frames; i++) {
        uint8_t checksum[HASH_BYTES];
        if (!trace_read_at(trace, checksum, sizeof checksum, trace->offsets[i] + FRAME_HASH_AT,
                           why)) {
            return false;
        }
        XXH64_update(&state, checksum, sizeof checksum);
    }
    *hash = XXH64_digest(&state);
    return true;
}

/* Read a frame of the file, whose place is set. */
static bool read_stored(const struct trace *trace, uint64_t number, struct trace_frame *frame,
                        struct error *why)
{
    const struct trace_header *header = &trace->header;
    uint64_t offset = trace->offsets[number], end = trace->offsets[number + 1];
    if (!stop_flag_check(trace->stop, why)) {
        return false;
    }
    if (end < offset || end - offset < FRAME_HEADER || end - offset > FRAME_HEADER + PAYLOAD_MOST) {
        error_set(why, NULL, 0, "the index gives it %" PRIu64 " bytes", end - offset);
        return frame_blame(frame, trace->path, offset, why);
    }
    if (!array_reserve(&frame->stored, &frame->stored_capacity, (size_t)(end - offset), 1, why) ||
        !trace_read_at(trace, frame->stored, (size_t)(end - offset), offset, why)) {
        return false;
    }
    return (frame_unstore(header, frame, (size_t)(end - offset), why) &&
            trace_frame_check(header, frame, why)) ||
           frame_blame(frame, trace->path, offset, why);
}

bool trace_read_frame(const struct trace *trace, uint32_t sequence, uint32_t tile, uint32_t layer,
                      bool with_rows, struct trace_frame *frame, struct error *why)
{
    const struct trace_header *header = &trace->header;
    if (sequence >= header->sequences || tile >= trace_tiles(header) ||
        layer >= trace->shown.layers) {
        return error_set(why, trace->path, 0, "there is no tile %u, layer %u, sequence %u", tile,
                         layer, sequence);
    }
    uint32_t stored = trace->chosen != NULL ? trace->chosen[layer] : layer;
    uint64_t number = ((uint64_t)sequence * trace_tiles(header) + tile) * header->layers + stored;
    frame_place(header, number, frame);
    bool ok = trace->generator != NULL
                  ? generator_read(trace->generator, header, with_rows, trace->stop, frame, why)
                  : read_stored(trace, number, frame, why);
    frame->layer = layer;
    return ok;
}

bool trace_read(const struct trace *trace, uint32_t sequence, uint32_t tile, uint32_t layer,
                struct trace_frame *frame, struct error *why)
{
    return trace_read_frame(trace, sequence, tile, layer, true, frame, why);
}

/* Layers are verified in parallel; sums of integers do not depend on the order. */

struct verification {
    const struct trace *trace;
    atomic_uint_least64_t frames, rows, units;
};

static bool verify_layer(uint32_t layer, uint32_t thread, void *context, struct error *why)
{
    struct verification *all = context;
    const struct trace_header *header = trace_header(all->trace);
    struct trace_frame frame = {0};
    bool good = true;
    (void)thread;
    for (uint64_t i = 0; good && i < (uint64_t)header->sequences * trace_tiles(header); i++) {
        uint32_t sequence = (uint32_t)(i / trace_tiles(header));
        good = trace_read(all->trace, sequence, (uint32_t)(i % trace_tiles(header)), layer, &frame,
                          why);
        if (good) {
            uint32_t rows = header->kv_heads * frame.steps;
            all->frames++;
            all->rows += rows;
            all->units += frame.rows.start[rows];
        }
    }
    trace_frame_release(&frame);
    return good;
}

bool trace_verify(const struct trace *trace, uint32_t threads, struct trace_summary *summary,
                  struct error *why)
{
    struct verification all = {.trace = trace};
    bool good = parallel_for(trace_header(trace)->layers, threads, verify_layer, &all, why);
    *summary = (struct trace_summary){trace_bytes(trace), all.frames, all.rows, all.units};
    return good;
}

/* Opening a trace checks both ends of the file and the order of the index; each frame is checked
 * when it is read (reader.c). Together the two checks cover every byte of the file.
 *
 *   header | frame | frame | ... | index | hash, index offset, magic
 *
 * Header and index are kept: eight bytes a frame. */

static bool blame_cut(const struct trace *trace, struct error *why)
{
    error_set(why, trace->path, 0, "no footer at the end of the file, byte %" PRIu64, trace->size);
    return error_expect(why, "a whole trace: this one was cut, or never finished");
}

static bool read_header(struct trace *trace, struct error *why)
{
    uint8_t fixed[HEADER_FIXED];
    const char *path = trace->path;
    size_t size = trace->size < HEADER_FIXED ? (size_t)trace->size : HEADER_FIXED;
    if (!trace_read_at(trace, fixed, size, 0, why)) {
        return false;
    }
    if (memcmp(fixed, trace_magic, size < TRACE_MAGIC ? size : TRACE_MAGIC) != 0) {
        return error_set(why, path, 0, "header, byte 0: not a decode trace");
    }
    if (size < HEADER_FIXED) {
        return error_set(why, path, 0, "header: the file ends at byte %" PRIu64, trace->size);
    }
    if (load_u32(fixed + 8) != TRACE_VERSION) {
        error_set(why, path, 0, "header, byte 8: version %u", load_u32(fixed + 8));
        return error_expect(why, "%d", TRACE_VERSION);
    }
    uint32_t source_bytes = load_u32(fixed + HEADER_FIXED - 4);
    trace->header_bytes = load_u32(fixed + 12);
    if (source_bytes > SOURCE_MOST ||
        trace->header_bytes != HEADER_FIXED + source_bytes + HASH_BYTES) {
        return error_set(why, path, 0, "header, byte 12: the header has %u bytes, its source %u",
                         trace->header_bytes, source_bytes);
    }
    if (trace->size < trace->header_bytes) {
        return error_set(why, path, 0, "header: the file ends at byte %" PRIu64, trace->size);
    }
    trace->header_text = array_zeroed(trace->header_bytes, 1, why);
    if (trace->header_text == NULL ||
        !trace_read_at(trace, trace->header_text, trace->header_bytes, 0, why)) {
        return false;
    }
    uint32_t hashed = trace->header_bytes - HASH_BYTES;
    if (XXH64(trace->header_text, hashed, 0) != load_u64(trace->header_text + hashed)) {
        return error_set(why, path, 0, "header, byte %u: the checksum does not match", hashed);
    }
    uint32_t fields[HEADER_FIELDS];
    memcpy(fields, trace->header_text + HEADER_FIELDS_AT, sizeof fields);
    const char *source = (const char *)trace->header_text + HEADER_FIXED;
    if (!header_unpack(fields, path, &trace->header, why) ||
        !header_check_source(source, source_bytes, path, why) ||
        (trace->header.source = array_zeroed(source_bytes + 1, 1, why)) == NULL) {
        return false;
    }
    memcpy(trace->header.source, source, source_bytes);
    trace->frames = trace_frames(&trace->header);
    return true;
}

/* The footer and the number of frames must agree on where the index is. */
static bool read_footer(struct trace *trace, struct error *why)
{
    uint8_t footer[FOOTER];
    uint64_t left = trace->size - trace->header_bytes;
    if (left < FOOTER) {
        return blame_cut(trace, why);
    }
    if (!trace_read_at(trace, footer, sizeof footer, trace->size - FOOTER, why)) {
        return false;
    }
    if (memcmp(footer + FOOTER - TRACE_MAGIC, trace_end_magic, TRACE_MAGIC) != 0) {
        return blame_cut(trace, why);
    }
    if (trace->frames > (left - FOOTER) / INDEX_ENTRY) {
        return error_set(why, trace->path, 0,
                         "header: the file is too short for its %" PRIu64 " frames", trace->frames);
    }
    trace->index_hash = load_u64(footer);
    trace->index = load_u64(footer + 8);
    if (trace->index != trace->size - FOOTER - trace->frames * INDEX_ENTRY) {
        return error_set(why, trace->path, 0,
                         "footer, byte %" PRIu64 ": %" PRIu64 " frames have no index at %" PRIu64,
                         trace->size - FOOTER + 8, trace->frames, trace->index);
    }
    return true;
}

/* Read the index: the offset of each frame, and behind the last one where the frames end. */
static bool read_index(struct trace *trace, struct error *why)
{
    size_t frames = (size_t)trace->frames;
    uint64_t *offsets = array_zeroed(frames + 1, sizeof *offsets, why);
    trace->offsets = offsets;
    if (offsets == NULL ||
        !trace_read_at(trace, offsets, frames * sizeof *offsets, trace->index, why)) {
        return false;
    }
    uint64_t hash = XXH64(offsets, frames * sizeof *offsets, 0), least = trace->header_bytes;
    for (size_t i = 0; i < frames; i++) {
        bool in_order = i == 0 ? offsets[i] == least : offsets[i] >= least;
        if (!in_order || offsets[i] > trace->index || trace->index - offsets[i] < FRAME_HEADER) {
            return error_set(why, trace->path, 0,
                             "index, byte %" PRIu64 ": frame %zu cannot be at %" PRIu64,
                             trace->index + i * sizeof *offsets, i, offsets[i]);
        }
        least = offsets[i] + FRAME_HEADER;
    }
    offsets[frames] = trace->index;
    return hash == trace->index_hash ||
           error_set(why, trace->path, 0, "index, byte %" PRIu64 ": the checksum does not match",
                     trace->index);
}

/* Only regular files: a pipe has no positions, and opening one must not hang. */
static bool trace_open_file(struct trace *trace, struct error *why)
{
    struct stat status;
    trace->fd = open(trace->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (trace->fd < 0 || fstat(trace->fd, &status) != 0) {
        return error_set(why, trace->path, 0, "cannot be opened: %s", strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return error_set(why, trace->path, 0, "not a regular file");
    }
    trace->size = (uint64_t)status.st_size;
    return true;
}

struct trace *trace_begin(const char *name, struct error *why)
{
    struct trace *trace = array_zeroed(1, sizeof *trace, why);
    if (trace != NULL) {
        trace->fd = -1;
        atomic_init(&trace->holders, 1);
        trace->path = text_duplicate(name, why);
    }
    if (trace != NULL && trace->path == NULL) {
        trace_close(trace);
        return NULL;
    }
    return trace;
}

struct trace *trace_open(const char *path, struct error *why)
{
    struct trace *trace = trace_begin(path, why);
    if (trace != NULL &&
        (!trace_open_file(trace, why) || !read_header(trace, why) ||
         !trace_layers_init(trace, why) || !read_footer(trace, why) || !read_index(trace, why))) {
        trace_close(trace);
        return NULL;
    }
    return trace;
}

struct trace *trace_hold(struct trace *trace)
{
    if (trace != NULL) {
        atomic_fetch_add(&trace->holders, 1);
    }
    return trace;
}

uint32_t trace_holders(const struct trace *trace)
{
    return atomic_load(&trace->holders);
}

void trace_close(struct trace *trace)
{
    if (trace == NULL || atomic_fetch_sub(&trace->holders, 1) > 1) {
        return;
    }
    if (trace->fd >= 0) {
        close(trace->fd);
    }
    generator_destroy(trace->generator);
    free(trace->offsets);
    free(trace->chosen);
    free(trace->numbers);
    free(trace->header.source);
    free(trace->header_text);
    free(trace->path);
    free(trace);
}

/* Which layers of a trace are read; a recording of some lists their numbers in the model in its source. */

bool trace_layers_init(struct trace *trace, struct error *why)
{
    uint32_t layers = trace->header.layers;
    json_t *source = json_loads(trace->header.source, 0, NULL);
    const json_t *list = json_object_get(source, "layers");
    /* The list counts if it has an ascending number for each layer of the file. */
    json_int_t last = -1;
    bool listed = json_array_size(list) == layers;
    for (uint32_t i = 0; listed && i < layers; i++) {
        json_int_t number = json_integer_value(json_array_get(list, i));
        listed = json_is_integer(json_array_get(list, i)) && number > last && number < UINT32_MAX;
        last = number;
    }
    trace->shown = trace->header;
    if (listed && (trace->numbers = array_zeroed(layers, sizeof *trace->numbers, why)) != NULL) {
        for (uint32_t i = 0; i < layers; i++) {
            trace->numbers[i] = (uint32_t)json_integer_value(json_array_get(list, i));
        }
    }
    json_decref(source);
    return !listed || trace->numbers != NULL;
}

uint32_t trace_model_layer(const struct trace *trace, uint32_t layer)
{
    uint32_t stored = trace->chosen != NULL ? trace->chosen[layer] : layer;
    return trace->numbers != NULL ? trace->numbers[stored] : stored;
}

bool trace_find_layer(const struct trace *trace, uint32_t number, uint32_t *layer)
{
    for (uint32_t i = 0; i < trace->shown.layers; i++) {
        if (trace_model_layer(trace, i) == number) {
            *layer = i;
            return true;
        }
    }
    return false;
}

bool trace_choose_layers(struct trace *trace, const uint32_t *layers, uint32_t count,
                         struct error *why)
{
    uint32_t *chosen = array_zeroed(count, sizeof *chosen, why);
    if (chosen == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        assert(layers[i] < trace->shown.layers);
        chosen[i] = trace->chosen != NULL ? trace->chosen[layers[i]] : layers[i];
    }
    free(trace->chosen);
    trace->chosen = chosen;
    trace->shown.layers = count;
    return true;
}
