/* The header of a trace as text: its numbers by name, its source, the names of the columns.
 *
 *   # swt 1 layers=2 kv_heads=1 ... flags=1
 *   # source {"model": "..."}
 *   sequence,step,layer,head,unit,mass
 */
#include "trace/csv/csv_header.h"

#include "base/name.h"
#include "base/text.h"
#include "trace/csv/csv_number.h"
#include "trace/format/format.h"

#include <string.h>

#define FIRST_MARK "# swt "
#define SOURCE_MARK "# source "
#define COLUMNS "sequence,step,layer,head,unit,mass"

void csv_write_header(const struct trace_header *header, FILE *out)
{
    uint32_t fields[HEADER_FIELDS];
    header_pack(header, fields);
    fprintf(out, FIRST_MARK "%d", TRACE_VERSION);
    for (int i = 0; i < HEADER_FIELDS; i++) {
        fprintf(out, " %s=%u", header_fields[i].name, fields[i]);
    }
    fputs("\n" SOURCE_MARK, out);
    for (const char *c = header->source; *c != '\0'; c++) {
        /* In JSON text a newline stands between tokens, never within one. */
        fputc(*c == '\n' || *c == '\r' ? ' ' : *c, out);
    }
    fputs("\n" COLUMNS "\n", out);
}

/* Is it a line of data, and not one of names? */
static bool is_numbers(const char *line)
{
    return line[strspn(line, "0123456789.,-+eE \t;")] == '\0';
}

/* A table of another program can be read if its columns are named: say how. */
static bool say_columns(const char *line, struct error *why)
{
    if (strchr(line, ',') == NULL && strpbrk(line, ";\t|") != NULL) {
        return error_expect(why, "columns between commas; '%.80s' has none%s", line,
                            strchr(line, '\t') != NULL ? ": its fields are separated by tabs" : "");
    }
    if (strchr(line, ',') == NULL) {
        return error_expect(why,
                            "a first line that begins with '" FIRST_MARK "'; or, for a "
                            "column of ids, --columns unit=%.60s",
                            is_numbers(line) ? "1" : line);
    }
    return is_numbers(line)
               ? error_expect(why, "a first line that begins with '" FIRST_MARK "'; or, for a "
                                   "table with a line for each wanted unit, its columns by "
                                   "number, such as --columns step=1,layer=2,head=3,unit=4")
               : error_expect(why,
                              "a first line that begins with '" FIRST_MARK "'; or, for a "
                              "table with a line for each wanted unit, its columns among "
                              "'%.80s', such as --columns step=A,layer=B,head=C,unit=D",
                              line);
}

/* Read the next line, which must begin with `mark`. */
static bool read_marked(struct csv_reader *reader, const char *mark, struct error *why)
{
    bool more;
    if (!csv_reader_next(reader, &more, why)) {
        return false;
    }
    if (!more && reader->line == 1) {
        return error_set(why, reader->path, 1, "the file is empty");
    }
    if (!more || strncmp(reader->text, mark, strlen(mark)) != 0) {
        error_set(why, reader->path, reader->line, "not a decode trace as CSV");
        error_expect(why, "a line that begins with '%s'", mark);
        return strcmp(mark, FIRST_MARK) == 0 && more ? say_columns(reader->text, why) : false;
    }
    return true;
}

static const char *field_name(size_t index)
{
    return index < HEADER_FIELDS ? header_fields[index].name : NULL;
}

/* Read one "name=value" of the first line. */
static bool read_field(const struct csv_reader *reader, char *word, bool seen[HEADER_FIELDS],
                       uint32_t fields[HEADER_FIELDS], struct error *why)
{
    char *value = strchr(word, '=');
    if (value == NULL) {
        return error_set(why, reader->path, reader->line, "'%s' is not of the form name=value",
                         word);
    }
    *value++ = '\0';
    int field = name_find(word, field_name, "number", reader->path, reader->line, why);
    if (field < 0) {
        return false;
    }
    if (seen[field] || !csv_whole(value, &fields[field])) {
        return error_set(why, reader->path, reader->line,
                         seen[field] ? "'%s' occurs twice" : "'%s' has no whole number", word);
    }
    seen[field] = true;
    return true;
}

static bool read_fields(struct csv_reader *reader, uint32_t fields[HEADER_FIELDS],
                        struct error *why)
{
    uint32_t version = 0;
    bool seen[HEADER_FIELDS] = {false};
    char *rest, *word = strtok_r(reader->text + strlen(FIRST_MARK), " ", &rest);
    if (word == NULL || !csv_whole(word, &version) || version != TRACE_VERSION) {
        error_set(why, reader->path, reader->line, "version '%s'", word != NULL ? word : "");
        return error_expect(why, "%d", TRACE_VERSION);
    }
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (!read_field(reader, word, seen, fields, why)) {
            return false;
        }
    }
    for (int i = 0; i < HEADER_FIELDS; i++) {
        if (!seen[i]) {
            return error_set(why, reader->path, reader->line, "'%s' is missing",
                             header_fields[i].name);
        }
    }
    return true;
}

bool csv_read_header(struct csv_reader *reader, struct trace_header *header, struct error *why)
{
    uint32_t fields[HEADER_FIELDS];
    if (!read_marked(reader, FIRST_MARK, why) || !read_fields(reader, fields, why) ||
        !header_unpack(fields, reader->path, reader->line, header, why) ||
        !read_marked(reader, SOURCE_MARK, why)) {
        return false;
    }
    const char *source = reader->text + strlen(SOURCE_MARK);
    if (!header_check_source(source, strlen(source), reader->path, reader->line, why) ||
        (header->source = text_duplicate(source, why)) == NULL) {
        return false;
    }
    return read_marked(reader, COLUMNS, why) &&
           (strcmp(reader->text, COLUMNS) == 0 ||
            error_set(why, reader->path, reader->line, "more columns than '" COLUMNS "'"));
}
