/* Writing a trace: frame after frame into a temporary file beside the final one. The final name appears only
 * when the file is whole and on the disk. Only the index grows with the trace: eight bytes per frame. */

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/array.h"
#include "core/unfinished.h"
#include "trace/format/format.h"

/* Of zstd. On the randomly drawn frames that are written here, 9 saves 2 % and takes three times as long. */
enum { LEVEL = 3 };

struct trace_writer {
    struct unfinished file;
    struct trace_header header; /* without a source */
    uint64_t offset;            /* bytes written */
    uint64_t *index;            /* offset of each frame so far */
    size_t frames, capacity;
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
    memcpy(at, fields, sizeof fields);
    at = store_u32(at + sizeof fields, (uint32_t)source_bytes);
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
    writer->compressor = ZSTD_createCCtx();
    if (writer->compressor == NULL) {
        error_set(why, path, 0, "out of memory");
        goto fail;
    }
    header_pack(header, fields);
    if (!header_unpack(fields, path, &writer->header, why) ||
        !header_check_source(header->source, strlen(header->source), path, why) ||
        !unfinished_open(path, &writer->file, why) ||
        !trace_writer_write_header(writer, header->source, why)) {
        goto fail;
    }
    return writer;
fail:
    trace_writer_discard(writer);
    return NULL;
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
        return frame_blame(frame, writer->file.path, 0, why);
    }
    if (!trace_frame_check(&writer->header, frame, why) ||
        !payload_encode(&writer->header, frame, &size, why) ||
        !frame_store(frame, size, writer->compressor, LEVEL, &size, why) ||
        !array_reserve(&writer->index, &writer->capacity, writer->frames + 1, sizeof *writer->index,
                       why)) {
        return frame_blame(frame, writer->file.path, 0, why);
    }
    writer->index[writer->frames++] = writer->offset;
    return write_all(writer, frame->stored, size, why);
}

bool trace_writer_close(struct trace_writer *writer, struct error *why)
{
    uint64_t frames = trace_frames(&writer->header);
    const uint8_t *index = (const uint8_t *)writer->index;
    size_t size = writer->frames * sizeof *writer->index;
    uint8_t footer[FOOTER];
    bool ok = writer->frames == frames ||
              error_set(why, writer->file.path, 0, "only %zu of %" PRIu64 " frames are written",
                        writer->frames, frames);
    memcpy(store_u64(store_u64(footer, XXH64(index, size, 0)), writer->offset), trace_end_magic,
           TRACE_MAGIC);
    ok = ok && write_all(writer, index, size, why) &&
         write_all(writer, footer, sizeof footer, why) &&
         unfinished_publish(&writer->file, true, why);
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

/* The header of a trace: numbers with ranges and relations, one list for file, CSV and messages. */

const uint8_t trace_magic[TRACE_MAGIC] = {0x89, 'S', 'W', 'T', '\r', '\n', 0x1a, '\n'};
const uint8_t trace_end_magic[TRACE_MAGIC] = {'S', 'W', 'T', 'E', 'N', 'D', '\r', '\n'};

enum { FLAG_QUERIES = 1, FLAG_APPROXIMATE = 2 };

const struct header_field header_fields[HEADER_FIELDS] = {
    {"layers", 1, 1024},
    {"kv_heads", 1, 1024},
    {"query_heads", 1, 65536},
    {"head_dim", 1, 1024},
    {"context", 1, UINT32_MAX},
    {"unit_kind", TRACE_POSITIONS, TRACE_CLUSTERS},
    {"unit_tokens", 1, UINT32_MAX},
    {"units", 1, UINT32_MAX},
    {"sinks", 0, UINT32_MAX},
    {"recent", 0, UINT32_MAX},
    {"keep", 0, UINT32_MAX},
    {"sequences", 1, UINT32_MAX},
    {"steps", 1, UINT32_MAX},
    {"steps_per_tile", 1, 256},
    {"flags", 0, FLAG_QUERIES | FLAG_APPROXIMATE},
};

/* The header begins with the numbers as the file has them. */
enum { NUMBERS = HEADER_FIELDS - 1 };
static_assert(offsetof(struct trace_header, has_queries) == NUMBERS * sizeof(uint32_t),
              "one number after the other");

void header_pack(const struct trace_header *header, uint32_t fields[HEADER_FIELDS])
{
    memcpy(fields, header, NUMBERS * sizeof *fields);
    fields[NUMBERS] = (header->has_queries ? FLAG_QUERIES : 0u) |
                      (header->has_approximate ? FLAG_APPROXIMATE : 0u);
}

/* Check what the ranges of single fields cannot express. */
static bool check_relations(const struct trace_header *header, const char *file, struct error *why)
{
    if (header->query_heads % header->kv_heads != 0) {
        return error_set(why, file, 0, "header: query_heads %u is not a multiple of kv_heads %u",
                         header->query_heads, header->kv_heads);
    }
    uint32_t units =
        header->context / header->unit_tokens + (header->context % header->unit_tokens != 0);
    if (header->unit_kind == TRACE_POSITIONS && header->units != units) {
        return error_set(why, file, 0, "header: units is %u, but context / unit_tokens is %u",
                         header->units, units);
    }
    if (header->units > header->context || header->sinks > header->context ||
        header->recent > header->context) {
        return error_set(why, file, 0, "header: units %u, sinks %u or recent %u exceeds context %u",
                         header->units, header->sinks, header->recent, header->context);
    }
    uint64_t least, most;
    payload_bounds(header, trace_tile_steps(header, 0), &least, &most);
    if (least > PAYLOAD_MOST) {
        error_set(why, file, 0, "header: a frame takes at least %" PRIu64 " bytes", least);
        return error_expect(why, "at most %d: lower steps_per_tile", PAYLOAD_MOST);
    }
    return true;
}

bool header_unpack(const uint32_t fields[HEADER_FIELDS], const char *file,
                   struct trace_header *header, struct error *why)
{
    for (int i = 0; i < HEADER_FIELDS; i++) {
        const struct header_field *field = &header_fields[i];
        if (fields[i] < field->least || fields[i] > field->most) {
            error_set(why, file, 0, "header: %s is %u", field->name, fields[i]);
            return error_expect(why, "a number from %u to %u", field->least, field->most);
        }
    }
    memcpy(header, fields, NUMBERS * sizeof *fields);
    header->has_queries = (fields[NUMBERS] & FLAG_QUERIES) != 0;
    header->has_approximate = (fields[NUMBERS] & FLAG_APPROXIMATE) != 0;
    return check_relations(header, file, why);
}

bool header_check_source(const char *source, size_t size, const char *file, struct error *why)
{
    if (size > SOURCE_MOST) {
        return error_set(why, file, 0, "header: source has %zu bytes, more than the limit of %d",
                         size, SOURCE_MOST);
    }
    json_error_t fault;
    json_t *json = json_loadb(source, size, 0, &fault);
    if (json == NULL) {
        return error_set(why, file, 0, "header: source is not JSON: %s", fault.text);
    }
    bool is_object = json_is_object(json);
    json_decref(json);
    return is_object || error_set(why, file, 0, "header: source is not a JSON object");
}

uint32_t trace_tiles(const struct trace_header *header)
{
    return header->steps / header->steps_per_tile + (header->steps % header->steps_per_tile != 0);
}

uint32_t trace_tile_steps(const struct trace_header *header, uint32_t tile)
{
    uint32_t left = header->steps - tile * header->steps_per_tile;
    return left < header->steps_per_tile ? left : header->steps_per_tile;
}

uint64_t trace_frames(const struct trace_header *header)
{
    uint64_t a_layer = (uint64_t)header->sequences * trace_tiles(header), frames;
    return __builtin_mul_overflow(a_layer, header->layers, &frames) ? UINT64_MAX : frames;
}

void frame_place(const struct trace_header *header, uint64_t number, struct trace_frame *frame)
{
    uint64_t tile = number / header->layers;
    frame->layer = (uint32_t)(number % header->layers);
    frame->tile = (uint32_t)(tile % trace_tiles(header));
    frame->sequence = (uint32_t)(tile / trace_tiles(header));
    frame->first_step = frame->tile * header->steps_per_tile;
    frame->steps = trace_tile_steps(header, frame->tile);
}

void trace_window(const struct trace_header *header, uint32_t sinks, uint32_t recent,
                  uint32_t *first_unit, uint32_t *end_unit)
{
    if (header->unit_kind == TRACE_CLUSTERS) {
        *first_unit = 0;
        *end_unit = header->units;
        return;
    }
    uint32_t sink_units = sinks / header->unit_tokens + (sinks % header->unit_tokens != 0);
    *first_unit = sink_units < header->units ? sink_units : header->units;
    *end_unit = header->units;
    if (recent > 0) {
        *end_unit = recent < header->context ? (header->context - recent) / header->unit_tokens : 0;
    }
    *end_unit = *end_unit > *first_unit ? *end_unit : *first_unit;
}

uint32_t trace_row_most(const struct trace_header *header)
{
    uint32_t first_unit, end_unit;
    trace_window(header, header->sinks, header->recent, &first_unit, &end_unit);
    uint32_t outside = end_unit - first_unit;
    return header->units - outside + (header->keep < outside ? header->keep : outside);
}
