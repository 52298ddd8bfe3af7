/* Lines are cut here and given to libcsv one by one: it knows quotes, but not line numbers. */

#include "trace/csv/csv_reader.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"

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

/* A parser that stopped within a line cannot be used for the next one. */
static bool restart(struct csv_reader *reader, struct error *why)
{
    int fault = csv_error(&reader->parser);
    csv_free(&reader->parser);
    csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI);
    return error_set(why, reader->path, reader->line, "libcsv: %s", csv_strerror(fault));
}

static bool csv_reader_parse(struct csv_reader *reader, struct error *why)
{
    reader->count = reader->unquoted_size = 0;
    if (!array_reserve(&reader->unquoted, &reader->unquoted_capacity,
                       reader->size + CSV_FIELDS_MOST + 1, 1, why)) {
        return false;
    }
    return (csv_parse(&reader->parser, reader->text, reader->size, keep_field, NULL, reader) ==
                reader->size &&
            csv_fini(&reader->parser, keep_field, NULL, reader) == 0) ||
           restart(reader, why);
}

bool csv_reader_split(struct csv_reader *reader, size_t count, struct error *why)
{
    if (!csv_reader_parse(reader, why)) {
        return false;
    }
    if (reader->count != count) {
        error_set(why, reader->path, reader->line, "%zu fields", reader->count);
        return error_expect(why, "%zu", count);
    }
    return true;
}

bool csv_reader_split_any(struct csv_reader *reader, size_t *count, struct error *why)
{
    if (!csv_reader_parse(reader, why)) {
        return false;
    }
    if (reader->count > CSV_FIELDS_MOST) {
        error_set(why, reader->path, reader->line, "%zu fields", reader->count);
        return error_expect(why, "at most %d", CSV_FIELDS_MOST);
    }
    *count = reader->count;
    return true;
}

/* A short list of faults and a long count. */

void complaints_add(struct complaints *complaints, const struct error *fault)
{
    if (complaints->count < COMPLAINTS_SHOWN) {
        complaints->shown[complaints->count] = *fault;
    }
    complaints->count++;
}

bool complaints_fail(const struct complaints *complaints, const char *path, struct error *why)
{
    assert(complaints->count > 0);
    if (complaints->count == 1) {
        *why = complaints->shown[0];
        return false;
    }
    return error_set(why, path, 0, "%" PRIu64 " faults; nothing was read", complaints->count);
}

uint32_t complaints_shown(const struct complaints *complaints)
{
    if (complaints->count < 2) {
        return 0;
    }
    return complaints->count < COMPLAINTS_SHOWN ? (uint32_t)complaints->count : COMPLAINTS_SHOWN;
}
