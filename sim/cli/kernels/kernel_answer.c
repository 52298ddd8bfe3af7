#include "cli/kernels/kernel_answer.h"

#include "base/units.h"
#include "answer/table.h"
#include "hardware/observed.h"

#include <jansson.h>
#include <stdlib.h>

enum { TEXT = 64, SIZES = 256 };

const struct kernel_bound_kind kernel_bounds[KERNEL_BOUNDS] = {
    [BOUND_FIXED] = {"fixed", "its fixed time, which does not depend on its size"},
    [BOUND_HBM] = {"hbm", "its bytes in HBM"},
    [BOUND_FLOPS] = {"flops", "its FLOPs"},
    [BOUND_LATENCY] = {"latency", "the latency of its CTAs"},
    [BOUND_LINK] = {"link", "its bytes on the link"},
    [BOUND_CURVE] = {"curve", "one figure, which holds the time as a whole"},
};

/* ---- for people ----------------------------------------------------------------------- */

void kernel_answer_sizes(const struct kernel_shape *shape, char *text, size_t size)
{
    const struct kernel_op_kind *kind = &kernel_ops[shape->op];
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < KERNEL_SIZES; i++) {
        if ((kind->sizes >> i & 1) != 0 && shape->size[i] > 0) {
            used += (size_t)snprintf(text + used, size - used, "%s%s %.0f", used > 0 ? ", " : "",
                                     kernel_sizes[i], shape->size[i]);
        }
    }
    if (kind->dtypes != 0) {
        snprintf(text + used, size - used, ", %s", dtype_name(shape->dtype));
    }
}

static bool add_figure(struct table *table, const struct profile *profile,
                       const struct kernel_shape *shape, enum curve_id id, struct error *why)
{
    const struct curve *curve = &profile->curves[id];
    char value[TEXT];
    units_format(kernel_shape_figure(profile, shape, id), curve_kinds[id].unit, value,
                 sizeof value);
    const char *const texts[] = {curve_kinds[id].name, value, basis_name(curve->basis),
                                 curve->source};
    return table_add(table, texts, 4, why);
}

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

static void print_notes(const struct profile *profile, const struct kernel_shape *shape)
{
    char note[4 * TEXT], product[KERNEL_NOTE];
    bool multiplies = shape->op == KERNEL_PRODUCT || shape->op == KERNEL_EXPERTS;
    if (multiplies && kernel_product_note(profile, shape->dtype, product)) {
        putchar('\n');
        table_line("note: ", product, stdout);
    }
    if (profile_takeover_note(profile, note, sizeof note)) {
        putchar('\n');
        table_line("note: ", note, stdout);
    }
}

bool kernel_answer_print(const struct profile *profile, const struct kernel_shape *shape,
                         struct error *why)
{
    static const struct table_column columns[] = {
        {.title = "figure"},
        {.title = "value", .right = true},
        {.title = "basis"},
        {.title = "source", .wrap = true},
    };
    enum curve_id figures[KERNEL_MOST_FIGURES];
    size_t count = kernel_shape_figures(profile, shape, figures);
    struct table *table = table_create(columns, 4, why);
    bool ok = table != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        ok = add_figure(table, profile, shape, figures[i], why);
    }
    if (ok) {
        print_time(profile, shape);
        table_print(table, stdout);
        print_notes(profile, shape);
    }
    table_destroy(table);
    return ok;
}

/* ---- JSON ----------------------------------------------------------------------------- */

/* The unit of a value in JSON. */
static const char *unit_of(const struct curve_kind *kind)
{
    return kind->unit == UNIT_NS ? "ns" : observed_unit(kind->unit);
}

static json_t *figures_json(const struct profile *profile, const struct kernel_shape *shape)
{
    enum curve_id figures[KERNEL_MOST_FIGURES];
    size_t count = kernel_shape_figures(profile, shape, figures);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct curve *curve = &profile->curves[figures[i]];
        const struct curve_kind *kind = &curve_kinds[figures[i]];
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:s, s:s, s:s}", "name", kind->name, "value",
                            kernel_shape_figure(profile, shape, figures[i]), "unit", unit_of(kind),
                            "basis", basis_name(curve->basis), "source", curve->source));
    }
    return list;
}

bool kernel_answer_json(const struct profile *profile, const struct kernel_shape *shape,
                        struct error *why)
{
    const struct kernel_op_kind *kind = &kernel_ops[shape->op];
    struct kernel kernel = kernel_shape_time(profile, shape);
    json_t *answer =
        json_pack("{s:s, s:s}", "hardware", profile->name, "op", kernel_op_names[shape->op]);
    if (kind->dtypes != 0) {
        json_object_set_new(answer, "dtype", json_string(dtype_name(shape->dtype)));
    }
    for (int i = 0; i < KERNEL_SIZES; i++) {
        if ((kind->sizes >> i & 1) != 0 && shape->size[i] > 0) {
            json_object_set_new(answer, kernel_sizes[i], json_integer((json_int_t)shape->size[i]));
        }
    }
    json_object_set_new(answer, "us", json_real(kernel.ns / 1e3));
    json_object_set_new(answer, "bound", json_string(kernel_bounds[kernel.bound].name));
    json_object_set_new(answer, "basis", json_string(basis_name(kernel.trust.basis)));
    json_object_set_new(answer, "extrapolated", json_boolean(kernel.trust.extrapolated));
    json_object_set_new(answer, "figures", figures_json(profile, shape));
    char *text = json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(answer);
    if (text == NULL) {
        return error_set(why, NULL, 0, "the answer cannot be written as JSON");
    }
    puts(text);
    free(text);
    return true;
}
