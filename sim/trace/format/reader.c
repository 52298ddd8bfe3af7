/* Reads frames of an open trace: positioned reads into the caller's frame (or a frame generated
 * there). Threads share nothing but the frames that a generated trace remembers (memo.h). */
#include "trace/format/file.h"

#include "core/array.h"
#include "core/stop_flag.h"
#include "trace/format/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { INDEX_CHUNK = 512 };

bool trace_read_at(const struct trace *trace, void *into, size_t size, uint64_t offset,
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

bool trace_walk_index(const struct trace *trace, index_visit each, void *context, struct error *why)
{
    uint8_t entries[INDEX_CHUNK * INDEX_ENTRY];
    for (uint64_t first = 0; first < trace->frames; first += INDEX_CHUNK) {
        uint64_t left = trace->frames - first;
        size_t count = left < INDEX_CHUNK ? (size_t)left : INDEX_CHUNK;
        if (!trace_read_at(trace, entries, count * INDEX_ENTRY, trace->index + first * INDEX_ENTRY,
                           why) ||
            !each(trace, entries, first, count, context, why)) {
            return false;
        }
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

void trace_remember(struct trace *trace, struct trace_room *left)
{
    struct error unseen; /* without room for it nothing is kept */
    if (trace->generator != NULL && trace->memo == NULL) {
        trace->memo = memo_create(trace->frames, left, &unseen);
    }
}

/* Feed the checksum field of each frame to the hash state `context`. */
static bool hash_entries(const struct trace *trace, const uint8_t *entries, uint64_t first,
                         size_t count, void *context, struct error *why)
{
    (void)first;
    for (size_t i = 0; i < count; i++) {
        uint8_t checksum[HASH_BYTES];
        uint64_t offset = load_u64(entries + i * INDEX_ENTRY);
        if (!trace_read_at(trace, checksum, sizeof checksum, offset + FRAME_HEADER - HASH_BYTES,
                           why)) {
            return false;
        }
        XXH64_update(context, checksum, sizeof checksum);
    }
    return true;
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
    if (!trace_walk_index(trace, hash_entries, &state, why)) {
        return false;
    }
    *hash = XXH64_digest(&state);
    return true;
}

bool trace_stream(const struct trace *trace, uint64_t *hash, struct error *why)
{
    if (trace->generator != NULL) {
        *hash = generator_stream(trace->generator);
        return true;
    }
    return trace_hash(trace, hash, why);
}

/* The bytes of the file that belong to a frame: up to the next frame or the index. */
static bool frame_span(const struct trace *trace, uint64_t number, uint64_t *offset, uint64_t *end,
                       struct error *why)
{
    uint8_t entries[2 * INDEX_ENTRY];
    bool is_last = number + 1 == trace->frames;
    if (!trace_read_at(trace, entries, is_last ? INDEX_ENTRY : sizeof entries,
                       trace->index + number * INDEX_ENTRY, why)) {
        return false;
    }
    *offset = load_u64(entries);
    *end = is_last ? trace->index : load_u64(entries + INDEX_ENTRY);
    return true;
}

/* A frame of a generated trace: one that was made before, or a new one. */
static bool trace_reader_make_frame(const struct trace *trace, uint64_t number, bool with_rows,
                                    struct trace_frame *frame, struct error *why)
{
    const struct trace_header *header = &trace->header;
    bool found = false;
    if (trace->memo != NULL && with_rows &&
        !memo_get(trace->memo, header, number, frame, &found, why)) {
        return false;
    }
    if (found) {
        return stop_flag_check(trace->stop, why);
    }
    const struct generator_frame one = {header, frame};
    if (!generator_read(trace->generator, &one, 1, with_rows, trace->stop, why)) {
        return false;
    }
    if (trace->memo != NULL && with_rows) {
        memo_put(trace->memo, header, number, frame);
    }
    return true;
}

/* Read a frame of the file, whose place is set. */
static bool read_stored(const struct trace *trace, uint64_t number, struct trace_frame *frame,
                        struct error *why)
{
    const struct trace_header *header = &trace->header;
    uint64_t offset, end;
    if (!stop_flag_check(trace->stop, why) || !frame_span(trace, number, &offset, &end, why)) {
        return false;
    }
    if (end < offset || end - offset < FRAME_HEADER || end - offset > FRAME_HEADER + PAYLOAD_MOST) {
        error_set(why, NULL, 0, "the index gives it %" PRIu64 " bytes", end - offset);
        return frame_blame(frame, trace->path, 0, offset, why);
    }
    if (!array_reserve(&frame->stored, &frame->stored_capacity, (size_t)(end - offset), 1, why) ||
        !trace_read_at(trace, frame->stored, (size_t)(end - offset), offset, why)) {
        return false;
    }
    return (frame_unstore(header, frame, (size_t)(end - offset), why) &&
            trace_frame_check(header, frame, why)) ||
           frame_blame(frame, trace->path, 0, offset, why);
}

static bool read_frame(const struct trace *trace, uint32_t sequence, uint32_t tile, uint32_t layer,
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
                  ? trace_reader_make_frame(trace, number, with_rows, frame, why)
                  : read_stored(trace, number, frame, why);
    frame->layer = layer;
    return ok;
}

bool trace_read(const struct trace *trace, uint32_t sequence, uint32_t tile, uint32_t layer,
                struct trace_frame *frame, struct error *why)
{
    return read_frame(trace, sequence, tile, layer, true, frame, why);
}

bool trace_read_queries(const struct trace *trace, uint32_t sequence, uint32_t tile, uint32_t layer,
                        struct trace_frame *frame, struct error *why)
{
    return read_frame(trace, sequence, tile, layer, false, frame, why);
}
