/* Fuzzes axes of what-if studies. A text is refused with a reason, or it is an axis of at least two
 * values, and a scenario accepts each of them in a sweep, apart from names that nothing has. */
#include "predict/decode/context.h"
#include "study/whatif/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* The scenario of the axis; made once. */
static const struct axis_base *get_base(void)
{
    static const char *const overrides[] = {"model=smollm2-135m", "hardware=a40",
                                            "system=retroinfer", "context=3840",
                                            "trace=assumed:hit=90%"};
    static struct scenario scenario;
    static struct point point;
    static struct run_context runs;
    static struct plan plan = {
        .batch = 2,
        .memory.in = {[TIER_GPU] = {.cache = 1 << 20}, [TIER_HOST] = {.kv = 100 << 20}}};
    static struct axis_base base = {.option = "--over",
                                    .scenario = &scenario,
                                    .point = &point,
                                    .runs = &runs,
                                    .plan = &plan,
                                    .most_batch = 9};
    struct error why;
    if (scenario.root == NULL) {
        require(scenario_load(NULL, 0, overrides, 5, &scenario, &why));
        require(scenario_point(&scenario, 0, &point, &why));
        require(run_context_init(&runs, 1, NULL, &why));
    }
    return &base;
}

static void check_axis(const struct axis *axis, const struct axis_base *base)
{
    struct scenario swept = {.root = base->scenario->root, .points = 1};
    struct error why = {.found = ""};
    require(axis->count >= 2 && axis->count <= AXIS_MOST_VALUES);
    for (uint32_t i = 0; i < axis->count; i++) {
        char label[64];
        require(isfinite(axis->values[i].number));
        require(!axis->numeric || i == 0 || axis->values[i].number >= axis->values[i - 1].number);
        require(strlen(axis_label(axis, i, label, sizeof label)) < sizeof label);
    }
    /* A name may be unknown; a number must be accepted. */
    if (axis_sweep(axis, &swept, &why)) {
        require(swept.points == axis->count);
    } else {
        require(!axis->numeric && why.found[0] != '\0');
    }
    node_destroy(swept.sweep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct axis_base *base = get_base();
    struct axis axis;
    struct error why = {.found = ""};
    char *text = strndup((const char *)data, size);
    require(text != NULL);
    if (axis_read(text, strlen(text), base, &axis, &why)) {
        check_axis(&axis, base);
    } else {
        require(why.found[0] != '\0');
    }
    axis_release(&axis);
    free(text);
    return 0;
}
