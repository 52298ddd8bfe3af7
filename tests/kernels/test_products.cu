/* Tests products by cuBLAS, K and V made with them, and runs the checks of the link groups
 * (link/checks.h). */
#include "kernel_test.h"

#include "calibrate/device/cublas.h"
#include "calibrate/device/facts.h"
#include "calibrate/kernels/products.h"
#include "calibrate/link/checks.h"

struct product_shape {
    const char *name;
    uint32_t rows, in, out;
};

static const product_shape product_shapes[] = {
    {"of one row", 1, 64, 136},
    {"of 16 rows", 16, 512, 96},
    {"of 100 rows", 100, 256, 40},
};

/* cuBLAS may cut a sum into parts and round them, and what it adds them up to, to bf16. An error then
 * follows the parts, not the sum, and a bound for any cut would be wider than the terms. So the
 * tests have terms for which every order of summing is exact: whole numbers, whose absolute values
 * add up to at most 256, which bf16 still holds. One term too few or too many is off by 1 or more.
 */
#define EXACT_MOST 256

/* Ones of either sign, and zeros: one value of `of` is not 0. */
static std::vector<uint16_t> signs(generator &random, size_t count, unsigned of)
{
    std::vector<uint16_t> values(count);
    for (uint16_t &value : values) {
        value = random() % of != 0 ? 0 : bf16_of(random() % 2 == 0 ? 1.0f : -1.0f);
    }
    return values;
}

/* The product of a row and a row of weights. */
static double exact_product(const uint16_t *row, const uint16_t *weights, size_t count)
{
    double sum = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        double term = (double)bf16_value(row[i]) * bf16_value(weights[i]);
        sum += term;
        size += fabs(term);
    }
    return size <= EXACT_MOST ? sum : NAN; /* a test that does not hold what it claims */
}

static std::string check_product(const void *at, generator &random)
{
    const product_shape &shape = *(const product_shape *)at;
    std::vector<uint16_t> in = signs(random, (size_t)shape.rows * shape.in, 1);
    std::vector<uint16_t> weights = signs(random, (size_t)shape.in * shape.out, 4);
    on_gpu<uint16_t> gpu_in(in), gpu_weights(weights), out((size_t)shape.rows * shape.out);
    struct products *products = nullptr;
    MUST((products = products_create(&why)) != nullptr);
    MUST(products_multiply(products, gpu_in.at, gpu_weights.at, shape.rows, shape.in, shape.out,
                           out.at, nullptr, &why));
    std::vector<uint16_t> found = out.values();
    products_destroy(products);
    std::string wrong;
    for (size_t i = 0; i < found.size() && wrong.empty(); i++) {
        double expected = exact_product(&in[i / shape.out * shape.in],
                                        &weights[i % shape.out * shape.in], shape.in);
        wrong = compare("value", i, bf16_value(found[i]), expected, 0);
    }
    return wrong;
}

#define TOKENS 5
#define HIDDEN 256
#define KV_HEADS 3
#define DIM 64
#define WIDTH (2 * KV_HEADS * DIM)
#define BASE 10000.0

/* The norm of ones is 1, so normed values are the norm's weights, 1 or 2, and products are exact. A
 * value of V is not rounded, one of K once, after it turned. */
static std::string check_kv(const void *, generator &random)
{
    std::vector<uint16_t> activations = signs(random, TOKENS * HIDDEN, 1);
    std::vector<uint16_t> norm(HIDDEN), weights = signs(random, WIDTH * HIDDEN, 4);
    for (uint16_t &weight : norm) {
        weight = bf16_of(random() % 2 == 0 ? 1.0f : 2.0f);
    }
    std::vector<uint32_t> positions = {0, 7, 99, 3, 50};
    std::vector<float> turns(100 * DIM);
    kernel_turns(100, DIM, BASE, turns.data());
    on_gpu<uint16_t> gpu_activations(activations), gpu_norm(norm), gpu_weights(weights);
    on_gpu<uint16_t> normed(TOKENS * HIDDEN), kv(TOKENS * WIDTH);
    on_gpu<uint32_t> gpu_positions(positions);
    on_gpu<float> gpu_turns(turns);
    const struct kv_recipe recipe = {gpu_norm.at, gpu_weights.at, gpu_turns.at, HIDDEN, KV_HEADS,
                                     DIM,         1e-5f};
    struct products *products = nullptr;
    MUST((products = products_create(&why)) != nullptr);
    MUST(products_make_kv(products, &recipe, gpu_activations.at, gpu_positions.at, TOKENS,
                          normed.at, kv.at, nullptr, &why));
    std::vector<uint16_t> found = kv.values(), rows = normed.values();
    products_destroy(products);
    std::string wrong;
    for (size_t i = 0; i < rows.size() && wrong.empty(); i++) {
        double expected = (double)bf16_value(activations[i]) * bf16_value(norm[i % HIDDEN]);
        wrong = compare("normed value", i, bf16_value(rows[i]), expected, 0);
    }
    for (size_t token = 0; token < TOKENS && wrong.empty(); token++) {
        std::vector<float> made(WIDTH);
        for (size_t i = 0; i < WIDTH; i++) {
            made[i] = (float)exact_product(&rows[token * HIDDEN], &weights[i * HIDDEN], HIDDEN);
        }
        for (size_t head = 0; head < 2 * KV_HEADS && wrong.empty(); head++) {
            std::vector<double> expected(&made[head * DIM], &made[head * DIM] + DIM);
            bool turned = head < KV_HEADS;
            if (turned) {
                twin_rope(&made[head * DIM], DIM, positions[token], BASE, expected.data());
            }
            for (size_t i = 0; i < DIM && wrong.empty(); i++) {
                size_t at = token * WIDTH + head * DIM + i;
                wrong = compare("value", at, bf16_value(found[at]), expected[i],
                                turned ? ldexp(fabs(expected[i]), -8) + 1e-4 : 0);
            }
        }
    }
    return wrong;
}

static std::string check_claim(const void *at, generator &)
{
    const struct link_check *claim = (const struct link_check *)at;
    struct error why;
    char text[2048] = "";
    if (!claim->run(&why)) {
        error_format(&why, text, sizeof text);
    }
    return text;
}

static void add_products(std::vector<kernel_case> &cases)
{
    struct cublas cublas;
    struct error why;
    if (!cublas_load(&cublas, &why)) {
        printf("# no product is tested: %s\n", why.found);
        return;
    }
    for (const product_shape &shape : product_shapes) {
        cases.push_back({std::string("product, ") + shape.name, check_product, &shape});
    }
    cases.push_back({"K and V from activations", check_kv, nullptr});
}

void product_cases(std::vector<kernel_case> &cases)
{
    MUST(gpu_find(&why));
    add_products(cases);
    for (const struct link_check *claim = link_checks; claim->claim != nullptr; claim++) {
        cases.push_back({std::string("link, ") + claim->claim, check_claim, claim});
    }
}
