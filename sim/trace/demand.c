/* A row of a trace becomes a demand by one counting sort over the 256 mass codes: heaviest first,
 * ties by ascending position, linear in the row. Rows are sorted by position, so the units of the
 * window are its two ends. */
#include "trace/demand.h"

#include "base/array.h"
#include "trace/format.h"

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

/* Returns the mass of the best `wanted`. */
static float sort_by_mass(const uint32_t *units, const uint8_t *mass, uint32_t count,
                          uint32_t wanted, uint32_t *sorted_units, uint8_t *sorted_mass)
{
    uint32_t place[256] = {0};
    float wanted_mass = 0;
    for (uint32_t i = 0; i < count; i++) {
        place[mass[i]]++;
    }
    for (uint32_t code = 0, before = 0; code < 256; code++) {
        uint32_t here = place[code], left = before < wanted ? wanted - before : 0;
        wanted_mass += trace_mass[code] * (float)(here < left ? here : left);
        place[code] = before;
        before += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = place[mass[i]]++;
        sorted_units[to] = units[i];
        sorted_mass[to] = mass[i];
    }
    return wanted_mass;
}

bool demand_from_frame(const struct trace_header *header, const struct trace_frame *frame,
                       uint32_t head, uint32_t step, const struct demand_shape *shape,
                       struct demand_buffer *buffer, struct demand *out, struct error *why)
{
    uint32_t row = head * frame->steps + step;
    const uint32_t *units = frame->rows.units;
    const uint8_t *mass = frame->rows.mass;
    uint32_t from = frame->rows.start[row], to = frame->rows.start[row + 1];
    float window_mass = frame->born[row];
    for (; from < to && units[from] < shape->first_unit; from++) {
        window_mass += trace_mass[mass[from]];
    }
    for (; from < to && units[to - 1] >= shape->end_unit; to--) {
        window_mass += trace_mass[mass[to - 1]];
    }
    uint32_t recorded = to - from;
    if (!array_reserve(&buffer->units, &buffer->units_capacity, recorded, sizeof *buffer->units,
                       why) ||
        !array_reserve(&buffer->mass, &buffer->mass_capacity, recorded, sizeof *buffer->mass,
                       why)) {
        return false;
    }
    float wanted_mass = sort_by_mass(units + from, mass + from, recorded, shape->wanted,
                                     buffer->units, buffer->mass);

    uint32_t group = header->query_heads / header->kv_heads;
    size_t query = (size_t)head * group * frame->steps + step;
    *out = (struct demand){
        .units = buffer->units,
        .mass = buffer->mass,
        .wanted = recorded < shape->wanted ? recorded : shape->wanted,
        .recorded = recorded,
        .wanted_mass = wanted_mass,
        .window_mass = window_mass,
        .scale = header->has_queries ? frame->scale + query : NULL,
        .query = header->has_queries ? frame->query + query * header->head_dim : NULL,
        .query_heads = group,
        .head_dim = header->head_dim,
        .query_stride = frame->steps,
    };
    return true;
}
