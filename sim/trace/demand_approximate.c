/* An approximate row says in which order a retrieval asks; what its units are worth says the row.
 */
#include "trace/demand.h"

enum { UNKNOWN = 255 };

/* The code of `unit` in the ascending row [from, to). */
static uint8_t find_mass(const struct trace_rows *rows, uint32_t from, uint32_t to, uint32_t unit)
{
    uint32_t end = to;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (rows->units[middle] < unit) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < end && rows->units[from] == unit ? rows->mass[from] : UNKNOWN;
}

bool demand_from_approximate(const struct trace_header *header, const struct trace_frame *frame,
                             uint32_t head, uint32_t step, const struct demand_shape *shape,
                             struct demand_buffer *buffer, struct demand *out, struct error *why)
{
    struct demand exact;
    struct trace_frame asked = *frame; /* a view of the other rows */
    asked.rows = frame->approximate;
    if (!demand_from_frame(header, frame, head, step, shape, buffer, &exact, why) ||
        !demand_from_frame(header, &asked, head, step, shape, buffer, out, why)) {
        return false;
    }
    const uint32_t *start = frame->rows.start + head * frame->steps + step;
    out->window_mass = exact.window_mass;
    out->wanted_mass = 0;
    for (uint32_t i = 0; i < out->recorded; i++) {
        buffer->mass[i] = find_mass(&frame->rows, start[0], start[1], out->units[i]);
        if (i < out->wanted) {
            out->wanted_mass += trace_mass[buffer->mass[i]];
        }
    }
    return true;
}
