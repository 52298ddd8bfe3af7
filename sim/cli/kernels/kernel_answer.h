/* The answer about one kernel, and the table of errors against measured ones. Private to this
 * folder. */
#ifndef CLI_KERNELS_KERNEL_ANSWER_H
#define CLI_KERNELS_KERNEL_ANSWER_H

#include "study/kernels/kernel_errors.h"
#include "study/kernels/kernel_shape.h"

/* Print the kernel's time, what bounds it, its basis, and the figures on which it rests, or the
 * same as one JSON object. */
bool kernel_answer_print(const struct profile *profile, const struct kernel_shape *shape,
                         struct error *why);
bool kernel_answer_json(const struct profile *profile, const struct kernel_shape *shape,
                        struct error *why);

/* Print the errors by op and size, or a JSON object for each. */
bool kernel_errors_print(const struct profile *profile, const struct kernel_errors *errors,
                         struct error *why);
void kernel_errors_json(const struct kernel_errors *errors);

#endif
