/* `spillway kernels`: what a machine's profile says one kernel takes, and how far it is from
 * measured kernels. */
#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "machine/observed.h"
#include "predict/result/note.h"
#include "study/kernels/kernel_errors.h"
#include "tables/frame.h"

#include <stdlib.h>
#include <string.h>

/* The sizes come in the order of enum kernel_size, with both numbers of heads in one option. */
enum { OP, BATCH, CONTEXT, HEADS, DIM, M, N, K, EXPERTS, BYTES, GPUS, DTYPE, MEASURED, JSON };

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
    [N] = {.name = "--n",
           .argument = "N",
           .summary = "product, experts: columns of the result; topk, topk-fused: scores of a row, "
                      "such as 128K"},
    [K] = {.name = "--k", .argument = "N", .summary = "product, experts: columns of the rows"},
    [EXPERTS] = {.name = "--experts", .argument = "N", .summary = "experts that have rows"},
    [BYTES] = {.name = "--bytes", .argument = "SIZE", .summary = "allreduce, copy: such as 16MiB"},
    [GPUS] = {.name = "--gpus",
              .argument = "N",
              .summary = "allreduce: how many GPUs (default: all of the node)"},
    [DTYPE] = {.name = "--dtype",
               .argument = "TYPE",
               .summary = "type of the KV or of the weights: bf16, fp8; of weights also int4, "
                          "mxfp4, nvfp4 (default: bf16)"},
    [MEASURED] = {.name = "--measured",
                  .argument = "FILE.csv",
                  .summary = "instead of one kernel: how far the profile is from measured times"},
    [JSON] = {.name = "--json",
              .summary = "print a JSON object; with --measured one for each op and size class"},
    {.name = NULL},
};

/* ---- one kernel ---- */

/* "32/8" is two sizes; the queries are copied to `queries`. */
static bool read_heads(const char *text, char queries[32], const char *sizes[KERNEL_SIZES],
                       struct error *why)
{
    const char *slash = strchr(text, '/');
    if (slash == NULL || slash - text >= 32) {
        error_usage(why, NULL, 0, "'--heads' is '%.60s'", text);
        return error_expect(why, "query heads and KV heads, such as 32/8");
    }
    snprintf(queries, 32, "%.*s", (int)(slash - text), text);
    sizes[KERNEL_Q_HEADS] = queries;
    sizes[KERNEL_KV_HEADS] = slash + 1;
    return true;
}

static bool read_kernel(const struct arguments *arguments, struct kernel_shape *shape,
                        struct error *why)
{
    const char *op = arguments_text(arguments, OP), *heads = arguments_text(arguments, HEADS);
    const char *names[KERNEL_SIZES];
    char queries[32];
    struct kernel_text text = {
        .dtype = arguments_text(arguments, DTYPE), .names = names, .strict = true};
    while (strcmp(kernel_op_names[text.op], op) != 0) {
        text.op++;
    }
    for (int size = 0; size < KERNEL_SIZES; size++) {
        int option = size < KERNEL_KV_HEADS ? BATCH + size : HEADS + size - KERNEL_KV_HEADS;
        names[size] = options[option].name;
        text.size[size] = option != HEADS ? arguments_text(arguments, option) : NULL;
    }
    return (heads == NULL || read_heads(heads, queries, text.size, why)) &&
           kernel_shape_read(&text, shape, why);
}

enum { TEXT = 64 };

enum { FIGURE, VALUE, BASIS, SOURCE, FIGURE_COLUMNS };

static const struct frame_column figure_columns[FIGURE_COLUMNS] = {
    [FIGURE] = {.title = "figure"},
    [VALUE] = {.title = "value", .unit = UNIT_COUNT},
    [BASIS] = {.title = "basis"},
    [SOURCE] = {.title = "source", .wrap = true},
};

static bool print_figures(const struct profile *profile, const struct kernel_shape *shape,
                          struct error *why)
{
    enum curve_id figures[CURVE_COUNT];
    size_t count = kernel_shape_figures(profile, shape, figures);
    struct frame *frame = frame_create(figure_columns, FIGURE_COLUMNS, why);
    for (size_t i = 0; i < count; i++) {
        char text[TEXT];
        frame_row(frame);
        frame_text(frame, FIGURE, curve_kinds[figures[i]].name);
        frame_text(frame, VALUE,
                   units_format(kernel_shape_figure(profile, shape, figures[i]),
                                curve_kinds[figures[i]].unit, text, sizeof text));
        frame_text(frame, BASIS, basis_name(profile->curves[figures[i]].basis));
        frame_text(frame, SOURCE, profile->curves[figures[i]].source);
    }
    bool ok = frame_print(frame, NULL, stdout, why);
    frame_destroy(frame);
    return ok;
}

static const struct {
    const char *name, *what;
} bounds[] = {
    [BOUND_FIXED] = {"fixed", "its fixed time, which does not depend on its size"},
    [BOUND_HBM] = {"hbm", "its bytes in HBM"},
    [BOUND_FLOPS] = {"flops", "its FLOPs"},
    [BOUND_LATENCY] = {"latency", "the latency of its CTAs"},
    [BOUND_LINK] = {"link", "its bytes on the link"},
    [BOUND_CURVE] = {"curve", "one figure, which holds the time as a whole"},
};

static void kernels_print_note(struct note note)
{
    char words[NOTE_WORDS];
    putchar('\n');
    table_line("note: ", note_write(&note, words, sizeof words), stdout);
}

static void print_kernel_notes(const struct profile *profile, const struct kernel_shape *shape)
{
    bool multiplies = shape->op == KERNEL_PRODUCT || shape->op == KERNEL_EXPERTS;
    const char *lacking = multiplies ? kernel_lacking_products(profile, shape->dtype) : NULL;
    const struct takeover *takeover = &profile->takeover;
    if (lacking != NULL) {
        kernels_print_note(
            note_make(NOTE_no_products, note_text(lacking), note_text(dtype_name(shape->dtype))));
    }
    if (takeover->figures > 0) {
        kernels_print_note(note_make(NOTE_gpu_taken_over, note_whole(takeover->figures),
                                     note_text(takeover->from), note_flag(takeover->assumed),
                                     note_flag(takeover->capability)));
    }
}

static bool print_kernel(const struct profile *profile, const struct kernel_shape *shape,
                         struct error *why)
{
    struct kernel kernel = kernel_shape_time(profile, shape);
    char sizes[4 * TEXT] = "", time[TEXT];
    for (int i = 0; i < KERNEL_SIZES; i++) {
        if (shape->size[i] > 0) {
            text_append(sizes, sizeof sizes, "%s%s %.0f", sizes[0] != '\0' ? ", " : "",
                        kernel_sizes[i], shape->size[i]);
        }
    }
    if (kernel_ops[shape->op].dtypes != 0) {
        text_append(sizes, sizeof sizes, ", %s", dtype_name(shape->dtype));
    }
    printf("%s on %s: %s\n\n", kernel_op_names[shape->op], profile->name, sizes);
    printf("time   %s\n", units_format(kernel.ns, UNIT_NS, time, sizeof time));
    printf("bound  %s\n", bounds[kernel.bound].what);
    printf("basis  %s%s\n\n", basis_name(kernel.trust.basis),
           kernel.trust.extrapolated ? ", extrapolated past the end of a curve" : "");
    bool ok = print_figures(profile, shape, why);
    print_kernel_notes(profile, shape);
    return ok;
}

enum { DIGITS = 12 };

static void put_figure(const struct profile *profile, const struct kernel_shape *shape,
                       enum curve_id id, struct json_writer *json)
{
    enum unit unit = curve_kinds[id].unit;
    json_begin(json, NULL, '{');
    json_put_text(json, "name", curve_kinds[id].name);
    json_put_number(json, "value", kernel_shape_figure(profile, shape, id), DIGITS);
    json_put_text(json, "unit", unit == UNIT_NS ? "ns" : observed_unit(unit));
    json_put_text(json, "basis", basis_name(profile->curves[id].basis));
    json_put_text(json, "source", profile->curves[id].source);
    json_end(json, '}');
}

static bool print_kernel_json(const struct profile *profile, const struct kernel_shape *shape,
                              struct error *why)
{
    struct kernel kernel = kernel_shape_time(profile, shape);
    struct json_writer json = {.out = stdout};
    enum curve_id figures[CURVE_COUNT];
    size_t count = kernel_shape_figures(profile, shape, figures);
    json_begin(&json, NULL, '{');
    json_put_text(&json, "hardware", profile->name);
    json_put_text(&json, "op", kernel_op_names[shape->op]);
    if (kernel_ops[shape->op].dtypes != 0) {
        json_put_text(&json, "dtype", dtype_name(shape->dtype));
    }
    for (int i = 0; i < KERNEL_SIZES; i++) {
        if (shape->size[i] > 0) {
            json_put(&json, kernel_sizes[i], "%.0f", shape->size[i]);
        }
    }
    json_put_number(&json, "us", kernel.ns / 1e3, DIGITS);
    json_put_text(&json, "bound", bounds[kernel.bound].name);
    json_put_text(&json, "basis", basis_name(kernel.trust.basis));
    json_put(&json, "extrapolated", kernel.trust.extrapolated ? "true" : "false");
    json_begin(&json, "figures", '[');
    for (size_t i = 0; i < count; i++) {
        put_figure(profile, shape, figures[i], &json);
    }
    json_end(&json, ']');
    json_end(&json, '}');
    putchar('\n');
    return !json.bad || error_set(why, profile->name, 0, "a text is not UTF-8");
}

/* ---- measured kernels ---- */

enum { CLASS_OP, SIZE, ROWS, MEDIAN, MEDIAN_ABS, P90_ABS, WORST, LINE, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [CLASS_OP] = {.key = "op", .title = "op"},
    [SIZE] = {.key = "size_class", .title = "size"},
    [ROWS] = {.key = "rows", .title = "rows", .unit = UNIT_WHOLE},
    [MEDIAN] = {.key = "median_error", .title = "median error", .unit = UNIT_CHANGE},
    [MEDIAN_ABS] = {.key = "median_abs_error",
                    .title = "median |error|",
                    .unit = UNIT_PERCENT_TENTHS},
    [P90_ABS] = {.key = "p90_abs_error",
                 .title = "90 % of |errors| within",
                 .unit = UNIT_PERCENT_TENTHS},
    [WORST] = {.key = "worst_error", .title = "worst", .unit = UNIT_CHANGE},
    [LINE] = {.key = "worst_line", .title = "on line", .unit = UNIT_WHOLE},
};

/* A row for each class that has rows. */
static struct frame *kernel_errors_frame(const struct kernel_errors *errors, struct error *why)
{
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        const struct kernel_class_errors *class = &errors->classes[i];
        if (class->count > 0) {
            frame_row(frame);
            frame_text(frame, CLASS_OP, kernel_op_names[kernel_class_op((enum kernel_class)i)]);
            frame_text(frame, SIZE, kernel_class_names[i]);
            frame_number(frame, ROWS, (double)class->count);
            frame_number(frame, MEDIAN, class->median);
            frame_number(frame, MEDIAN_ABS, class->median_abs);
            frame_number(frame, P90_ABS, class->p90_abs);
            frame_number(frame, WORST, class->worst);
            frame_number(frame, LINE, class->worst_line);
        }
    }
    return frame;
}

static void print_errors_notes(const struct profile *profile, const struct kernel_errors *errors)
{
    struct trust unused = {.basis = BASIS_MEASURED};
    char l2[TEXT], text[4 * TEXT];
    table_line("error:  ", "predicted over measured, less 1", stdout);
    if (errors->classes[CLASS_WARM].count + errors->classes[CLASS_COLD].count == 0) {
        return;
    }
    if (!profile_states(profile, CURVE_GPU_L2)) {
        table_line("note:   ", "the profile does not state gpu.l2, so all attention counts as cold",
                   stdout);
        return;
    }
    units_format(profile_value(profile, CURVE_GPU_L2, 0, &unused), UNIT_BYTES, l2, sizeof l2);
    snprintf(text, sizeof text,
             "KV below twice the L2 (%s); where a benchmark repeats one kernel, part of it comes "
             "from that cache, and the measured time is a lower bound",
             l2);
    table_line("warm:   ", text, stdout);
}

static bool print_measured(const struct profile *profile, const char *path, bool json,
                           struct error *why)
{
    struct kernel_errors errors;
    if (!kernel_errors_judge(profile, path, &errors, why)) {
        return false;
    }
    struct frame *frame = kernel_errors_frame(&errors, why);
    bool ok = json ? frame_print_json(frame, stdout, why) : frame_print(frame, NULL, stdout, why);
    if (ok && !json) {
        putchar('\n');
        print_errors_notes(profile, &errors);
    }
    frame_destroy(frame);
    kernel_errors_release(&errors);
    return ok;
}

/* ---- the command ---- */

/* A file says itself which kernels it holds. */
static bool check_request(const struct arguments *arguments, struct error *why)
{
    bool measured = arguments_given(arguments, MEASURED);
    if (!measured && !arguments_given(arguments, OP)) {
        error_usage(why, NULL, 0, "neither '--op' nor '--measured' is given");
        return error_expect(why, "one of them: a kernel, or a file of measured kernels");
    }
    for (int option = OP; measured && option < MEASURED; option++) {
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
    struct profile profile;
    struct kernel_shape shape;
    const char *path = arguments_text(arguments, MEASURED);
    bool json = arguments_given(arguments, JSON);
    if (!check_request(arguments, why) || (path == NULL && !read_kernel(arguments, &shape, why)) ||
        !profile_load_named(arguments_operands(arguments, &count)[0], &profile, why)) {
        return false;
    }
    bool ok;
    if (path != NULL) {
        ok = print_measured(&profile, path, json, why);
    } else {
        ok = kernel_shape_require(&profile, &shape, why) &&
             (json ? print_kernel_json : print_kernel)(&profile, &shape, why);
    }
    profile_release(&profile);
    return ok;
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
