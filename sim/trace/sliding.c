#include "trace/sliding.h"

/* Is the row the sinks, and a run of units up to the end of the prefix? */
static bool is_window(const struct trace_header *header, const uint32_t *units, uint32_t count)
{
    uint32_t forced = header->sinks + header->recent;
    if (count <= forced || count >= forced + header->keep || count >= header->units) {
        return false;
    }
    return units[header->sinks] == header->units - (count - header->sinks);
}

bool trace_layer_slides(const struct trace *trace, uint32_t layer, bool *slides, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct trace_frame frame;
    *slides = header->unit_kind == TRACE_POSITIONS && header->unit_tokens == 1;
    if (!*slides) {
        return true;
    }
    trace_frame_init(&frame);
    bool ok = trace_read(trace, 0, 0, layer, &frame, why);
    for (uint32_t row = 0; ok && *slides && row < header->kv_heads * frame.steps; row++) {
        const uint32_t *start = frame.rows.start + row;
        *slides = is_window(header, frame.rows.units + start[0], start[1] - start[0]);
    }
    trace_frame_release(&frame);
    return ok;
}
