/* The header of a trace: a list of numbers with ranges, their relations, and what follows from
 * them. One list serves the binary file, the CSV file and the messages. */
#include "trace/format/format.h"

#include "core/error.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

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

void header_pack(const struct trace_header *header, uint32_t fields[HEADER_FIELDS])
{
    const uint32_t values[HEADER_FIELDS] = {
        header->layers,
        header->kv_heads,
        header->query_heads,
        header->head_dim,
        header->context,
        (uint32_t)header->unit_kind,
        header->unit_tokens,
        header->units,
        header->sinks,
        header->recent,
        header->keep,
        header->sequences,
        header->steps,
        header->steps_per_tile,
        (header->has_queries ? FLAG_QUERIES : 0u) |
            (header->has_approximate ? FLAG_APPROXIMATE : 0u),
    };
    memcpy(fields, values, sizeof values);
}

/* Check what the ranges of single fields cannot express. */
static bool check_relations(const struct trace_header *header, const char *file, int line,
                            struct error *why)
{
    if (header->query_heads % header->kv_heads != 0) {
        return error_set(why, file, line, "header: query_heads %u is not a multiple of kv_heads %u",
                         header->query_heads, header->kv_heads);
    }
    uint32_t units =
        header->context / header->unit_tokens + (header->context % header->unit_tokens != 0);
    if (header->unit_kind == TRACE_POSITIONS && header->units != units) {
        return error_set(why, file, line, "header: units is %u, but context / unit_tokens is %u",
                         header->units, units);
    }
    if (header->units > header->context || header->sinks > header->context ||
        header->recent > header->context) {
        return error_set(why, file, line,
                         "header: units %u, sinks %u or recent %u exceeds context %u",
                         header->units, header->sinks, header->recent, header->context);
    }
    uint64_t least, most;
    payload_bounds(header, trace_tile_steps(header, 0), &least, &most);
    if (least > PAYLOAD_MOST) {
        error_set(why, file, line, "header: a frame takes at least %" PRIu64 " bytes", least);
        return error_expect(why, "at most %d: lower steps_per_tile", PAYLOAD_MOST);
    }
    return true;
}

bool header_unpack(const uint32_t fields[HEADER_FIELDS], const char *file, int line,
                   struct trace_header *header, struct error *why)
{
    for (int i = 0; i < HEADER_FIELDS; i++) {
        const struct header_field *field = &header_fields[i];
        if (fields[i] < field->least || fields[i] > field->most) {
            error_set(why, file, line, "header: %s is %u", field->name, fields[i]);
            return error_expect(why, "a number from %u to %u", field->least, field->most);
        }
    }
    const struct trace_header fresh = {
        .layers = fields[0],
        .kv_heads = fields[1],
        .query_heads = fields[2],
        .head_dim = fields[3],
        .context = fields[4],
        .unit_kind = (enum trace_unit_kind)fields[5],
        .unit_tokens = fields[6],
        .units = fields[7],
        .sinks = fields[8],
        .recent = fields[9],
        .keep = fields[10],
        .sequences = fields[11],
        .steps = fields[12],
        .steps_per_tile = fields[13],
        .has_queries = (fields[14] & FLAG_QUERIES) != 0,
        .has_approximate = (fields[14] & FLAG_APPROXIMATE) != 0,
        .source = header->source,
    };
    *header = fresh;
    return check_relations(header, file, line, why);
}

bool header_check_source(const char *source, size_t size, const char *file, int line,
                         struct error *why)
{
    if (size > SOURCE_MOST) {
        return error_set(why, file, line, "header: source has %zu bytes, more than the limit of %d",
                         size, SOURCE_MOST);
    }
    json_error_t fault;
    json_t *json = json_loadb(source, size, 0, &fault);
    if (json == NULL) {
        return error_set(why, file, line, "header: source is not JSON: %s", fault.text);
    }
    bool is_object = json_is_object(json);
    json_decref(json);
    return is_object || error_set(why, file, line, "header: source is not a JSON object");
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
