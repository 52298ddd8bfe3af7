/* Tests products by cuBLAS, K and V made with them, and runs the checks of the link groups
 * (link/checks.h). */
#include "kernel_test.h"

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

/* The tolerance of sums in fp32 and a result in bf16. */
static double rounding(double value, double terms)
{
    return ldexp(fabs(value), -8) + ldexp(terms, -20);
}

static std::string check_product(const void *at, generator &random)
{
    const product_shape &shape = *(const product_shape *)at;
    std::vector<uint16_t> in = normal_bf16(random, (size_t)shape.rows * shape.in);
    std::vector<uint16_t> weights = normal_bf16(random, (size_t)shape.in * shape.out);
    on_gpu<uint16_t> gpu_in(in), gpu_weights(weights), out((size_t)shape.rows * shape.out);
    struct products *products = nullptr;
    MUST((products = products_create(&why)) != nullptr);
    MUST(products_multiply(products, gpu_in.at, gpu_weights.at, shape.rows, shape.in, shape.out,
                           out.at, nullptr, &why));
    std::vector<uint16_t> found = out.values();
    products_destroy(products);
    std::string wrong;
    for (size_t i = 0; i < found.size() && wrong.empty(); i++) {
        std::vector<float> row = floats_of(&in[i / shape.out * shape.in], shape.in);
        double expected =
            twin_centroid_score(row.data(), &weights[i % shape.out * shape.in], shape.in);
        wrong = compare("value", i, bf16_value(found[i]), expected, rounding(expected, shape.in));
    }
    return wrong;
}

#define TOKENS 5
#define HIDDEN 256
#define KV_HEADS 3
#define DIM 64
#define WIDTH (2 * KV_HEADS * DIM)
#define BASE 10000.0

static std::string check_kv(const void *, generator &random)
{
    std::vector<uint16_t> activations = normal_bf16(random, TOKENS * HIDDEN);
    std::vector<uint16_t> norm = normal_bf16(random, HIDDEN);
    std::vector<uint16_t> weights = normal_bf16(random, WIDTH * HIDDEN);
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
    for (size_t token = 0; token < TOKENS && wrong.empty(); token++) {
        std::vector<float> row = floats_of(&rows[token * HIDDEN], HIDDEN), made(WIDTH);
        for (size_t i = 0; i < WIDTH; i++) {
            double value = twin_centroid_score(row.data(), &weights[i * HIDDEN], HIDDEN);
            made[i] = bf16_value(bf16_of((float)value));
        }
        for (size_t head = 0; head < 2 * KV_HEADS && wrong.empty(); head++) {
            std::vector<double> expected(&made[head * DIM], &made[head * DIM] + DIM);
            if (head < KV_HEADS) {
                twin_rope(&made[head * DIM], DIM, positions[token], BASE, expected.data());
            }
            for (size_t i = 0; i < DIM && wrong.empty(); i++) {
                size_t at = token * WIDTH + head * DIM + i;
                double other = expected[(i + DIM / 2) % DIM];
                /* both values of a pair were rounded before they turned */
                wrong = compare("value", at, bf16_value(found[at]), expected[i],
                                ldexp(hypot(expected[i], other), -7) + 1e-3);
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

void product_cases(std::vector<kernel_case> &cases)
{
    MUST(gpu_find(&why));
    for (const product_shape &shape : product_shapes) {
        cases.push_back({std::string("product, ") + shape.name, check_product, &shape});
    }
    cases.push_back({"K and V from activations", check_kv, nullptr});
    for (const struct link_check *claim = link_checks; claim->claim != nullptr; claim++) {
        cases.push_back({std::string("link, ") + claim->claim, check_claim, claim});
    }
}
