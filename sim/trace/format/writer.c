/* Writing a trace: frame after frame into a temporary file beside the final one. The final name
 * appears only when the file is whole and on the disk. Only the index grows with the trace: eight
 * bytes per frame. */
#include "trace/format/format.h"

#include "core/array.h"
#include "core/unfinished.h"
#include "trace/format/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Levels of zstd. On a recording, 15 saves another tenth over 9 and takes five times as long; 12
 * saves nothing. On randomly drawn frames, 9 saves 2 % over 3 and takes three times as long. */
enum { LEVEL = 9, LEVEL_OF_DRAWN = 3 };

struct trace_writer {
    struct unfinished file;
    struct trace_header header; /* without a source */
    uint64_t offset;            /* bytes written */
    uint64_t *index;            /* offset of each frame so far */
    size_t frames, capacity;
    int level;
    ZSTD_CCtx *compressor;
};

static bool write_all(struct trace_writer *writer, const uint8_t *bytes, size_t size,
                      struct error *why)
{
    writer->offset += size;
    while (size > 0) {
        ssize_t put = write(writer->file.fd, bytes, size);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return error_set(why, writer->file.path, 0, "cannot be written: %s", strerror(errno));
        }
        bytes += put;
        size -= (size_t)put;
    }
    return true;
}

static bool trace_writer_write_header(struct trace_writer *writer, const char *source,
                                      struct error *why)
{
    uint32_t fields[HEADER_FIELDS];
    uint8_t bytes[HEADER_FIXED + SOURCE_MOST + HASH_BYTES];
    size_t source_bytes = strlen(source);
    header_pack(&writer->header, fields);
    memcpy(bytes, trace_magic, TRACE_MAGIC);
    uint8_t *at = store_u32(bytes + TRACE_MAGIC, TRACE_VERSION);
    at = store_u32(at, (uint32_t)(HEADER_FIXED + source_bytes + HASH_BYTES));
    for (int i = 0; i < HEADER_FIELDS; i++) {
        at = store_u32(at, fields[i]);
    }
    at = store_u32(at, (uint32_t)source_bytes);
    memcpy(at, source, source_bytes);
    at += source_bytes;
    at = store_u64(at, XXH64(bytes, (size_t)(at - bytes), 0));
    return write_all(writer, bytes, (size_t)(at - bytes), why);
}

struct trace_writer *trace_writer_open(const char *path, const struct trace_header *header,
                                       struct error *why)
{
    uint32_t fields[HEADER_FIELDS];
    struct trace_writer *writer = array_zeroed(1, sizeof *writer, why);
    if (writer == NULL) {
        return NULL;
    }
    writer->level = LEVEL;
    writer->compressor = ZSTD_createCCtx();
    if (writer->compressor == NULL) {
        error_set(why, path, 0, "out of memory");
        goto fail;
    }
    header_pack(header, fields);
    if (!header_unpack(fields, path, 0, &writer->header, why) ||
        !header_check_source(header->source, strlen(header->source), path, 0, why) ||
        !unfinished_open(path, &writer->file, why) ||
        !trace_writer_write_header(writer, header->source, why)) {
        goto fail;
    }
    return writer;
fail:
    trace_writer_discard(writer);
    return NULL;
}

void trace_writer_expect_drawn(struct trace_writer *writer)
{
    writer->level = LEVEL_OF_DRAWN;
}

bool trace_writer_put(struct trace_writer *writer, struct trace_frame *frame, struct error *why)
{
    struct trace_frame due;
    size_t size;
    if (writer->frames == trace_frames(&writer->header)) {
        return error_set(why, writer->file.path, 0, "all %zu frames are written", writer->frames);
    }
    frame_place(&writer->header, writer->frames, &due);
    if (frame->sequence != due.sequence || frame->tile != due.tile || frame->layer != due.layer) {
        error_set(why, NULL, 0, "the frame is out of order");
        error_expect(why, "tile %u, layer %u, sequence %u", due.tile, due.layer, due.sequence);
        return frame_blame(frame, writer->file.path, 0, 0, why);
    }
    if (!trace_frame_check(&writer->header, frame, why) ||
        !payload_encode(&writer->header, frame, &size, why) ||
        !frame_store(frame, size, writer->compressor, writer->level, &size, why) ||
        !array_reserve(&writer->index, &writer->capacity, writer->frames + 1, sizeof *writer->index,
                       why)) {
        return frame_blame(frame, writer->file.path, 0, 0, why);
    }
    writer->index[writer->frames++] = writer->offset;
    return write_all(writer, frame->stored, size, why);
}

static bool write_index(struct trace_writer *writer, struct error *why)
{
    uint64_t index = writer->offset;
    uint8_t footer[FOOTER];
    for (size_t i = 0; i < writer->frames; i++) {
        writer->index[i] = htole64(writer->index[i]);
    }
    const uint8_t *entries = (const uint8_t *)writer->index;
    size_t size = writer->frames * sizeof *writer->index;
    uint8_t *at = store_u64(footer, XXH64(entries, size, 0));
    at = store_u64(at, index);
    memcpy(at, trace_end_magic, TRACE_MAGIC);
    return write_all(writer, entries, size, why) && write_all(writer, footer, sizeof footer, why);
}

bool trace_writer_close(struct trace_writer *writer, struct error *why)
{
    uint64_t frames = trace_frames(&writer->header);
    bool is_whole = writer->frames == frames;
    if (!is_whole) {
        error_set(why, writer->file.path, 0, "only %zu of %" PRIu64 " frames are written",
                  writer->frames, frames);
    }
    bool ok = is_whole && write_index(writer, why) && unfinished_publish(&writer->file, true, why);
    trace_writer_discard(writer);
    return ok;
}

void trace_writer_discard(struct trace_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    unfinished_discard(&writer->file);
    ZSTD_freeCCtx(writer->compressor);
    free(writer->index);
    free(writer);
}
