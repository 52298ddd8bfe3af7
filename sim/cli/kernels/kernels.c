/* `spillway kernels`: what a machine's profile says one kernel takes, and how far it is from
 * measured kernels. */
#include "core/units.h"
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/frame/drawing.h"
#include "cli/kernels/kernel_answer.h"

#include <stdlib.h>
#include <string.h>

enum { OP, BATCH, CONTEXT, HEADS, DIM, M, N, K, EXPERTS, BYTES, GPUS, DTYPE, PLOT, MEASURED, JSON };

static const struct command_option options[] = {
    [OP] = {.name = "--op", .argument = "OP", .summary = "the kernel", .values = kernel_op_names},
    [BATCH] = {.name = "--batch", .argument = "N", .summary = "attention, mla, prompt: sequences"},
    [CONTEXT] = {.name = "--context",
                 .argument = "TOKENS",
                 .summary =
                     "attention, mla, prompt: tokens that each sequence attends to, such as 64K"},
    [HEADS] = {.name = "--heads",
               .argument = "Q/KV",
               .summary = "attention, mla, prompt: query heads and KV heads, such as 32/8, 128/1"},
    [DIM] = {.name = "--dim", .argument = "N", .summary = "attention, prompt: values of a head"},
    [M] = {.name = "--m",
           .argument = "N",
           .summary = "product, topk, topk-fused: rows; experts, prompt: rows of each"},
    [N] =
        {.name = "--n",
         .argument = "N",
         .summary =
             "product, experts: columns of the result; topk, topk-fused: scores of a row, such as "
             "128K"},
    [K] = {.name = "--k", .argument = "N", .summary = "product, experts: columns of the rows"},
    [EXPERTS] = {.name = "--experts", .argument = "N", .summary = "experts that have rows"},
    [BYTES] = {.name = "--bytes", .argument = "SIZE", .summary = "allreduce, copy: such as 16MiB"},
    [GPUS] = {.name = "--gpus",
              .argument = "N",
              .summary = "allreduce: how many GPUs (default: all of the node)"},
    [DTYPE] =
        {.name = "--dtype",
         .argument = "TYPE",
         .summary =
             "type of the KV or of the weights: bf16, fp8; of weights also int4, mxfp4, nvfp4 "
             "(default: bf16)"},
    [PLOT] =
        {.name = "--plot",
         .argument = "FILE",
         .summary =
             "also draw the time over the size (of attention, mla and prompt the context, of "
             "products and experts m, of topk n); the suffix .svg, .png or .pdf sets the format"},
    [MEASURED] = {.name = "--measured",
                  .argument = "FILE.csv",
                  .summary = "instead of one kernel: how far the profile is from measured times"},
    [JSON] = {.name = "--json",
              .summary = "print a JSON object; with --measured one for each op and size class"},
    {.name = NULL},
};

/* ---- one kernel ----------------------------------------------------------------------- */

/* The options that state one size. */
static const struct {
    int option;
    enum kernel_size size;
    enum unit unit;
} size_options[] = {
    {BATCH, KERNEL_BATCH, UNIT_COUNT},
    {CONTEXT, KERNEL_CONTEXT, UNIT_TOKENS},
    {DIM, KERNEL_HEAD_DIM, UNIT_COUNT},
    {M, KERNEL_M, UNIT_TOKENS},
    {N, KERNEL_N, UNIT_TOKENS},
    {K, KERNEL_K, UNIT_TOKENS},
    {EXPERTS, KERNEL_EXPERT_COUNT, UNIT_COUNT},
    {BYTES, KERNEL_BYTES, UNIT_BYTES},
    {GPUS, KERNEL_GPUS, UNIT_COUNT},
};
enum { SIZE_OPTIONS = sizeof size_options / sizeof *size_options };

static bool has_size(const struct kernel_shape *shape, enum kernel_size size)
{
    return (kernel_ops[shape->op].sizes >> size & 1) != 0;
}

static bool must_have(const struct kernel_shape *shape, enum kernel_size size)
{
    return has_size(shape, size) && (kernel_ops[shape->op].may >> size & 1) == 0;
}

/* What an op needs, for a message. */
static bool expect_options(const struct kernel_shape *shape, struct error *why)
{
    char text[128] = "";
    size_t used = 0;
    for (int i = 0; i < SIZE_OPTIONS; i++) {
        if (must_have(shape, size_options[i].size)) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                                     options[size_options[i].option].name);
        }
    }
    return error_expect(why, "%s%s%s", text, has_size(shape, KERNEL_Q_HEADS) ? ", --heads" : "",
                        kernel_ops[shape->op].dtypes != 0 ? "; maybe --dtype" : "");
}

/* Is the option given if, and only if, the op has it? */
static bool check_option(const struct arguments *arguments, const struct kernel_shape *shape,
                         int option, bool has, struct error *why)
{
    const char *op = kernel_op_names[shape->op];
    if (arguments_given(arguments, option) == has) {
        return true;
    }
    if (has) {
        error_usage(why, NULL, 0, "'--op %s' needs '%s'", op, options[option].name);
    } else {
        error_usage(why, NULL, 0, "'%s' does not apply to '--op %s'", options[option].name, op);
    }
    return expect_options(shape, why);
}

static bool kernels_read_whole(const char *text, enum unit unit, const char *name, double *out,
                               struct error *why)
{
    uint64_t value = 0;
    if (!units_parse_whole(text, unit, KERNEL_MOST_SIZE, NULL, 0, name, &value, why)) {
        return false;
    }
    *out = (double)value;
    if (value == 0) {
        error_usage(why, NULL, 0, "'%s' is 0", name);
        return error_expect(why, "at least 1");
    }
    return true;
}

/* "32/8" */
static bool kernels_read_heads(const char *text, struct kernel_shape *shape, struct error *why)
{
    char queries[32];
    const char *slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : 0;
    if (slash == NULL || length >= sizeof queries) {
        error_usage(why, NULL, 0, "'--heads' is '%.60s'", text);
        return error_expect(why, "query heads and KV heads, such as 32/8");
    }
    memcpy(queries, text, length);
    queries[length] = '\0';
    return kernels_read_whole(queries, UNIT_COUNT, "--heads", &shape->size[KERNEL_Q_HEADS], why) &&
           kernels_read_whole(slash + 1, UNIT_COUNT, "--heads", &shape->size[KERNEL_KV_HEADS], why);
}

static bool read_type(const struct arguments *arguments, struct kernel_shape *shape,
                      struct error *why)
{
    const char *text = arguments_text(arguments, DTYPE);
    shape->dtype = DTYPE_BF16;
    return text == NULL ||
           (check_option(arguments, shape, DTYPE, kernel_ops[shape->op].dtypes != 0, why) &&
            kernel_shape_type(shape, text, NULL, 0, why));
}

static bool read_shape(const struct arguments *arguments, struct kernel_shape *shape,
                       struct error *why)
{
    const char *op = arguments_text(arguments, OP);
    *shape = (struct kernel_shape){.op = KERNEL_ATTENTION};
    while (strcmp(kernel_op_names[shape->op], op) != 0) {
        shape->op++;
    }
    for (int i = 0; i < SIZE_OPTIONS; i++) {
        int option = size_options[i].option;
        enum kernel_size size = size_options[i].size;
        const char *text = arguments_text(arguments, option);
        bool has = text != NULL ? has_size(shape, size) : must_have(shape, size);
        if (!check_option(arguments, shape, option, has, why) ||
            (text != NULL && !kernels_read_whole(text, size_options[i].unit, options[option].name,
                                                 &shape->size[size], why))) {
            return false;
        }
    }
    const char *heads = arguments_text(arguments, HEADS);
    return check_option(arguments, shape, HEADS, has_size(shape, KERNEL_Q_HEADS), why) &&
           (heads == NULL || kernels_read_heads(heads, shape, why)) &&
           kernel_shape_check(shape, NULL, 0, why) && read_type(arguments, shape, why);
}

/* ---- the command ---------------------------------------------------------------------- */

static bool kernels_run_one(const struct arguments *arguments, const char *machine,
                            struct error *why)
{
    struct kernel_shape shape;
    struct profile profile;
    const char *chart = arguments_text(arguments, PLOT);
    if ((chart != NULL && drawing_format(chart, why) == NULL) ||
        !read_shape(arguments, &shape, why) || !profile_load_named(machine, &profile, why)) {
        return false;
    }
    bool ok = kernel_shape_require(&profile, &shape, why) &&
              (chart == NULL || kernel_chart_save(&profile, &shape, chart, why)) &&
              kernel_answer_print(&profile, &shape, arguments_given(arguments, JSON), why);
    profile_release(&profile);
    return ok;
}

static bool run_measured(const struct arguments *arguments, const char *machine, const char *path,
                         struct error *why)
{
    struct profile profile;
    struct kernel_errors errors;
    if (!profile_load_named(machine, &profile, why)) {
        return false;
    }
    bool ok = kernel_errors_judge(&profile, path, &errors, why);
    if (ok) {
        ok = kernel_errors_print(&profile, &errors, arguments_given(arguments, JSON), why);
        kernel_errors_release(&errors);
    }
    profile_release(&profile);
    return ok;
}

/* A file says itself which kernels it holds. */
static bool check_alone(const struct arguments *arguments, struct error *why)
{
    for (int option = OP; option < MEASURED; option++) {
        if (arguments_given(arguments, option)) {
            return error_usage(why, NULL, 0, "'%s' does not go with '--measured'",
                               options[option].name);
        }
    }
    return true;
}

static bool kernels_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *machine = arguments_operands(arguments, &count)[0];
    const char *path = arguments_text(arguments, MEASURED);
    if (path != NULL) {
        return check_alone(arguments, why) && run_measured(arguments, machine, path, why);
    }
    if (!arguments_given(arguments, OP)) {
        error_usage(why, NULL, 0, "neither '--op' nor '--measured' is given");
        return error_expect(why, "one of them: a kernel, or a file of measured kernels");
    }
    return kernels_run_one(arguments, machine, why);
}

static void print_ops(FILE *out)
{
    fputs("ops:\n", out);
    for (int op = 0; op < KERNEL_OPS; op++) {
        fprintf(out, "  %-10s  %s\n", kernel_op_names[op], kernel_ops[op].what);
    }
    fputs("\nThe file of --measured begins with a line that names its columns, in any order:\n"
          "  op,dtype,batch,context,q_heads,kv_heads,head_dim,m,n,k,us\n"
          "A field is empty where it means nothing. Its ops are attention, product and prompt; us\n"
          "is the measured time. Other columns are ignored.\n",
          out);
}

const struct command command_kernels = {
    .name = "kernels",
    .operands = "MACHINE",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "print what a machine's profile says one kernel takes, and why",
    .example = "spillway kernels h100-sxm --op attention --batch 8 --context 64K --heads 32/8 "
               "--dim 128",
    .options = options,
    .more = print_ops,
    .run = kernels_run,
};
