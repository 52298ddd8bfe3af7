/* The shapes of projections beside the operators that the simulator reckons with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/find.h"
#include "calibrate/gpu/projections.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 3 };

static struct model load(const char *name)
{
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    struct error why;
    assert_true(model_load(NULL, name, &options, NULL, 0, &model, &why));
    return model;
}

/* Every operator with weights that is a product has its shape, of as many FLOPs; experts run for
 * each token of theirs. MLA's absorbed matrices are none of these. */
static void check_layer(const struct model *model, uint32_t layer)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    struct projection shapes[MOST_PROJECTIONS];
    size_t count = model_operators(model, layer, BATCH, 100, operators), found = 0;
    size_t expected = projections_of(model, layer, shapes);
    for (size_t i = 0; i < count; i++) {
        for (size_t s = 0; s < expected; s++) {
            if (strcmp(operators[i].name, shapes[s].name) == 0) {
                double flops = 2.0 * BATCH * shapes[s].in * shapes[s].out;
                bool routed = strncmp(shapes[s].name, "experts", 7) == 0;
                flops *= routed ? model->layers[layer].experts_per_token : 1;
                assert_float_equal(operators[i].flops, flops, 0);
                operators[i].matrix = false;
                found++;
            }
        }
        if (operators[i].matrix && strcmp(operators[i].name, "attention") != 0 &&
            strncmp(operators[i].name, "absorb", 6) != 0) {
            fail_msg("%s: %s has no shape", model->name, operators[i].name);
        }
    }
    assert_int_equal(found, expected);
}

static void every_product_of_every_model_has_its_shape(void **state)
{
    (void)state;
    char **names;
    size_t models;
    struct error why;
    assert_true(find_names("models", "json", &names, &models, &why));
    for (size_t i = 0; i < models; i++) {
        struct model model = load(names[i]);
        for (uint32_t layer = 0; layer <= model.layer_count; layer++) {
            check_layer(&model, layer);
        }
        model_release(&model);
        free(names[i]);
    }
    free(names);
}

static void a_shape_stands_once_with_all_who_have_it(void **state)
{
    (void)state;
    struct projection *all;
    size_t count, qkv = 0;
    struct error why;
    assert_true(projections_shipped(&all, &count, &why));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            assert_true((uint64_t)all[i - 1].in * all[i - 1].out <=
                        (uint64_t)all[i].in * all[i].out);
        }
        if (all[i].in == 4096 && all[i].out == 6144) { /* 32 + 2 x 8 heads of 128 */
            assert_non_null(strstr(all[i].of, "qkv of llama-3-8b, llama-3.1-8b"));
            qkv++;
        }
    }
    assert_int_equal(qkv, 1);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_product_of_every_model_has_its_shape),
        cmocka_unit_test(a_shape_stands_once_with_all_who_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
