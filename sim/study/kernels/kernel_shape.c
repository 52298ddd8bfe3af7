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

#define MOST_SIZE 1000000000000 /* of one size */

enum { LATENT = 512, ROPE = 64 }; /* DeepSeek-V2, arXiv:2405.04434, table of its configuration */

const char *const kernel_sizes[KERNEL_SIZES] = {
    "batch", "context", "q_heads", "kv_heads", "head_dim", "m",
    "n",     "k",       "experts", "bytes",    "gpus",
};

const char *const kernel_op_names[KERNEL_OPS + 1] = {
    "attention", "product", "prompt", "mla", "experts", "topk", "topk-fused", "allreduce", "copy",
};

const struct kernel_op_kind kernel_ops[KERNEL_OPS] = {
    [KERNEL_ATTENTION] = {"decode attention; the type is that of the KV", ATTENTION_SIZES,
                          BIT(DTYPE_BF16) | BIT(DTYPE_FP8)},
    [KERNEL_PRODUCT] = {"m rows times n x k weights; the type is that of the weights",
                        PRODUCT_SIZES, PRODUCT_TYPES},
    [KERNEL_PROMPT] = {"attention of the last m tokens of each prompt of a batch",
                       ATTENTION_SIZES | BIT(KERNEL_M), BIT(DTYPE_BF16)},
    [KERNEL_MLA] = {"decode attention over DeepSeek's latents; the type is theirs",
                    ATTENTION_SIZES & ~BIT(KERNEL_HEAD_DIM), BIT(DTYPE_BF16) | BIT(DTYPE_FP8)},
    [KERNEL_EXPERTS] = {"m rows of each expert times its n x k weights, in one kernel",
                        PRODUCT_SIZES | BIT(KERNEL_EXPERT_COUNT), PRODUCT_TYPES},
    [KERNEL_TOPK] = {"a sort that selects from m rows of n scores", BIT(KERNEL_M) | BIT(KERNEL_N)},
    [KERNEL_TOPK_FUSED] = {"one kernel that selects from m rows of n scores",
                           BIT(KERNEL_M) | BIT(KERNEL_N)},
    [KERNEL_ALLREDUCE] = {"all-reduce among GPUs of a node", BIT(KERNEL_BYTES) | BIT(KERNEL_GPUS)},
    [KERNEL_COPY] = {"copy from pinned host memory to the GPU", BIT(KERNEL_BYTES)},
};

static bool has_size(enum kernel_op op, int size)
{
    return (kernel_ops[op].sizes & BIT(size)) != 0;
}

/* A size that the op lacks or does not have. Both numbers of heads may be one option. */
static bool refuse_size(const struct kernel_text *text, const char *a, const char *verb,
                        const char *b, struct error *why)
{
    char list[128] = "";
    for (int i = 0; i < KERNEL_GPUS; i++) {
        if (has_size(text->op, i)) {
            name_list_add(list, sizeof list, text->names[i]);
        }
    }
    error_input(why, text->file, text->line, "'%s' %s '%s'", a, verb, b);
    return error_expect(why, "%s%s", list,
                        kernel_ops[text->op].dtypes != 0 ? "; maybe a type" : "");
}

static bool read_size(const struct kernel_text *text, int size, struct kernel_shape *out,
                      struct error *why)
{
    static const enum unit units[KERNEL_SIZES] = {[KERNEL_CONTEXT] = UNIT_TOKENS,
                                                  [KERNEL_M] = UNIT_TOKENS,
                                                  [KERNEL_N] = UNIT_TOKENS,
                                                  [KERNEL_K] = UNIT_TOKENS,
                                                  [KERNEL_BYTES] = UNIT_BYTES};
    const char *given = text->size[size], *name = text->names[size];
    bool has = has_size(text->op, size);
    uint64_t value;
    if (given == NULL || given[0] == '\0') {
        return !has || size == KERNEL_GPUS ||
               refuse_size(text, kernel_op_names[text->op], "needs", name, why);
    }
    if (!has) {
        return !text->strict ||
               refuse_size(text, name, "does not apply to", kernel_op_names[text->op], why);
    }
    enum unit unit = units[size] != UNIT_TEXT ? units[size] : UNIT_COUNT;
    if (!units_parse_whole(given, unit, MOST_SIZE, text->file, text->line, name, &value, why)) {
        return false;
    }
    if (value == 0) {
        error_input(why, text->file, text->line, "'%s' is 0", name);
        return error_expect(why, "at least 1");
    }
    out->size[size] = (double)value;
    return true;
}

static bool read_type(const struct kernel_text *text, struct kernel_shape *out, struct error *why)
{
    const char *names[DTYPE_COUNT + 1], *op = kernel_op_names[text->op];
    size_t count = 0;
    out->dtype = DTYPE_BF16;
    if (text->dtype == NULL) {
        return true;
    }
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        if ((kernel_ops[text->op].dtypes & BIT(dtype)) != 0) {
            names[count++] = dtype_name((enum dtype)dtype);
            if (strcmp(names[count - 1], text->dtype) == 0) {
                out->dtype = (enum dtype)dtype;
                return true;
            }
        }
    }
    names[count] = NULL;
    if (count == 0) {
        return error_input(why, text->file, text->line, "'%s' has no type", op);
    }
    error_input(why, text->file, text->line, "'dtype' of '%s' is '%.60s'", op, text->dtype);
    return name_expect(text->dtype, names, why);
}

/* The latents of MLA are one KV head. */
static bool check_sizes(const struct kernel_text *text, const struct kernel_shape *shape,
                        struct error *why)
{
    double queries = shape->size[KERNEL_Q_HEADS], kv = shape->size[KERNEL_KV_HEADS];
    double rows = shape->size[KERNEL_M], tokens = shape->size[KERNEL_CONTEXT];
    if (shape->op == KERNEL_MLA && kv != 1) {
        error_input(why, text->file, text->line, "%.0f KV heads of latents", kv);
        return error_expect(why, "1, which all query heads share");
    }
    if (shape->op == KERNEL_ALLREDUCE && shape->size[KERNEL_GPUS] == 1) {
        error_input(why, text->file, text->line, "an all-reduce of 1 GPU");
        return error_expect(why, "2 or more");
    }
    if (shape->op == KERNEL_PROMPT && rows > tokens) {
        error_input(why, text->file, text->line, "%.0f rows of a prompt of %.0f tokens", rows,
                    tokens);
        return error_expect(why, "at most as many rows as tokens");
    }
    if (has_size(shape->op, KERNEL_Q_HEADS) && fmod(queries, kv) != 0) {
        error_input(why, text->file, text->line, "%.0f query heads share %.0f KV heads", queries,
                    kv);
        return error_expect(why, "a multiple of the KV heads");
    }
    return true;
}

bool kernel_shape_read(const struct kernel_text *text, struct kernel_shape *out, struct error *why)
{
    *out = (struct kernel_shape){.op = text->op};
    for (int i = 0; i < KERNEL_SIZES; i++) {
        if (!read_size(text, i, out, why)) {
            return false;
        }
    }
    return check_sizes(text, out, why) && read_type(text, out, why);
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
    double tokens = size[KERNEL_CONTEXT];
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
    const double *size = shape->size;
    switch (shape->op) {
    case KERNEL_TOPK:
    case KERNEL_TOPK_FUSED:
        return kernel_select(profile, size[KERNEL_M], size[KERNEL_N],
                             shape->op == KERNEL_TOPK_FUSED);
    case KERNEL_ALLREDUCE:
        return kernel_exchange(profile, EXCHANGE_ALL_REDUCE, (uint64_t)size[KERNEL_GPUS],
                               size[KERNEL_BYTES]);
    case KERNEL_COPY:
        return kernel_copy(profile, size[KERNEL_BYTES]);
    default:
        break;
    }
    struct kernel kernel = shape->op == KERNEL_ATTENTION ? attention_time(profile, shape)
                           : shape->op == KERNEL_PROMPT  ? prompt_time(profile, shape)
                           : shape->op == KERNEL_MLA     ? mla_time(profile, shape)
                                                         : product_time(profile, shape);
    return kernel_spaced(profile, kernel, 1, true);
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
