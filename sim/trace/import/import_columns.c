/* CSV of other tools: the user says what each column is.
 *
 *   step=time,layer=1,unit=page      `time` and `page` are names of the first line
 *   step=1,unit=2                    columns by number, from 1: all lines are data
 *
 * A line is one wanted unit. `unit` is required. Without `layer` or `head` the file has one of
 * them; without `step` a step is a fixed number of lines, as in a plain stream. Steps are
 * consecutive ascending numbers; the first may have any value. */
#include "trace/import/import_sink.h"

#include "base/array.h"
#include "base/name.h"
#include "trace/csv/csv_number.h"
#include "trace/csv/csv_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum import_column { STEP, LAYER, HEAD, UNIT, MASS, COLUMNS };
static const char *const names[COLUMNS + 1] = {"step", "layer", "head", "unit", "mass", NULL};

enum { MAPPING_MOST = 1024 };
#define OPTION "--columns"

struct import_table {
    struct csv_reader in;
    char mapping[MAPPING_MOST]; /* `given` points into it */
    const char *given[COLUMNS]; /* name or number; NULL: the file has none */
    size_t place[COLUMNS];      /* column number, from 0 */
    bool is_numbered;
    size_t fields; /* of every line; 0: not known yet */
    uint64_t lines;
    uint32_t step; /* of the previous line */
};

/* ---- the mapping ---------------------------------------------------------------------- */

static const char *import_columns_column_name(size_t index)
{
    return names[index];
}

static bool parse_pair(struct import_table *table, char *pair, struct error *why)
{
    char *value = strchr(pair, '=');
    if (value == NULL || value[1] == '\0') {
        error_usage(why, NULL, 0, "'%s' in " OPTION " is not COLUMN=NAME", pair);
        return error_expect(why, "for example step=1,unit=2 or step=time,unit=page");
    }
    *value++ = '\0';
    int column = name_find(pair, import_columns_column_name, "column", OPTION, 0, why);
    if (column < 0) {
        return false;
    }
    if (table->given[column] != NULL) {
        return error_usage(why, NULL, 0, "'%s' occurs twice in " OPTION, pair);
    }
    table->given[column] = value;
    return true;
}

/* Columns are given either all by name or all by number; a number is a place in the line. */
static bool number_columns(struct import_table *table, struct error *why)
{
    int numbers = 0, all = 0;
    for (int c = 0; c < COLUMNS; c++) {
        uint32_t number;
        if (table->given[c] == NULL) {
            continue;
        }
        all++;
        if (csv_whole(table->given[c], &number)) {
            numbers++;
            if (number < 1 || number > CSV_FIELDS_MOST) {
                error_usage(why, NULL, 0, "column %u in " OPTION, number);
                return error_expect(why, "1 ... %d", CSV_FIELDS_MOST);
            }
            table->place[c] = number - 1;
        }
    }
    table->is_numbered = numbers > 0;
    return numbers == 0 || numbers == all ||
           error_usage(why, NULL, 0, OPTION " mixes names and numbers");
}

static bool parse_mapping(struct import_table *table, const struct import_options *options,
                          struct error *why)
{
    if (strlen(options->columns) >= MAPPING_MOST) {
        return error_usage(why, NULL, 0, OPTION " is too long");
    }
    strcpy(table->mapping, options->columns);
    char *rest, *pair = strtok_r(table->mapping, ",", &rest);
    for (; pair != NULL; pair = strtok_r(NULL, ",", &rest)) {
        if (!parse_pair(table, pair, why)) {
            return false;
        }
    }
    if (table->given[UNIT] == NULL) {
        return error_usage(why, NULL, 0, OPTION " names no column for the unit");
    }
    if (table->given[STEP] != NULL && options->per_step > 0) {
        return error_usage(why, NULL, 0, "lines a step, but " OPTION " has a column for it");
    }
    return number_columns(table, why);
}

/* ---- without a mapping ---- */

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
        return error_expect(why, "for a column of ids, --columns unit=%.60s",
                            is_numbers(line) ? "1" : line);
    }
    return is_numbers(line)
               ? error_expect(why, "for a table with a line for each wanted unit, its columns by "
                                   "number, such as --columns step=1,layer=2,head=3,unit=4")
               : error_expect(why,
                              "for a table with a line for each wanted unit, its columns among "
                              "'%.80s', such as --columns step=A,layer=B,head=C,unit=D",
                              line);
}

/* Say how to name the columns of this file. */
static bool ask_for_columns(struct csv_reader *reader, struct error *why)
{
    bool more;
    if (!csv_reader_next(reader, &more, why)) {
        return false;
    }
    if (!more) {
        return error_set(why, reader->path, 1, "the file is empty");
    }
    error_set(why, reader->path, 1, OPTION " is missing");
    return strncmp(reader->text, "# swt ", strlen("# swt ")) == 0
               ? error_expect(why, "traces/convert/text.py for the text of 'trace export'")
               : say_columns(reader->text, why);
}

/* ---- lines ---------------------------------------------------------------------------- */

/* Note the columns that are called as those of the mapping, but are not in it: without them the file
 * has one layer, or one head, or as many steps as lines. */
static void note_unread(const struct import_table *table, const char *const *fields,
                        struct import_sink *sink)
{
    for (int c = 0; c < COLUMNS; c++) {
        size_t place = 0;
        bool taken = table->given[c] != NULL;
        while (place < table->fields && strcmp(fields[place], names[c]) != 0) {
            place++;
        }
        for (int other = 0; other < COLUMNS; other++) {
            taken = taken || (table->given[other] != NULL && table->place[other] == place);
        }
        if (!taken && place < table->fields) {
            name_list_add(sink->unread, sizeof sink->unread, names[c]);
        }
    }
}

/* The first line names the columns. */
static bool import_columns_read_names(struct import_table *table, struct import_sink *sink,
                                      struct error *why)
{
    bool more;
    const char *fields[CSV_FIELDS_MOST + 1] = {NULL};
    if (!csv_reader_next(&table->in, &more, why)) {
        return false;
    }
    if (!more) {
        return error_set(why, table->in.path, 1, "the file is empty");
    }
    if (!csv_reader_split_any(&table->in, &table->fields, why)) {
        return false;
    }
    for (size_t i = 0; i < table->fields; i++) {
        fields[i] = table->in.fields[i];
    }
    for (int c = 0; c < COLUMNS; c++) {
        size_t *place = &table->place[c];
        *place = 0;
        while (table->given[c] != NULL && *place < table->fields &&
               strcmp(fields[*place], table->given[c]) != 0) {
            ++*place;
        }
        if (table->given[c] != NULL && *place == table->fields) {
            error_set(why, table->in.path, 1, "no column '%s'", table->given[c]);
            return table->fields == 1 && strpbrk(fields[0], ";\t|") != NULL
                       ? error_expect(why, "columns between commas; '%.100s' has none%s", fields[0],
                                      strchr(fields[0], '\t') != NULL
                                          ? ": its fields are separated by tabs"
                                          : "")
                       : name_expect(table->given[c], fields, why);
        }
    }
    note_unread(table, fields, sink);
    return true;
}

/* Split the line. It must have as many fields as the first one, and all requested columns. */
static bool split_line(struct import_table *table, struct error *why)
{
    if (table->fields > 0) {
        return csv_reader_split(&table->in, table->fields, why);
    }
    size_t fields;
    if (!csv_reader_split_any(&table->in, &fields, why)) {
        return false;
    }
    for (int c = 0; c < COLUMNS; c++) {
        if (table->given[c] != NULL && table->place[c] >= fields) {
            error_set(why, table->in.path, table->in.line, "%zu fields", fields);
            return error_expect(why, "a column %zu for '%s'", table->place[c] + 1, names[c]);
        }
    }
    table->fields = fields;
    return true;
}

/* Read a column of whole numbers; 0 if the file does not have it. */
static bool import_columns_read_whole(const struct import_table *table, enum import_column column,
                                      uint32_t *value, struct error *why)
{
    *value = 0;
    if (table->given[column] == NULL) {
        return true;
    }
    const char *text = table->in.fields[table->place[column]];
    return csv_whole(text, value) ||
           error_set(why, table->in.path, table->in.line, "%s '%s' is not a whole number",
                     names[column], text);
}

static bool read_mass(const struct import_table *table, float *mass, struct error *why)
{
    *mass = NAN;
    if (table->given[MASS] == NULL) {
        return true;
    }
    const char *text = table->in.fields[table->place[MASS]];
    if (!csv_float(text, mass) || *mass < 0.0f || *mass > 1.001f) {
        error_set(why, table->in.path, table->in.line, "'%s' is not a mass", text);
        return isfinite(*mass)
                   ? error_expect(why, "a share of a head's attention in its step, from 0 to 1: "
                                       "divide scores by their sum (after exp(), if they are "
                                       "logits), or leave 'mass' out and use --mass rank")
                   : error_expect(why, "a number from 0 to 1");
    }
    return true;
}

static bool parse_line(struct import_table *table, uint32_t *step, struct import_item *item,
                       struct error *why)
{
    item->line = table->in.line;
    return split_line(table, why) && import_columns_read_whole(table, STEP, step, why) &&
           import_columns_read_whole(table, LAYER, &item->layer, why) &&
           import_columns_read_whole(table, HEAD, &item->head, why) &&
           import_columns_read_whole(table, UNIT, &item->unit, why) &&
           read_mass(table, &item->mass, why);
}

/* ---- steps ---------------------------------------------------------------------------- */

/* Does this line, which states its step, begin a new step? A jump is a fault; reading goes on from
 * there. */
static bool begins_step(struct import_sink *sink, struct import_table *table, uint32_t step)
{
    uint32_t per_step = sink->options->per_step > 0 ? sink->options->per_step : 1;
    if (table->given[STEP] == NULL) {
        return table->lines % per_step == 0;
    }
    uint32_t before = table->step;
    bool is_first = sink->steps == 0;
    table->step = step;
    if (!is_first && step != before && (step < before || step - before > 1)) {
        import_complain(sink, table->in.line, "step %u after step %u", step, before);
    }
    return is_first || step != before;
}

static bool import_columns_take_line(struct import_sink *sink, struct import_table *table,
                                     struct error *why)
{
    struct error fault;
    struct import_item item;
    uint32_t step;
    if (!parse_line(table, &step, &item, &fault)) {
        complaints_add(sink->complaints, &fault);
        return true;
    }
    bool begins = begins_step(sink, table, step);
    table->lines++;
    return (!begins || import_next_step(sink, why)) && import_unit(sink, &item, why);
}

static bool take_lines(struct import_sink *sink, struct import_table *table, struct error *why)
{
    bool more = true;
    if (!table->is_numbered && !import_columns_read_names(table, sink, why)) {
        return false;
    }
    while (csv_reader_next(&table->in, &more, why)) {
        if (!more) {
            return true;
        }
        if (!import_columns_take_line(sink, table, why)) {
            return false;
        }
    }
    return false;
}

static bool import_columns_walk(struct import_sink *sink, struct error *why)
{
    struct import_table *table = array_zeroed(1, sizeof *table, why);
    bool named = sink->options->columns != NULL;
    bool ok = table != NULL && (!named || parse_mapping(table, sink->options, why)) &&
              csv_reader_open(&table->in, sink->path, why);
    if (ok) {
        ok = named ? take_lines(sink, table, why) : ask_for_columns(&table->in, why);
        csv_reader_close(&table->in);
    }
    free(table);
    return ok;
}

const struct import_format import_csv = {
    .name = "csv",
    .summary = "a table, a line for each wanted unit; --columns says what its columns are",
    .suffix = ".csv",
    .reads = IMPORT_COLUMNS | IMPORT_CONTEXT | IMPORT_UNIT_TOKENS | IMPORT_PER_STEP | IMPORT_SHARE |
             IMPORT_MASS,
    .walk = import_columns_walk,
};
