/* A row of a trace becomes a demand by one counting sort over the 256 codes: heaviest first, ties
 * by ascending position, linear in the row. Rows are sorted by position, so the units of the window
 * are at its two ends. The codes of an approximate row give the order in which a retrieval asks;
 * the masses of its units come from the true row. */
#include "trace/demand.h"

#include "base/array.h"
#include "trace/format/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void demand_buffer_init(struct demand_buffer *buffer)
{
    memset(buffer, 0, sizeof *buffer);
}

void demand_buffer_release(struct demand_buffer *buffer)
{
    free(buffer->units);
    free(buffer->mass);
    demand_buffer_init(buffer);
}

struct demand_shape demand_shape(const struct trace_header *header, uint32_t wanted, uint32_t sinks,
                                 uint32_t recent)
{
    struct demand_shape shape = {.wanted = wanted};
    trace_window(header, sinks, recent, &shape.first_unit, &shape.end_unit);
    return shape;
}

uint32_t demand_codes(double margin)
{
    return margin > 0 ? (uint32_t)fmin(floor(margin * 10 / M_LN2), 255) + 1 : 0;
}

/* The units of a row outside the window: [from, to) of `rows`. */
struct span {
    const struct trace_rows *rows;
    uint32_t from, to;
    float window_mass; /* of the other units, and of born tokens */
};

static struct span find_span(const struct trace_rows *rows, uint32_t row, float born,
                             const struct demand_shape *shape)
{
    const uint32_t *units = rows->units;
    struct span span = {rows, rows->start[row], rows->start[row + 1], born};
    for (; span.from < span.to && units[span.from] < shape->first_unit; span.from++) {
        span.window_mass += trace_mass[rows->mass[span.from]];
    }
    for (; span.from < span.to && units[span.to - 1] >= shape->end_unit; span.to--) {
        span.window_mass += trace_mass[rows->mass[span.to - 1]];
    }
    return span;
}

/* Count the units of the span that are near its heaviest. Code 255 also stands for smaller masses,
 * so its units count as near only to units of code 255. */
static uint32_t count_near(const struct span *span, uint32_t codes)
{
    const uint8_t *code = span->rows->mass;
    uint32_t heaviest = UINT8_MAX, near = 0;
    for (uint32_t i = span->from; i < span->to; i++) {
        heaviest = code[i] < heaviest ? code[i] : heaviest;
    }
    uint32_t end = heaviest + codes < UINT8_MAX ? heaviest + codes : UINT8_MAX;
    for (uint32_t i = span->from; i < span->to; i++) {
        near += code[i] < end || code[i] == heaviest;
    }
    return near;
}

/* Of `count` units, the number that the shape asks for; `known` is a span with known masses. */
static uint32_t count_wanted(const struct span *known, const struct demand_shape *shape,
                             uint32_t count)
{
    uint32_t near = shape->codes > 0 ? count_near(known, shape->codes) : count;
    uint32_t most = near < count ? near : count;
    return most < shape->wanted ? most : shape->wanted;
}

/* Sort into the buffer, after its first `at` units. Returns the mass of the best `wanted`. */
static float sort_by_code(const struct span *span, uint32_t wanted, uint32_t at,
                          struct demand_buffer *buffer)
{
    uint32_t place[256] = {0};
    float wanted_mass = 0;
    const uint8_t *code = span->rows->mass;
    for (uint32_t i = span->from; i < span->to; i++) {
        place[code[i]]++;
    }
    for (uint32_t c = 0, before = 0; c < 256; c++) {
        uint32_t here = place[c], left = before < wanted ? wanted - before : 0;
        wanted_mass += trace_mass[c] * (float)(here < left ? here : left);
        place[c] = at + before;
        before += here;
    }
    for (uint32_t i = span->from; i < span->to; i++) {
        uint32_t to = place[code[i]]++;
        buffer->units[to] = span->rows->units[i];
        buffer->mass[to] = code[i];
    }
    return wanted_mass;
}

static bool reserve(struct demand_buffer *buffer, uint32_t units, struct error *why)
{
    return array_reserve(&buffer->units, &buffer->units_capacity, units, sizeof *buffer->units,
                         why) &&
           array_reserve(&buffer->mass, &buffer->mass_capacity, units, sizeof *buffer->mass, why);
}

/* All of a demand except the number and mass of its units. */
static struct demand describe(const struct trace_header *header, const struct trace_frame *frame,
                              uint32_t head, uint32_t step, const struct demand_buffer *buffer)
{
    uint32_t group = header->query_heads / header->kv_heads;
    size_t query = (size_t)head * group * frame->steps + step;
    return (struct demand){
        .units = buffer->units,
        .mass = buffer->mass,
        .scale = header->has_queries ? frame->scale + query : NULL,
        .query = header->has_queries ? frame->query + query * header->head_dim : NULL,
        .query_heads = group,
        .head_dim = header->head_dim,
        .query_stride = frame->steps,
    };
}

bool demand_from_frame(const struct trace_header *header, const struct trace_frame *frame,
                       uint32_t head, uint32_t step, const struct demand_shape *shape,
                       struct demand_buffer *buffer, struct demand *out, struct error *why)
{
    uint32_t row = head * frame->steps + step;
    struct span span = find_span(&frame->rows, row, frame->born[row], shape);
    uint32_t recorded = span.to - span.from;
    if (!reserve(buffer, recorded, why)) {
        return false;
    }
    *out = describe(header, frame, head, step, buffer);
    out->wanted = count_wanted(&span, shape, recorded);
    out->recorded = recorded;
    out->wanted_mass = sort_by_code(&span, out->wanted, 0, buffer);
    out->window_mass = span.window_mass;
    return true;
}

/* ---- the demand of an approximate query ---- */

enum { UNKNOWN = 256 };

/* The code of `unit` in a span, which is ascending; UNKNOWN if it is not there. */
static uint32_t find_code(const struct span *span, uint32_t unit)
{
    uint32_t from = span->from, to = span->to;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (span->rows->units[middle] < unit) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < span->to && span->rows->units[from] == unit ? span->rows->mass[from] : UNKNOWN;
}

/* From the `count` units after the first `at` of the buffer, drop those that `asked` ranks at least
 * as high as its unit `last` of code `code`, and move the others behind the first `wanted`. Returns
 * the number of units in the buffer then. */
static uint32_t keep_unasked(const struct span *asked, uint32_t last, uint32_t code, uint32_t at,
                             uint32_t count, uint32_t wanted, struct demand_buffer *buffer)
{
    uint32_t kept = wanted;
    for (uint32_t i = at; i < at + count; i++) {
        uint32_t unit = buffer->units[i], own = find_code(asked, unit);
        if (wanted == 0 || own > code || (own == code && unit > last)) {
            buffer->units[kept] = unit;
            buffer->mass[kept++] = buffer->mass[i];
        }
    }
    return kept;
}

bool demand_from_approximate(const struct trace_header *header, const struct trace_frame *frame,
                             uint32_t head, uint32_t step, const struct demand_shape *shape,
                             struct demand_buffer *buffer, struct demand *out, struct error *why)
{
    uint32_t row = head * frame->steps + step;
    struct span asked = find_span(&frame->approximate, row, 0, shape);
    struct span known = find_span(&frame->rows, row, frame->born[row], shape);
    uint32_t count = asked.to - asked.from, known_count = known.to - known.from;
    if (!reserve(buffer, count + known_count, why)) {
        return false;
    }
    *out = describe(header, frame, head, step, buffer);
    out->wanted = count_wanted(&known, shape, count);
    out->window_mass = known.window_mass;
    sort_by_code(&asked, 0, 0, buffer);
    sort_by_code(&known, 0, count, buffer);
    uint32_t last = out->wanted > 0 ? buffer->units[out->wanted - 1] : 0;
    uint32_t code = out->wanted > 0 ? buffer->mass[out->wanted - 1] : 0;
    out->recorded = keep_unasked(&asked, last, code, count, known_count, out->wanted, buffer);
    for (uint32_t i = 0; i < out->wanted; i++) {
        uint32_t worth = find_code(&known, buffer->units[i]);
        buffer->mass[i] = worth == UNKNOWN ? 255 : (uint8_t)worth;
        out->wanted_mass += trace_mass[buffer->mass[i]];
    }
    return true;
}
