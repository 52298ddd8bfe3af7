/* Times of kernels that somebody measured, as CSV. The first line names the columns, in any order:
 *
 *   op,dtype,batch,context,q_heads,kv_heads,head_dim,m,n,k,us
 *   attention,fp8,8,65536,32,8,128,,,,312.5
 *   product,bf16,,,,,,16,4096,4096,14.1
 *   prompt,bf16,2,4096,32,8,128,1024,,,97.1
 *
 * All of these columns are there; other columns are ignored. Sizes are whole numbers of at least 1,
 * empty (or anything) where the op does not have them; `us` is the time in microseconds.
 */
#pragma once

#include "study/kernels/kernel_shape.h"

struct measured_kernel {
    struct kernel_shape shape; /* of op attention, product or prompt */
    double us;
    int line;
};

typedef bool (*measured_kernel_take)(const struct measured_kernel *kernel, void *context,
                                     struct error *why);

/* Hand the rows of the file at `path` to `take`, one by one; the first error ends it: an unreadable
 * row, a file without rows or of over 1 GiB, or a false from `take`. Memory does not grow with the
 * file. */
bool measured_kernels_read(const char *path, measured_kernel_take take, void *context,
                           struct error *why);
