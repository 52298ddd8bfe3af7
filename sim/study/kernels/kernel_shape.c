/* Bytes and FLOPs are counted as those of a model's operators are (model/operator.h). */
#include "study/kernels/kernel_shape.h"

#include "core/name.h"
#include "decode/cost/attention.h"

#include <math.h>
#include <string.h>

#define BIT(value) (1U << (value))
#define ATTENTION_SIZES                                                                            \
    (BIT(KERNEL_BATCH) | BIT(KERNEL_CONTEXT) | BIT(KERNEL_Q_HEADS) | BIT(KERNEL_KV_HEADS) |        \
     BIT(KERNEL_HEAD_DIM))
#define PRODUCT_SIZES (BIT(KERNEL_M) | BIT(KERNEL_N) | BIT(KERNEL_K))
#define PRODUCT_TYPES                                                                              \
    (BIT(DTYPE_BF16) | BIT(DTYPE_FP8) | BIT(DTYPE_INT4) | BIT(DTYPE_MXFP4) |                       \
     BIT(DTYPE_MXFP4_FP8) | BIT(DTYPE_NVFP4))

enum { LATENT = 512, ROPE = 64 }; /* DeepSeek-V2, arXiv:2405.04434, table of its configuration */

const char *const kernel_sizes[KERNEL_SIZES + 1] = {
    [KERNEL_BATCH] = "batch",
    [KERNEL_CONTEXT] = "context",
    [KERNEL_Q_HEADS] = "q_heads",
    [KERNEL_KV_HEADS] = "kv_heads",
    [KERNEL_HEAD_DIM] = "head_dim",
    [KERNEL_M] = "m",
    [KERNEL_N] = "n",
    [KERNEL_K] = "k",
    [KERNEL_EXPERT_COUNT] = "experts",
    [KERNEL_BYTES] = "bytes",
    [KERNEL_GPUS] = "gpus",
};

const char *const kernel_op_names[KERNEL_OPS + 1] = {
    [KERNEL_ATTENTION] = "attention",
    [KERNEL_PRODUCT] = "product",
    [KERNEL_PROMPT] = "prompt",
    [KERNEL_MLA] = "mla",
    [KERNEL_EXPERTS] = "experts",
    [KERNEL_TOPK] = "topk",
    [KERNEL_TOPK_FUSED] = "topk-fused",
    [KERNEL_ALLREDUCE] = "allreduce",
    [KERNEL_COPY] = "copy",
};

const struct kernel_op_kind kernel_ops[KERNEL_OPS] = {
    [KERNEL_ATTENTION] = {"decode attention; the type is that of the KV", ATTENTION_SIZES, 0,
                          BIT(DTYPE_BF16) | BIT(DTYPE_FP8)},
    [KERNEL_MLA] = {"decode attention over DeepSeek's latents; the type is theirs",
                    ATTENTION_SIZES & ~BIT(KERNEL_HEAD_DIM), 0, BIT(DTYPE_BF16) | BIT(DTYPE_FP8)},
    [KERNEL_PRODUCT] = {"m rows times n x k weights; the type is that of the weights",
                        PRODUCT_SIZES, 0, PRODUCT_TYPES},
    [KERNEL_PROMPT] = {"attention of the last m tokens of each prompt of a batch",
                       ATTENTION_SIZES | BIT(KERNEL_M), 0, BIT(DTYPE_BF16)},
    [KERNEL_EXPERTS] = {"m rows of each expert times its n x k weights, in one kernel",
                        PRODUCT_SIZES | BIT(KERNEL_EXPERT_COUNT), 0, PRODUCT_TYPES},
    [KERNEL_TOPK] = {"a sort that selects from m rows of n scores", BIT(KERNEL_M) | BIT(KERNEL_N),
                     0, 0},
    [KERNEL_TOPK_FUSED] = {"one kernel that selects from m rows of n scores",
                           BIT(KERNEL_M) | BIT(KERNEL_N), 0, 0},
    [KERNEL_ALLREDUCE] = {"all-reduce among GPUs of a node", BIT(KERNEL_BYTES) | BIT(KERNEL_GPUS),
                          BIT(KERNEL_GPUS), 0},
    [KERNEL_COPY] = {"copy from pinned host memory to the GPU", BIT(KERNEL_BYTES), 0, 0},
};

bool kernel_shape_type(struct kernel_shape *shape, const char *name, const char *file, int line,
                       struct error *why)
{
    const struct kernel_op_kind *kind = &kernel_ops[shape->op];
    const char *names[DTYPE_COUNT + 1];
    size_t count = 0;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        if ((kind->dtypes & BIT(dtype)) != 0) {
            if (strcmp(dtype_name((enum dtype)dtype), name) == 0) {
                shape->dtype = (enum dtype)dtype;
                return true;
            }
            names[count++] = dtype_name((enum dtype)dtype);
        }
    }
    names[count] = NULL;
    error_input(why, file, line, "'dtype' of '%s' is '%.60s'", kernel_op_names[shape->op], name);
    return name_expect(name, names, why);
}

bool kernel_shape_check(const struct kernel_shape *shape, const char *file, int line,
                        struct error *why)
{
    double queries = shape->size[KERNEL_Q_HEADS], kv = shape->size[KERNEL_KV_HEADS];
    if (shape->op == KERNEL_MLA && kv != 1) {
        error_input(why, file, line, "%.0f KV heads of latents", kv);
        return error_expect(why, "1, which all query heads share");
    }
    if (shape->op == KERNEL_ALLREDUCE && shape->size[KERNEL_GPUS] == 1) {
        error_input(why, file, line, "an all-reduce of 1 GPU");
        return error_expect(why, "2 or more");
    }
    if (shape->op == KERNEL_PROMPT && shape->size[KERNEL_M] > shape->size[KERNEL_CONTEXT]) {
        error_input(why, file, line, "%.0f rows of a prompt of %.0f tokens", shape->size[KERNEL_M],
                    shape->size[KERNEL_CONTEXT]);
        return error_expect(why, "at most as many rows as tokens");
    }
    bool grouped = shape->op == KERNEL_ATTENTION || shape->op == KERNEL_PROMPT;
    if (!grouped || fmod(queries, kv) == 0) {
        return true;
    }
    error_input(why, file, line, "%.0f query heads share %.0f KV heads", queries, kv);
    return error_expect(why, "a multiple of the KV heads");
}

size_t kernel_shape_figures(const struct profile *profile, const struct kernel_shape *shape,
                            enum curve_id figures[CURVE_COUNT])
{
    struct profile dry = *profile;
    struct profile_reads reads = {.of = {false}};
    dry.reads = &reads;
    kernel_shape_time(&dry, shape);
    return profile_reads_list(&reads, figures);
}

bool kernel_shape_require(const struct profile *profile, const struct kernel_shape *shape,
                          struct error *why)
{
    enum curve_id figures[CURVE_COUNT];
    size_t count = kernel_shape_figures(profile, shape, figures);
    return profile_require(profile, figures, count, kernel_op_names[shape->op], why);
}

/* Bytes of `values` values with their scales. */
static double kernel_shape_bytes_of(enum dtype dtype, double values)
{
    enum { MANY = 128 * 32 }; /* whole groups of every type */
    return values * (double)dtype_bytes(dtype, MANY) / MANY;
}

double kernel_shape_kv_bytes(const struct kernel_shape *shape)
{
    const double *size = shape->size;
    if (shape->op == KERNEL_MLA) {
        return kernel_shape_bytes_of(shape->dtype,
                                     size[KERNEL_BATCH] * size[KERNEL_CONTEXT] * (LATENT + ROPE));
    }
    return kernel_shape_bytes_of(shape->dtype, 2 * size[KERNEL_BATCH] * size[KERNEL_CONTEXT] *
                                                   size[KERNEL_KV_HEADS] * size[KERNEL_HEAD_DIM]);
}

static struct kernel mla_time(const struct profile *profile, const struct kernel_shape *shape)
{
    const double *size = shape->size;
    double values = size[KERNEL_Q_HEADS] * (2 * LATENT + ROPE); /* of queries and outputs */
    const struct attention_work work = {
        .bytes = kernel_shape_kv_bytes(shape) +
                 kernel_shape_bytes_of(DTYPE_BF16, size[KERNEL_BATCH] * values),
        .flops = 2 * size[KERNEL_BATCH] * size[KERNEL_CONTEXT] * values,
        .rows = size[KERNEL_Q_HEADS],
        .pairs = size[KERNEL_BATCH],
        .kv = shape->dtype,
        .multiplied = DTYPE_BF16,
        .latent = true,
    };
    return kernel_attention(profile, &work);
}

static struct kernel attention_time(const struct profile *profile, const struct kernel_shape *shape)
{
    const double *size = shape->size;
    double query = size[KERNEL_Q_HEADS] * size[KERNEL_HEAD_DIM];
    const struct attention_work work = {
        .bytes = kernel_shape_kv_bytes(shape) +
                 kernel_shape_bytes_of(DTYPE_BF16, 2 * size[KERNEL_BATCH] * query),
        .flops = 4 * size[KERNEL_BATCH] * size[KERNEL_CONTEXT] * query,
        .rows = size[KERNEL_Q_HEADS] / size[KERNEL_KV_HEADS],
        .pairs = size[KERNEL_BATCH] * size[KERNEL_KV_HEADS],
        .kv = shape->dtype,
        .multiplied = DTYPE_BF16,
    };
    return kernel_attention(profile, &work);
}

static struct kernel prompt_time(const struct profile *profile, const struct kernel_shape *shape)
{
    const double *size = shape->size, batch = size[KERNEL_BATCH], rows = size[KERNEL_M];
    double tokens = fmax(rows, size[KERNEL_CONTEXT]); /* a chart begins below them */
    double mean = tokens - rows / 2, blocks = batch * ceil(rows / PROMPT_BLOCK);
    double token_bytes = kernel_shape_bytes_of(DTYPE_BF16, 2 * size[KERNEL_HEAD_DIM]);
    const struct prompt_attention work = {
        .heads = size[KERNEL_Q_HEADS],
        .kv_heads = size[KERNEL_KV_HEADS],
        .token_flops = 4 * size[KERNEL_HEAD_DIM],
        .token_bytes = token_bytes,
        .flops = 4 * size[KERNEL_HEAD_DIM] * size[KERNEL_Q_HEADS] * batch * rows * mean,
        .bytes =
            batch * token_bytes * (tokens * size[KERNEL_KV_HEADS] + rows * size[KERNEL_Q_HEADS]),
        .prompts = batch,
        .rows = batch * rows,
        .most_rows = rows,
        .blocks = blocks,
        .block_tokens = blocks * mean,
        .longest = tokens,
    };
    return kernel_prompt_attention(profile, &work);
}

static struct kernel product_time(const struct profile *profile, const struct kernel_shape *shape)
{
    double m = shape->size[KERNEL_M], n = shape->size[KERNEL_N], k = shape->size[KERNEL_K];
    double weights = kernel_shape_bytes_of(shape->dtype, n * k);
    double data = kernel_shape_bytes_of(DTYPE_BF16, m * (n + k));
    if (shape->op == KERNEL_EXPERTS) {
        double experts = shape->size[KERNEL_EXPERT_COUNT];
        return kernel_experts(profile, 2 * experts * m * n * k, m, experts * weights,
                              experts * data, shape->dtype);
    }
    return kernel_product(profile, 2 * m * n * k, m, weights + data, shape->dtype);
}

struct kernel kernel_shape_time(const struct profile *profile, const struct kernel_shape *shape)
{
    switch (shape->op) {
    case KERNEL_ATTENTION:
        return kernel_spaced(profile, attention_time(profile, shape), 1, true);
    case KERNEL_PROMPT:
        return kernel_spaced(profile, prompt_time(profile, shape), 1, true);
    case KERNEL_MLA:
        return kernel_spaced(profile, mla_time(profile, shape), 1, true);
    case KERNEL_PRODUCT:
    case KERNEL_EXPERTS:
        return kernel_spaced(profile, product_time(profile, shape), 1, true);
    case KERNEL_TOPK:
    case KERNEL_TOPK_FUSED:
        return kernel_select(profile, shape->size[KERNEL_M], shape->size[KERNEL_N],
                             shape->op == KERNEL_TOPK_FUSED);
    case KERNEL_ALLREDUCE:
        return kernel_exchange(profile, EXCHANGE_ALL_REDUCE, (uint64_t)shape->size[KERNEL_GPUS],
                               shape->size[KERNEL_BYTES]);
    default:
        return kernel_copy(profile, shape->size[KERNEL_BYTES]);
    }
}

/* The kernel's size along the axis of a curve. */
static double size_along(const char *axis, const struct profile *profile,
                         const struct kernel_shape *shape)
{
    const double *size = shape->size;
    if (strcmp(axis, "rows") == 0) {
        return shape->op == KERNEL_ATTENTION || shape->op == KERNEL_MLA
                   ? size[KERNEL_Q_HEADS] / size[KERNEL_KV_HEADS]
                   : size[KERNEL_M];
    }
    if (strcmp(axis, "scores") == 0) {
        return size[KERNEL_N];
    }
    if (strcmp(axis, "elements") == 0) {
        return size[KERNEL_M] * size[KERNEL_N];
    }
    return shape->op == KERNEL_ALLREDUCE ? size[KERNEL_BYTES]
                                         : kernel_shape_time(profile, shape).bytes;
}

double kernel_shape_figure(const struct profile *profile, const struct kernel_shape *shape,
                           enum curve_id figure)
{
    struct trust unused = {.basis = BASIS_MEASURED};
    double at = size_along(curve_kinds[figure].axis, profile, shape);
    return profile_value(profile, figure, at, &unused);
}
