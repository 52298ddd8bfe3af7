/* From lines, in the order in which a model decodes, to frames.
 *
 * The order is strict: at each point one line is due (the next row, its tail, the next query), and
 * only units of the last begun row may come before it. So nothing can be missing or occur twice,
 * and memory grows with the part of a tile that was read, not with what the header claims. Rows
 * pile up step by step, one pile per layer, and are transposed into frames, head by head, when their
 * tile is full. */
#include "trace/csv/csv.h"

#include "base/array.h"
#include "trace/csv/csv_header.h"
#include "trace/csv/csv_line.h"
#include "trace/csv/csv_number.h"
#include "trace/format/format.h"
#include "trace/format/transpose.h"

#include <stdlib.h>
#include <string.h>

struct import {
    struct csv_reader in;
    struct complaints *complaints; /* the caller's */
    struct trace_header header;
    struct trace_writer *writer;
    struct trace_frame *piles; /* one per layer: rows of the tile so far, step-major */
    struct trace_frame transposed;
    struct csv_key at; /* the row begun last belongs to head `at.head` - 1 */
    uint32_t queries;  /* lines of queries read for this layer of this step */
    bool has_tail;     /* the row begun last has its tail */
};

/* ---- order ---------------------------------------------------------------------------- */

/* The layer after `key` in the order of lines; false when it is the last one. */
static bool next_layer(const struct trace_header *header, struct csv_key *key)
{
    key->head = 0;
    key->layer = (key->layer + 1) % header->layers;
    key->step = (key->step + (key->layer == 0)) % header->steps;
    key->sequence += key->layer == 0 && key->step == 0;
    return key->sequence < header->sequences;
}

/* Find the line that is due; false when the file may end. */
static bool find_due(const struct import *import, struct csv_key *key, enum csv_kind *kind)
{
    const struct trace_header *header = &import->header;
    *key = import->at;
    *kind = CSV_BORN;
    if (!import->has_tail) {
        key->head--;
        *kind = CSV_TAIL;
    } else if (key->head == header->kv_heads) {
        if (header->has_queries && import->queries < header->query_heads) {
            key->head = import->queries;
            *kind = CSV_QUERY;
        } else {
            return next_layer(header, key);
        }
    }
    return true;
}

static bool equal_keys(const struct csv_key *a, const struct csv_key *b)
{
    return a->sequence == b->sequence && a->step == b->step && a->layer == b->layer &&
           a->head == b->head;
}

static bool expect_due(const struct csv_key *due, enum csv_kind kind, struct error *why)
{
    return error_expect(why, "'%s' of sequence %u, step %u, layer %u, head %u", csv_kinds[kind],
                        due->sequence, due->step, due->layer, due->head);
}

/* Is this the line that is due, or another unit of the row begun last? */
static bool check_order(const struct import *import, const struct csv_line *line, struct error *why)
{
    struct csv_key due, begun = import->at;
    enum csv_kind kind;
    bool more = find_due(import, &due, &kind);
    begun.head--;
    bool is_due = more && line->kind == kind && equal_keys(&line->key, &due);
    bool is_unit = line->kind == CSV_UNIT || line->kind == CSV_APPROXIMATE;
    bool is_row_open = import->at.head > 0 && import->has_tail && import->queries == 0;
    if (is_due || (is_unit && is_row_open && equal_keys(&line->key, &begun))) {
        return true;
    }
    error_set(why, import->in.path, import->in.line, "'%s' is out of order", csv_kinds[line->kind]);
    return more ? expect_due(&due, kind, why) : error_expect(why, "the end of the file");
}

/* Write all layers of the tile that `at` is in. */
static bool write_tile(struct import *import, struct error *why)
{
    const struct trace_header *header = &import->header;
    struct trace_frame *transposed = &import->transposed;
    transposed->sequence = import->at.sequence;
    transposed->tile = import->at.step / header->steps_per_tile;
    transposed->first_step = transposed->tile * header->steps_per_tile;
    transposed->steps = trace_tile_steps(header, transposed->tile);
    for (transposed->layer = 0; transposed->layer < header->layers; transposed->layer++) {
        if (!frame_transpose(header, &import->piles[transposed->layer], transposed, why)) {
            return false;
        }
        if (!trace_frame_check(header, transposed, why)) {
            return frame_blame(transposed, import->in.path, import->in.line, 0, why);
        }
        if (!trace_writer_put(import->writer, transposed, why)) {
            return false;
        }
    }
    return true;
}

/* Go on to the next layer, step or sequence; after the last one `at` has no meaning. */
static bool advance(struct import *import, struct error *why)
{
    struct csv_key next = import->at;
    next_layer(&import->header, &next);
    if (next.layer == 0 && next.step % import->header.steps_per_tile == 0 &&
        !write_tile(import, why)) {
        return false;
    }
    import->at = next;
    import->queries = 0;
    return true;
}

/* ---- lines ---------------------------------------------------------------------------- */

static uint32_t steps_before(const struct import *import)
{
    return import->at.step % import->header.steps_per_tile;
}

static bool parse_mass(const struct import *import, const struct csv_line *line, float *mass,
                       struct error *why)
{
    if (!csv_float(line->value, mass) || *mass < 0.0f || *mass > 1.001f) {
        error_set(why, import->in.path, import->in.line, "'%s' is not a mass", line->value);
        return error_expect(why, "a number from 0 to 1");
    }
    return true;
}

static bool begin_row(struct import *import, const struct csv_line *line, struct error *why)
{
    if (import->at.head == import->header.kv_heads && !advance(import, why)) {
        return false;
    }
    struct trace_frame *pile = &import->piles[import->at.layer];
    uint32_t row = steps_before(import) * import->header.kv_heads + import->at.head;
    struct trace_rows *kinds[] = {&pile->rows, &pile->approximate};
    for (int i = 0; i < 2; i++) {
        if (!array_reserve(&kinds[i]->start, &kinds[i]->start_capacity, row + 2,
                           sizeof *kinds[i]->start, why)) {
            return false;
        }
        kinds[i]->start[0] = 0;
        kinds[i]->start[row + 1] = kinds[i]->start[row];
    }
    if (!array_reserve(&pile->born, &pile->born_capacity, row + 1, sizeof *pile->born, why) ||
        !array_reserve(&pile->tail, &pile->tail_capacity, row + 1, sizeof *pile->tail, why)) {
        return false;
    }
    import->at.head++;
    import->has_tail = false;
    return parse_mass(import, line, &pile->born[row], why);
}

/* The row begun last. */
static uint32_t row_begun(const struct import *import)
{
    return steps_before(import) * import->header.kv_heads + import->at.head - 1;
}

static bool end_row(struct import *import, const struct csv_line *line, struct error *why)
{
    import->has_tail = true;
    return parse_mass(import, line, &import->piles[import->at.layer].tail[row_begun(import)], why);
}

static bool add_unit(struct import *import, const struct csv_line *line, struct error *why)
{
    struct trace_frame *pile = &import->piles[import->at.layer];
    struct trace_rows *rows = line->kind == CSV_UNIT ? &pile->rows : &pile->approximate;
    uint32_t row = row_begun(import), end = rows->start[row + 1];
    float mass;
    if (line->kind == CSV_APPROXIMATE && !import->header.has_approximate) {
        return error_set(why, import->in.path, import->in.line,
                         "an approximate row, but the header does not announce any");
    }
    if (line->unit >= import->header.units) {
        return error_set(why, import->in.path, import->in.line, "unit %u, but the trace has %u",
                         line->unit, import->header.units);
    }
    if (end > rows->start[row] && rows->units[end - 1] >= line->unit) {
        return error_set(why, import->in.path, import->in.line,
                         "unit %u after unit %u: units do not ascend", line->unit,
                         rows->units[end - 1]);
    }
    if (end == PAYLOAD_MOST) {
        return error_set(why, import->in.path, import->in.line,
                         "more units in a tile than a frame holds");
    }
    if (!parse_mass(import, line, &mass, why) || !trace_rows_reserve(rows, end + 1, why)) {
        return false;
    }
    rows->units[end] = line->unit;
    rows->mass[end] = trace_mass_code((double)mass);
    rows->start[row + 1] = end + 1;
    return true;
}

static bool add_query(struct import *import, const struct csv_line *line, struct error *why)
{
    struct trace_frame *pile = &import->piles[import->at.layer];
    uint32_t head_dim = import->header.head_dim;
    size_t row = (size_t)steps_before(import) * import->header.query_heads + import->queries++;
    if (!array_reserve(&pile->scale, &pile->scale_capacity, row + 1, sizeof *pile->scale, why) ||
        !array_reserve(&pile->query, &pile->query_capacity, (row + 1) * head_dim,
                       sizeof *pile->query, why)) {
        return false;
    }
    if (!csv_query(line->value, &pile->scale[row], pile->query + row * head_dim, head_dim)) {
        error_set(why, import->in.path, import->in.line, "'%.40s' is not a query", line->value);
        return error_expect(why, "a scale and %u whole numbers from -128 to 127", head_dim);
    }
    return true;
}

static bool (*const take_line[])(struct import *import, const struct csv_line *line,
                                 struct error *why) = {
    [CSV_BORN] = begin_row, [CSV_TAIL] = end_row,         [CSV_QUERY] = add_query,
    [CSV_UNIT] = add_unit,  [CSV_APPROXIMATE] = add_unit,
};

/* The first fault is noted; check the lines after it one by one. */
static bool complain(struct import *import, const struct error *fault, struct error *why)
{
    struct csv_line line;
    struct error next;
    bool more;
    complaints_add(import->complaints, fault);
    while (csv_reader_next(&import->in, &more, why)) {
        if (!more) {
            return complaints_fail(import->complaints, import->in.path, why);
        }
        if (!csv_line_parse(&import->in, &line, &next)) {
            complaints_add(import->complaints, &next);
        }
    }
    return false;
}

static bool import_lines(struct import *import, struct error *why)
{
    struct csv_key due;
    enum csv_kind kind;
    struct csv_line line;
    bool more;
    while (csv_reader_next(&import->in, &more, why)) {
        if (!more && find_due(import, &due, &kind)) {
            error_set(why, import->in.path, import->in.line, "the file ends early");
            return expect_due(&due, kind, why);
        }
        if (!more) {
            return advance(import, why);
        }
        struct error fault = {.line = 0};
        if (!csv_line_parse(&import->in, &line, &fault) || !check_order(import, &line, &fault) ||
            !take_line[line.kind](import, &line, &fault)) {
            bool is_of_line = fault.line == import->in.line;
            *why = fault;
            return is_of_line && complain(import, &fault, why);
        }
    }
    return false;
}

static bool import_trace(struct import *import, const char *out_path, struct error *why)
{
    if (!csv_read_header(&import->in, &import->header, why) ||
        (import->piles = array_zeroed(import->header.layers, sizeof *import->piles, why)) == NULL ||
        (import->writer = trace_writer_open(out_path, &import->header, why)) == NULL) {
        return false;
    }
    if (!import_lines(import, why)) {
        trace_writer_discard(import->writer);
        return false;
    }
    return trace_writer_close(import->writer, why);
}

bool trace_import_csv(const char *path, const char *out_path, struct complaints *complaints,
                      struct error *why)
{
    struct import *import = array_zeroed(1, sizeof *import, why);
    if (import == NULL || !csv_reader_open(&import->in, path, why)) {
        free(import);
        return false;
    }
    import->complaints = complaints;
    import->has_tail = true; /* no row has begun */
    trace_frame_init(&import->transposed);
    bool ok = import_trace(import, out_path, why);
    for (uint32_t layer = 0; import->piles != NULL && layer < import->header.layers; layer++) {
        trace_frame_release(&import->piles[layer]);
    }
    trace_frame_release(&import->transposed);
    free(import->piles);
    free(import->header.source);
    csv_reader_close(&import->in);
    free(import);
    return ok;
}
