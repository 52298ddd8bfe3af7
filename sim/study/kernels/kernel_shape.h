/* One kernel that somebody asks about or has measured: its op, the type of its data, its sizes.
 *
 *   attention  decode attention: each sequence of a batch attends to `context` tokens; q_heads is a
 *              multiple of kv_heads; the type is that of the KV
 *   mla        the same over DeepSeek's latents, 512 values and 64 of rope that all q_heads read;
 *              kv_heads is 1
 *   product    m rows times weights of n x k; the type is that of the weights
 *   prompt     attention of the last m tokens of each of a batch of prompts of `context` tokens, in
 *              one call; the type is that of the KV
 *   experts    such a product of each of `experts` experts, m rows each, in one kernel
 *   topk       selection from m rows of n scores by a sort
 *   topk-fused the same by one kernel that keeps a row's best in shared memory
 *   allreduce  of `bytes`, among `gpus` GPUs of a node, or all of them
 *   copy       of `bytes`, from pinned host memory to the GPU
 *
 * Queries, activations and outputs are bf16, as in a run.
 */
#pragma once

#include "decode/cost/kernels.h"

enum kernel_op {
    KERNEL_ATTENTION,
    KERNEL_PRODUCT,
    KERNEL_PROMPT,
    KERNEL_MLA,
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
    KERNEL_EXPERT_COUNT,
    KERNEL_BYTES,
    KERNEL_GPUS,
    KERNEL_SIZES
};
extern const char *const kernel_sizes[KERNEL_SIZES + 1]; /* "batch", ...; ends with NULL */

#define KERNEL_MOST_SIZE 1000000000000 /* of one size */

struct kernel_op_kind {
    const char *what;
    uint32_t sizes;  /* a bit for each size that it has */
    uint32_t may;    /* a bit for each of these that may be left out; it is then 0 */
    uint32_t dtypes; /* a bit for each type that its data may have; 0: it has no type */
};
extern const struct kernel_op_kind kernel_ops[KERNEL_OPS];
extern const char *const kernel_op_names[KERNEL_OPS + 1]; /* "attention", ...; ends with NULL */

struct kernel_shape {
    enum kernel_op op;
    enum dtype dtype;
    double size[KERNEL_SIZES]; /* those that the op must have are at least 1 */
};

/* Set the type `name` of the shape, whose op is set. `file` and `line` as in error_input(). */
bool kernel_shape_type(struct kernel_shape *shape, const char *name, const char *file, int line,
                       struct error *why);

/* Fail unless the query heads are a multiple of the KV heads; latents have one KV head, and a
 * prompt has at least as many tokens as rows. */
bool kernel_shape_check(const struct kernel_shape *shape, const char *file, int line,
                        struct error *why);

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
