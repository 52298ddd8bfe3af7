/* Loads the heads of a layer: rows sorted best first, queries contiguous for each query head. */
#include "trace/fit/fit_sample.h"

#include "core/array.h"
#include "trace/demand.h"
#include "trace/format/format.h"

#include <stdlib.h>
#include <string.h>

static bool sample_init(struct fit_sample *sample, const struct trace_header *header,
                        uint32_t steps, struct error *why)
{
    uint32_t group = header->query_heads / header->kv_heads;
    *sample = (struct fit_sample){
        .steps = steps,
        .context = header->context,
        .query_heads = group,
        .head_dim = header->head_dim,
    };
    trace_window(header, header->sinks, header->recent, &sample->first_unit, &sample->end_unit);
    uint32_t outside = sample->end_unit - sample->first_unit;
    sample->keep = header->keep < outside ? header->keep : outside;
    size_t rows = (size_t)steps * sample->keep;
    return (sample->units = array_zeroed(rows, sizeof *sample->units, why)) &&
           (sample->codes = array_zeroed(rows, 1, why)) &&
           (sample->query = array_zeroed((size_t)group * steps, header->head_dim, why));
}

void fit_samples_release(struct fit_sample *samples, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(samples[i].units);
        free(samples[i].codes);
        free(samples[i].query);
        samples[i] = (struct fit_sample){0};
    }
}

static double mass_of(const uint8_t *codes, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)trace_mass[codes[i]];
    }
    return sum;
}

/* Load the row of head `number` at step `s` of the frame. */
static bool load_row(const struct trace_header *header, const struct trace_frame *frame,
                     uint32_t number, uint32_t s, struct demand_buffer *buffer,
                     struct fit_sample *sample, struct error *why)
{
    uint32_t step = frame->first_step + s, row = number * frame->steps + s;
    const uint32_t *start = frame->rows.start + row;
    struct demand_shape shape = {
        .wanted = sample->keep, .first_unit = sample->first_unit, .end_unit = sample->end_unit};
    struct demand demand;
    if (!demand_from_frame(header, frame, number, s, &shape, buffer, &demand, why)) {
        return false;
    }
    if (demand.recorded != sample->keep) {
        error_set(why, NULL, 0, "head %u keeps %u units at step %u", number, demand.recorded, step);
        return error_expect(why, "%u, the same number at every step", sample->keep);
    }
    size_t place = (size_t)step * sample->keep;
    memcpy(sample->units + place, demand.units, sample->keep * sizeof *sample->units);
    memcpy(sample->codes + place, demand.mass, sample->keep);
    uint32_t recent = header->units - sample->end_unit;
    sample->sinks += mass_of(frame->rows.mass + start[0], sample->first_unit) / sample->steps;
    sample->recent += mass_of(frame->rows.mass + start[1] - recent, recent) / sample->steps;
    sample->born += (double)frame->born[row] / sample->steps;
    for (uint32_t q = 0; q < sample->query_heads; q++) {
        size_t from = (size_t)(number * sample->query_heads + q) * frame->steps + s;
        memcpy(sample->query + ((size_t)q * sample->steps + step) * header->head_dim,
               frame->query + from * header->head_dim, header->head_dim);
    }
    return true;
}

static bool load_frame(const struct trace *trace, const struct trace_frame *frame,
                       struct demand_buffer *buffer, struct fit_sample *samples, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    for (uint32_t number = 0; number < header->kv_heads; number++) {
        for (uint32_t s = 0; s < frame->steps && frame->first_step + s < samples->steps; s++) {
            if (!load_row(header, frame, number, s, buffer, &samples[number], why)) {
                return frame_blame(frame, trace_path(trace), 0, 0, why);
            }
        }
    }
    return true;
}

bool fit_samples_load(const struct trace *trace, uint32_t layer, uint32_t steps,
                      struct fit_sample *samples, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct trace_frame frame;
    struct demand_buffer buffer;
    bool ok = true;
    uint32_t made = 0;
    for (; ok && made < header->kv_heads; made++) {
        ok = sample_init(&samples[made], header, steps, why);
    }
    trace_frame_init(&frame);
    demand_buffer_init(&buffer);
    for (uint32_t tile = 0; ok && tile * header->steps_per_tile < steps; tile++) {
        ok = trace_read(trace, 0, tile, layer, &frame, why) &&
             load_frame(trace, &frame, &buffer, samples, why);
    }
    trace_frame_release(&frame);
    demand_buffer_release(&buffer);
    if (!ok) {
        fit_samples_release(samples, made);
    }
    return ok;
}
