/* A frame as stored in the file: a fixed header, then the payload, compressed if that makes it
 * smaller. One checksum covers both. */
#include "trace/format/format.h"

#include "core/array.h"
#include "trace/format/bytes.h"

#include <inttypes.h>
#include <string.h>

static const uint8_t frame_magic[4] = {'S', 'W', 'T', 'F'};

static uint64_t frame_hash(const uint8_t *bytes, size_t stored_bytes)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, bytes, FRAME_HASH_AT);
    XXH64_update(&state, bytes + FRAME_HEADER, stored_bytes);
    return XXH64_digest(&state);
}

bool frame_header_load(const uint8_t *bytes, const struct trace_frame *frame,
                       struct frame_header *header, struct error *why)
{
    const struct frame_header found = {
        .sequence = load_u32(bytes + 4),
        .tile = load_u32(bytes + 8),
        .layer = load_u32(bytes + 12),
        .codec = load_u32(bytes + 16),
        .raw_bytes = load_u32(bytes + 20),
        .stored_bytes = load_u32(bytes + 24),
        .hash = load_u64(bytes + FRAME_HASH_AT),
    };
    if (memcmp(bytes, frame_magic, sizeof frame_magic) != 0) {
        return error_set(why, NULL, 0, "no frame begins here");
    }
    if (found.sequence != frame->sequence || found.tile != frame->tile ||
        found.layer != frame->layer) {
        return error_set(why, NULL, 0, "found the frame of tile %u, layer %u, sequence %u here",
                         found.tile, found.layer, found.sequence);
    }
    *header = found;
    return true;
}

static void frame_header_store(uint8_t *bytes, const struct trace_frame *frame, uint32_t codec,
                               size_t raw_bytes, size_t stored_bytes)
{
    memcpy(bytes, frame_magic, sizeof frame_magic);
    uint8_t *at = store_u32(bytes + sizeof frame_magic, frame->sequence);
    at = store_u32(at, frame->tile);
    at = store_u32(at, frame->layer);
    at = store_u32(at, codec);
    at = store_u32(at, (uint32_t)raw_bytes);
    at = store_u32(at, (uint32_t)stored_bytes);
    store_u64(at, frame_hash(bytes, stored_bytes));
}

bool frame_store(struct trace_frame *frame, size_t raw_bytes, ZSTD_CCtx *compressor, int level,
                 size_t *size, struct error *why)
{
    if (!array_reserve(&frame->stored, &frame->stored_capacity, FRAME_HEADER + raw_bytes, 1, why)) {
        return false;
    }
    uint8_t *payload = frame->stored + FRAME_HEADER;
    /* Room for less than the raw bytes: a payload that does not shrink fails and is stored raw. */
    size_t stored_bytes =
        ZSTD_compressCCtx(compressor, payload, raw_bytes - 1, frame->raw, raw_bytes, level);
    uint32_t codec = ZSTD_isError(stored_bytes) ? CODEC_STORED : CODEC_ZSTD;
    if (codec == CODEC_STORED) {
        memcpy(payload, frame->raw, raw_bytes);
        stored_bytes = raw_bytes;
    }
    frame_header_store(frame->stored, frame, codec, raw_bytes, stored_bytes);
    *size = FRAME_HEADER + stored_bytes;
    return true;
}

/* Decompress exactly one zstd frame that gives exactly raw_bytes. */
static bool decompress(struct trace_frame *frame, const struct frame_header *found,
                       struct error *why)
{
    const uint8_t *payload = frame->stored + FRAME_HEADER;
    size_t raw_bytes = found->raw_bytes;
    if (!array_reserve(&frame->raw, &frame->raw_capacity, raw_bytes, 1, why)) {
        return false;
    }
    size_t got = ZSTD_findFrameCompressedSize(payload, found->stored_bytes);
    if (!ZSTD_isError(got) && got != found->stored_bytes) {
        return error_set(why, NULL, 0, "the payload is more than one zstd frame");
    }
    got = ZSTD_decompress(frame->raw, raw_bytes, payload, found->stored_bytes);
    if (ZSTD_isError(got)) {
        return error_set(why, NULL, 0, "zstd: %s", ZSTD_getErrorName(got));
    }
    return got == raw_bytes ||
           error_set(why, NULL, 0, "%zu bytes, but the frame states %zu", got, raw_bytes);
}

/* Check size and checksum, and whether the geometry permits a payload of this size. */
static bool check_stored(const struct trace_header *header, const struct trace_frame *frame,
                         const struct frame_header *found, size_t size, struct error *why)
{
    uint64_t least, most;
    if (found->stored_bytes != size - FRAME_HEADER) {
        error_set(why, NULL, 0, "the frame states %u stored bytes", found->stored_bytes);
        return error_expect(why, "%zu, as the index says", size - FRAME_HEADER);
    }
    if (frame_hash(frame->stored, found->stored_bytes) != found->hash) {
        return error_set(why, NULL, 0, "the checksum does not match");
    }
    payload_bounds(header, frame->steps, &least, &most);
    most = most < PAYLOAD_MOST ? most : PAYLOAD_MOST;
    if (found->raw_bytes < least || found->raw_bytes > most) {
        error_set(why, NULL, 0, "the frame states a payload of %u bytes", found->raw_bytes);
        return error_expect(why, "%" PRIu64 " ... %" PRIu64, least, most);
    }
    return true;
}

bool frame_unstore(const struct trace_header *header, struct trace_frame *frame, size_t size,
                   struct error *why)
{
    struct frame_header found;
    if (!frame_header_load(frame->stored, frame, &found, why) ||
        !check_stored(header, frame, &found, size, why)) {
        return false;
    }
    switch (found.codec) {
    case CODEC_STORED:
        if (found.raw_bytes != found.stored_bytes) {
            return error_set(why, NULL, 0,
                             "an uncompressed payload has %u stored bytes, but states %u",
                             found.stored_bytes, found.raw_bytes);
        }
        return payload_decode(header, frame, frame->stored + FRAME_HEADER, found.raw_bytes, why);
    case CODEC_ZSTD:
        return decompress(frame, &found, why) &&
               payload_decode(header, frame, frame->raw, found.raw_bytes, why);
    default:
        return error_set(why, NULL, 0, "unknown codec %u", found.codec);
    }
}
