/* Lines are cut here and given to libcsv one by one: it knows quotes, but not line numbers. */

#include "trace/csv/csv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"
#include "trace/format/format.h"

bool csv_reader_open(struct csv_reader *reader, const char *path, struct error *why)
{
    *reader = (struct csv_reader){.path = path, .file = fopen(path, "rb")};
    if (reader->file == NULL) {
        return error_set(why, path, 0, "cannot open: %s", strerror(errno));
    }
    if (csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        fclose(reader->file);
        return error_set(why, path, 0, "libcsv cannot be initialised");
    }
    return true;
}

void csv_reader_close(struct csv_reader *reader)
{
    csv_free(&reader->parser);
    fclose(reader->file);
    free(reader->text);
    free(reader->unquoted);
}

/* Make room for one more byte and the final 0. */
static bool make_room(struct csv_reader *reader, struct error *why)
{
    return reader->size + 1 < reader->capacity ||
           array_reserve(&reader->text, &reader->capacity, reader->size + 2, 1, why);
}

/* Read up to the next newline or the end; `*more` tells whether there was anything. */
static bool read_bytes(struct csv_reader *reader, bool *more, struct error *why)
{
    int c;
    for (reader->size = 0; (c = getc_unlocked(reader->file)) != EOF && c != '\n'; reader->size++) {
        if (c == '\0' || reader->size == CSV_LINE_MOST) {
            return error_set(why, reader->path, reader->line,
                             c == '\0' ? "a zero byte: not a text file" : "the line is too long");
        }
        if (!make_room(reader, why)) {
            return false;
        }
        reader->text[reader->size] = (char)c;
    }
    if (c == EOF && ferror(reader->file)) {
        return error_set(why, reader->path, reader->line, "cannot read: %s", strerror(errno));
    }
    *more = c != EOF || reader->size > 0;
    return make_room(reader, why);
}

bool csv_reader_next(struct csv_reader *reader, bool *more, struct error *why)
{
    reader->line += reader->line < INT_MAX;
    if (!read_bytes(reader, more, why)) {
        return false;
    }
    size_t mark = reader->line == 1 ? text_mark(reader->text, reader->size) : 0;
    reader->size -= mark;
    memmove(reader->text, reader->text + mark, reader->size);
    reader->size -= reader->size > 0 && reader->text[reader->size - 1] == '\r';
    reader->text[reader->size] = '\0';
    return true;
}

/* Called by libcsv for each field; the text is gone after the call. */
static void keep_field(void *text, size_t size, void *context)
{
    struct csv_reader *reader = context;
    if (reader->count < CSV_FIELDS_MOST) {
        char *field = reader->unquoted + reader->unquoted_size;
        memcpy(field, text, size);
        field[size] = '\0';
        reader->fields[reader->count] = field;
        reader->unquoted_size += size + 1;
    }
    reader->count++;
}

bool csv_reader_split(struct csv_reader *reader, size_t count, struct error *why)
{
    reader->count = reader->unquoted_size = 0;
    if (!array_reserve(&reader->unquoted, &reader->unquoted_capacity,
                       reader->size + CSV_FIELDS_MOST + 1, 1, why)) {
        return false;
    }
    if (csv_parse(&reader->parser, reader->text, reader->size, keep_field, NULL, reader) !=
            reader->size ||
        csv_fini(&reader->parser, keep_field, NULL, reader) != 0) {
        int fault =
            csv_error(&reader->parser); /* it stopped within the line: the next one has a new one */
        csv_free(&reader->parser);
        csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI);
        return error_set(why, reader->path, reader->line, "libcsv: %s", csv_strerror(fault));
    }
    if (count > 0 ? reader->count != count : reader->count > CSV_FIELDS_MOST) {
        error_set(why, reader->path, reader->line, "%zu fields", reader->count);
        return count > 0 ? error_expect(why, "%zu", count)
                         : error_expect(why, "at most %d", CSV_FIELDS_MOST);
    }
    return true;
}

/* From frames (a layer of a tile each) to lines in the order in which a model decodes: step by
 * step, layer by layer. All layers of one tile are therefore held at once. */

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
