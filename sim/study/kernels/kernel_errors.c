#include "study/kernels/kernel_errors.h"

#include "core/array.h"
#include "study/kernels/measured_kernels.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

#define FEW_ROWS 128
#define SHORT_ROWS 1024
#define WARM_L2S 2 /* KV of this many times the L2 is read from HBM */

const struct kernel_class_kind kernel_classes[KERNEL_CLASSES] = {
    [CLASS_WARM] = {KERNEL_ATTENTION, "warm"}, [CLASS_COLD] = {KERNEL_ATTENTION, "cold"},
    [CLASS_FEW] = {KERNEL_PRODUCT, "few"},     [CLASS_MANY] = {KERNEL_PRODUCT, "many"},
    [CLASS_SHORT] = {KERNEL_PROMPT, "short"},  [CLASS_LONG] = {KERNEL_PROMPT, "long"},
};

/* The class of a kernel of op attention, product or prompt. */
static enum kernel_class kernel_class_of(const struct profile *profile,
                                         const struct kernel_shape *shape)
{
    if (shape->op == KERNEL_PRODUCT) {
        return shape->size[KERNEL_M] <= FEW_ROWS ? CLASS_FEW : CLASS_MANY;
    }
    if (shape->op == KERNEL_PROMPT) {
        return shape->size[KERNEL_M] <= SHORT_ROWS ? CLASS_SHORT : CLASS_LONG;
    }
    if (!profile_states(profile, CURVE_GPU_L2)) {
        return CLASS_COLD;
    }
    struct trust unused = {.basis = BASIS_MEASURED};
    double l2 = profile_value(profile, CURVE_GPU_L2, 0, &unused);
    return kernel_shape_kv_bytes(shape) < WARM_L2S * l2 ? CLASS_WARM : CLASS_COLD;
}

struct judging {
    const struct profile *profile;
    struct kernel_errors *errors;
};

static bool judge_kernel(const struct measured_kernel *kernel, void *context, struct error *why)
{
    const struct judging *judging = context;
    const struct profile *profile = judging->profile;
    struct kernel_class_errors *class =
        &judging->errors->classes[kernel_class_of(profile, &kernel->shape)];
    if (!kernel_shape_require(profile, &kernel->shape, why) ||
        !array_reserve(&class->errors, &class->capacity, class->count + 1, sizeof *class->errors,
                       why)) {
        return false;
    }
    double predicted_us = kernel_shape_time(profile, &kernel->shape).ns / 1e3;
    double error = predicted_us / kernel->us - 1;
    if (class->count == 0 || fabs(error) > fabs(class->worst)) {
        class->worst = error;
        class->worst_line = kernel->line;
    }
    class->errors[class->count++] = error;
    return true;
}

/* Sorts the errors, then leaves their absolute values in their place. */
static void kernel_errors_sum_up(struct kernel_class_errors *class)
{
    if (class->count == 0) {
        return;
    }
    gsl_sort(class->errors, 1, class->count);
    class->median = gsl_stats_median_from_sorted_data(class->errors, 1, class->count);
    for (size_t i = 0; i < class->count; i++) {
        class->errors[i] = fabs(class->errors[i]);
    }
    gsl_sort(class->errors, 1, class->count);
    class->median_abs = gsl_stats_median_from_sorted_data(class->errors, 1, class->count);
    class->p90_abs = gsl_stats_quantile_from_sorted_data(class->errors, 1, class->count, 0.9);
}

bool kernel_errors_judge(const struct profile *profile, const char *path, struct kernel_errors *out,
                         struct error *why)
{
    struct judging judging = {profile, out};
    *out = (struct kernel_errors){.classes = {{.errors = NULL}}};
    if (!measured_kernels_read(path, judge_kernel, &judging, why)) {
        kernel_errors_release(out);
        return false;
    }
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        kernel_errors_sum_up(&out->classes[i]);
    }
    return true;
}

void kernel_errors_release(struct kernel_errors *errors)
{
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        free(errors->classes[i].errors);
        errors->classes[i] = (struct kernel_class_errors){.errors = NULL};
    }
}
