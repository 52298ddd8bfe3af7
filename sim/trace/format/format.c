/* The payload of a frame: columns of numbers, KV head by KV head (traces/FORMAT.md draws them). One walk over
 * the columns reads and writes them. Reading, it trusts no byte of the file: each column is taken from the
 * rest of the payload before memory is allocated for it, so allocations are bounded by the payload's size,
 * and every byte must be used up. */

#include "trace/format/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/array.h"

enum { VARINT_MOST = 5 };

struct cursor {
    uint8_t *at, *end;
    bool writes;
};

/* The next `bytes` bytes, or NULL with an error that names the column when there are fewer. */
static uint8_t *payload_take(struct cursor *cursor, uint64_t bytes, const char *column,
                             struct error *why)
{
    if (bytes > (uint64_t)(cursor->end - cursor->at)) {
        error_set(why, NULL, 0, "the payload ends within column '%s'", column);
        return NULL;
    }
    uint8_t *taken = cursor->at;
    cursor->at += bytes;
    return taken;
}

/* Counts are the distances between the starts of rows. Each unit takes at least two bytes later in the
 * payload, which bounds the sum of counts that are read. */
static bool payload_counts(struct cursor *cursor, uint32_t rows, uint32_t *start, struct error *why)
{
    uint8_t *counts = payload_take(cursor, 4ull * rows, "count", why);
    uint64_t total = 0;
    for (uint32_t r = 0; counts != NULL && r < rows; r++) {
        if (cursor->writes) {
            store_u32(counts + 4 * r, start[r + 1] - start[r]);
            continue;
        }
        start[r] = (uint32_t)total;
        total += load_u32(counts + 4 * r);
        if (total > (uint64_t)(cursor->end - cursor->at) / 2) {
            return error_set(why, NULL, 0, "the counts state more units than the payload holds");
        }
        start[r + 1] = (uint32_t)total;
    }
    return counts != NULL;
}

/* One varint of up to five bytes; NULL if it is cut, longer, or does not fit 32 bits. */
static const uint8_t *decode_varint(const uint8_t *at, const uint8_t *end, uint32_t *value)
{
    uint64_t sum = 0;
    for (int shift = 0; shift < 7 * VARINT_MOST && at < end; shift += 7) {
        sum |= (uint64_t)(*at & 0x7f) << shift;
        if (*at++ < 0x80) {
            *value = (uint32_t)sum;
            return sum <= UINT32_MAX ? at : NULL;
        }
    }
    return NULL;
}

/* Turn gaps into units. Where a sum wraps the row does not ascend, which trace_frame_check() refuses. */
static bool decode_gaps(const uint8_t *at, const uint8_t *end, uint32_t rows,
                        const struct trace_rows *into, struct error *why)
{
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t unit = UINT32_MAX, gap;
        for (uint32_t i = into->start[r]; i < into->start[r + 1]; i++) {
            if (at < end && *at < 0x80) {
                gap = *at++;
            } else if ((at = decode_varint(at, end, &gap)) == NULL) {
                return error_set(why, NULL, 0, "column 'gaps' has an invalid number");
            }
            unit += gap + 1;
            into->units[i] = unit;
        }
    }
    return at == end || error_set(why, NULL, 0, "column 'gaps' is longer than its rows");
}

static uint8_t *encode_gaps(uint8_t *at, const struct trace_rows *rows, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++) {
        uint32_t before = UINT32_MAX;
        for (uint32_t i = rows->start[r]; i < rows->start[r + 1]; i++) {
            uint32_t gap = rows->units[i] - before - 1;
            for (; gap >= 0x80; gap >>= 7) {
                *at++ = (uint8_t)(gap | 0x80);
            }
            *at++ = (uint8_t)gap;
            before = rows->units[i];
        }
    }
    return at;
}

static bool payload_bytes(struct cursor *cursor, uint64_t count, void *bytes, const char *column,
                          struct error *why)
{
    uint8_t *taken = payload_take(cursor, count, column, why);
    if (taken != NULL && count > 0) {
        memcpy(cursor->writes ? taken : bytes, cursor->writes ? bytes : taken, count);
    }
    return taken != NULL;
}

static bool payload_units(struct cursor *cursor, uint32_t count, struct trace_rows *rows,
                          struct error *why)
{
    uint32_t total = rows->start[count];
    uint8_t *bytes = payload_take(cursor, 4, "gap_bytes", why), *gaps = cursor->at;
    if (bytes == NULL) {
        return false;
    }
    if (cursor->writes) {
        cursor->at = encode_gaps(gaps, rows, count);
        store_u32(bytes, (uint32_t)(cursor->at - gaps));
    } else if (payload_take(cursor, load_u32(bytes), "gaps", why) == NULL ||
               !trace_rows_reserve(rows, total, why) ||
               !decode_gaps(gaps, cursor->at, count, rows, why)) {
        return false;
    }
    return payload_bytes(cursor, total, rows->mass, "mass", why);
}

/* Read or write all columns of a frame whose place and steps are set, with room for what no count decides. */
static bool payload_walk(const struct trace_header *header, struct trace_frame *frame,
                         struct cursor *cursor, struct error *why)
{
    uint32_t rows = header->kv_heads * frame->steps, queries = header->query_heads * frame->steps;
    return payload_counts(cursor, rows, frame->rows.start, why) &&
           payload_bytes(cursor, 4ull * rows, frame->born, "born", why) &&
           payload_bytes(cursor, 4ull * rows, frame->tail, "tail", why) &&
           payload_units(cursor, rows, &frame->rows, why) &&
           (!header->has_queries ||
            (payload_bytes(cursor, 4ull * queries, frame->scale, "scale", why) &&
             payload_bytes(cursor, (uint64_t)queries * header->head_dim, frame->query, "query",
                           why))) &&
           (!header->has_approximate ||
            (payload_counts(cursor, rows, frame->approximate.start, why) &&
             payload_units(cursor, rows, &frame->approximate, why)));
}

/* Convert a decompressed payload of `size` bytes into the columns of `frame`. It allocates for no more. */
static bool payload_decode(const struct trace_header *header, struct trace_frame *frame,
                           uint8_t *payload, size_t size, struct error *why)
{
    struct cursor cursor = {payload, payload + size, false};
    return trace_frame_reserve(header, frame, why) && payload_walk(header, frame, &cursor, why) &&
           (cursor.at == cursor.end ||
            error_set(why, NULL, 0, "%td bytes of the payload are left over",
                      cursor.end - cursor.at));
}

/* Bytes of all columns except gaps and mass, whose lengths depend on their rows. */
static uint64_t fixed_bytes(const struct trace_header *header, uint32_t steps)
{
    uint64_t rows = (uint64_t)header->kv_heads * steps;
    uint64_t queries = header->has_queries ? (uint64_t)header->query_heads * steps : 0;
    return rows * 12 + 4 + queries * (4 + (uint64_t)header->head_dim) +
           (header->has_approximate ? rows * 4 + 4 : 0);
}

void payload_bounds(const struct trace_header *header, uint32_t steps, uint64_t *least,
                    uint64_t *most)
{
    uint64_t units = (uint64_t)header->kv_heads * steps * trace_row_most(header);
    *least = fixed_bytes(header, steps);
    *most = *least + units * (VARINT_MOST + 1) * (header->has_approximate ? 2 : 1);
}

bool payload_encode(const struct trace_header *header, struct trace_frame *frame, size_t *size,
                    struct error *why)
{
    uint32_t rows = header->kv_heads * frame->steps;
    uint64_t units = frame->rows.start[rows] +
                     (header->has_approximate ? (uint64_t)frame->approximate.start[rows] : 0);
    uint64_t most = fixed_bytes(header, frame->steps) + units * (VARINT_MOST + 1);
    if (!array_reserve(&frame->raw, &frame->raw_capacity, most, 1, why)) {
        return false;
    }
    struct cursor cursor = {frame->raw, frame->raw + most, true};
    if (!payload_walk(header, frame, &cursor, why)) {
        return false;
    }
    *size = (size_t)(cursor.at - frame->raw);
    if (*size > PAYLOAD_MOST) {
        error_set(why, NULL, 0, "the payload has %zu bytes", *size);
        return error_expect(why, "at most %d bytes: lower steps_per_tile", PAYLOAD_MOST);
    }
    return true;
}

/* A frame as stored: a fixed header, then the payload, compressed if smaller; one checksum for both. */

static const uint8_t frame_magic[4] = {'S', 'W', 'T', 'F'};

static uint64_t frame_hash(const uint8_t *bytes, size_t stored_bytes)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, bytes, FRAME_HASH_AT);
    XXH64_update(&state, bytes + FRAME_HEADER, stored_bytes);
    return XXH64_digest(&state);
}

/* The fixed part of a frame, as it stands in the file. */
struct __attribute__((packed)) frame_header {
    uint8_t magic[sizeof frame_magic];
    uint32_t sequence, tile, layer, codec, raw_bytes, stored_bytes;
    uint64_t hash;
};
static_assert(sizeof(struct frame_header) == FRAME_HEADER, "nothing is between its fields");

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
    struct frame_header header = {.sequence = frame->sequence,
                                  .tile = frame->tile,
                                  .layer = frame->layer,
                                  .codec = codec,
                                  .raw_bytes = (uint32_t)raw_bytes,
                                  .stored_bytes = (uint32_t)stored_bytes};
    memcpy(header.magic, frame_magic, sizeof frame_magic);
    memcpy(frame->stored, &header, sizeof header);
    header.hash = frame_hash(frame->stored, stored_bytes);
    memcpy(frame->stored, &header, sizeof header);
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
    memcpy(&found, frame->stored, sizeof found);
    if (memcmp(found.magic, frame_magic, sizeof frame_magic) != 0) {
        return error_set(why, NULL, 0, "no frame begins here");
    }
    if (found.sequence != frame->sequence || found.tile != frame->tile ||
        found.layer != frame->layer) {
        return error_set(why, NULL, 0, "found the frame of tile %u, layer %u, sequence %u here",
                         found.tile, found.layer, found.sequence);
    }
    if (!check_stored(header, frame, &found, size, why)) {
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

/* A frame in memory: its columns, and the rules for its rows, of a reader, a writer or an importer. */

static void rows_release(struct trace_rows *rows)
{
    free(rows->start);
    free(rows->units);
    free(rows->mass);
}

void trace_frame_release(struct trace_frame *frame)
{
    rows_release(&frame->rows);
    rows_release(&frame->approximate);
    free(frame->born);
    free(frame->tail);
    free(frame->scale);
    free(frame->query);
    free(frame->stored);
    free(frame->raw);
    *frame = (struct trace_frame){0};
}

bool trace_frame_reserve(const struct trace_header *header, struct trace_frame *frame,
                         struct error *why)
{
    size_t rows = (size_t)header->kv_heads * frame->steps;
    size_t queries = header->has_queries ? (size_t)header->query_heads * frame->steps : 0;
    size_t starts = rows + 1, approximate_starts = header->has_approximate ? rows + 1 : 0;
    return array_reserve(&frame->rows.start, &frame->rows.start_capacity, starts,
                         sizeof *frame->rows.start, why) &&
           array_reserve(&frame->approximate.start, &frame->approximate.start_capacity,
                         approximate_starts, sizeof *frame->approximate.start, why) &&
           array_reserve(&frame->born, &frame->born_capacity, rows, sizeof *frame->born, why) &&
           array_reserve(&frame->tail, &frame->tail_capacity, rows, sizeof *frame->tail, why) &&
           array_reserve(&frame->scale, &frame->scale_capacity, queries, sizeof *frame->scale,
                         why) &&
           array_reserve(&frame->query, &frame->query_capacity, queries * header->head_dim,
                         sizeof *frame->query, why);
}

bool trace_rows_reserve(struct trace_rows *rows, size_t units, struct error *why)
{
    units = units > 0 ? units : 1; /* never NULL, so that an empty row has an address */
    return array_reserve(&rows->units, &rows->units_capacity, units, sizeof *rows->units, why) &&
           array_reserve(&rows->mass, &rows->mass_capacity, units, sizeof *rows->mass, why);
}

bool frame_blame(const struct trace_frame *frame, const char *file, uint64_t offset,
                 struct error *why)
{
    char place[32] = "";
    if (offset != 0) {
        snprintf(place, sizeof place, ", byte %" PRIu64, offset);
    }
    struct error bare = *why;
    error_set(why, file, 0, "tile %u, layer %u, sequence %u%s: %s", frame->tile, frame->layer,
              frame->sequence, place, bare.found);
    return bare.expected[0] == '\0' ? false : error_expect(why, "%s", bare.expected);
}

/* The fault of a row, or NULL. An ascending row holds the units from `first_unit` on if its last
 * ones do, and those before `end_unit` if its first ones do. */
static const char *row_fault(const struct trace_header *header, uint32_t first_unit,
                             uint32_t end_unit, uint32_t row_most, const uint32_t *units,
                             uint32_t count)
{
    uint32_t recent = header->units - end_unit;
    if (count > row_most) {
        return "more units than window and keep allow";
    }
    bool ascending = true;
    for (uint32_t i = 1; i < count; i++) {
        ascending &= units[i - 1] < units[i];
    }
    if (!ascending) {
        return "units do not ascend";
    }
    if (count > 0 && units[count - 1] >= header->units) {
        return "a unit out of range";
    }
    if (first_unit > 0 && (count < first_unit || units[first_unit - 1] != first_unit - 1)) {
        return "a unit of the sinks is missing";
    }
    if (recent > 0 && (count < recent || units[count - recent] != end_unit)) {
        return "a unit of the recent window is missing";
    }
    return NULL;
}

static bool frame_check_rows(const struct trace_header *header, const struct trace_frame *frame,
                             const struct trace_rows *rows, const char *kind, struct error *why)
{
    uint32_t first_unit, end_unit, row_most = trace_row_most(header);
    trace_window(header, header->sinks, header->recent, &first_unit, &end_unit);
    uint32_t count = header->kv_heads * frame->steps;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t start = rows->start[r], end = rows->start[r + 1];
        const char *fault = end < start ? "a negative count"
                                        : row_fault(header, first_unit, end_unit, row_most,
                                                    rows->units + start, end - start);
        if (fault != NULL) {
            return error_set(why, NULL, 0, "%srow of head %u, step %u: %s", kind, r / frame->steps,
                             frame->first_step + r % frame->steps, fault);
        }
    }
    return true;
}

/* Every mass is a number from 0 to 1, within rounding; every scale one that is not negative. */
static bool check_numbers(const struct trace_frame *frame, const float *numbers, uint32_t count,
                          const char *column, bool mass, struct error *why)
{
    for (uint32_t r = 0; r < count; r++) {
        if (!(numbers[r] >= 0.0f && (mass ? numbers[r] <= 1.001f : isfinite(numbers[r])))) {
            return error_set(why, NULL, 0, "%s head %u, step %u is %g%s", column, r / frame->steps,
                             frame->first_step + r % frame->steps, (double)numbers[r],
                             mass ? ", not a mass" : "");
        }
    }
    return true;
}

bool trace_frame_check(const struct trace_header *header, const struct trace_frame *frame,
                       struct error *why)
{
    uint32_t rows = header->kv_heads * frame->steps, queries = header->query_heads * frame->steps;
    if (frame->sequence >= header->sequences || frame->layer >= header->layers ||
        frame->tile >= trace_tiles(header)) {
        return error_set(why, NULL, 0, "the trace has no frame at this place");
    }
    if (frame->first_step != frame->tile * header->steps_per_tile ||
        frame->steps != trace_tile_steps(header, frame->tile)) {
        return error_set(why, NULL, 0, "%u steps from step %u do not match the tile", frame->steps,
                         frame->first_step);
    }
    return frame_check_rows(header, frame, &frame->rows, "", why) &&
           check_numbers(frame, frame->born, rows, "born of", true, why) &&
           check_numbers(frame, frame->tail, rows, "tail of", true, why) &&
           (!header->has_queries ||
            check_numbers(frame, frame->scale, queries, "scale of query", false, why)) &&
           (!header->has_approximate ||
            frame_check_rows(header, frame, &frame->approximate, "approximate ", why));
}

/* Attention masses as 8-bit codes: code c is 2^(-c/10), 7 % a step; the compiler makes the table. */

/* Ten codes halve the mass: 2^0 ... 2^(-9/10), times the power of two of the first. */
#define SIX(start)                                                                                 \
    (float)(start), (float)(0.93303299153680742 * (start)),                                        \
        (float)(0.87055056329612414 * (start)), (float)(0.81225239635623552 * (start)),            \
        (float)(0.75785828325519910 * (start)), (float)(0.70710678118654752 * (start))
#define TEN(start)                                                                                 \
    SIX(start), (float)(0.65975395538644713 * (start)), (float)(0.61557220667245814 * (start)),    \
        (float)(0.57434917749851750 * (start)), (float)(0.53588673126814658 * (start))

const float trace_mass[256] = {
    TEN(0x1p0),   TEN(0x1p-1),  TEN(0x1p-2),  TEN(0x1p-3),  TEN(0x1p-4),  TEN(0x1p-5),
    TEN(0x1p-6),  TEN(0x1p-7),  TEN(0x1p-8),  TEN(0x1p-9),  TEN(0x1p-10), TEN(0x1p-11),
    TEN(0x1p-12), TEN(0x1p-13), TEN(0x1p-14), TEN(0x1p-15), TEN(0x1p-16), TEN(0x1p-17),
    TEN(0x1p-18), TEN(0x1p-19), TEN(0x1p-20), TEN(0x1p-21), TEN(0x1p-22), TEN(0x1p-23),
    TEN(0x1p-24), SIX(0x1p-25),
};

uint8_t trace_mass_code(double mass)
{
    if (!(mass > 0)) {
        return 255;
    }
    double code = -10.0 * log2(mass);
    return code <= 0 ? 0 : code >= 255 ? 255 : (uint8_t)lround(code);
}
