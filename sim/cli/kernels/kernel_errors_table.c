/* Errors against measured kernels, a row or an object for each class that has rows. */
#include "tables/frame.h"
#include "core/units.h"
#include "cli/kernels/kernel_answer.h"

enum { TEXT = 64 };

enum { OP, SIZE, ROWS, MEDIAN, MEDIAN_ABS, P90_ABS, WORST, LINE, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [OP] = {.key = "op", .title = "op"},
    [SIZE] = {.key = "size_class", .title = "size"},
    [ROWS] = {.key = "rows", .title = "rows", .unit = UNIT_WHOLE},
    [MEDIAN] = {.key = "median_error", .title = "median error", .unit = UNIT_CHANGE},
    [MEDIAN_ABS] = {.key = "median_abs_error",
                    .title = "median |error|",
                    .unit = UNIT_PERCENT_TENTHS},
    [P90_ABS] = {.key = "p90_abs_error",
                 .title = "90 % of |errors| within",
                 .unit = UNIT_PERCENT_TENTHS},
    [WORST] = {.key = "worst_error", .title = "worst", .unit = UNIT_CHANGE},
    [LINE] = {.key = "worst_line", .title = "on line", .unit = UNIT_WHOLE},
};

static struct frame *errors_frame(const struct kernel_errors *errors, struct error *why)
{
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        const struct kernel_class_errors *class = &errors->classes[i];
        if (class->count > 0) {
            frame_row(frame);
            frame_text(frame, OP, kernel_op_names[kernel_classes[i].op]);
            frame_text(frame, SIZE, kernel_classes[i].name);
            frame_number(frame, ROWS, (double)class->count);
            frame_number(frame, MEDIAN, class->median);
            frame_number(frame, MEDIAN_ABS, class->median_abs);
            frame_number(frame, P90_ABS, class->p90_abs);
            frame_number(frame, WORST, class->worst);
            frame_number(frame, LINE, class->worst_line);
        }
    }
    return frame;
}

static void kernel_errors_print_notes(const struct profile *profile,
                                      const struct kernel_errors *errors)
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
                         bool json, struct error *why)
{
    struct frame *frame = errors_frame(errors, why);
    bool ok = json ? frame_print_json(frame, stdout, why) : frame_print(frame, NULL, stdout, why);
    if (ok && !json) {
        putchar('\n');
        kernel_errors_print_notes(profile, errors);
    }
    frame_destroy(frame);
    return ok;
}
