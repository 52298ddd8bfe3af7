/* Errors against measured kernels, a row or an object for each class that has rows. */
#include "base/units.h"
#include "answer/table.h"
#include "cli/kernels/kernel_answer.h"

enum { TEXT = 64 };

static const struct table_column columns[] = {
    {.title = "op"},
    {.title = "size"},
    {.title = "rows", .right = true},
    {.title = "median error", .right = true},
    {.title = "median |error|", .right = true},
    {.title = "90 % of |errors| within", .right = true},
    {.title = "worst", .right = true},
    {.title = "on line", .right = true},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static bool add_class(struct table *table, const struct kernel_class_kind *kind,
                      const struct class_errors *class, struct error *why)
{
    char rows[TEXT], median[TEXT], median_abs[TEXT], p90_abs[TEXT], worst[TEXT], line[TEXT];
    snprintf(rows, sizeof rows, "%zu", class->count);
    snprintf(median, sizeof median, "%+.1f %%", 100 * class->median);
    snprintf(median_abs, sizeof median_abs, "%.1f %%", 100 * class->median_abs);
    snprintf(p90_abs, sizeof p90_abs, "%.1f %%", 100 * class->p90_abs);
    snprintf(worst, sizeof worst, "%+.1f %%", 100 * class->worst);
    snprintf(line, sizeof line, "%d", class->worst_line);
    const char *const texts[COLUMNS] = {
        kernel_op_names[kind->op], kind->name, rows, median, median_abs, p90_abs, worst, line};
    return table_add(table, texts, COLUMNS, why);
}

static void print_notes(const struct profile *profile, const struct kernel_errors *errors)
{
    table_line("error:  ", "predicted over measured, less 1", stdout);
    if (errors->classes[CLASS_WARM].count + errors->classes[CLASS_COLD].count == 0) {
        return;
    }
    if (!profile_states(profile, CURVE_GPU_L2)) {
        table_line("note:   ", "the profile does not state gpu.l2, so all attention counts as cold",
                   stdout);
        return;
    }
    struct trust unused = {.basis = BASIS_MEASURED};
    char l2[TEXT], text[4 * TEXT];
    units_format(profile_value(profile, CURVE_GPU_L2, 0, &unused), UNIT_BYTES, l2, sizeof l2);
    snprintf(text, sizeof text,
             "KV below twice the L2 (%s); where a benchmark repeats one kernel, part of it comes "
             "from that cache, and the measured time is a lower bound",
             l2);
    table_line("warm:   ", text, stdout);
}

bool kernel_errors_print(const struct profile *profile, const struct kernel_errors *errors,
                         struct error *why)
{
    struct table *table = table_create(columns, COLUMNS, why);
    bool ok = table != NULL;
    for (int i = 0; ok && i < KERNEL_CLASSES; i++) {
        const struct class_errors *class = &errors->classes[i];
        ok = class->count == 0 || add_class(table, &kernel_classes[i], class, why);
    }
    if (ok) {
        table_print(table, stdout);
        putchar('\n');
        print_notes(profile, errors);
    }
    table_destroy(table);
    return ok;
}

void kernel_errors_json(const struct kernel_errors *errors)
{
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        const struct class_errors *class = &errors->classes[i];
        if (class->count > 0) {
            printf("{\"op\":\"%s\",\"size_class\":\"%s\",\"rows\":%zu,\"median_error\":%.6g,"
                   "\"median_abs_error\":%.6g,\"p90_abs_error\":%.6g}\n",
                   kernel_op_names[kernel_classes[i].op], kernel_classes[i].name, class->count,
                   class->median, class->median_abs, class->p90_abs);
        }
    }
}
