/* How far a profile's times of kernels are from measured ones, by op and size. An error is the
 * predicted time over the measured one, less 1.
 *
 *   attention  warm    its KV is smaller than twice the L2: in a benchmark that repeats one kernel,
 *                      part of it comes from the cache, so a measured time is a lower bound
 *              cold    all other rows, and all rows if the profile does not state the L2
 *   product    few     up to 128 rows
 *              many    more
 *   prompt     short   up to 1024 rows of each prompt
 *              long    more
 *
 * The measured times are a CSV file. Its first line names the columns, in any order; others between
 * them are ignored. A size is empty, or anything, where the op does not have it; `us` is the time.
 *
 *   op,dtype,batch,context,q_heads,kv_heads,head_dim,m,n,k,us
 *   attention,fp8,8,65536,32,8,128,,,,312.5
 *   product,bf16,,,,,,16,4096,4096,14.1
 *   prompt,bf16,2,4096,32,8,128,1024,,,97.1
 */
#pragma once

#include "study/kernels/kernel_shape.h"

enum kernel_class {
    CLASS_WARM,
    CLASS_COLD,
    CLASS_FEW,
    CLASS_MANY,
    CLASS_SHORT,
    CLASS_LONG,
    KERNEL_CLASSES
};
extern const char *const kernel_class_names[KERNEL_CLASSES]; /* "warm" */
enum kernel_op kernel_class_op(enum kernel_class class);

struct kernel_class_errors {
    double *errors; /* of its rows, owned */
    size_t count, capacity;
    double median, median_abs, p90_abs; /* of the errors, and of their absolute values */
    double worst;                       /* the largest in absolute value, the first of equals */
    int worst_line;
};

struct kernel_errors {
    struct kernel_class_errors classes[KERNEL_CLASSES]; /* count 0: the file has no such row */
};

/* Judge the profile by the file at `path`. The first faulty row ends it, and so does a file without
 * rows. On failure `out` holds nothing. */
bool kernel_errors_judge(const struct profile *profile, const char *path, struct kernel_errors *out,
                         struct error *why);
void kernel_errors_release(struct kernel_errors *errors);
