/* A frame in memory: its columns, and the rules for its rows, whether a reader, a writer or an
 * importer made them. */
#include "trace/format/format.h"

#include "core/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trace_frame_init(struct trace_frame *frame)
{
    memset(frame, 0, sizeof *frame);
}

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
    trace_frame_init(frame);
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

bool frame_blame(const struct trace_frame *frame, const char *file, int line, uint64_t offset,
                 struct error *why)
{
    char place[32] = "";
    if (offset != 0) {
        snprintf(place, sizeof place, ", byte %" PRIu64, offset);
    }
    struct error bare = *why;
    error_set(why, file, line, "tile %u, layer %u, sequence %u%s: %s", frame->tile, frame->layer,
              frame->sequence, place, bare.found);
    return bare.expected[0] == '\0' ? false : error_expect(why, "%s", bare.expected);
}

static bool frame_check_place(const struct trace_header *header, const struct trace_frame *frame,
                              struct error *why)
{
    if (frame->sequence >= header->sequences || frame->layer >= header->layers ||
        frame->tile >= trace_tiles(header)) {
        return error_set(why, NULL, 0, "the trace has no frame at this place");
    }
    if (frame->first_step != frame->tile * header->steps_per_tile ||
        frame->steps != trace_tile_steps(header, frame->tile)) {
        return error_set(why, NULL, 0, "%u steps from step %u do not match the tile", frame->steps,
                         frame->first_step);
    }
    return true;
}

static bool ascends(const uint32_t *units, uint32_t count)
{
    bool ascending = true;
    for (uint32_t i = 1; i < count; i++) {
        ascending &= units[i - 1] < units[i];
    }
    return ascending;
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
    if (!ascends(units, count)) {
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

/* Every mass is a number from 0 to 1, within rounding. */
static bool check_mass(const struct trace_frame *frame, const float *mass, uint32_t count,
                       const char *column, struct error *why)
{
    for (uint32_t r = 0; r < count; r++) {
        if (!(mass[r] >= 0.0f && mass[r] <= 1.001f)) {
            return error_set(why, NULL, 0, "%s of head %u, step %u is %g, not a mass", column,
                             r / frame->steps, frame->first_step + r % frame->steps,
                             (double)mass[r]);
        }
    }
    return true;
}

static bool check_scale(const struct trace_frame *frame, uint32_t count, struct error *why)
{
    for (uint32_t r = 0; r < count; r++) {
        if (!(frame->scale[r] >= 0.0f && isfinite(frame->scale[r]))) {
            return error_set(why, NULL, 0, "scale of query head %u, step %u is %g",
                             r / frame->steps, frame->first_step + r % frame->steps,
                             (double)frame->scale[r]);
        }
    }
    return true;
}

bool trace_frame_check(const struct trace_header *header, const struct trace_frame *frame,
                       struct error *why)
{
    uint32_t rows = header->kv_heads * frame->steps;
    return frame_check_place(header, frame, why) &&
           frame_check_rows(header, frame, &frame->rows, "", why) &&
           check_mass(frame, frame->born, rows, "born", why) &&
           check_mass(frame, frame->tail, rows, "tail", why) &&
           (!header->has_queries || check_scale(frame, header->query_heads * frame->steps, why)) &&
           (!header->has_approximate ||
            frame_check_rows(header, frame, &frame->approximate, "approximate ", why));
}
