/* Tests attention and its merging: dense and listed, bf16 and fp8, various counts and splits. */
#include "kernel_test.h"

#define UNUSED 0x7f /* an fp8 NaN for memory that may not be read; in bf16 0x7f7f is a number */

struct attention_shape {
    const char *name;
    enum kv_type type;
    uint32_t dim, batch, kv_heads, group;
    std::vector<uint32_t> counts; /* for the pairs by turns */
    bool listed;
    uint32_t splits;
};

static const attention_shape attention_shapes[] = {
    {"bf16 128, a tile", KV_BF16, 128, 1, 1, 4, {16}, false, 1},
    {"bf16 128, about tiles", KV_BF16, 128, 1, 6, 4, {1, 15, 17, 63, 64, 65}, false, 1},
    {"bf16 128, many tiles a warp", KV_BF16, 128, 1, 1, 8, {331}, false, 1},
    {"bf16 128, none and split", KV_BF16, 128, 2, 2, 4, {0, 200, 33, 129}, false, 3},
    {"bf16 128, more splits than tiles", KV_BF16, 128, 1, 2, 1, {40, 1}, false, 5},
    {"bf16 128, a group of 16", KV_BF16, 128, 1, 2, 16, {70, 16}, false, 1},
    {"bf16 128, a group of 9, listed", KV_BF16, 128, 1, 2, 9, {70, 150}, true, 2},
    {"bf16 128, lists of unequal length", KV_BF16, 128, 2, 2, 5, {1, 0, 97, 64}, true, 2},
    {"bf16 64, about tiles", KV_BF16, 64, 1, 4, 3, {31, 32, 33, 129}, false, 1},
    {"bf16 64, listed and split", KV_BF16, 64, 2, 1, 8, {300, 65}, true, 3},
    {"fp8 128, about tiles", KV_FP8, 128, 1, 4, 4, {31, 32, 33, 129}, false, 1},
    {"fp8 128, listed and split", KV_FP8, 128, 1, 2, 8, {280, 100}, true, 2},
    {"fp8 128, a group of 12", KV_FP8, 128, 1, 1, 12, {90}, false, 1},
    {"fp8 64, about tiles", KV_FP8, 64, 1, 4, 1, {63, 64, 65, 300}, false, 1},
    {"fp8 64, listed and split", KV_FP8, 64, 1, 2, 16, {500, 77}, true, 2},
};

/* KV of all sequences, token after token; all heads of a token together. */
struct kv_cache {
    std::vector<uint8_t> keys, values;
    uint32_t tokens;
    double largest; /* value */
};

static void fill_value(const attention_shape &shape, std::vector<uint8_t> &bytes, size_t at,
                       float value)
{
    if (shape.type == KV_FP8) {
        bytes[at] = fp8_of(value);
    } else {
        uint16_t bits = bf16_of(value);
        memcpy(&bytes[2 * at], &bits, sizeof bits);
    }
}

static kv_cache make_cache(const attention_shape &shape, uint32_t tokens, generator &random)
{
    size_t count = (size_t)shape.batch * tokens * shape.kv_heads * shape.dim;
    kv_cache cache = {{}, {}, tokens, 0};
    cache.keys.resize(count * kv_type_bytes(shape.type));
    cache.values.resize(count * kv_type_bytes(shape.type));
    for (size_t i = 0; i < count; i++) {
        size_t token = i / (shape.kv_heads * shape.dim) % tokens;
        size_t sequence = i / ((size_t)tokens * shape.kv_heads * shape.dim);
        size_t head = i / shape.dim % shape.kv_heads;
        bool read = shape.listed || token < shape.counts[sequence * shape.kv_heads + head];
        float nan = NAN, value = normal(random);
        fill_value(shape, cache.keys, i, read ? 2 * normal(random) : nan);
        fill_value(shape, cache.values, i, read ? value : nan);
        cache.largest = fmax(cache.largest, fabs(value));
    }
    return cache;
}

/* Random tokens for each pair, in random order. */
static std::vector<uint32_t> make_lists(const attention_shape &shape, uint32_t most,
                                        uint32_t tokens, generator &random)
{
    std::vector<uint32_t> lists(shape.counts.size() * most, 0xffffffffU);
    for (size_t pair = 0; pair < shape.counts.size(); pair++) {
        for (uint32_t i = 0; i < shape.counts[pair]; i++) {
            lists[pair * most + i] = (uint32_t)(random() % tokens);
        }
    }
    return lists;
}

static std::string check_attention(const void *data, generator &random)
{
    const attention_shape &shape = *(const attention_shape *)data;
    uint32_t pairs = shape.batch * shape.kv_heads, most = 1, dim = shape.dim;
    for (uint32_t count : shape.counts) {
        most = count > most ? count : most;
    }
    kv_cache cache = make_cache(shape, shape.listed ? 400 : most, random);
    std::vector<uint16_t> queries = normal_bf16(random, (size_t)pairs * shape.group * dim);
    std::vector<uint32_t> lists = make_lists(shape, most, cache.tokens, random);
    on_gpu<uint8_t> keys(cache.keys), values(cache.values);
    on_gpu<uint16_t> gpu_queries(queries);
    on_gpu<uint32_t> gpu_lists(lists), counts(shape.counts);
    on_gpu<float> out(queries.size()), lse((size_t)pairs * shape.group);

    uint64_t token_stride = (uint64_t)shape.kv_heads * dim;
    struct kernel_attention attention = {
        {keys.at, values.at, shape.type, dim, cache.tokens * token_stride, dim, token_stride},
        shape.batch,
        shape.kv_heads,
        shape.group,
        gpu_queries.at,
        shape.listed ? gpu_lists.at : nullptr,
        counts.at,
        most,
        0.125f,
        shape.splits,
        nullptr,
        out.at,
        lse.at};
    on_gpu<float> parts(kernel_attention_scratch(&attention) / sizeof(float));
    attention.parts = parts.at;
    MUST(kernel_attend(&attention, nullptr, &why));

    std::vector<float> found = out.values(), found_lse = lse.values();
    double apart = ldexp(cache.largest, -8); /* each weight is rounded by up to 2^-9 of itself */
    std::string wrong;
    for (size_t row = 0; row < found_lse.size() && wrong.empty(); row++) {
        size_t pair = row / shape.group, sequence = pair / shape.kv_heads;
        size_t begin = (sequence * cache.tokens * shape.kv_heads + pair % shape.kv_heads) * dim *
                       kv_type_bytes(shape.type);
        const struct twin_kv kv = {&cache.keys[begin], &cache.values[begin],
                                   shape.type,         dim,
                                   token_stride,       shape.listed ? &lists[pair * most] : nullptr,
                                   shape.counts[pair]};
        std::vector<float> query = floats_of(&queries[row * dim], dim);
        std::vector<double> expected(dim);
        double expected_lse;
        twin_attend(&kv, query.data(), 0.125, expected.data(), &expected_lse);
        wrong = compare("log-sum-exp", row, found_lse[row], expected_lse, 1e-4);
        for (size_t i = 0; i < dim && wrong.empty(); i++) {
            wrong = compare("value", row * dim + i, found[row * dim + i], expected[i], apart);
        }
    }
    return wrong;
}

struct merge_shape {
    const char *name;
    uint32_t parts, rows, dim, empty; /* every empty-th part has no tokens; 1: all; 0: none */
};

static const merge_shape merge_shapes[] = {
    {"of one part", 1, 3, 128, 0},
    {"of two", 2, 2, 64, 0},
    {"of all that are loaded at once", 32, 2, 128, 0},
    {"of one more", 33, 2, 128, 0},
    {"of 37, some empty", 37, 3, 128, 3},
    {"of the most", 128, 3, 128, 5},
    {"of nothing", 5, 2, 64, 1},
    {"of narrow rows", 9, 2, 4, 4},
};

static std::string check_merge(const void *data, generator &random)
{
    const merge_shape &shape = *(const merge_shape *)data;
    size_t rows = shape.rows, dim = shape.dim;
    std::vector<float> out(shape.parts * rows * dim), lse(shape.parts * rows);
    for (float &value : out) {
        value = normal(random);
    }
    for (size_t i = 0; i < lse.size(); i++) {
        bool empty = shape.empty > 0 && i / rows % shape.empty == 0;
        lse[i] = empty ? -INFINITY : 300 + 3 * normal(random);
    }
    on_gpu<float> gpu_out(out), gpu_lse(lse), whole(rows * dim), whole_lse(rows);
    on_gpu<uint16_t> rounded(rows * dim);
    MUST(kernel_merge(gpu_out.at, gpu_lse.at, shape.parts, shape.rows, shape.dim, whole.at,
                      whole_lse.at, rounded.at, nullptr, &why));

    std::vector<float> found = whole.values(), found_lse = whole_lse.values();
    std::vector<uint16_t> found_rounded = rounded.values();
    std::string wrong;
    for (size_t row = 0; row < rows && wrong.empty(); row++) {
        std::vector<double> part_out, part_lse, expected(dim);
        for (size_t part = 0; part < shape.parts; part++) {
            const float *at = &out[(part * rows + row) * dim];
            part_out.insert(part_out.end(), at, at + dim);
            part_lse.push_back(lse[part * rows + row]);
        }
        double expected_lse;
        twin_merge(part_out.data(), part_lse.data(), shape.parts, shape.dim, expected.data(),
                   &expected_lse);
        wrong = compare("log-sum-exp", row, found_lse[row], expected_lse, 1e-4);
        for (size_t i = 0; i < dim && wrong.empty(); i++) {
            size_t at = row * dim + i;
            wrong = compare("value", at, found[at], expected[i], 1e-4);
            if (wrong.empty()) {
                wrong = compare("rounded value", at, found_rounded[at], bf16_of(found[at]), 0);
            }
        }
    }
    return wrong;
}

void attention_cases(std::vector<kernel_case> &cases)
{
    for (const attention_shape &shape : attention_shapes) {
        cases.push_back({std::string("attention, ") + shape.name, check_attention, &shape});
    }
    for (const merge_shape &shape : merge_shapes) {
        cases.push_back({std::string("merge, ") + shape.name, check_merge, &shape});
    }
}
