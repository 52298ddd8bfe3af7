#include "study/kernels/kernel_errors.h"

#include "core/array.h"
#include "core/name.h"
#include "trace/csv/csv.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW_ROWS 128
#define SHORT_ROWS 1024
#define WARM_L2S 2 /* KV of this many times the L2 is read from HBM */
#define LEAST_US 1e-3
#define MOST_US 1e9
#define MOST_ROWS 10000000

const char *const kernel_class_names[KERNEL_CLASSES] = {"warm", "cold",  "few",
                                                        "many", "short", "long"};

enum kernel_op kernel_class_op(enum kernel_class class)
{
    return class <= CLASS_COLD   ? KERNEL_ATTENTION
           : class <= CLASS_MANY ? KERNEL_PRODUCT
                                 : KERNEL_PROMPT;
}

static enum kernel_class kernel_class_of(const struct profile *profile,
                                         const struct kernel_shape *shape)
{
    struct trust unused = {.basis = BASIS_MEASURED};
    double rows = shape->size[KERNEL_M];
    if (shape->op != KERNEL_ATTENTION) {
        return shape->op == KERNEL_PRODUCT ? (rows <= FEW_ROWS ? CLASS_FEW : CLASS_MANY)
               : rows <= SHORT_ROWS        ? CLASS_SHORT
                                           : CLASS_LONG;
    }
    return profile_states(profile, CURVE_GPU_L2) &&
                   kernel_shape_kv_bytes(shape) <
                       WARM_L2S * profile_value(profile, CURVE_GPU_L2, 0, &unused)
               ? CLASS_WARM
               : CLASS_COLD;
}

/* ---- the file ---- */

/* The columns are the sizes of ops that can be measured, and these. */
enum { OP = KERNEL_MEASURED_SIZES, DTYPE, US, COLUMNS };

struct measured_table {
    struct csv_reader reader;
    const char *names[COLUMNS];
    size_t at[COLUMNS]; /* the field of each column */
    size_t fields;      /* of each line */
};

static const char *measured_op(size_t index)
{
    return index < KERNEL_MEASURED ? kernel_op_names[index] : NULL;
}

/* The field that holds the column; an error if there is none or several. */
static bool find_measured_column(struct measured_table *table, size_t column, struct error *why)
{
    const struct csv_reader *reader = &table->reader;
    const char *fields[CSV_FIELDS_MOST + 1] = {NULL}, *name = table->names[column];
    size_t found = 0;
    for (size_t i = 0; i < table->fields; i++) {
        fields[i] = reader->fields[i];
        if (strcmp(fields[i], name) == 0) {
            table->at[column] = i;
            found++;
        }
    }
    if (found == 1) {
        return true;
    }
    error_set(why, reader->path, reader->line, "%s column '%s'",
              found == 0 ? "no" : "more than one", name);
    error_expect(why, "op, dtype, batch, context, q_heads, kv_heads, head_dim, m, n, k, us, each "
                      "once, in any order");
    return error_nearest(why, found == 0 ? name_nearest_of(name, fields) : NULL);
}

/* Find the columns once, in the first line. */
static bool read_measured_head(struct measured_table *table, struct error *why)
{
    bool more;
    if (!csv_reader_next(&table->reader, &more, why)) {
        return false;
    }
    if (!more) {
        error_set(why, table->reader.path, 0, "is empty");
        return error_expect(why, "a line that names the columns, then a line for each kernel");
    }
    memcpy(table->names, kernel_sizes, OP * sizeof *kernel_sizes);
    table->names[OP] = "op";
    table->names[DTYPE] = "dtype";
    table->names[US] = "us";
    bool ok = csv_reader_split_any(&table->reader, &table->fields, why);
    for (size_t column = 0; ok && column < COLUMNS; column++) {
        ok = find_measured_column(table, column, why);
    }
    return ok;
}

static const char *measured_field(const struct measured_table *table, size_t column)
{
    return table->reader.fields[table->at[column]];
}

static bool read_measured_row(struct measured_table *table, struct kernel_shape *shape, double *us,
                              struct error *why)
{
    struct csv_reader *reader = &table->reader;
    struct quantity time;
    if (!csv_reader_split(reader, table->fields, why)) {
        return false;
    }
    int op =
        name_find(measured_field(table, OP), measured_op, "op", reader->path, reader->line, why);
    struct kernel_text text = {.op = (enum kernel_op)op,
                               .dtype = measured_field(table, DTYPE),
                               .names = kernel_sizes,
                               .file = reader->path,
                               .line = reader->line};
    for (size_t size = 0; size < OP; size++) {
        text.size[size] = measured_field(table, size);
    }
    if (op < 0 || !kernel_shape_read(&text, shape, why)) {
        return false;
    }
    if (quantity_parse(measured_field(table, US), &time) && time.unit == UNIT_COUNT &&
        time.value >= LEAST_US && time.value <= MOST_US) {
        *us = time.value;
        return true;
    }
    error_set(why, reader->path, reader->line, "'us' is '%.60s'", measured_field(table, US));
    return error_expect(why, "a time in microseconds, from %g to %g", LEAST_US, MOST_US);
}

/* ---- judging ---- */

static bool judge_measured_kernel(const struct profile *profile, const struct kernel_shape *shape,
                                  double us, int line, struct kernel_errors *out, struct error *why)
{
    struct kernel_class_errors *class = &out->classes[kernel_class_of(profile, shape)];
    if (!kernel_shape_require(profile, shape, why) ||
        !array_reserve(&class->errors, &class->capacity, class->count + 1, sizeof *class->errors,
                       why)) {
        return false;
    }
    double error = kernel_shape_time(profile, shape).ns / 1e3 / us - 1;
    if (class->count == 0 || fabs(error) > fabs(class->worst)) {
        class->worst = error;
        class->worst_line = line;
    }
    class->errors[class->count++] = error;
    return true;
}

static bool judge_measured_rows(struct measured_table *table, const struct profile *profile,
                                struct kernel_errors *out, struct error *why)
{
    struct kernel_shape shape;
    uint64_t rows = 0;
    double us = 0;
    bool more = true;
    while (more) {
        if (!csv_reader_next(&table->reader, &more, why)) {
            return false;
        }
        if (table->reader.text[0] == '\0') {
            continue; /* a blank line, or the end */
        }
        if (!read_measured_row(table, &shape, &us, why) ||
            !judge_measured_kernel(profile, &shape, us, table->reader.line, out, why)) {
            return false;
        }
        if (++rows > MOST_ROWS) {
            return error_set(why, table->reader.path, 0, "has more than %d rows", MOST_ROWS);
        }
    }
    if (rows == 0) {
        error_set(why, table->reader.path, 0, "holds no kernel");
        return error_expect(why, "a line for each kernel below the line that names the columns");
    }
    return true;
}

/* Sorts the errors, then leaves their absolute values in their place. */
static void kernel_errors_sum_up(struct kernel_class_errors *class)
{
    gsl_sort(class->errors, 1, class->count);
    class->median = gsl_stats_median_from_sorted_data(class->errors, 1, class->count);
    for (size_t i = 0; i < class->count; i++) {
        class->errors[i] = fabs(class->errors[i]);
    }
    gsl_sort(class->errors, 1, class->count);
    class->median_abs = gsl_stats_median_from_sorted_data(class->errors, 1, class->count);
    class->p90_abs = gsl_stats_quantile_from_sorted_data(class->errors, 1, class->count, 0.9);
}

bool kernel_errors_judge(const struct profile *profile, const char *path, struct kernel_errors *out,
                         struct error *why)
{
    *out = (struct kernel_errors){.classes = {{.errors = NULL}}};
    struct measured_table *table = array_zeroed(1, sizeof *table, why);
    if (table == NULL || !csv_reader_open(&table->reader, path, why)) {
        free(table);
        return false;
    }
    bool ok = read_measured_head(table, why) && judge_measured_rows(table, profile, out, why);
    csv_reader_close(&table->reader);
    free(table);
    if (!ok) {
        kernel_errors_release(out);
    }
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        if (out->classes[i].count > 0) {
            kernel_errors_sum_up(&out->classes[i]);
        }
    }
    return ok;
}

void kernel_errors_release(struct kernel_errors *errors)
{
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        free(errors->classes[i].errors);
        errors->classes[i] = (struct kernel_class_errors){.errors = NULL};
    }
}
