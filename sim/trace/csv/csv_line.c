/* The six fields of a line; csv_header.c says which columns there are. */
#include "trace/csv/csv_line.h"

#include "trace/csv/csv_number.h"

#include <string.h>

const char *const csv_kinds[CSV_KINDS] = {
    [CSV_BORN] = "born",
    [CSV_TAIL] = "tail",
    [CSV_QUERY] = "query",
    [CSV_UNIT] = "unit",
    [CSV_APPROXIMATE] = "approximate unit",
};

static bool parse_kind(const struct csv_reader *reader, const char *text, struct csv_line *line,
                       struct error *why)
{
    for (int kind = CSV_BORN; kind < CSV_UNIT; kind++) {
        if (strcmp(text, csv_kinds[kind]) == 0) {
            line->kind = (enum csv_kind)kind;
            return true;
        }
    }
    line->kind = text[0] == '~' ? CSV_APPROXIMATE : CSV_UNIT;
    if (!csv_whole(text + (text[0] == '~'), &line->unit)) {
        error_set(why, reader->path, reader->line, "'%s' is not a unit", text);
        return error_expect(why, "a number, ~ and a number, born, tail or query");
    }
    return true;
}

bool csv_line_parse(struct csv_reader *reader, struct csv_line *line, struct error *why)
{
    char *const *fields = reader->fields;
    uint32_t *const key[] = {&line->key.sequence, &line->key.step, &line->key.layer,
                             &line->key.head};
    if (!csv_reader_split(reader, 6, why)) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        if (!csv_whole(fields[i], key[i])) {
            return error_set(why, reader->path, reader->line, "'%s' is not a whole number",
                             fields[i]);
        }
    }
    line->value = fields[5];
    return parse_kind(reader, fields[4], line, why);
}
