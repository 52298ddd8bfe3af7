/* Tests the norm with its residual, rotary positions, and moves of rows. */
#include "kernel_test.h"

#include <algorithm>

struct norm_shape {
    const char *name;
    uint32_t rows, width;
    bool added;
};

static const norm_shape norm_shapes[] = {
    {"of a residual", 3, 4096, true},
    {"of activations as they are", 2, 576, false},
    {"of the narrowest rows", 2, 8, true},
    {"of rows of no round width", 2, 2880, true},
};

#define EPSILON 1e-5f

static std::string check_norm(const void *at, generator &random)
{
    const norm_shape &shape = *(const norm_shape *)at;
    size_t count = (size_t)shape.rows * shape.width;
    std::vector<uint16_t> residual = normal_bf16(random, count), added = normal_bf16(random, count);
    std::vector<uint16_t> weight = normal_bf16(random, shape.width);
    on_gpu<uint16_t> gpu_residual(residual), gpu_added(added), gpu_weight(weight), out(count);
    MUST(kernel_norm(gpu_residual.at, shape.added ? gpu_added.at : nullptr, gpu_weight.at,
                     shape.rows, shape.width, EPSILON, out.at, nullptr, &why));
    std::vector<uint16_t> found = out.values(), sums = gpu_residual.values();
    std::string wrong;
    for (size_t row = 0; row < shape.rows && wrong.empty(); row++) {
        std::vector<float> in(shape.width);
        std::vector<double> expected(shape.width);
        for (size_t i = 0; i < shape.width && wrong.empty(); i++) {
            size_t place = row * shape.width + i;
            float sum = bf16_value(residual[place]);
            sum += shape.added ? bf16_value(added[place]) : 0;
            in[i] = bf16_value(bf16_of(sum));
            wrong = compare("residual", place, bf16_value(sums[place]), in[i], 0);
        }
        twin_norm(in.data(), weight.data(), shape.width, EPSILON, expected.data());
        for (size_t i = 0; i < shape.width && wrong.empty(); i++) {
            size_t place = row * shape.width + i;
            wrong = compare("value", place, bf16_value(found[place]), expected[i],
                            ldexp(fabs(expected[i]), -8) + 1e-6);
        }
    }
    return wrong;
}

struct rope_shape {
    const char *name;
    uint32_t rows, heads, dim, others; /* others: heads of a row that are not turned */
};

static const rope_shape rope_shapes[] = {
    {"of heads of 128", 3, 5, 128, 2},
    {"of heads of 64", 2, 9, 64, 0},
    {"of more heads than a CTA has", 2, 40, 128, 8},
};

#define POSITIONS 300
#define BASE 500000.0

static std::string check_rope(const void *at, generator &random)
{
    const rope_shape &shape = *(const rope_shape *)at;
    size_t stride = (size_t)(shape.heads + shape.others) * shape.dim;
    std::vector<uint16_t> values = normal_bf16(random, shape.rows * stride);
    std::vector<float> turns((size_t)POSITIONS * shape.dim);
    std::vector<uint32_t> positions(shape.rows);
    kernel_turns(POSITIONS, shape.dim, BASE, turns.data());
    for (uint32_t &position : positions) {
        position = (uint32_t)(random() % POSITIONS);
    }
    on_gpu<uint16_t> gpu_values(values);
    on_gpu<uint32_t> gpu_positions(positions);
    on_gpu<float> gpu_turns(turns);
    MUST(kernel_rope(gpu_values.at, gpu_positions.at, gpu_turns.at, shape.rows, shape.heads,
                     shape.dim, stride, nullptr, &why));
    std::vector<uint16_t> found = gpu_values.values();
    std::string wrong;
    for (size_t row = 0; row < shape.rows && wrong.empty(); row++) {
        for (size_t head = 0; head < shape.heads + shape.others && wrong.empty(); head++) {
            size_t first = row * stride + head * shape.dim;
            std::vector<float> in = floats_of(&values[first], shape.dim);
            std::vector<double> expected(in.begin(), in.end());
            if (head < shape.heads) {
                twin_rope(in.data(), shape.dim, positions[row], BASE, expected.data());
            }
            for (size_t i = 0; i < shape.dim && wrong.empty(); i++) {
                wrong = compare("value", first + i, bf16_value(found[first + i]), expected[i],
                                ldexp(fabs(expected[i]), -8) + 1e-6);
            }
        }
    }
    return wrong;
}

struct move_shape {
    const char *name;
    uint32_t count, row_bytes, ctas;
    bool scattered; /* where they come from */
};

static const move_shape move_shapes[] = {
    {"into their places", 37, 256, 3, false},
    {"from places to places", 40, 128, 2, true},
    {"fewer than a CTA has threads", 1, 8, 4, true},
    {"in many turns of a CTA", 64, 512, 1, true},
    {"in shares that end within a row", 61, 1024, 7, true},
    {"none", 0, 256, 1, false},
};

#define PLACES 64

static std::string check_move(const void *at, generator &random)
{
    const move_shape &shape = *(const move_shape *)at;
    std::vector<uint32_t> from_rows(PLACES), to_rows(PLACES);
    for (uint32_t i = 0; i < PLACES; i++) {
        from_rows[i] = to_rows[i] = i;
    }
    std::shuffle(from_rows.begin(), from_rows.end(), random);
    std::shuffle(to_rows.begin(), to_rows.end(), random);
    std::vector<uint8_t> from((size_t)PLACES * shape.row_bytes), before(from.size(), 0xee);
    for (uint8_t &byte : from) {
        byte = (uint8_t)random();
    }
    on_gpu<uint8_t> gpu_from(from), gpu_to(before);
    on_gpu<uint32_t> gpu_from_rows(from_rows), gpu_to_rows(to_rows);
    MUST(kernel_move_rows(gpu_from.at, shape.scattered ? gpu_from_rows.at : nullptr, gpu_to.at,
                          gpu_to_rows.at, shape.count, shape.row_bytes, shape.ctas, nullptr, &why));
    std::vector<uint8_t> found = gpu_to.values(), expected = before;
    for (uint32_t i = 0; i < shape.count; i++) {
        uint32_t row = shape.scattered ? from_rows[i] : i;
        memcpy(&expected[(size_t)to_rows[i] * shape.row_bytes],
               &from[(size_t)row * shape.row_bytes], shape.row_bytes);
    }
    std::string wrong;
    for (size_t i = 0; i < found.size() && wrong.empty(); i++) {
        wrong = compare("byte", i, found[i], expected[i], 0);
    }
    return wrong;
}

static std::string check_refusal(const void *, generator &)
{
    struct error why;
    bool moved = kernel_move_rows(nullptr, nullptr, nullptr, nullptr, 1, 24, 1, nullptr, &why);
    return moved ? "rows of 24 bytes were moved" : "";
}

void row_cases(std::vector<kernel_case> &cases)
{
    for (const norm_shape &shape : norm_shapes) {
        cases.push_back({std::string("norm, ") + shape.name, check_norm, &shape});
    }
    for (const move_shape &shape : move_shapes) {
        cases.push_back({std::string("rows, ") + shape.name, check_move, &shape});
    }
    cases.push_back({"rows, of no power of two, are refused", check_refusal, nullptr});
    for (const rope_shape &shape : rope_shapes) {
        cases.push_back({std::string("positions, ") + shape.name, check_rope, &shape});
    }
}
