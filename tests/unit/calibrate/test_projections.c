/* The shapes of projections beside the operators that the simulator reckons with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/named.h"
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

/* Their products read different activations, or are a head's own: no one shape. */
static bool has_no_shape(const struct model_layer *layer, const char *name)
{
    static const char *const names[] = {
        "attention",   "absorb_key", "absorb_value", "linear_gates", "compressor",
        "index_score", "delta_rule", "stream_mix",   "token_input",  "residual_rank"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return layer->attention == ATTENTION_COMPRESSED;
}

static const struct projection *shape_of(const struct projection *shapes, size_t count,
                                         const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(shapes[i].name, name) == 0) {
            return &shapes[i];
        }
    }
    return NULL;
}

/* Every operator with weights that is a product has its shape, of as many FLOPs; experts run for
 * each token of theirs. */
static void check_layer(const struct model *model, uint32_t layer)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    struct projection shapes[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, layer, BATCH, 100, operators);
    size_t shape_count = projections_of(model, layer, shapes);
    for (size_t i = 0; i < count; i++) {
        const struct projection *shape = shape_of(shapes, shape_count, operators[i].name);
        if (shape) {
            double each = operators[i].grouped ? model->layers[layer].experts_per_token : 1;
            assert_true(operators[i].flops == 2.0 * BATCH * shape->in * shape->out * each);
        } else if (operators[i].matrix && !has_no_shape(&model->layers[layer], operators[i].name)) {
            fail_msg("%s: %s has no shape", model->name, operators[i].name);
        }
    }
}

static void check_shape(const char *name, uint32_t layer, const char *operator, uint32_t in,
                        uint32_t out)
{
    struct projection shapes[MODEL_MOST_OPERATORS];
    struct model model = load(name);
    const struct projection *shape =
        shape_of(shapes, projections_of(&model, layer, shapes), operator);
    assert_non_null(shape);
    assert_int_equal(shape->in, in);
    assert_int_equal(shape->out, out);
    model_release(&model);
}

static void shapes_are_those_of_the_papers(void **state)
{
    (void)state;
    check_shape("llama-3.1-8b", 0, "qkv", 4096, (32 + 2 * 8) * 128);
    check_shape("llama-3.1-8b", 0, "gate_up", 4096, 2 * 14336);
    check_shape("llama-3.1-8b", 32, "head", 4096, 128256);
    check_shape("qwen3-30b-a3b", 0, "experts_gate_up", 2048, 2 * 768);
    check_shape("qwen3-30b-a3b", 0, "experts_down", 768, 2048);
    check_shape("deepseek-v3", 0, "qkv_down", 7168, 1536 + 512 + 64);
    check_shape("deepseek-v3", 0, "query_up", 1536, 128 * (128 + 64));
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
            assert_non_null(strstr(all[i].of, "qkv of "));
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
        cmocka_unit_test(shapes_are_those_of_the_papers),
        cmocka_unit_test(a_shape_stands_once_with_all_who_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
