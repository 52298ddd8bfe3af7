/* One kernel that somebody asks about or has measured: its op, the type of its data, its sizes. The
 * ops are the rows of kernel_ops[]. Queries, activations and outputs are bf16, as in a run. */
#pragma once

#include "core/units.h"
#include "decode/cost/kernel_time.h"

enum kernel_op {
    KERNEL_ATTENTION,
    KERNEL_PRODUCT,
    KERNEL_PROMPT,
    KERNEL_MEASURED, /* the ops before this one can be measured */
    KERNEL_MLA = KERNEL_MEASURED,
    KERNEL_EXPERTS,
    KERNEL_TOPK,
    KERNEL_TOPK_FUSED,
    KERNEL_ALLREDUCE,
    KERNEL_COPY,
    KERNEL_OPS
};

enum kernel_size {
    KERNEL_BATCH,
    KERNEL_CONTEXT,
    KERNEL_Q_HEADS,
    KERNEL_KV_HEADS,
    KERNEL_HEAD_DIM,
    KERNEL_M,
    KERNEL_N,
    KERNEL_K,
    KERNEL_MEASURED_SIZES, /* those of ops that can be measured come before this one */
    KERNEL_EXPERT_COUNT = KERNEL_MEASURED_SIZES,
    KERNEL_BYTES,
    KERNEL_GPUS, /* may be left out; it is then 0, which means all of the node */
    KERNEL_SIZES
};
extern const char *const kernel_sizes[KERNEL_SIZES]; /* "batch", ... */

struct kernel_op_kind {
    const char *what;
    uint32_t sizes;  /* a bit for each size that it has */
    uint32_t dtypes; /* a bit for each type that its data may have; 0: it has no type */
};
extern const struct kernel_op_kind kernel_ops[KERNEL_OPS];
extern const char *const kernel_op_names[KERNEL_OPS + 1]; /* "attention", ...; ends with NULL */

struct kernel_shape {
    enum kernel_op op;
    enum dtype dtype;
    double size[KERNEL_SIZES]; /* those that the op has are at least 1 */
};

/* A shape as somebody has written it: in options, or in a line of a file. */
struct kernel_text {
    enum kernel_op op;
    const char *dtype;              /* NULL: bf16 */
    const char *size[KERNEL_SIZES]; /* NULL or "": not given */
    const char *const *names;       /* [KERNEL_SIZES] of the sizes, as the user has them */
    bool strict;                    /* a size that the op does not have is an error */
    const char *file;               /* with `line`, as of error_input() */
    int line;
};

bool kernel_shape_read(const struct kernel_text *text, struct kernel_shape *out, struct error *why);

/* The figures on which its time rests, in the order of curves.def; their number. */
size_t kernel_shape_figures(const struct profile *profile, const struct kernel_shape *shape,
                            enum curve_id figures[CURVE_COUNT]);

/* Fail unless the profile states these figures. */
bool kernel_shape_require(const struct profile *profile, const struct kernel_shape *shape,
                          struct error *why);

/* Its time in a graph. The profile states its figures. */
struct kernel kernel_shape_time(const struct profile *profile, const struct kernel_shape *shape);

/* The value of one of its figures, read at the kernel's size. */
double kernel_shape_figure(const struct profile *profile, const struct kernel_shape *shape,
                           enum curve_id figure);

/* Bytes of K and V that attention reads. */
double kernel_shape_kv_bytes(const struct kernel_shape *shape);
