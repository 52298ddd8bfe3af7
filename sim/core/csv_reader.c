/* Lines are cut here and given to libcsv one by one: it knows quotes, but not line numbers. */

#include "core/csv_reader.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"

bool csv_reader_open(struct csv_reader *reader, const char *path, struct error *why)
{
    *reader = (struct csv_reader){.path = path, .file = fopen(path, "rb")};
    if (reader->file == NULL) {
        return error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
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
