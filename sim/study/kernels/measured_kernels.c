/* A line at a time. The columns are found once, in the first line. */
#include "study/kernels/measured_kernels.h"

#include "core/array.h"
#include "core/name.h"
#include "core/units.h"
#include "trace/csv/csv_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_BYTES (1ULL << 30)
#define LEAST_US 1e-3
#define MOST_US 1e9

/* The sizes of ops that can be measured come first, in the order of enum kernel_size. */
enum { MEASURED_SIZES = KERNEL_K + 1, OP = MEASURED_SIZES, DTYPE, US, COLUMNS };

static const char *measured_kernels_column_name(size_t column)
{
    static const char *const others[] = {"op", "dtype", "us", NULL};
    return column < MEASURED_SIZES ? kernel_sizes[column] : others[column - MEASURED_SIZES];
}

static const char *measured_op(size_t index)
{
    return index <= KERNEL_PROMPT ? kernel_op_names[index] : NULL;
}

struct measured_table {
    struct csv_reader reader;
    size_t at[COLUMNS]; /* the field of each column */
    size_t fields;      /* of each line */
    uint64_t bytes;     /* read so far */
};

/* ---- the first line ------------------------------------------------------------------- */

/* The field that holds the column; an error if there is none or several. */
static bool measured_kernels_find_column(struct measured_table *table, size_t column,
                                         struct error *why)
{
    const struct csv_reader *reader = &table->reader;
    const char *names[CSV_FIELDS_MOST + 1], *name = measured_kernels_column_name(column);
    size_t found = 0;
    for (size_t i = 0; i < table->fields; i++) {
        names[i] = reader->fields[i];
        if (strcmp(reader->fields[i], name) == 0) {
            table->at[column] = i;
            found++;
        }
    }
    names[table->fields] = NULL;
    if (found == 1) {
        return true;
    }
    error_set(why, reader->path, reader->line, "%s column '%s'",
              found == 0 ? "no" : "more than one", name);
    error_expect(why, "op, dtype, batch, context, q_heads, kv_heads, head_dim, m, n, k, us, each "
                      "once, in any order");
    return error_nearest(why, found == 0 ? name_nearest_of(name, names) : NULL);
}

/* Read a line into `text`; false without an error at the end. */
static bool next_line(struct measured_table *table, bool *more, struct error *why)
{
    struct csv_reader *reader = &table->reader;
    if (!csv_reader_next(reader, more, why)) {
        return false;
    }
    table->bytes += strlen(reader->text) + 1;
    if (table->bytes > MOST_BYTES) {
        error_set(why, reader->path, reader->line, "the file is too large");
        return error_expect(why, "at most 1 GiB");
    }
    return true;
}

static bool measured_kernels_read_head(struct measured_table *table, struct error *why)
{
    bool more;
    if (!next_line(table, &more, why)) {
        return false;
    }
    if (!more) {
        error_set(why, table->reader.path, 0, "is empty");
        return error_expect(why, "a line that names the columns, then a line for each kernel");
    }
    if (!csv_reader_split_any(&table->reader, &table->fields, why)) {
        return false;
    }
    for (size_t column = 0; column < COLUMNS; column++) {
        if (!measured_kernels_find_column(table, column, why)) {
            return false;
        }
    }
    return true;
}

/* ---- a row ---------------------------------------------------------------------------- */

static const char *field(const struct measured_table *table, size_t column)
{
    return table->reader.fields[table->at[column]];
}

static bool measured_kernels_read_size(const struct measured_table *table,
                                       struct measured_kernel *out, size_t column,
                                       struct error *why)
{
    const struct csv_reader *reader = &table->reader;
    const char *text = field(table, column), *op = kernel_op_names[out->shape.op];
    uint64_t size = 0;
    if (text[0] == '\0') {
        error_set(why, reader->path, reader->line, "'%s' is empty",
                  measured_kernels_column_name(column));
        return error_expect(why, "a whole number: '%s' has this size", op);
    }
    if (!units_parse_whole(text, UNIT_COUNT, KERNEL_MOST_SIZE, reader->path, reader->line,
                           measured_kernels_column_name(column), &size, why)) {
        return false;
    }
    if (size == 0) {
        error_set(why, reader->path, reader->line, "'%s' is 0",
                  measured_kernels_column_name(column));
        return error_expect(why, "at least 1");
    }
    out->shape.size[column] = (double)size;
    return true;
}

static bool measured_kernels_read_sizes(const struct measured_table *table,
                                        struct measured_kernel *out, struct error *why)
{
    for (size_t column = 0; column < MEASURED_SIZES; column++) {
        bool has = (kernel_ops[out->shape.op].sizes >> column & 1) != 0;
        if (has && !measured_kernels_read_size(table, out, column, why)) {
            return false;
        }
    }
    return kernel_shape_check(&out->shape, table->reader.path, table->reader.line, why);
}

static bool measured_kernels_read_time(const struct measured_table *table,
                                       struct measured_kernel *out, struct error *why)
{
    const struct csv_reader *reader = &table->reader;
    struct quantity time;
    if (quantity_parse(field(table, US), &time) && time.unit == UNIT_COUNT &&
        time.value >= LEAST_US && time.value <= MOST_US) {
        out->us = time.value;
        return true;
    }
    error_set(why, reader->path, reader->line, "'us' is '%.60s'", field(table, US));
    return error_expect(why, "a time in microseconds, from %g to %g", LEAST_US, MOST_US);
}

static bool measured_kernels_read_row(struct measured_table *table, struct measured_kernel *out,
                                      struct error *why)
{
    struct csv_reader *reader = &table->reader;
    *out = (struct measured_kernel){.line = reader->line};
    if (!csv_reader_split(reader, table->fields, why)) {
        return false;
    }
    int op = name_find(field(table, OP), measured_op, "op", reader->path, reader->line, why);
    if (op < 0) {
        return false;
    }
    out->shape.op = (enum kernel_op)op;
    return kernel_shape_type(&out->shape, field(table, DTYPE), reader->path, reader->line, why) &&
           measured_kernels_read_sizes(table, out, why) &&
           measured_kernels_read_time(table, out, why);
}

/* ---- the file ------------------------------------------------------------------------- */

static bool measured_kernels_read_rows(struct measured_table *table, measured_kernel_take take,
                                       void *context, struct error *why)
{
    struct measured_kernel kernel;
    uint64_t rows = 0;
    bool more = true;
    while (more) {
        if (!next_line(table, &more, why)) {
            return false;
        }
        if (table->reader.text[0] == '\0') {
            continue; /* a blank line, or the end */
        }
        if (!measured_kernels_read_row(table, &kernel, why) || !take(&kernel, context, why)) {
            return false;
        }
        rows++;
    }
    if (rows == 0) {
        error_set(why, table->reader.path, 0, "holds no kernel");
        return error_expect(why, "a line for each kernel below the line that names the columns");
    }
    return true;
}

/* A plain file that is too large fails before it is read. */
static bool measured_kernels_check_file(const struct csv_reader *reader, struct error *why)
{
    struct stat status;
    if (fstat(fileno(reader->file), &status) != 0) {
        return error_set(why, reader->path, 0, "cannot be read: %s", strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return error_set(why, reader->path, 0, "is a directory, not a CSV file");
    }
    if (S_ISREG(status.st_mode) && (uint64_t)status.st_size > MOST_BYTES) {
        error_set(why, reader->path, 0, "the file is too large");
        return error_expect(why, "at most 1 GiB");
    }
    return true;
}

bool measured_kernels_read(const char *path, measured_kernel_take take, void *context,
                           struct error *why)
{
    struct measured_table *table = array_zeroed(1, sizeof *table, why);
    if (table == NULL || !csv_reader_open(&table->reader, path, why)) {
        free(table);
        return false;
    }
    bool ok = measured_kernels_check_file(&table->reader, why) &&
              measured_kernels_read_head(table, why) &&
              measured_kernels_read_rows(table, take, context, why);
    csv_reader_close(&table->reader);
    free(table);
    return ok;
}
