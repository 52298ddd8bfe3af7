/* A line of the kernel's time over one of its sizes, by what bounds it, and a ring at the size that
 * was asked about. */
#include "cli/frame/drawing.h"
#include "cli/frame/output.h"
#include "cli/kernels/kernel_answer.h"

#include <math.h>

enum { POINTS = 129, SIZES = 256 };
#define SPAN 64.0 /* from the size over this to the size times this */

static const enum kernel_size axes[KERNEL_OPS] = {
    [KERNEL_ATTENTION] = KERNEL_CONTEXT, [KERNEL_MLA] = KERNEL_CONTEXT,
    [KERNEL_PRODUCT] = KERNEL_M,         [KERNEL_PROMPT] = KERNEL_CONTEXT,
    [KERNEL_EXPERTS] = KERNEL_M,         [KERNEL_TOPK] = KERNEL_N,
    [KERNEL_TOPK_FUSED] = KERNEL_N,      [KERNEL_ALLREDUCE] = KERNEL_BYTES,
    [KERNEL_COPY] = KERNEL_BYTES,
};

static void kernel_chart_write_point(const char *kind, const struct profile *profile,
                                     const struct kernel_shape *shape, FILE *rows)
{
    struct kernel kernel = kernel_shape_time(profile, shape);
    fprintf(rows, "%s\t%d\t%.9g\t%.9g\t0\t-\t-\n", kind, (int)kernel.bound + 1,
            shape->size[axes[shape->op]], kernel.ns / 1e3);
}

static void write_rows(const struct profile *profile, const struct kernel_shape *shape, FILE *rows)
{
    char sizes[SIZES];
    enum kernel_size axis = axes[shape->op];
    double asked = shape->size[axis], from = fmax(1, floor(asked / SPAN));
    kernel_answer_sizes(shape, sizes, sizeof sizes);
    fprintf(rows, "title\t0\t0\t0\t0\t%s on ", kernel_op_names[shape->op]);
    drawing_text(profile->name, rows);
    fprintf(rows, "\t-\nsource\t0\t0\t0\t0\tring: %s\t-\naxis\t0\t0\t0\t0\t%s\t-\n", sizes,
            kernel_sizes[axis]);
    for (int bound = 0; bound < KERNEL_BOUNDS; bound++) {
        fprintf(rows, "line\t%d\t0\t0\t0\t%s\t-\n", bound + 1, kernel_bounds[bound].name);
    }
    for (int i = 0; i < POINTS; i++) {
        struct kernel_shape at = *shape;
        at.size[axis] = round(from * pow(asked * SPAN / from, i / (POINTS - 1.0)));
        kernel_chart_write_point("point", profile, &at, rows);
    }
    kernel_chart_write_point("asked", profile, shape, rows);
}

bool kernel_chart_save(const struct profile *profile, const struct kernel_shape *shape,
                       const char *path, struct error *why)
{
    FILE *rows = drawing_rows(why);
    if (rows == NULL) {
        return false;
    }
    write_rows(profile, shape, rows);
    bool ok =
        output_flush(rows, "rows of a picture", why) && drawing_save("kernels", rows, path, why);
    fclose(rows);
    return ok;
}
