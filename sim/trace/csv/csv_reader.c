/* Lines are cut here and given to libcsv one by one: it knows quotes, but not line numbers. */
#include "trace/csv/csv_reader.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

bool csv_reader_open(struct csv_reader *reader, const char *path, struct error *why)
{
    reader->path = path;
    reader->line = 0;
    reader->file = fopen(path, "rb");
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
}

bool csv_reader_next(struct csv_reader *reader, bool *more, struct error *why)
{
    size_t size = 0;
    int c;
    reader->line += reader->line < INT_MAX;
    while ((c = getc_unlocked(reader->file)) != EOF && c != '\n') {
        if (c == '\0' || size == CSV_LINE_MOST) {
            return error_set(why, reader->path, reader->line,
                             c == '\0' ? "a zero byte: not a text file" : "the line is too long");
        }
        reader->text[size++] = (char)c;
    }
    if (c == EOF && ferror(reader->file)) {
        return error_set(why, reader->path, reader->line, "cannot read: %s", strerror(errno));
    }
    *more = c != EOF || size > 0;
    size -= size > 0 && reader->text[size - 1] == '\r';
    reader->text[size] = '\0';
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

static bool split(struct csv_reader *reader, struct error *why)
{
    size_t size = strlen(reader->text);
    reader->count = reader->unquoted_size = 0;
    return (csv_parse(&reader->parser, reader->text, size, keep_field, NULL, reader) == size &&
            csv_fini(&reader->parser, keep_field, NULL, reader) == 0) ||
           restart(reader, why);
}

bool csv_reader_split(struct csv_reader *reader, size_t count, struct error *why)
{
    if (!split(reader, why)) {
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
    if (!split(reader, why)) {
        return false;
    }
    if (reader->count > CSV_FIELDS_MOST) {
        error_set(why, reader->path, reader->line, "%zu fields", reader->count);
        return error_expect(why, "at most %d", CSV_FIELDS_MOST);
    }
    *count = reader->count;
    return true;
}
