/* The answer about one kernel, and the table of errors against measured ones. Private to this
 * folder. */
#pragma once

#include "study/kernels/kernel_errors.h"
#include "study/kernels/kernel_shape.h"

/* Print the kernel's time, what bounds it, its basis, and the figures on which it rests; or the
 * same as one JSON object. */
bool kernel_answer_print(const struct profile *profile, const struct kernel_shape *shape, bool json,
                         struct error *why);

/* Its sizes and type: "m 16, n 4096, k 4096, fp8". */
void kernel_answer_sizes(const struct kernel_shape *shape, char *text, size_t size);

struct kernel_bound_kind {
    const char *name, *what;
};
enum { KERNEL_BOUNDS = BOUND_CURVE + 1 };
extern const struct kernel_bound_kind kernel_bounds[KERNEL_BOUNDS]; /* by enum kernel_bound */

/* Draw the kernel's time over its main size into the file at `path`. */
bool kernel_chart_save(const struct profile *profile, const struct kernel_shape *shape,
                       const char *path, struct error *why);

/* Print the errors by op and size, or a JSON object for each. */
bool kernel_errors_print(const struct profile *profile, const struct kernel_errors *errors,
                         bool json, struct error *why);
