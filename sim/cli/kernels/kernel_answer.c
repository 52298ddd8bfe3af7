#include "cli/kernels/kernel_answer.h"

#include "tables/frame.h"
#include "core/text.h"
#include "machine/observed.h"
#include "predict/result/note.h"

enum { TEXT = 64, SIZES = 256 };

const struct kernel_bound_kind kernel_bounds[KERNEL_BOUNDS] = {
    [BOUND_FIXED] = {"fixed", "its fixed time, which does not depend on its size"},
    [BOUND_HBM] = {"hbm", "its bytes in HBM"},
    [BOUND_FLOPS] = {"flops", "its FLOPs"},
    [BOUND_LATENCY] = {"latency", "the latency of its CTAs"},
    [BOUND_LINK] = {"link", "its bytes on the link"},
    [BOUND_CURVE] = {"curve", "one figure, which holds the time as a whole"},
};

void kernel_answer_sizes(const struct kernel_shape *shape, char *text, size_t size)
{
    const struct kernel_op_kind *kind = &kernel_ops[shape->op];
    text[0] = '\0';
    for (int i = 0; i < KERNEL_SIZES; i++) {
        if ((kind->sizes >> i & 1) != 0 && shape->size[i] > 0) {
            text_append(text, size, "%s%s %.0f", text[0] != '\0' ? ", " : "", kernel_sizes[i],
                        shape->size[i]);
        }
    }
    if (kind->dtypes != 0) {
        text_append(text, size, ", %s", dtype_name(shape->dtype));
    }
}

/* ---- the figures on which it rests ---------------------------------------------------- */

enum { NAME, READ, VALUE, UNIT, BASIS, SOURCE, FIGURE_COLUMNS };

static const struct frame_column figure_columns[FIGURE_COLUMNS] = {
    [NAME] = {.key = "name", .title = "figure"},
    [READ] = {.title = "value", .unit = UNIT_COUNT},
    [VALUE] = {.key = "value", .unit = UNIT_COUNT},
    [UNIT] = {.key = "unit"},
    [BASIS] = {.key = "basis", .title = "basis"},
    [SOURCE] = {.key = "source", .title = "source", .wrap = true},
};

static struct frame *kernel_answer_figures_frame(const struct profile *profile,
                                                 const struct kernel_shape *shape,
                                                 struct error *why)
{
    enum curve_id figures[CURVE_COUNT];
    size_t count = kernel_shape_figures(profile, shape, figures);
    struct frame *frame = frame_create(figure_columns, FIGURE_COLUMNS, why);
    for (size_t i = 0; i < count; i++) {
        const struct curve *curve = &profile->curves[figures[i]];
        const struct curve_kind *kind = &curve_kinds[figures[i]];
        double value = kernel_shape_figure(profile, shape, figures[i]);
        char text[TEXT];
        frame_row(frame);
        frame_text(frame, NAME, kind->name);
        frame_text(frame, READ, units_format(value, kind->unit, text, sizeof text));
        frame_number(frame, VALUE, value);
        frame_text(frame, UNIT, kind->unit == UNIT_NS ? "ns" : observed_unit(kind->unit));
        frame_text(frame, BASIS, basis_name(curve->basis));
        frame_text(frame, SOURCE, curve->source);
    }
    return frame;
}

/* ---- for programs --------------------------------------------------------------------- */

enum {
    HARDWARE,
    OP,
    DTYPE,
    SIZE,
    US = SIZE + KERNEL_SIZES,
    BOUND,
    TRUST,
    BEYOND,
    RESTS_ON,
    COLUMNS
};

static struct frame *answer_frame(struct error *why)
{
    struct frame_column columns[COLUMNS] = {
        [HARDWARE] = {.key = "hardware"},
        [OP] = {.key = "op"},
        [DTYPE] = {.key = "dtype", .sparse = true},
        [US] = {.key = "us", .unit = UNIT_COUNT},
        [BOUND] = {.key = "bound"},
        [TRUST] = {.key = "basis"},
        [BEYOND] = {.key = "extrapolated", .unit = UNIT_FLAG},
        [RESTS_ON] = {.key = "figures", .unit = UNIT_JSON},
    };
    for (int i = 0; i < KERNEL_SIZES; i++) {
        columns[SIZE + i] =
            (struct frame_column){.key = kernel_sizes[i], .unit = UNIT_WHOLE, .sparse = true};
    }
    return frame_create(columns, COLUMNS, why);
}

static bool kernel_answer_print_json(const struct profile *profile,
                                     const struct kernel_shape *shape, const struct frame *figures,
                                     struct error *why)
{
    const struct kernel_op_kind *kind = &kernel_ops[shape->op];
    struct kernel kernel = kernel_shape_time(profile, shape);
    struct frame *frame = answer_frame(why);
    frame_row(frame);
    frame_text(frame, HARDWARE, profile->name);
    frame_text(frame, OP, kernel_op_names[shape->op]);
    frame_text(frame, DTYPE, kind->dtypes != 0 ? dtype_name(shape->dtype) : NULL);
    for (uint32_t i = 0; i < KERNEL_SIZES; i++) {
        if ((kind->sizes >> i & 1) != 0 && shape->size[i] > 0) {
            frame_number(frame, SIZE + i, shape->size[i]);
        }
    }
    frame_number(frame, US, kernel.ns / 1e3);
    frame_text(frame, BOUND, kernel_bounds[kernel.bound].name);
    frame_text(frame, TRUST, basis_name(kernel.trust.basis));
    frame_number(frame, BEYOND, kernel.trust.extrapolated);
    bool ok = frame_list(frame, RESTS_ON, figures, why) && frame_print_json(frame, stdout, why);
    frame_destroy(frame);
    return ok;
}

/* ---- for people ----------------------------------------------------------------------- */

static void print_time(const struct profile *profile, const struct kernel_shape *shape)
{
    struct kernel kernel = kernel_shape_time(profile, shape);
    char sizes[SIZES], time[TEXT];
    kernel_answer_sizes(shape, sizes, sizeof sizes);
    printf("%s on %s: %s\n\n", kernel_op_names[shape->op], profile->name, sizes);
    printf("time   %s\n", units_format(kernel.ns, UNIT_NS, time, sizeof time));
    printf("bound  %s\n", kernel_bounds[kernel.bound].what);
    printf("basis  %s%s\n\n", basis_name(kernel.trust.basis),
           kernel.trust.extrapolated ? ", extrapolated past the end of a curve" : "");
}

static void print_note(struct note note)
{
    char words[NOTE_WORDS];
    putchar('\n');
    table_line("note: ", note_write(&note, words, sizeof words), stdout);
}

static void kernel_answer_print_notes(const struct profile *profile,
                                      const struct kernel_shape *shape)
{
    bool multiplies = shape->op == KERNEL_PRODUCT || shape->op == KERNEL_EXPERTS;
    const char *lacking = multiplies ? kernel_lacking_products(profile, shape->dtype) : NULL;
    const struct takeover *takeover = &profile->takeover;
    if (lacking != NULL) {
        print_note(note_no_products(lacking, dtype_name(shape->dtype)));
    }
    if (takeover->figures > 0) {
        print_note(note_gpu_taken_over(takeover->figures, takeover->from, takeover->assumed,
                                       takeover->capability));
    }
}

static bool kernel_answer_print_text(const struct profile *profile,
                                     const struct kernel_shape *shape, const struct frame *figures,
                                     struct error *why)
{
    print_time(profile, shape);
    bool ok = frame_print(figures, NULL, stdout, why);
    kernel_answer_print_notes(profile, shape);
    return ok;
}

bool kernel_answer_print(const struct profile *profile, const struct kernel_shape *shape, bool json,
                         struct error *why)
{
    struct frame *figures = kernel_answer_figures_frame(profile, shape, why);
    bool ok =
        (json ? kernel_answer_print_json : kernel_answer_print_text)(profile, shape, figures, why);
    frame_destroy(figures);
    return ok;
}
