/* The payload of a frame: columns of numbers, KV head by KV head (traces/FORMAT.md draws them).
 *
 * The decoder reads bytes from a file and trusts none of them. Each column is taken from the rest
 * of the payload before memory is allocated for it, so allocations are bounded by the payload's
 * size, and every byte must be used up. */
#include "trace/format/format.h"

#include "core/array.h"
#include "trace/format/bytes.h"

#include <string.h>

enum { VARINT_MOST = 5 };

struct cursor {
    const uint8_t *at, *end;
};

/* The next `bytes` bytes, or NULL with an error that names the column when there are fewer. */
static const uint8_t *payload_take(struct cursor *cursor, uint64_t bytes, const char *column,
                                   struct error *why)
{
    if (bytes > (uint64_t)(cursor->end - cursor->at)) {
        error_set(why, NULL, 0, "the payload ends within column '%s'", column);
        return NULL;
    }
    const uint8_t *taken = cursor->at;
    cursor->at += bytes;
    return taken;
}

/* Turn counts into the starts of rows. Each unit takes at least two bytes later in the payload,
 * which bounds the sum of counts. */
static bool decode_counts(struct cursor *cursor, uint32_t rows, uint32_t *start, struct error *why)
{
    const uint8_t *counts = payload_take(cursor, 4ull * rows, "count", why);
    if (counts == NULL) {
        return false;
    }
    uint64_t total = 0;
    for (uint32_t r = 0; r < rows; r++) {
        start[r] = (uint32_t)total;
        total += load_u32(counts + 4 * r);
        if (total > (uint64_t)(cursor->end - cursor->at) / 2) {
            return error_set(why, NULL, 0, "the counts state more units than the payload holds");
        }
    }
    start[rows] = (uint32_t)total;
    return true;
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

/* Turn gaps into units. A sum that wraps gives a row that does not ascend, which
 * trace_frame_check() refuses. */
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

static bool decode_units(struct cursor *cursor, uint32_t rows, struct trace_rows *into,
                         struct error *why)
{
    uint32_t total = into->start[rows];
    const uint8_t *bytes, *gaps, *mass;
    if ((bytes = payload_take(cursor, 4, "gap_bytes", why)) == NULL ||
        (gaps = payload_take(cursor, load_u32(bytes), "gaps", why)) == NULL ||
        (mass = payload_take(cursor, total, "mass", why)) == NULL ||
        !trace_rows_reserve(into, total, why) ||
        !decode_gaps(gaps, gaps + load_u32(bytes), rows, into, why)) {
        return false;
    }
    if (total > 0) {
        memcpy(into->mass, mass, total);
    }
    return true;
}

static bool decode_floats(struct cursor *cursor, uint32_t count, float *into, const char *column,
                          struct error *why)
{
    const uint8_t *bytes = payload_take(cursor, 4ull * count, column, why);
    for (uint32_t i = 0; bytes != NULL && i < count; i++) {
        into[i] = load_f32(bytes + 4 * i);
    }
    return bytes != NULL;
}

static bool decode_queries(struct cursor *cursor, uint32_t queries, uint32_t head_dim,
                           struct trace_frame *frame, struct error *why)
{
    uint64_t size = (uint64_t)queries * head_dim;
    const uint8_t *bytes;
    if (!decode_floats(cursor, queries, frame->scale, "scale", why) ||
        (bytes = payload_take(cursor, size, "query", why)) == NULL) {
        return false;
    }
    memcpy(frame->query, bytes, size);
    return true;
}

bool payload_decode(const struct trace_header *header, struct trace_frame *frame,
                    const uint8_t *payload, size_t size, struct error *why)
{
    struct cursor cursor = {payload, payload + size};
    uint32_t rows = header->kv_heads * frame->steps, queries = header->query_heads * frame->steps;
    if (!trace_frame_reserve(header, frame, why) ||
        !decode_counts(&cursor, rows, frame->rows.start, why) ||
        !decode_floats(&cursor, rows, frame->born, "born", why) ||
        !decode_floats(&cursor, rows, frame->tail, "tail", why) ||
        !decode_units(&cursor, rows, &frame->rows, why)) {
        return false;
    }
    if (header->has_queries && !decode_queries(&cursor, queries, header->head_dim, frame, why)) {
        return false;
    }
    if (header->has_approximate && (!decode_counts(&cursor, rows, frame->approximate.start, why) ||
                                    !decode_units(&cursor, rows, &frame->approximate, why))) {
        return false;
    }
    return cursor.at == cursor.end ||
           error_set(why, NULL, 0, "%td bytes of the payload are left over",
                     cursor.end - cursor.at);
}

static uint8_t *encode_counts(uint8_t *at, const uint32_t *start, uint32_t rows)
{
    for (uint32_t r = 0; r < rows; r++) {
        at = store_u32(at, start[r + 1] - start[r]);
    }
    return at;
}

static uint8_t *encode_varint(uint8_t *at, uint32_t value)
{
    for (; value >= 0x80; value >>= 7) {
        *at++ = (uint8_t)(value | 0x80);
    }
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *encode_units(uint8_t *at, const struct trace_rows *rows, uint32_t count)
{
    uint8_t *gap_bytes = at;
    at += 4;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t before = UINT32_MAX;
        for (uint32_t i = rows->start[r]; i < rows->start[r + 1]; i++) {
            at = encode_varint(at, rows->units[i] - before - 1);
            before = rows->units[i];
        }
    }
    store_u32(gap_bytes, (uint32_t)(at - gap_bytes - 4));
    uint32_t total = rows->start[count];
    if (total > 0) {
        memcpy(at, rows->mass, total);
    }
    return at + total;
}

static uint8_t *encode_floats(uint8_t *at, const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        at = store_f32(at, values[i]);
    }
    return at;
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
    uint32_t rows = header->kv_heads * frame->steps, queries = header->query_heads * frame->steps;
    uint64_t units = frame->rows.start[rows] +
                     (header->has_approximate ? (uint64_t)frame->approximate.start[rows] : 0);
    uint64_t most = fixed_bytes(header, frame->steps) + units * (VARINT_MOST + 1);
    if (!array_reserve(&frame->raw, &frame->raw_capacity, most, 1, why)) {
        return false;
    }
    uint8_t *at = encode_counts(frame->raw, frame->rows.start, rows);
    at = encode_floats(at, frame->born, rows);
    at = encode_floats(at, frame->tail, rows);
    at = encode_units(at, &frame->rows, rows);
    if (header->has_queries) {
        uint64_t bytes = (uint64_t)queries * header->head_dim;
        at = encode_floats(at, frame->scale, queries);
        memcpy(at, frame->query, bytes);
        at += bytes;
    }
    if (header->has_approximate) {
        at = encode_counts(at, frame->approximate.start, rows);
        at = encode_units(at, &frame->approximate, rows);
    }
    *size = (size_t)(at - frame->raw);
    if (*size > PAYLOAD_MOST) {
        error_set(why, NULL, 0, "the payload has %zu bytes", *size);
        return error_expect(why, "at most %d bytes: lower steps_per_tile", PAYLOAD_MOST);
    }
    return true;
}
