/* `spillway kernels`: what a machine's profile says one kernel takes, its limit, and the figures behind it.
 * Bytes and FLOPs are counted as in model/operators.c: queries, activations and outputs are bf16. */
#include "cli/frame/arguments.h"
#include "core/text.h"
#include "decode/cost/attention.h"
#include "tables/frame.h"

#include <math.h>
#include <string.h>

#define BIT(value) (1U << (value))
#define MOST_SIZE 1000000000000 /* of one size */

enum { LATENT = 512, ROPE = 64 }; /* DeepSeek-V2, arXiv:2405.04434, table of its configuration */

/* The options from --batch to --gpus are the sizes of a kernel. */
enum { OP, BATCH, CONTEXT, HEADS, DIM, M, N, K, EXPERTS, BYTES, GPUS, DTYPE, JSON };

enum kernel_op {
    ATTENTION,
    PRODUCT,
    PROMPT,
    MLA,
    EXPERT_PRODUCTS,
    TOPK,
    TOPK_FUSED,
    ALLREDUCE,
    COPY,
    OPS
};

static const char *const kernel_op_names[OPS + 1] = {
    "attention", "product", "prompt", "mla", "experts", "topk", "topk-fused", "allreduce", "copy",
};

static const struct command_option options[] = {
    [OP] = {"--op", "OP", "the kernel", .values = kernel_op_names, .required = true},
    [BATCH] = {"--batch", "N", "attention, mla, prompt: sequences"},
    [CONTEXT] = {"--context", "TOKENS",
                 "attention, mla, prompt: tokens that each sequence attends to, such as 64K"},
    [HEADS] = {"--heads", "Q/KV",
               "attention, mla, prompt: query heads and KV heads, such as 32/8, 128/1"},
    [DIM] = {"--dim", "N", "attention, prompt: values of a head"},
    [M] = {"--m", "N", "product, topk, topk-fused: rows; experts, prompt: rows of each"},
    [N] = {"--n", "N",
           "product, experts: columns of the result; topk, topk-fused: scores of a row, "
           "such as 128K"},
    [K] = {"--k", "N", "product, experts: columns of the rows"},
    [EXPERTS] = {"--experts", "N", "experts that have rows"},
    [BYTES] = {"--bytes", "SIZE", "allreduce, copy: such as 16MiB"},
    [GPUS] = {"--gpus", "N", "allreduce: how many GPUs (default: all of the node)"},
    [DTYPE] = {"--dtype", "TYPE",
               "type of the KV or of the weights: bf16, fp8; of weights also int4, "
               "mxfp4, nvfp4 (default: bf16)"},
    [JSON] = {"--json", NULL, "print a JSON object"},
    {.name = NULL},
};

/* ---- the kernel that is asked about ---- */

#define ATTENTION_SIZES (BIT(BATCH) | BIT(CONTEXT) | BIT(HEADS) | BIT(DIM))
#define PRODUCT_SIZES (BIT(M) | BIT(N) | BIT(K))
#define PRODUCT_TYPES                                                                              \
    (BIT(DTYPE_BF16) | BIT(DTYPE_FP8) | BIT(DTYPE_INT4) | BIT(DTYPE_MXFP4) |                       \
     BIT(DTYPE_MXFP4_FP8) | BIT(DTYPE_NVFP4))

static const struct {
    const char *what;
    uint32_t sizes;  /* a bit for each option that it needs; --gpus may be left out */
    uint32_t dtypes; /* a bit for each type that its data may have; 0: it has no type */
} ops[OPS] = {
    [ATTENTION] = {"decode attention; the type is that of the KV", ATTENTION_SIZES,
                   BIT(DTYPE_BF16) | BIT(DTYPE_FP8)},
    [PRODUCT] = {"m rows times n x k weights; the type is that of the weights", PRODUCT_SIZES,
                 PRODUCT_TYPES},
    [PROMPT] = {"attention of the last m tokens of each prompt of a batch",
                ATTENTION_SIZES | BIT(M), BIT(DTYPE_BF16)},
    [MLA] = {"decode attention over DeepSeek's latents; the type is theirs",
             ATTENTION_SIZES & ~BIT(DIM), BIT(DTYPE_BF16) | BIT(DTYPE_FP8)},
    [EXPERT_PRODUCTS] = {"m rows of each expert times its n x k weights, in one kernel",
                         PRODUCT_SIZES | BIT(EXPERTS), PRODUCT_TYPES},
    [TOPK] = {"a sort that selects from m rows of n scores", BIT(M) | BIT(N), 0},
    [TOPK_FUSED] = {"one kernel that selects from m rows of n scores", BIT(M) | BIT(N), 0},
    [ALLREDUCE] = {"all-reduce among GPUs of a node", BIT(BYTES) | BIT(GPUS), 0},
    [COPY] = {"copy from pinned host memory to the GPU", BIT(BYTES), 0},
};

struct shape {
    enum kernel_op op;
    enum dtype dtype;
    double size[GPUS + 1]; /* by option, at least 1; 0: the op has none, or all GPUs of the node */
    double kv_heads;       /* of --heads, whose size is that of the query heads */
};

static bool parse_size(const char *text, int option, double *out, struct error *why)
{
    bool tokens = option == CONTEXT || option == M || option == N || option == K;
    enum unit unit = option == BYTES ? UNIT_BYTES : tokens ? UNIT_TOKENS : UNIT_COUNT;
    uint64_t value;
    if (!units_parse_whole(text, unit, MOST_SIZE, NULL, 0, options[option].name, &value, why)) {
        return false;
    }
    *out = (double)value;
    return value > 0 || error_usage(why, NULL, 0, "'%s' is 0", options[option].name);
}

/* "32/8" is two sizes. */
static bool parse_heads(const char *text, struct shape *out, struct error *why)
{
    char queries[32];
    const char *slash = strchr(text, '/');
    if (slash == NULL || slash - text >= (int)sizeof queries) {
        error_usage(why, NULL, 0, "'--heads' is '%.60s'", text);
        return error_expect(why, "query heads and KV heads, such as 32/8");
    }
    snprintf(queries, sizeof queries, "%.*s", (int)(slash - text), text);
    return parse_size(queries, HEADS, &out->size[HEADS], why) &&
           parse_size(slash + 1, HEADS, &out->kv_heads, why);
}

static bool read_size(const struct arguments *arguments, int size, struct shape *out,
                      struct error *why)
{
    const char *text = arguments_text(arguments, size), *op = kernel_op_names[out->op];
    bool has = (ops[out->op].sizes & BIT(size)) != 0;
    if (text == NULL) {
        return !has || size == GPUS ||
               error_usage(why, NULL, 0, "'%s' needs '%s'", op, options[size].name);
    }
    if (!has) {
        return error_usage(why, NULL, 0, "'%s' does not apply to '%s'", options[size].name, op);
    }
    return size == HEADS ? parse_heads(text, out, why)
                         : parse_size(text, size, &out->size[size], why);
}

/* Sizes that contradict each other. */
static bool check_sizes(const struct shape *shape, struct error *why)
{
    double queries = shape->size[HEADS], kv = shape->kv_heads;
    const char *fault = shape->op == MLA && kv != 1 ? "all query heads share 1 KV head of latents"
                        : shape->size[GPUS] == 1    ? "an all-reduce needs 2 GPUs or more"
                        : kv > 0 && fmod(queries, kv) != 0
                            ? "query heads are no multiple of the KV heads"
                        : shape->op == PROMPT && shape->size[M] > shape->size[CONTEXT]
                            ? "a prompt has more rows than tokens"
                            : NULL;
    return fault == NULL || error_usage(why, NULL, 0, "%s", fault);
}

static bool shape_read(const struct arguments *arguments, struct shape *out, struct error *why)
{
    const char *op = arguments_text(arguments, OP), *type = arguments_text(arguments, DTYPE);
    *out = (struct shape){.op = (enum kernel_op)name_index(op, NAMES(kernel_op_names)),
                          .dtype = DTYPE_BF16};
    for (int size = BATCH; size <= GPUS; size++) {
        if (!read_size(arguments, size, out, why)) {
            return false;
        }
    }
    return check_sizes(out, why) &&
           (type == NULL || (dtype_find(type, "--dtype", 0, &out->dtype, why) &&
                             ((ops[out->op].dtypes & BIT(out->dtype)) != 0 ||
                              error_usage(why, NULL, 0, "'%s' has no type '%s'", op, type))));
}

/* ---- its time ---- */

/* Bytes of `values` values with their scales. */
static double kernel_bytes(enum dtype dtype, double values)
{
    enum { MANY = 128 * 32 }; /* whole groups of every type */
    return values * (double)dtype_bytes(dtype, MANY) / MANY;
}

/* Of decode attention, over K and V or over latents. */
static struct kernel attention_time(const struct profile *profile, const struct shape *shape)
{
    const double *size = shape->size;
    bool latent = shape->op == MLA;
    double token = latent ? LATENT + ROPE : 2 * shape->kv_heads * size[DIM];
    double ends = size[HEADS] * (latent ? 2 * LATENT + ROPE : 2 * size[DIM]); /* queries, outputs */
    const struct attention_work work = {
        .bytes = kernel_bytes(shape->dtype, size[BATCH] * size[CONTEXT] * token) +
                 kernel_bytes(DTYPE_BF16, size[BATCH] * ends),
        .flops = 2 * size[BATCH] * size[CONTEXT] * ends,
        .rows = size[HEADS] / shape->kv_heads,
        .pairs = size[BATCH] * shape->kv_heads,
        .kv = shape->dtype,
        .multiplied = DTYPE_BF16,
        .latent = latent,
    };
    return kernel_attention(profile, &work);
}

static struct kernel prompt_time(const struct profile *profile, const struct shape *shape)
{
    const double *size = shape->size, batch = size[BATCH], rows = size[M];
    double tokens = size[CONTEXT];
    double mean = tokens - rows / 2, blocks = batch * ceil(rows / PROMPT_BLOCK);
    double token_bytes = kernel_bytes(DTYPE_BF16, 2 * size[DIM]);
    const struct prompt_attention work = {
        .heads = size[HEADS],
        .kv_heads = shape->kv_heads,
        .token_flops = 4 * size[DIM],
        .token_bytes = token_bytes,
        .flops = 4 * size[DIM] * size[HEADS] * batch * rows * mean,
        .bytes = batch * token_bytes * (tokens * shape->kv_heads + rows * size[HEADS]),
        .prompts = batch,
        .rows = batch * rows,
        .most_rows = rows,
        .blocks = blocks,
        .block_tokens = blocks * mean,
        .longest = tokens,
    };
    return kernel_prompt_attention(profile, &work);
}

static struct kernel product_time(const struct profile *profile, const struct shape *shape)
{
    double m = shape->size[M], n = shape->size[N], k = shape->size[K];
    double weights = kernel_bytes(shape->dtype, n * k);
    double data = kernel_bytes(DTYPE_BF16, m * (n + k));
    if (shape->op == EXPERT_PRODUCTS) {
        double experts = shape->size[EXPERTS];
        return kernel_experts(profile, 2 * experts * m * n * k, m, experts * weights,
                              experts * data, shape->dtype);
    }
    return kernel_product(profile, 2 * m * n * k, m, weights + data, shape->dtype);
}

static struct kernel shape_time(const struct profile *profile, const struct shape *shape)
{
    const double *size = shape->size;
    switch (shape->op) {
    case TOPK:
    case TOPK_FUSED:
        return kernel_select(profile, size[M], size[N], shape->op == TOPK_FUSED);
    case ALLREDUCE:
        return kernel_exchange(profile, EXCHANGE_ALL_REDUCE, (uint64_t)size[GPUS], size[BYTES]);
    case COPY:
        return kernel_copy(profile, size[BYTES]);
    default:
        break;
    }
    bool decodes = shape->op == ATTENTION || shape->op == MLA;
    struct kernel kernel = (decodes               ? attention_time
                            : shape->op == PROMPT ? prompt_time
                                                  : product_time)(profile, shape);
    return kernel_spaced(profile, kernel, 1, true);
}

/* The figures on which its time rests, in the order of curves.def; their number. */
static size_t shape_figures(const struct profile *profile, const struct shape *shape,
                            enum curve_id figures[CURVE_COUNT])
{
    struct profile dry = *profile;
    struct profile_reads reads = {.of = {false}};
    dry.reads = &reads;
    shape_time(&dry, shape);
    return profile_reads_list(&reads, figures);
}

static const char *const bounds[] = {
    [BOUND_FIXED] = "fixed time",
    [BOUND_HBM] = "bytes in HBM",
    [BOUND_FLOPS] = "FLOPs",
    [BOUND_LATENCY] = "latency of CTAs",
    [BOUND_LINK] = "bytes on the link",
    [BOUND_CURVE] = "one figure for the whole time",
};

enum { MACHINE, KERNEL, TIME, BOUND, BASIS, EXTRAPOLATED, FIGURES, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [MACHINE] = {.key = "hardware", .title = "machine"},
    [KERNEL] = {.key = "op", .title = "kernel"},
    [TIME] = {.key = "us", .title = "time", .unit = UNIT_DURATION},
    [BOUND] = {.key = "bound", .title = "bound"},
    [BASIS] = {.key = "basis", .title = "basis"},
    [EXTRAPOLATED] = {.key = "extrapolated", .title = "extrapolated", .unit = UNIT_FLAG},
    [FIGURES] = {.key = "figures", .title = "figures"},
};

static bool kernels_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    struct profile profile;
    struct shape shape;
    enum curve_id figures[CURVE_COUNT];
    char line[1024] = "";
    if (!shape_read(arguments, &shape, why) ||
        !profile_load_named(arguments_operands(arguments, &count)[0], &profile, why)) {
        return false;
    }
    size_t needed = shape_figures(&profile, &shape, figures);
    bool ok = profile_require(&profile, figures, needed, kernel_op_names[shape.op], why);
    struct frame *frame = ok ? frame_create(columns, COLUMNS, why) : NULL;
    if (frame != NULL) {
        struct kernel kernel = shape_time(&profile, &shape);
        for (size_t i = 0; i < needed; i++) {
            text_append(line, sizeof line, "%s%s (%s)", i > 0 ? ", " : "",
                        curve_kinds[figures[i]].name,
                        basis_names[profile.curves[figures[i]].basis]);
        }
        frame_row(frame);
        frame_text(frame, MACHINE, profile.name);
        frame_text(frame, KERNEL, kernel_op_names[shape.op]);
        frame_number(frame, TIME, kernel.ns / 1e3);
        frame_text(frame, BOUND, bounds[kernel.bound]);
        frame_text(frame, BASIS, basis_names[kernel.trust.basis]);
        frame_number(frame, EXTRAPOLATED, kernel.trust.extrapolated);
        frame_text(frame, FIGURES, line);
    }
    bool json = arguments_given(arguments, JSON);
    ok = frame != NULL && (json ? frame_print_json : frame_print_fields)(frame, stdout, why);
    frame_destroy(frame);
    profile_release(&profile);
    return ok;
}

static void print_ops(FILE *out)
{
    fputs("ops:\n", out);
    for (int op = 0; op < OPS; op++) {
        fprintf(out, "  %-10s  %s\n", kernel_op_names[op], ops[op].what);
    }
}

const struct command command_kernels = {
    .name = "kernels",
    .operands = "MACHINE",
    .summary = "print what a machine's profile says one kernel takes, and why",
    .example = "spillway kernels h100-sxm --op attention --batch 8 --context 64K --heads 32/8 "
               "--dim 128",
    .options = options,
    .more = print_ops,
    .run = kernels_run,
};
