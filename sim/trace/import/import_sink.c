/* Steps come in, frames go out. Rows pile up step by step, one pile per layer, and are transposed into
 * frames, head by head, when their tile is full. Layers that share indices get the same frame. */
#include "trace/import/import_sink.h"

#include "base/array.h"
#include "trace/format/format.h"
#include "trace/format/transpose.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool import_sink_init(struct import_sink *sink, const struct import_format *format,
                      const char *path, const struct import_options *options,
                      struct complaints *complaints, struct error *why)
{
    *sink = (struct import_sink){
        .format = format,
        .options = options,
        .path = path,
        .complaints = complaints,
        .rule = {.mass = options->mass, .end_unit = UINT64_MAX, .repeats = format->repeats}};
    trace_frame_init(&sink->transposed);
    if (options->context > 0) {
        uint32_t size = options->unit_tokens > 0 ? options->unit_tokens : 1;
        sink->rule.end_unit = options->context / size + (options->context % size != 0);
    }
    sink->seen = array_zeroed(IMPORT_LAYERS_MOST * IMPORT_HEADS_MOST, sizeof *sink->seen, why);
    return sink->seen != NULL;
}

void import_sink_release(struct import_sink *sink)
{
    for (uint32_t layer = 0; sink->piles != NULL && layer < sink->layers; layer++) {
        trace_frame_release(&sink->piles[layer]);
    }
    trace_frame_release(&sink->transposed);
    trace_writer_discard(sink->writer);
    free(sink->piles);
    free(sink->header.source);
    free(sink->step.items);
    free(sink->seen);
}

/* ---- faults --------------------------------------------------------------------------- */

static void complain_of(struct import_sink *sink, const struct error *fault)
{
    struct error placed;
    error_set(&placed, sink->path, fault->line, "%s", fault->found);
    if (fault->line == 0) {
        error_set(&placed, sink->path, 0, "step %u: %s", sink->steps - 1, fault->found);
    }
    if (fault->expected[0] != '\0') {
        error_expect(&placed, "%s", fault->expected);
    }
    complaints_add(sink->complaints, &placed);
}

void import_complain(struct import_sink *sink, int line, const char *format, ...)
{
    char text[sizeof((struct error *)0)->found];
    struct error fault;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    error_set(&fault, sink->path, line, "%s", text);
    complaints_add(sink->complaints, &fault);
}

static bool changed(const struct import_sink *sink, struct error *why)
{
    return error_set(why, sink->path, 0, "the file changed while it was read");
}

/* ---- steps ---------------------------------------------------------------------------- */

static bool survey_step(struct import_sink *sink)
{
    struct import_row row;
    struct error fault;
    for (uint32_t from = 0; from < sink->step.count;) {
        if (!import_step_row(&sink->step, &from, &sink->rule, &row, &fault)) {
            complain_of(sink, &fault);
        }
        sink->keep = row.count > sink->keep ? row.count : sink->keep;
    }
    return true;
}

static bool append_row(struct trace_frame *pile, uint32_t number, const struct import_row *row,
                       struct error *why)
{
    struct trace_rows *rows = &pile->rows;
    size_t start = rows->start[number];
    if (start + row->count > PAYLOAD_MOST) {
        return error_set(why, NULL, 0, "a step wants more units than a frame holds");
    }
    if (!trace_rows_reserve(rows, start + row->count, why)) {
        return false;
    }
    for (uint32_t i = 0; i < row->count; i++) {
        rows->units[start + i] = row->items[i].unit;
        rows->mass[start + i] = trace_mass_code((double)row->items[i].mass);
    }
    rows->start[number + 1] = (uint32_t)start + row->count;
    pile->born[number] = row->born;
    pile->tail[number] = row->tail;
    return true;
}

/* Pile up all rows of the step in order; a row that the step does not have is empty. */
static bool pile_step(struct import_sink *sink, uint32_t step_in_tile, struct error *why)
{
    struct import_step *step = &sink->step;
    uint32_t from = 0;
    for (uint32_t layer = 0; layer < sink->layers; layer++) {
        for (uint32_t head = 0; head < sink->heads; head++) {
            struct import_row row = {.tail = 1};
            bool has_row = from < step->count && step->items[from].layer == layer &&
                           step->items[from].head == head;
            if (has_row && !import_step_row(step, &from, &sink->rule, &row, why)) {
                return changed(sink, why);
            }
            if (!append_row(&sink->piles[layer], step_in_tile * sink->heads + head, &row, why)) {
                return false;
            }
        }
    }
    return true;
}

static bool begin_tile(struct import_sink *sink, struct error *why)
{
    struct trace_frame *transposed = &sink->transposed;
    transposed->tile = (sink->steps - 1) / sink->header.steps_per_tile;
    transposed->first_step = transposed->tile * sink->header.steps_per_tile;
    transposed->steps = trace_tile_steps(&sink->header, transposed->tile);
    for (uint32_t layer = 0; layer < sink->layers; layer++) {
        sink->piles[layer].steps = transposed->steps;
        if (!trace_frame_reserve(&sink->header, &sink->piles[layer], why)) {
            return false;
        }
        sink->piles[layer].rows.start[0] = 0;
    }
    return true;
}

static bool write_tile(struct import_sink *sink, struct error *why)
{
    struct trace_frame *transposed = &sink->transposed;
    uint32_t share = sink->header.layers / sink->layers;
    for (transposed->layer = 0; transposed->layer < sink->header.layers; transposed->layer++) {
        if ((transposed->layer % share == 0 &&
             !frame_transpose(&sink->header, &sink->piles[transposed->layer / share], transposed,
                              why)) ||
            !trace_writer_put(sink->writer, transposed, why)) {
            return false;
        }
    }
    return true;
}

static bool end_step(struct import_sink *sink, struct error *why)
{
    import_step_sort(&sink->step);
    bool ok = true;
    if (sink->writer == NULL) {
        ok = survey_step(sink);
    } else {
        uint32_t step_in_tile = (sink->steps - 1) % sink->header.steps_per_tile;
        ok = (step_in_tile > 0 || begin_tile(sink, why)) && pile_step(sink, step_in_tile, why) &&
             (step_in_tile + 1 < sink->transposed.steps || write_tile(sink, why));
    }
    sink->step.count = 0;
    return ok;
}

/* ---- for importers -------------------------------------------------------------------- */

bool import_next_step(struct import_sink *sink, struct error *why)
{
    if (sink->steps > 0 && !end_step(sink, why)) {
        return false;
    }
    if (sink->writer != NULL && sink->steps == sink->header.steps) {
        return changed(sink, why);
    }
    if (sink->steps == UINT32_MAX) {
        return error_set(why, sink->path, 0, "more than %u steps", UINT32_MAX);
    }
    sink->steps++;
    return true;
}

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

bool import_expect_row(struct import_sink *sink, uint32_t layer, uint32_t head, int line)
{
    if (layer >= IMPORT_LAYERS_MOST || head >= IMPORT_HEADS_MOST) {
        import_complain(sink, line, "layer %u, head %u: a trace has at most %d layers and heads",
                        layer, head, IMPORT_LAYERS_MOST);
        return false;
    }
    if (sink->writer == NULL) {
        sink->layers = most(sink->layers, layer + 1);
        sink->heads = most(sink->heads, head + 1);
        sink->seen[layer * IMPORT_HEADS_MOST + head] = true;
    }
    return true;
}

bool import_unit(struct import_sink *sink, const struct import_item *item, struct error *why)
{
    if (!import_expect_row(sink, item->layer, item->head, item->line)) {
        return true;
    }
    if (item->unit == UINT32_MAX) {
        import_complain(sink, item->line, "unit %u: a trace has fewer", item->unit);
        return true;
    }
    if (sink->writer == NULL) {
        sink->units = most(sink->units, item->unit + 1);
        sink->has_mass |= !isnan(item->mass);
    } else if (item->layer >= sink->layers || item->head >= sink->heads ||
               item->unit >= sink->units) {
        return changed(sink, why);
    }
    return import_step_add(&sink->step, item, why);
}

/* ---- between and after the readings --------------------------------------------------- */

/* If a head has no line in the whole file, heads were numbered from 1 or one is missing. */
static bool import_sink_check_rows(const struct import_sink *sink, struct error *why)
{
    for (uint32_t layer = 0; layer < sink->layers; layer++) {
        for (uint32_t head = 0; head < sink->heads; head++) {
            if (!sink->seen[layer * IMPORT_HEADS_MOST + head]) {
                error_set(why, sink->path, 0, "layer %u, head %u has no row in the file", layer,
                          head);
                return error_expect(why, "layers and heads numbered from 0 without a gap");
            }
        }
    }
    return true;
}

bool import_sink_rewind(struct import_sink *sink, const char *out_path, struct error *why)
{
    if (sink->steps > 0 && !end_step(sink, why)) {
        return false;
    }
    if (sink->complaints->count > 0) {
        return complaints_fail(sink->complaints, sink->path, why);
    }
    if (sink->layers == 0) {
        return error_set(why, sink->path, 0, "the file has no accesses");
    }
    if (!import_sink_check_rows(sink, why) || !import_header_make(sink, why) ||
        (sink->piles = array_zeroed(sink->layers, sizeof *sink->piles, why)) == NULL) {
        return false;
    }
    sink->writer = trace_writer_open(out_path, &sink->header, why);
    sink->steps = 0;
    return sink->writer != NULL;
}

bool import_sink_finish(struct import_sink *sink, struct error *why)
{
    if (sink->steps != sink->header.steps || sink->complaints->count > 0) {
        return changed(sink, why);
    }
    if (!end_step(sink, why)) {
        return false;
    }
    struct trace_writer *writer = sink->writer;
    sink->writer = NULL;
    return trace_writer_close(writer, why);
}
