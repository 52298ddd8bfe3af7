/* From frames (a layer of a tile each) to lines in the order in which a model decodes: step by
 * step, layer by layer. All layers of one tile are therefore held at once. */
#include "trace/csv/csv.h"

#include "core/array.h"
#include "trace/format/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The header of a trace as text: its numbers by name, its source, the names of the columns.
 *
 *   # swt 1 layers=2 kv_heads=1 ... flags=1
 *   # source {"model": "..."}
 *   sequence,step,layer,head,unit,mass
 */
static void csv_export_write_header(const struct trace_header *header, FILE *out)
{
    uint32_t fields[HEADER_FIELDS];
    header_pack(header, fields);
    fprintf(out, "# swt %d", TRACE_VERSION);
    for (int i = 0; i < HEADER_FIELDS; i++) {
        fprintf(out, " %s=%u", header_fields[i].name, fields[i]);
    }
    fputs("\n# source ", out);
    for (const char *c = header->source; *c != '\0'; c++) {
        /* In JSON text a newline stands between tokens, never within one. */
        fputc(*c == '\n' || *c == '\r' ? ' ' : *c, out);
    }
    fputs("\nsequence,step,layer,head,unit,mass\n", out);
}

/* The key at the start of each line. */
struct csv_export_key {
    uint32_t sequence, step, layer;
};

static void export_units(const struct csv_export_key *key, const struct trace_rows *rows,
                         uint32_t row, uint32_t head, const char *mark, FILE *out)
{
    for (uint32_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
        fprintf(out, "%u,%u,%u,%u,%s%u,%.4g\n", key->sequence, key->step, key->layer, head, mark,
                rows->units[i], (double)trace_mass[rows->mass[i]]);
    }
}

static void export_query(const struct csv_export_key *key, const struct trace_frame *frame,
                         uint32_t head, uint32_t row, uint32_t head_dim, FILE *out)
{
    const int8_t *query = frame->query + (size_t)row * head_dim;
    fprintf(out, "%u,%u,%u,%u,query,%.9g", key->sequence, key->step, key->layer, head,
            (double)frame->scale[row]);
    for (uint32_t i = 0; i < head_dim; i++) {
        fprintf(out, " %d", query[i]);
    }
    fputc('\n', out);
}

/* Write all lines of one layer of one step. */
static void export_layer(const struct trace_header *header, const struct trace_frame *frame,
                         uint32_t step, FILE *out)
{
    const struct csv_export_key key = {frame->sequence, frame->first_step + step, frame->layer};
    for (uint32_t head = 0; head < header->kv_heads; head++) {
        uint32_t row = head * frame->steps + step;
        fprintf(out, "%u,%u,%u,%u,born,%.9g\n", key.sequence, key.step, key.layer, head,
                (double)frame->born[row]);
        fprintf(out, "%u,%u,%u,%u,tail,%.9g\n", key.sequence, key.step, key.layer, head,
                (double)frame->tail[row]);
        export_units(&key, &frame->rows, row, head, "", out);
        if (header->has_approximate) {
            export_units(&key, &frame->approximate, row, head, "~", out);
        }
    }
    for (uint32_t head = 0; header->has_queries && head < header->query_heads; head++) {
        export_query(&key, frame, head, head * frame->steps + step, header->head_dim, out);
    }
}

static bool export_tile(const struct trace *trace, uint32_t sequence, uint32_t tile,
                        struct trace_frame *frames, FILE *out, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    for (uint32_t layer = 0; layer < header->layers; layer++) {
        if (!trace_read(trace, sequence, tile, layer, &frames[layer], why)) {
            return false;
        }
    }
    for (uint32_t step = 0; step < trace_tile_steps(header, tile); step++) {
        for (uint32_t layer = 0; layer < header->layers; layer++) {
            export_layer(header, &frames[layer], step, out);
        }
    }
    return !ferror(out) || error_set(why, NULL, 0, "cannot write CSV: %s", strerror(errno));
}

bool trace_export_csv(const struct trace *trace, FILE *out, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct trace_frame *frames = array_zeroed(header->layers, sizeof *frames, why);
    bool ok = frames != NULL;
    if (ok) {
        csv_export_write_header(header, out);
    }
    for (uint32_t sequence = 0; ok && sequence < header->sequences; sequence++) {
        for (uint32_t tile = 0; ok && tile < trace_tiles(header); tile++) {
            ok = export_tile(trace, sequence, tile, frames, out, why);
        }
    }
    for (uint32_t layer = 0; frames != NULL && layer < header->layers; layer++) {
        trace_frame_release(&frames[layer]);
    }
    free(frames);
    if (ok && fflush(out) != 0) {
        ok = error_set(why, NULL, 0, "cannot write CSV: %s", strerror(errno));
    }
    return ok;
}
